// SPDX-License-Identifier: Apache-2.0
// The timeline of a run: a line per worker, messages between them, and how many workers ran tasks. Wheel: zoom; drag: move.
// `data` is defined before: {length, words, colours, activities, tracks: [{node, worker, begin, length, what, name,
// call (empty: no calls), regions: [[begin, end, name]], marks: [[at, name, value]], kernel: [[begin, length, name]]}], messages: [[from, to, sent, received, bytes]], parallelism}; times in microseconds.
'use strict';
const lines_canvas = document.getElementById('lines');
const load_canvas = document.getElementById('load');
const tip = document.getElementById('tip');
const find = document.getElementById('find');
const k_left = 90, k_right = 10, k_row = 18, k_axis = 18;
const k_task = 0;
const k_most_arrows = 1500;
let from = 0, to = data.length;

const describe_us = us => us >= 1e6 ? (us / 1e6).toFixed(3) + ' s' : us >= 1e3 ? (us / 1e3).toFixed(3) + ' ms' : us.toFixed(3) + ' us';
const hue_of = name => (name * 137.508) % 360;
const time_at = (e, canvas) => {
  const box = canvas.getBoundingClientRect();
  return from + (e.clientX - box.left - k_left) / (box.width - k_left - k_right) * (to - from);
};

function prepare(canvas) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = canvas.clientHeight * ratio;
  const g = canvas.getContext('2d');
  g.scale(ratio, ratio);
  g.font = '11px sans-serif';
  return g;
}

// The first slice that ends after `at`.
function first_after(track, at) {
  let low = 0, high = track.begin.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (track.begin[middle] + track.length[middle] <= at) low = middle + 1; else high = middle;
  }
  return low;
}

function matches(name) { return find.value !== '' && data.words[name].includes(find.value); }

function draw_axis(g, canvas, y) {
  g.fillStyle = '#222';
  for (let k = 0; k <= 4; ++k) {
    const x = k_left + (canvas.clientWidth - k_left - k_right) * k / 4;
    g.textAlign = k === 0 ? 'left' : k === 4 ? 'right' : 'center';
    g.fillText(describe_us(from + (to - from) * k / 4), x, y);
  }
  g.textAlign = 'left';
}

function draw_lines() {
  const g = prepare(lines_canvas);
  const width = lines_canvas.clientWidth - k_left - k_right;
  const scale = width / (to - from);
  const place = at => k_left + (at - from) * scale;
  data.tracks.forEach((track, row) => {
    const y = row * k_row + 2;
    g.fillStyle = '#222';
    g.fillText('node ' + track.node + ' w ' + track.worker, 2, y + 11);
    let drawn = -1;  // pixels that are full already
    for (let i = first_after(track, from); i < track.begin.length && track.begin[i] < to; ++i) {
      const left = Math.max(place(track.begin[i]), k_left);
      const right = Math.min(place(track.begin[i] + track.length[i]), k_left + width);
      const is_task = track.what[i] === k_task;
      if (right - left < 0.7 && Math.floor(left) === drawn && !(is_task && matches(track.name[i]))) continue;
      drawn = Math.floor(left);
      g.fillStyle = !is_task ? data.colours[track.what[i]]
        : find.value === '' ? 'hsl(' + hue_of(track.name[i]) + ',55%,50%)' : matches(track.name[i]) ? '#cc2222' : '#bbbbbb';
      g.fillRect(left, y, Math.max(right - left, 0.7), k_row - 5);
      if (track.call.length && track.call[i]) {
        g.fillStyle = matches(track.call[i]) ? '#cc2222' : '#117733';
        g.fillRect(left, y + k_row - 8, Math.max(right - left, 0.7), 3);
      }
    }
    g.fillStyle = '#dd0000';
    for (const [begin, length] of track.kernel)
      if (begin < to && begin + length > from && begin >= from) g.fillRect(place(begin), y - 2, Math.max(length * scale, 0.7), 2);
    g.fillStyle = '#7700bb';
    for (const [at] of track.marks)
      if (at >= from && at < to) g.fillRect(place(at) - 0.5, y - 2, 1.5, k_row - 3);
    g.fillStyle = '#000';
    for (const [begin, end] of track.regions)
      if (begin < to && end > from) g.fillRect(Math.max(place(begin), k_left), y + k_row - 5, Math.min(place(end), k_left + width) - Math.max(place(begin), k_left), 2);
  });
  const seen = data.messages.filter(m => m[2] < to && m[3] > from);
  if (seen.length <= k_most_arrows) {
    g.strokeStyle = 'rgba(0,0,0,0.35)';
    g.save();
    g.beginPath();
    g.rect(k_left, 0, width, data.tracks.length * k_row);
    g.clip();
    g.beginPath();
    for (const [a, b, sent, received] of seen) {
      g.moveTo(place(sent), a * k_row + k_row / 2);
      g.lineTo(place(received), b * k_row + k_row / 2);
    }
    g.stroke();
    g.restore();
  }
  draw_axis(g, lines_canvas, data.tracks.length * k_row + 14);
}

