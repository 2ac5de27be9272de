# SPDX-License-Identifier: Apache-2.0
"""The page of `shoal trace --report`: drawn without a complaint, and its controls work."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from browser import Page  # noqa: E402  the path is set before

SHOAL, BROWSER = sys.argv[1:3]

CONTROLS = """
const note = (id, text) => { const p = document.createElement('p'); p.id = id; p.textContent = text; document.body.append(p); };
const before = lines_canvas.toDataURL();
const blank = document.createElement('canvas');
blank.width = lines_canvas.width;
blank.height = lines_canvas.height;
note('blank', before === blank.toDataURL());
find.value = 'bfs';
find.dispatchEvent(new Event('input'));
note('found', before !== lines_canvas.toDataURL());
find.value = '';
lines_canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: -1, clientX: 400, clientY: 5, cancelable: true}));
note('part', (to - from) / data.length);
lines_canvas.dispatchEvent(new MouseEvent('dblclick', {}));
note('restored', before === lines_canvas.toDataURL());
const box = lines_canvas.getBoundingClientRect();
for (let x = 100; x < box.width && !tip.textContent; ++x)
  lines_canvas.dispatchEvent(new MouseEvent('mousemove', {clientX: box.left + x, clientY: box.top + 5}));
note('told', tip.textContent);
note('messages', data.messages.length);
note('slices', data.tracks.reduce((sum, t) => sum + t.begin.length, 0));
"""


FLAME = """
const drawn = document.getElementById('flame');
const tell_of_flame = (x, y) => {
  const box = drawn.getBoundingClientRect();
  drawn.dispatchEvent(new MouseEvent('mousemove', {clientX: box.left + x, clientY: box.top + y}));
  return document.getElementById('flame_tip').textContent;
};
const height = drawn.getBoundingClientRect().height;
const all = drawn.toDataURL();
const add = (id, text) => { const p = document.createElement('p'); p.id = id; p.textContent = text; document.body.append(p); };
add('lowest', tell_of_flame(10, height - 5));
add('above', tell_of_flame(10, height - 25));
const place = drawn.getBoundingClientRect();
drawn.dispatchEvent(new MouseEvent('click', {clientX: place.left + 10, clientY: place.top + height - 42}));
const zoomed = drawn.toDataURL();
drawn.dispatchEvent(new MouseEvent('click', {clientX: place.left + 10, clientY: place.top + height - 5}));
add('zoomed', zoomed !== all);
add('back', drawn.toDataURL() === all);
"""


def page_of(*program, script="", options=()):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "trace.html")
        subprocess.run([SHOAL, "trace", "--folder", folder, "--report", file, *options, "--", *program], check=True,
                       stdout=subprocess.DEVNULL)
        return Page(BROWSER, file, script)


class Trace(unittest.TestCase):
    def test_the_flame_graph(self):
        page = page_of(SHOAL, "bfs", "--kronecker", "16", "--roots", "4", "-w", "1", script=FLAME, options=["--samples"])
        self.assertEqual(page.complaints, [])
        self.assertEqual(len(page.all("canvas")), 3)
        self.assertRegex(page.text("lowest"), "^all: .*100.0 %")
        self.assertRegex(page.text("above"), "ms of processor time")
        self.assertEqual(page.text("zoomed"), "true")
        self.assertEqual(page.text("back"), "true")

    def test_the_timeline_of_two_nodes(self):
        page = page_of(SHOAL, "bfs", "--kronecker", "12", "--roots", "2", "-n", "2", "-w", "1", "--direct", "off",
                       script=CONTROLS)
        self.assertEqual(page.complaints, [])
        self.assertEqual(len(page.all("canvas")), 2)
        self.assertEqual(page.text("blank"), "false")
        self.assertEqual(page.text("found"), "true")
        self.assertLess(float(page.text("part")), 1)
        self.assertEqual(page.text("restored"), "true")
        self.assertIn("node 0, worker 0", page.text("told"))
        self.assertGreater(int(page.text("messages")), 10)
        self.assertGreater(int(page.text("slices")), 100)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
