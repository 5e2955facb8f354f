"""Pages for every reader: dark and light, by keyboard, without motion, on paper."""

import base64
import re

import pytest
from report.page_in_browser import DRAWN, moment

from safe_sysid.report.html_page import write_page
from safe_sysid.report.loop_page import loop_page

pytestmark = pytest.mark.slow

# Contrast (WCAG 2) of every visible text with what is painted behind it, the smallest first.
CONTRAST = """(() => {
  const numbers = c => [...c.match(/[\\d.]+/g).map(Number), 1].slice(0, 4);
  const linear = x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255)
    + 0.0722 * linear(b / 255);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor;
      if (c.startsWith('rgb') && numbers(c)[3] > 0.99) return numbers(c).slice(0, 3);
    }
    return [255, 255, 255];
  };
  const main = document.querySelector('main'), found = [];
  const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement, text = node.textContent.trim();
    if (!text || !e.getClientRects().length || e.tagName === 'OPTION') continue;
    const style = getComputedStyle(e), back = behind(e);
    const front = numbers(e instanceof SVGElement ? style.fill : style.color);
    let opacity = 1;
    for (let o = e; o; o = o.parentElement) opacity *= Number(getComputedStyle(o).opacity);
    const seen = back.map((x, i) => opacity * front[i] + (1 - opacity) * x);
    const [a, b] = [light(seen), light(back)].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), text.slice(0, 40)]);
  }
  return found.sort((x, y) => x[0] - y[0]).slice(0, 5);
})()"""
TABBED = """(() => { const e = document.activeElement, s = getComputedStyle(e);
  return [e.id || String(e.className), s.outlineStyle !== 'none', e.tagName]; })()"""


@pytest.fixture
def path(story, tmp_path):
    """The page of a made-up run."""
    path = tmp_path / 'run.html'
    write_page(path, loop_page(story))
    return path


def test_text_stands_out_in_both_schemes(browser, path):
    for dark in (False, True):
        browser.open(path, dark=dark)
        least = browser.value(CONTRAST)
        assert least[0][0] >= 4.5, least


def test_the_keyboard_reaches_everything_and_is_caught_by_nothing(browser, path):
    browser.open(path)
    stops = []
    for _ in range(26):
        browser.call('Input.dispatchKeyEvent', type='keyDown', key='Tab', code='Tab')
        browser.call('Input.dispatchKeyEvent', type='keyUp', key='Tab', code='Tab')
        stops.append(browser.value(TABBED))
    names = [name for name, _, _ in stops]
    for wanted in ('arm', 'play', 'time', 'speed', 'show-plan', 'show-held'):
        assert wanted in names, names
    assert 'A' in [kind for _, _, kind in stops]  # on to the contents, past the scene
    assert all(outlined for _, outlined, _ in stops), stops


def test_a_plot_is_read_by_keys(browser, path):
    browser.open(path)
    browser.value('document.querySelector("section figure svg").focus()')
    before = moment(browser)
    browser.call('Input.dispatchKeyEvent', type='keyDown', key='ArrowRight')
    assert moment(browser) > before
    assert browser.value('[...document.querySelectorAll(".tip")].some(t => t.offsetWidth > 0)')


def test_nothing_moves_by_itself_for_who_wants_no_motion(browser, path):
    browser.open(path)
    still = [{'name': 'prefers-reduced-motion', 'value': 'reduce'}]
    browser.call('Emulation.setEmulatedMedia', features=still)
    assert browser.value('getComputedStyle(document.documentElement).scrollBehavior') == 'auto'
    moving = (
        '[...document.querySelectorAll("*")].filter(e => { const s = getComputedStyle(e);'
        'return s.animationName !== "none" || parseFloat(s.transitionDuration) > 0; }).length'
    )
    assert browser.value(moving) == 0
    assert moment(browser) == 0.0


def test_a_page_is_printed_with_its_scene_and_without_controls(browser, path):
    browser.open(path)
    browser.value(DRAWN)
    printed = browser.call(
        'Page.printToPDF', printBackground=False, paperWidth=8.27, paperHeight=11.69
    )
    pdf = base64.b64decode(printed['data'])
    assert pdf.startswith(b'%PDF')
    pages = len(re.findall(rb'/Type\s*/Page\b', pdf))
    assert 2 <= pages <= 12
    widths = [int(w) for w in re.findall(rb'/Subtype\s*/Image[^>]*?/Width\s+(\d+)', pdf)]
    assert max(widths, default=0) > 300  # the scene, as a picture
    browser.call('Emulation.setEmulatedMedia', media='print', features=[])
    hidden = (
        '[".play", ".choices", ".save", ".hint", ".contents"].every('
        's => document.querySelector(s).getClientRects().length === 0)'
    )
    try:
        assert browser.value(hidden)
    finally:
        browser.call('Emulation.setEmulatedMedia', media='', features=[])
    assert moment(browser) == 6.0  # the end, which is what was found
    assert browser.complaints() == []
