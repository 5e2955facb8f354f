"""Make the pictures of docs/gallery from the examples.

    python tools/gallery.py            # all of them
    python tools/gallery.py 03         # of one example

Runs each example in a folder of its own, opens the page that it writes in Chromium (on the path),
and keeps what a reader sees first; of an example that draws a picture, the picture.
docs/gallery/made_of.json says which text of an example a picture was made of; a test compares it
with the text of today.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import json
import os
from pathlib import Path
import subprocess
import sys
import tempfile

from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1] / 'test'))
from report.browser import Browser

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / 'docs' / 'gallery'
MADE_OF = GALLERY / 'made_of.json'
FILES = {  # example: the page or the picture that it writes
    '02_identifiable_parameters': 'identifiable.html',
    '03_simulate_the_loop': 'run.html',
    '08_design_an_excitation': 'excitation/*.svg',
}
SIZE = 1000, 1150  # [px] of the window
AT_LAST = """(() => { const s = document.getElementById('time');
  if (s) { s.value = s.max; s.dispatchEvent(new Event('input')); } })()"""
DRAWN = 'new Promise(done => setTimeout(done, 1500, 1))'


def text_of(example: str) -> str:
    """Digest of the text of an example."""
    text = (ROOT / 'examples' / f'{example}.py').read_bytes()
    return hashlib.sha256(text).hexdigest()[:16]


def main() -> None:
    """Run the examples, and write their pictures."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('numbers', nargs='*', help='of the examples, such as 03; default: all')
    numbers = parser.parse_args().numbers
    made = json.loads(MADE_OF.read_text(encoding='utf-8')) if MADE_OF.exists() else {}
    browser = Browser()
    try:
        for example, file in FILES.items():
            if not numbers or example[:2] in numbers:
                _make(example, file, browser)
                made[example] = text_of(example)
    finally:
        browser.close()
    MADE_OF.write_text(json.dumps(made, indent=2, sort_keys=True) + '\n', encoding='utf-8')


def _make(example: str, file: str, browser: Browser) -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, str(ROOT / 'examples' / f'{example}.py')],
            cwd=folder, check=True, stdout=subprocess.DEVNULL,
            env={**os.environ, 'PYTHONPATH': str(ROOT)},
        )  # fmt: skip
        if file.endswith('.svg'):
            path = GALLERY / f'{example}.svg'
            path.write_bytes(next(Path(folder).glob(file)).read_bytes())
            return
        browser.open(Path(folder, file), *SIZE)
        browser.value(AT_LAST)
        browser.value(DRAWN)
        answer = browser.call('Page.captureScreenshot', format='png')
    picture = Image.open(io.BytesIO(base64.b64decode(answer['data']))).convert('RGB')
    path = GALLERY / f'{example}.webp'
    picture.save(path, quality=80, method=6)
    sys.stdout.write(f'{path}: {path.stat().st_size / 1e3:.0f} kB\n')


if __name__ == '__main__':
    main()
