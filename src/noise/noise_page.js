// SPDX-License-Identifier: Apache-2.0
// The charts of the noise page: they zoom with the wheel, move with the mouse, and tell the quantum under it.
// `data` is defined before: {classes, colours, series: [{processor, begin, step, noise, kernel}]}; milliseconds for
// places, microseconds for lengths.
'use strict';
const ftq = document.getElementById('ftq');
const kernel = document.getElementById('kernel');
const tip = document.getElementById('tip');
const k_left = 55, k_right = 10, k_top = 25, k_bottom = 20;
let chosen = 0, from = 0, to = 1;

const series = () => data.series[chosen];
const length = () => series().noise.length;
const shown = () => [Math.max(0, Math.floor(from * length())), Math.min(length(), Math.ceil(to * length()))];
const in_kernel = (s, i) => s.kernel.reduce((sum, one) => sum + (one[i] || 0), 0);
const describe_us = us => us >= 1000 ? (us / 1000).toFixed(2) + ' ms' : us.toFixed(2) + ' us';
const place = (e) => {
  const box = e.target.getBoundingClientRect();
  return (e.clientX - box.left - k_left) / (box.width - k_left - k_right);
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

function draw_axes(g, canvas, [begin, end], most, title) {
  const s = series();
  g.fillStyle = '#222';
  g.fillText(title, k_left, 12);
  g.fillText(describe_us(most), 2, k_top + 8);
  g.fillText('0', 2, canvas.clientHeight - k_bottom);
  for (let k = 0; k <= 4; ++k) {
    const x = k_left + (canvas.clientWidth - k_left - k_right) * k / 4;
    const at = s.begin + (begin + (end - begin) * k / 4) * s.step;
    g.fillText(at.toFixed(1) + ' ms', Math.min(x, canvas.clientWidth - 60), canvas.clientHeight - 4);
  }
}

function draw() {
  const range = shown(), [begin, end] = range, s = series();
  let most = 1;
  for (let i = begin; i < end; ++i) most = Math.max(most, s.noise[i], in_kernel(s, i));
  for (const [canvas, title] of [[ftq, 'measured: time lost in each quantum'],
                                 [kernel, 'the kernel\'s events in each quantum']]) {
    const g = prepare(canvas);
    const height = canvas.clientHeight - k_top - k_bottom;
    const step = (canvas.clientWidth - k_left - k_right) / (end - begin);
    const bar = Math.max(step * 0.8, 1);
    draw_axes(g, canvas, range, most, title);
    for (let i = begin; i < end; ++i) {
      const x = k_left + (i - begin) * step;
      let y = k_top + height;
      const add = (us, colour) => {
        const tall = us / most * height;
        y -= tall;
        g.fillStyle = colour;
        g.fillRect(x, y, bar, tall);
      };
      if (canvas === ftq) add(s.noise[i], '#555');
      else s.kernel.forEach((one, k) => { if (one[i]) add(one[i], data.colours[k]); });
    }
  }
}

function tell(e) {
  const [begin, end] = shown(), s = series();
  const i = begin + Math.floor(place(e) * (end - begin));
  if (i < begin || i >= end) { tip.textContent = ''; return; }
  let text = 'at ' + (s.begin + i * s.step).toFixed(2) + ' ms: lost ' + describe_us(s.noise[i]);
  s.kernel.forEach((one, k) => { if (one[i]) text += ', ' + data.classes[k] + ' ' + describe_us(one[i]); });
  tip.textContent = text;
}

function show(begin, width) {
  from = Math.max(0, Math.min(1 - width, begin));
  to = from + width;
  draw();
}

function zoom(e) {
  e.preventDefault();
  const at = Math.min(1, Math.max(0, place(e)));
  const width = Math.min(1, Math.max((to - from) * (e.deltaY < 0 ? 0.7 : 1 / 0.7), Math.min(1, 10 / length())));
  show(from + (to - from) * at - width * at, width);
}

if (ftq) {
  let held = null;
  for (const canvas of [ftq, kernel]) {
    canvas.addEventListener('wheel', zoom, {passive: false});
    canvas.addEventListener('mousedown', e => { held = place(e); });
    canvas.addEventListener('mousemove', e => {
      if (held === null) { tell(e); return; }
      const now = place(e);
      show(from + (held - now) * (to - from), to - from);
      held = now;
    });
    canvas.addEventListener('dblclick', () => show(0, 1));
  }
  window.addEventListener('mouseup', () => { held = null; });
  window.addEventListener('resize', draw);
  const bar = document.getElementById('which');
  data.series.forEach((s, k) => {
    const button = document.createElement('button');
    button.textContent = 'processor ' + s.processor;
    button.onclick = () => {
      chosen = k;
      for (const one of bar.children) one.classList.toggle('on', one === button);
      show(0, 1);
    };
    button.classList.toggle('on', k === 0);
    bar.appendChild(button);
  });
  draw();
}

const find = document.getElementById('find');
const lines = document.getElementById('lines');
const all_lines = lines.textContent.split('\n');
find.oninput = () => { lines.textContent = all_lines.filter(l => l.includes(find.value)).join('\n'); };
