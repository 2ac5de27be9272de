# SPDX-License-Identifier: Apache-2.0
"""The page of `shoal noise --report`: drawn without a complaint, and its controls work."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from browser import Page  # noqa: E402  the path is set before

SHOAL, BROWSER = sys.argv[1:3]

# Whether something is drawn, before and after the wheel; then the search.
CONTROLS = """
const picture = (c) => c.toDataURL();
const blank = document.createElement('canvas');
blank.width = ftq.width;
blank.height = ftq.height;
const note = (id, text) => { const p = document.createElement('p'); p.id = id; p.textContent = text; document.body.append(p); };
const before = picture(ftq);
note('blank', before === picture(blank));
ftq.dispatchEvent(new WheelEvent('wheel', {deltaY: -1, clientX: 300, clientY: 50, cancelable: true}));
note('width', to - from);
ftq.dispatchEvent(new MouseEvent('mousemove', {clientX: 300, clientY: 50}));
ftq.dispatchEvent(new MouseEvent('dblclick', {}));
note('restored', before === picture(ftq));
note('all', to - from);
find.value = 'no such line';
find.oninput();
"""


def page_of(*arguments, script=""):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "noise.html")
        subprocess.run([SHOAL, "noise", "--report", file, *arguments], check=True, stdout=subprocess.DEVNULL)
        return Page(BROWSER, file, script)


class Noise(unittest.TestCase):
    def test_charts_of_processors(self):
        page = page_of("--seconds", "0.5", script=CONTROLS)
        self.assertEqual(page.complaints, [])
        self.assertEqual(len(page.all("canvas")), 2)
        buttons = page.all("button")
        self.assertGreaterEqual(len(buttons), 1)
        self.assertTrue(all(text.startswith("processor ") for _, text in buttons))
        self.assertEqual(page.text("blank"), "false")
        self.assertEqual(page.text("restored"), "true")
        self.assertLess(float(page.text("width")), 1)
        self.assertEqual(float(page.text("all")), 1)
        self.assertIn("lost", page.text("tip"))
        self.assertEqual(page.text("lines"), "")
        self.assertGreaterEqual(len(page.all("svg")), len(buttons))

    def test_a_program(self):
        page = page_of("--", "sh", "-c", "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done")
        self.assertEqual(page.complaints, [])
        self.assertEqual(page.all("canvas"), [])
        self.assertIn("the longest", page.text("lines"))

    def test_a_complaint_is_seen(self):
        page = page_of("--seconds", "0.1", script="no_such_function();")
        self.assertEqual(len(page.complaints), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
