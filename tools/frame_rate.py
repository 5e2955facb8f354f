"""Measure how fast a report opens and how many pictures a second its scene plays, in Chromium.

    safe-sysid demo --out demo
    python tools/frame_rate.py demo/report.html

Needs Chromium on the path, which computes pictures with the processor here (SwiftShader).
"""

from __future__ import annotations

import argparse
from pathlib import Path
import sys

sys.path.insert(0, str(Path(__file__).parents[1] / 'test'))
from report.browser import Browser

SIZES = ((1280, 900), (390, 844))  # [px] of the window
WARM = 2.5  # [s] of playing before pictures are counted, while the page finds its pixel ratio
COUNTED = 6.0  # [s]
OPENED = "performance.getEntriesByType('navigation')[0].loadEventEnd / 1000"
PLAYED = """new Promise(done => {
  document.getElementById('speed').value = 0.5;
  document.getElementById('play').click();
  const begin = performance.now(); let first = 0, count = 0;
  const step = now => {
    if (now - begin > WARM) { if (!first) first = now; else count++; }
    if (first && now - first > COUNTED) {
      document.getElementById('play').click(); done(1000 * count / (now - first));
    } else requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""


def main() -> None:
    """Print size, time to open and pictures a second, a line for each window."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('report', type=Path)
    report = parser.parse_args().report
    sys.stdout.write(f'{report}: {report.stat().st_size / 1e6:.2f} MB\n')
    played = PLAYED.replace('WARM', str(1e3 * WARM)).replace('COUNTED', str(1e3 * COUNTED))
    browser = Browser()
    try:
        for width, height in SIZES:
            browser.open(report, width, height)
            opened, frames = browser.value(OPENED), browser.value(played)
            pixels = browser.value('document.getElementById("arm").width')
            sys.stdout.write(
                f'{width}x{height}: opens in {opened:.2f} s, {frames:.0f} pictures a second, '
                f'{pixels} pixels wide\n'
            )
    finally:
        browser.close()


if __name__ == '__main__':
    main()
