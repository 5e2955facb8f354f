"""What a page in a browser shows: pixels of its scene, and what a finger or a mouse does to it."""

import base64
import io

import numpy as np
from PIL import Image

DRAWN = 'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))'


def seek(browser, time):
    """Move the slider, and wait until the moment is drawn."""
    browser.value(
        f"(() => {{ const s = document.getElementById('time'); s.value = {time};"
        "s.dispatchEvent(new Event('input')); })()"
    )
    browser.value(DRAWN)


def moment(browser):
    """Time that the page shows [s]."""
    return float(browser.value('document.querySelector(".play output").textContent')[:-2])


def picture(browser):
    """Pixels of the scene as it is now, drawn with one pixel per CSS pixel, (H, W, 4)."""
    address = browser.value(
        '(() => { const c = document.getElementById("arm"); viewer.draw(1);'
        'return c.toDataURL("image/png"); })()'
    )
    return np.array(Image.open(io.BytesIO(base64.b64decode(address.partition(',')[2]))))


def center(browser, selector):
    """Middle of an element in the window, after it was scrolled into view."""
    return browser.value(
        f'(() => {{ const e = document.querySelector({selector!r});'
        'e.scrollIntoView({block: "center", behavior: "instant"});'
        'const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()'
    )


def drag(browser, start, end):
    """Press the left button at a place, move, and let go."""
    for kind, (x, y), held in (
        ('mousePressed', start, 1), ('mouseMoved', end, 1), ('mouseReleased', end, 0),
    ):  # fmt: skip
        browser.call(
            'Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left', buttons=held,
            clickCount=1,
        )  # fmt: skip


def move_to(browser, place):
    """Move the pointer without a button."""
    x, y = place
    browser.call('Input.dispatchMouseEvent', type='mouseMoved', x=x, y=y)


def touch(browser, *steps):
    """Put fingers down, move them and lift them; a step is a list of places."""
    for i, places in enumerate(steps):
        browser.call(
            'Input.dispatchTouchEvent',
            type='touchStart' if i == 0 else 'touchMove',
            touchPoints=[{'x': x, 'y': y, 'id': n} for n, (x, y) in enumerate(places)],
        )
    browser.call('Input.dispatchTouchEvent', type='touchEnd', touchPoints=[])
