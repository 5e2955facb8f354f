"""The scene in a real browser: depth, pointer, fingers, keys, and plots that follow."""

import numpy as np
import pytest
from report.page_in_browser import DRAWN, center, drag, moment, move_to, picture, seek, touch
from tiers import slow_after

from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.arm_scene import arm_scene
from safe_sysid.report.html_page import write_page
from safe_sysid.report.link_meshes import coarse_hull
from safe_sysid.report.loop_page import loop_page
from safe_sysid.report.page_scene import PageScene, PlanOccupancy
from safe_sysid.sets.box import Box

SIZES = [(390, 844), (800, 1100), (1280, 900), (1920, 1080)]
FIELD_OF_VIEW = np.deg2rad(42.0)  # upright, as in viewer.js
SURE = 0.012  # [m] by which facets and edges of pixels may be off
SHIFT = 8  # of modifiers in a key event of the protocol
DIFFERENT = 6  # of 255, that the set is seen


@pytest.fixture
def run(browser, story, tmp_path):
    """Open the page of a made-up run in some size."""

    def opened(width=1280, height=900, dark=False):
        path = tmp_path / 'run.html'
        write_page(path, loop_page(story))
        browser.open(path, width, height, dark)
        browser.value(DRAWN)
        return path

    return opened


@pytest.mark.parametrize(('width', 'height'), slow_after(1, SIZES))
def test_a_page_draws_in_every_size(browser, run, width, height):
    path = run(width, height, dark=width == 800)
    shown = picture(browser)
    arm = (shown[..., 3] > 200) & (np.ptp(shown[..., :3].astype(int), axis=-1) < 60)
    assert arm.mean() > 0.003  # arm and box, and not the air around them
    assert (shown[..., 3] == 0).mean() > 0.2
    seek(browser, 2.5)
    later = picture(browser)
    assert np.abs(later.astype(int) - shown).max() > 50
    assert browser.value('document.documentElement.scrollWidth') <= width
    cut = (
        '[...document.querySelectorAll("h1, .verdict, .fact, figure, .choices *, .play, .bars")]'
        f'.filter(e => e.getBoundingClientRect().right > {width} + 1).length'
    )
    assert browser.value(cut) == 0
    background = browser.value('getComputedStyle(document.body).backgroundColor')
    assert (int(background.removeprefix('rgb(').partition(',')[0]) < 60) == (width == 800)
    assert browser.value('document.querySelectorAll("header b").length') == 1  # text stays text
    assert browser.complaints() == []
    assert browser.requests() == [path.resolve().as_uri()]


class Eye:
    """The camera of a page, computed from where it says it is."""

    def __init__(self, browser, shape):
        view = browser.value('viewer.view')
        a, e = view['azimuth'], view['elevation']
        back = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        self.place = np.array(view['target']) + view['distance'] * back
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        self._axes = np.stack([right, np.cross(back, right), -back])
        self._shape = shape

    def rays(self, rows, columns):
        """Directions through the middles of pixels, (N, 3)."""
        height, width = self._shape
        scale = 2.0 * np.tan(0.5 * FIELD_OF_VIEW) / height
        x, y = scale * (columns + 0.5 - 0.5 * width), scale * (0.5 * height - rows - 0.5)
        return np.stack([x, y, np.ones(len(x))], axis=1) @ self._axes


def hit_ball(origin, rays, center, radius):
    """How far along rays a ball begins, infinite where they miss it."""
    d = rays / np.linalg.norm(rays, axis=1, keepdims=True)
    along = d @ (center - origin)
    beside = np.sum((center - origin) ** 2) - along**2
    inside = beside < radius**2
    depth = along - np.sqrt(np.where(inside, radius**2 - beside, 0.0))
    return np.where(inside, depth, np.inf)


def hit_box(origin, rays, center, half):
    """How far along rays an upright box begins, infinite where they miss it."""
    d = rays / np.linalg.norm(rays, axis=1, keepdims=True)
    with np.errstate(divide='ignore'):
        ends = np.stack([(center + s * half - origin) / d for s in (-1.0, 1.0)])
    first, last = ends.min(axis=0).max(axis=1), ends.max(axis=0).min(axis=1)
    return np.where((first < last) & (last > 0.0), first, np.inf)


