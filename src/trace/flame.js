// SPDX-License-Identifier: Apache-2.0
// A flame graph: a box per function, as wide as the processor time that samples have found in it and in what it has called,
// above its caller. A click makes a box as wide as the page; a click on the lowest one shows all again.
// `data` is defined before: {words, flame: [name, microseconds, own microseconds, [the same of what it calls]]}; the
// elements `flame` (canvas) and `flame_tip`, too, and `find`, whose words mark boxes.
'use strict';
if (data.flame) {
  const canvas = document.getElementById('flame'), says = document.getElementById('flame_tip');
  const find = document.getElementById('find');
  const k_row = 17;
  const depth_of = n => 1 + n[3].reduce((most, c) => Math.max(most, depth_of(c)), 0);
  const deepest = depth_of(data.flame);
  const all_us = data.flame[1];
  const name_of = n => n === data.flame ? 'all' : data.words[n[0]];
  let path = [data.flame];  // from the root to what is as wide as the page
  let boxes = [];

  const draw = () => {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth;
    canvas.style.height = deepest * k_row + 'px';
    canvas.width = width * ratio;
    canvas.height = deepest * k_row * ratio;
    const g = canvas.getContext('2d');
    g.scale(ratio, ratio);
    g.font = '11px sans-serif';
    boxes = [];
    const box = (n, level, left, wide) => {
      if (wide < 0.5) return;
      const top = (deepest - 1 - level) * k_row;
      boxes.push({n, left, right: left + wide, top});
      const marked = find.value !== '' && name_of(n).includes(find.value);
      g.fillStyle = marked ? '#cc2222' : level < path.length - 1 ? '#dddddd' : 'hsl(' + (n[0] * 137.508) % 60 + ',75%,65%)';
      g.fillRect(left, top, Math.max(wide - 0.5, 0.5), k_row - 1);
      if (wide > 30) {
        g.save();
        g.beginPath();
        g.rect(left, top, wide - 3, k_row);
        g.clip();
        g.fillStyle = marked ? '#fff' : '#222';
        g.fillText(name_of(n), left + 3, top + 12);
        g.restore();
      }
      if (level + 1 < path.length) return box(path[level + 1], level + 1, 0, width);
      let at = left;
      for (const called of n[3]) {
        box(called, level + 1, at, wide * called[1] / n[1]);
        at += wide * called[1] / n[1];
      }
    };
    box(data.flame, 0, 0, width);
  };
  const box_at = e => {
    const r = canvas.getBoundingClientRect(), x = e.clientX - r.left, y = e.clientY - r.top;
    return boxes.find(b => b.left <= x && x < b.right && b.top <= y && y < b.top + k_row);
  };
  const path_to = (n, wanted) => {
    if (n === wanted) return [n];
    for (const called of n[3]) {
      const rest = path_to(called, wanted);
      if (rest) return [n, ...rest];
    }
    return null;
  };
  canvas.addEventListener('mousemove', e => {
    const b = box_at(e);
    says.textContent = !b ? '' : name_of(b.n) + ': ' + (b.n[1] / 1000).toFixed(1) + ' ms of processor time (' +
      (100 * b.n[1] / all_us).toFixed(1) + ' %), ' + (b.n[2] / 1000).toFixed(1) + ' ms of its own';
  });
  canvas.addEventListener('click', e => {
    const b = box_at(e);
    if (b) { path = path_to(data.flame, b.n); draw(); }
  });
  window.addEventListener('resize', draw);
  find.addEventListener('input', draw);
  draw();
}
