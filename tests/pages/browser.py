# SPDX-License-Identifier: Apache-2.0
"""Opens a page in Chromium without a screen: what it made of itself, and what it complained about."""
import html.parser
import pathlib
import re
import subprocess
import tempfile


class _Elements(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []  # [name, attributes, text]
        self._open = []

    def handle_starttag(self, tag, attrs):
        self.found.append([tag, dict(attrs), ""])
        self._open.append(self.found[-1])

    def handle_endtag(self, tag):
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        for one in self._open:
            one[2] += data


class Page:
    """A page after its scripts have run, and then `script`."""

    def __init__(self, browser, file, script=""):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "page.html")
            text = pathlib.Path(file).read_text(encoding="utf-8")
            copy.write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
            run = subprocess.run(
                [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 f"--user-data-dir={folder}/profile", "--enable-logging=stderr", "--virtual-time-budget=3000",
                 "--window-size=1100,900", "--dump-dom", copy.as_uri()],
                capture_output=True, text=True, timeout=100, check=False)
        self.complaints = re.findall(r"CONSOLE[:(].*", run.stderr)
        elements = _Elements()
        elements.feed(run.stdout)
        self._found = elements.found
        if not self._found:
            raise RuntimeError(f"the browser has shown nothing: {run.stderr[-2000:]}")

    def all(self, tag, **attributes):
        return [(a, text) for name, a, text in self._found
                if name == tag and all(a.get(k) == v for k, v in attributes.items())]

    def text(self, identity):
        for _, a, text in self._found:
            if a.get("id") == identity:
                return text
        return None