@pytest.mark.parametrize(
    ('time', 'place'),
    slow_after(1, [(3.0, 'behind'), (1.0, 'in front'), (5.0, 'half inside')]),
)
def test_set_and_shelf_hide_each_other_as_geometry_says(browser, story, tmp_path, time, place):
    """Every pixel of a coarse grid, but those at edges; the oracle casts rays by itself."""
    model = RobotModel.named('two_link')
    middle, half, radius = np.array([0.5, 0.1, 0.35]), np.array([0.05, 0.3, 0.3]), 0.14
    balls = np.array([[0.75, -0.35, 0.55], [0.2, 0.4, 0.55], [0.5, -0.2, 0.4]])
    record = story.record
    shelf = Obstacles.of({'shelf': Box(middle, half, np.eye(3))})
    scene = arm_scene(model, record.time, np.full_like(record.q, 2.2), shelf)
    points = balls[:, None, None] * np.ones((1, 1, 2, 1))
    pieces = tuple(
        PlanOccupancy(
            start, np.array([2.0]), points[i : i + 1], np.full((1, 1, 2), radius), plan=i
        )
        for i, start in enumerate((0.0, 2.0, 4.0))
    )
    scene = PageScene(**{**scene.__dict__, 'occupancy': pieces, 'nearest': None})
    path = tmp_path / 'depth.html'
    write_page(path, loop_page(type(story)(**{**story.__dict__, 'scene': scene})))
    browser.open(path)
    seek(browser, time)
    browser.value(
        'Object.assign(viewer.view, {azimuth: -0.5, elevation: 0.35}), viewer.turn(0, 0)'
    )
    with_set = picture(browser).astype(int)
    for layer in ('now', 'plan'):
        browser.value(f'viewer.toggle("{layer}", false)')
    without = picture(browser).astype(int)
    eye = Eye(browser, with_set.shape[:2])
    rows, columns = (
        x.ravel() for x in np.mgrid[0 : with_set.shape[0] : 3, 0 : with_set.shape[1] : 3]
    )
    rays, ball = eye.rays(rows, columns), balls[int(time // 2)]
    near, far = (hit_ball(eye.place, rays, ball, radius + s) for s in (-SURE, 2 * SURE))
    small, large = (hit_box(eye.place, rays, middle, half + s) for s in (-SURE, SURE))
    seen = np.isfinite(near) & (near + SURE < large)
    hidden = np.isfinite(far) & np.isfinite(small) & (far > small + SURE)
    missed = ~np.isfinite(far)
    changed = np.abs(with_set - without).max(axis=-1)[rows, columns] >= DIFFERENT
    enough = {'in front': (100, 0), 'behind': (30, 100), 'half inside': (100, 0)}[place]
    assert seen.sum() > enough[0] and hidden.sum() >= enough[1]
    assert changed[seen].all()
    assert not changed[hidden].any()
    assert not changed[missed].any()
    assert browser.complaints() == []


@pytest.mark.slow
def test_dragging_turns_the_arm_and_play_goes_on(browser, run):
    run()
    first, (x, y) = picture(browser), center(browser, '#arm')
    drag(browser, (x, y), (x + 120, y))
    browser.value(DRAWN)
    assert np.abs(picture(browser).astype(int) - first).max() > 50
    browser.value("document.getElementById('speed').value = 0.5")
    browser.value("document.getElementById('play').click()")
    browser.value('new Promise(done => setTimeout(done, 900))')
    browser.value("document.getElementById('play').click()")
    assert 0.05 < moment(browser) < 3.0
    assert browser.complaints() == []


@pytest.mark.slow
def test_keys_turn_zoom_and_play(browser, run):
    run()
    browser.value("document.getElementById('arm').focus()")
    view = browser.value('({...viewer.view})')
    for key in ('ArrowLeft', '+', '3', 'End'):
        browser.call('Input.dispatchKeyEvent', type='keyDown', key=key)
        browser.call('Input.dispatchKeyEvent', type='keyUp', key=key)
    assert browser.value('viewer.view.azimuth') == pytest.approx(-np.pi / 2)
    assert browser.value('viewer.view') != view
    assert moment(browser) == pytest.approx(6.0)
    target, azimuth = browser.value('[viewer.view.target, viewer.view.azimuth]')
    browser.call('Input.dispatchKeyEvent', type='keyDown', key='ArrowRight', modifiers=SHIFT)
    moved, still = browser.value('[viewer.view.target, viewer.view.azimuth]')
    assert moved != target and still == azimuth
    assert browser.complaints() == []


@pytest.mark.slow
def test_the_page_scrolls_past_the_scene(browser, run):
    run()
    x, y = center(browser, '#arm')
    before = browser.value('[scrollY, viewer.view.distance]')
    browser.call(
        'Input.dispatchMouseEvent', type='mouseWheel', x=x, y=y, deltaX=0, deltaY=300
    )  # fmt: skip
    browser.value('new Promise(done => setTimeout(done, 400))')
    after = browser.value('[scrollY, viewer.view.distance]')
    assert after[0] > before[0] and after[1] == before[1]
    browser.call(
        'Input.dispatchMouseEvent', type='mouseWheel', x=x, y=200, deltaX=0, deltaY=-300,
        modifiers=2,
    )  # fmt: skip
    browser.value(DRAWN)
    assert browser.value('viewer.view.distance') < before[1]


@pytest.mark.slow
def test_fingers_turn_pinch_and_scroll(browser, run):
    run(390, 844)
    browser.call('Emulation.setTouchEmulationEnabled', enabled=True, maxTouchPoints=2)
    try:
        x, y = center(browser, '#arm')
        view = browser.value('({...viewer.view})')
        touch(browser, [(x, y)], [(x + 30, y)], [(x + 80, y)])
        turned = browser.value('({...viewer.view})')
        assert turned['azimuth'] != view['azimuth']
        touch(
            browser,
            [(x - 30, y), (x + 30, y)], [(x - 60, y), (x + 60, y)], [(x - 90, y), (x + 90, y)],
        )  # fmt: skip
        assert browser.value('viewer.view.distance') < turned['distance']
        from_top = browser.value('scrollY')
        touch(browser, [(x, y)], [(x, y - 20)], [(x, y - 60)], [(x, y - 120)], [(x, y - 160)])
        browser.value('new Promise(done => setTimeout(done, 300))')
        assert browser.value('scrollY') > from_top + 50
    finally:
        browser.call('Emulation.setTouchEmulationEnabled', enabled=False)
    assert browser.complaints() == []


@pytest.mark.slow
def test_plots_show_one_moment_and_a_click_seeks(browser, run):
    run()
    x, y = center(browser, 'section figure svg')
    move_to(browser, (x, y))
    browser.value(DRAWN)
    visible = 'line.pointed[visibility=visible]'
    assert browser.value(f'document.querySelectorAll("{visible}").length') >= 1
    assert browser.value('[...document.querySelectorAll(".tip")].some(t => t.offsetWidth > 0)')
    drag(browser, (x, y), (x, y))
    assert 2.0 < moment(browser) < 4.0
    seek(browser, 1.0)
    assert moment(browser) == pytest.approx(1.0)


@pytest.mark.slow
def test_a_stretch_of_time_is_shown_in_all_plots(browser, run):
    run()
    x, y = center(browser, 'section figure svg')
    before = browser.value('document.querySelector("section figure svg g").innerHTML')
    drag(browser, (x - 60, y), (x + 60, y))
    assert browser.value('document.body.classList.contains("stretched")')
    assert browser.value('document.querySelector("section figure svg g").innerHTML') != before
    browser.value('document.querySelector(".whole").click()')
    assert browser.value('document.querySelector("section figure svg g").innerHTML') == before
    assert browser.complaints() == []


@pytest.mark.slow
def test_plots_can_be_saved(browser, run):
    run()
    text = browser.value(
        'csvOf(JSON.parse(document.getElementById("data").textContent)'
        '.sections.find(s => s.plots.length).plots[0])'
    )
    lines = text.splitlines()
    assert 'time [s]' in lines[0] and len(lines) > 3
    svg = browser.value('standalone(document.querySelector("figure svg"))')
    assert svg.startswith('<svg') and 'var(' not in svg
    name, first, size = browser.value(
        'new Promise(done => { save = (name, blob) => blob.arrayBuffer().then(b => '
        'done([name, [...new Uint8Array(b)].slice(0, 8), b.byteLength])); '
        'document.querySelector("figure .save button:nth-child(3)").click(); })'
    )
    assert name.endswith('.png') and bytes(first) == b'\x89PNG\r\n\x1a\n' and size > 1000


@pytest.mark.slow
def test_without_webgl_a_sentence_stands_there_and_plots_work(browser, story, tmp_path):
    path = tmp_path / 'run.html'
    write_page(path, loop_page(story))
    text = path.read_text('utf-8')
    path.write_text(
        text.replace(
            '<main></main>',
            '<main></main><script>HTMLCanvasElement.prototype.getContext = () => null;</script>',
        )
    )
    browser.open(path)
    assert 'no WebGL' in browser.value('document.querySelector(".missing").textContent')
    seek(browser, 2.0)
    assert moment(browser) == pytest.approx(2.0)
    assert browser.complaints() == []


def test_a_page_is_small(run):
    assert run().stat().st_size < 2_000_000


DEEPEST = """(() => {
  let seed = 7, deepest = Infinity;
  const random = () => (seed = (1103515245 * seed + 12345) % 2147483648) / 2147483648;
  const ball = () => [0, 0, 0].map(() => 0.3 * random()).concat(0.03 + 0.07 * random());
  for (let trial = 0; trial < 6; trial++) {
    const [a, b] = [ball(), ball()], net = unionGeometry([[a, b]], CELL);
    const p = net.getAttribute('position').array, index = net.getIndex().array;
    const outside = x => {
      let least = Infinity;
      for (let t = 0; t <= 1; t += 0.005) {
        const away = Math.hypot(...[0, 1, 2].map(i => x[i] - a[i] - t * (b[i] - a[i])));
        least = Math.min(least, away - a[3] - t * (b[3] - a[3]));
      }
      return least;
    };
    for (let f = 0; f < index.length; f += 3 * 5) {
      const [u, v, w] = [0, 1, 2].map(c => [0, 1, 2].map(i => p[3 * index[f + c] + i]));
      [[1, 1, 1], [1, 0, 0], [1, 1, 0], [2, 1, 0]].forEach(m => {
        const x = [0, 1, 2].map(i => (m[0] * u[i] + m[1] * v[i] + m[2] * w[i]));
        deepest = Math.min(deepest, outside(x.map(y => y / (m[0] + m[1] + m[2]))));
      });
    }
  }
  return deepest; })()"""


@pytest.mark.slow
@pytest.mark.parametrize('cell', [0.012, 0.022])
def test_the_surface_that_is_drawn_contains_the_capsules(browser, run, cell):
    """Of hulls of two balls with random radii: no point of any triangle is inside them."""
    run()
    depth = browser.value(DEEPEST.replace('CELL', str(cell)))
    assert depth >= 0.0
    assert depth < cell**2 / 0.03


@pytest.mark.slow
def test_meshes_are_drawn_and_capsules_on_demand(browser, story, tmp_path):
    hull = coarse_hull(np.random.default_rng(3).normal(size=(200, 3)) * 0.05, 0, is_tip=False)
    scene, path = story.scene, tmp_path / 'meshes.html'
    shape = type(scene.shape)(**{**scene.shape.__dict__, 'meshes': (hull,)})
    scene = PageScene(**{**scene.__dict__, 'shape': shape})
    write_page(path, loop_page(type(story)(**{**story.__dict__, 'scene': scene})))
    browser.open(path)
    meshes = picture(browser).astype(int)
    browser.value('document.getElementById("show-capsules").click()')
    assert np.abs(picture(browser) - meshes).max() > 50
    assert browser.complaints() == []
