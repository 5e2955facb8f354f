"""Make the moving picture of the README from the report of a demo.

    safe-sysid demo --out demo
    python tools/animation.py demo/report.html docs/demo.webp

Needs Chromium on the path. The picture is that of the page, moment after moment, with what was
known of the mass written below.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
from pathlib import Path
import sys

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1] / 'test'))
from report.browser import Browser

SIZE = 760, 470  # [px] of the scene
MOMENTS = 90
PAUSE, LAST = 110, 2500  # [ms] a picture is shown, and the last one
MOST = 3_000_000  # bytes

STAGE = """(() => {
  const stage = document.querySelector('.stage'), style = document.createElement('style');
  document.body.append(stage);
  document.querySelector('main').style.display = 'none';
  style.textContent = `.stage canvas { height: HEIGHTpx !important; }
    .save-scene, .keys { display: none; }
    body { overflow: hidden; }
    .told { position: absolute; left: 14px; bottom: 12px; font-size: 17px; font-weight: 600;
    font-variant-numeric: tabular-nums; background: var(--card);
    border: 1px solid var(--line); border-radius: 6px; padding: 4px 12px; }`;
  document.head.append(style);
  stage.append(Object.assign(document.createElement('div'), { className: 'told' }));
})()"""
SHOWN = """new Promise(done => requestAnimationFrame(() => {
  viewer.draw(2); setTimeout(done, 20, 1); }))"""


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('report', type=Path)
    parser.add_argument('moving', type=Path)
    options = parser.parse_args()
    page = options.report.read_text(encoding='utf-8')
    data = json.loads(page.partition('id="data">')[2].partition('</script>')[0])
    pictures = _pictures(options.report, data)
    pauses = [PAUSE] * (len(pictures) - 1) + [LAST]
    pictures[0].save(
        options.moving, save_all=True, append_images=pictures[1:], duration=pauses, loop=0,
        quality=62, method=6,
    )  # fmt: skip
    size = options.moving.stat().st_size
    said = f'{options.moving}: {size / 1e6:.2f} MB, {len(pictures)} pictures\n'
    sys.stdout.write(said)
    if size > MOST:
        sys.exit(f'{options.moving} has more than {MOST} bytes; take fewer moments')


def _pictures(report: Path, data: dict) -> list[Image.Image]:
    time, bars = data['scene']['motion']['time'], data['sections'][0]['bars']
    browser = Browser()
    try:
        browser.open(report, *SIZE)
        browser.value(STAGE.replace('HEIGHT', str(SIZE[1])))
        browser.value("dispatchEvent(new Event('resize')), viewer.preset('1')")
        pictures = []
        for moment in np.linspace(time[0], time[-1], MOMENTS):
            browser.value(
                f'document.querySelector(".told").textContent = {_told(data, bars, moment)}'
            )
            browser.value(
                f"(() => {{ const s = document.getElementById('time'); s.value = {moment};"
                "s.dispatchEvent(new Event('input')); })()"
            )
            browser.value(SHOWN)
            answer = browser.call('Page.captureScreenshot', format='png')
            picture = Image.open(io.BytesIO(base64.b64decode(answer['data'])))
            pictures.append(picture.convert('RGB'))
    finally:
        browser.close()
    return pictures


def _told(data: dict, bars: dict, moment: float) -> str:
    """Say what the arm does and what is known of the mass, as a string of JavaScript."""
    at = max(int(np.searchsorted(bars['time'], moment, side='right')) - 1, 0)
    low, high = bars['lower'][at][0], bars['upper'][at][0]
    doing = [name for begin, name in data['scene']['marks'] if begin <= moment + 1e-9]
    mass = f'{np.floor(100 * low) / 100:.2f} to {np.ceil(100 * high) / 100:.2f} kg'
    return json.dumps(
        f'{moment:4.1f} s   {doing[-1] if doing else ""}: gripper and payload {mass}'
    )


if __name__ == '__main__':
    main()