function draw_load() {
  const g = prepare(load_canvas);
  const width = load_canvas.clientWidth - k_left - k_right;
  const height = load_canvas.clientHeight - k_axis - 14;
  const most = data.tracks.length;
  const step = data.length / data.parallelism.length;
  g.fillStyle = '#222';
  g.fillText('workers in tasks', 2, 11);
  g.fillText(String(most), 2, 24);
  g.fillStyle = '#4477aa';
  data.parallelism.forEach((running, i) => {
    const begin = i * step;
    if (begin + step < from || begin > to) return;
    const left = Math.max(k_left, k_left + (begin - from) / (to - from) * width);
    const right = Math.min(k_left + width, k_left + (begin + step - from) / (to - from) * width);
    const tall = running / most * height;
    g.fillRect(left, 14 + height - tall, Math.max(right - left, 0.5), tall);
  });
  draw_axis(g, load_canvas, load_canvas.clientHeight - 4);
}

function draw() { draw_lines(); draw_load(); }

function show(begin, width) {
  width = Math.max(0.01, Math.min(width, data.length));
  from = Math.max(0, Math.min(begin, data.length - width));
  to = from + width;
  draw();
}

function tell(e) {
  const at = time_at(e, lines_canvas);
  const row = Math.floor((e.clientY - lines_canvas.getBoundingClientRect().top) / k_row);
  const track = data.tracks[row];
  if (!track || at < from || at > to) { tip.textContent = ''; return; }
  const i = first_after(track, at);
  if (i >= track.begin.length || track.begin[i] > at) { tip.textContent = ''; return; }
  const what = track.what[i] === k_task ? data.words[track.name[i]] : data.activities[track.what[i]];
  const call = track.call.length && track.call[i] ? ' in ' + data.words[track.call[i]] : '';
  const inside = track.regions.filter(r => r[0] <= at && at <= r[1]).map(r => data.words[r[2]]);
  const taken = track.kernel.filter(k => Math.abs(k[0] - at) < (to - from) / 500 || (k[0] <= at && at <= k[0] + k[1]))
    .slice(0, 3).map(k => data.words[k[2]] + ' ' + describe_us(k[1]));
  const marks = track.marks.filter(m => Math.abs(m[0] - at) < (to - from) / 500).slice(0, 3)
    .map(m => data.words[m[1]] + ' ' + m[2]);
  tip.textContent = 'node ' + track.node + ', worker ' + track.worker + ': ' + what + call + ' from ' + describe_us(track.begin[i]) +
    ' for ' + describe_us(track.length[i]) + (inside.length ? '; in ' + inside.join(', ') : '') +
    (marks.length ? '; mark: ' + marks.join(', ') : '') +
    (taken.length ? '; the kernel: ' + taken.join(', ') : '');
}

lines_canvas.style.height = data.tracks.length * k_row + k_axis + 'px';
let held = null;
for (const canvas of [lines_canvas, load_canvas]) {
  canvas.addEventListener('wheel', e => {
    e.preventDefault();
    const at = time_at(e, canvas), factor = e.deltaY < 0 ? 0.7 : 1 / 0.7;
    show(at - (at - from) * factor, (to - from) * factor);
  }, {passive: false});
  canvas.addEventListener('mousedown', e => { held = time_at(e, canvas); });
  canvas.addEventListener('mousemove', e => {
    if (held !== null) show(from + held - time_at(e, canvas), to - from);
    else if (canvas === lines_canvas) tell(e);
  });
  canvas.addEventListener('dblclick', () => show(0, data.length));
}
window.addEventListener('mouseup', () => { held = null; });
window.addEventListener('resize', draw);
find.addEventListener('input', draw);
draw();
