"""Pages in a real browser: they draw, the slider moves the arm, nothing complains."""

from pathlib import Path

from cli.recorded_arm import as_bag, trial
import numpy as np
import pytest
from report.browser import Browser, chromium

from safe_sysid.audit.loop_record import LoopRecord, PlanningEntry
from safe_sysid.cli.main import main
from safe_sysid.identify.estimate_series import EstimateSeries
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.report.arm_scene import arm_scene, plan_occupancy
from safe_sysid.report.html_page import PlanOccupancy, html_of, write_page
from safe_sysid.report.loop_page import LoopStory, loop_page
from safe_sysid.report.page_figures import write_figures
from safe_sysid.sets.box import Box
from safe_sysid.track.gains import Gains
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

PERIODS = 3000
TRUTH = np.array([1.0, 0.1, 0.0, 0.0, 0.02, 0.0, 0.02, 0.0, 0.0, 0.02])


def made_up_record(rng):
    """A run as plain numbers, one torque peak of a single period in it."""
    time = np.linspace(0.0, 6.0, PERIODS)
    q = np.column_stack([0.9 * np.sin(time), 0.6 * np.cos(1.5 * time)])
    error = 0.002 * np.sin(7.0 * q)
    tau = 10.0 * q + 0.1 * rng.normal(size=q.shape)
    tau[1501, 0] = 41.5
    width = np.array([1.0, 0.5, 0.2, 0.1])[:, None] * np.linspace(0.5, 1.0, 10)
    nominal = np.tile(TRUTH, (4, 1))
    return LoopRecord(
        joint_names=('joint_1', 'joint_2'),
        torque_limit=np.array([60.0, 30.0]),
        time=time,
        q=q,
        qd=np.gradient(q, time, axis=0),
        q_d=q + error,
        qd_d=np.gradient(q, time, axis=0),
        error=error,
        error_bound=np.full_like(q, 0.01),
        tau=tau,
        tau_lower=np.where(time[:, None] < 3.0, tau - 5.0, np.nan),
        tau_upper=np.where(time[:, None] < 3.0, tau + 5.0, np.nan),
        plan=(time > 3.0).astype(int),
        plan_start=np.array([0.0, 3.0]),
        estimates=EstimateSeries(
            np.array([0.0, 1.0, 2.0, 4.0]), nominal, nominal - width, nominal + width
        ),
        planning=(PlanningEntry(0.0, 'new plan', 'new plan </script><b>&', 1.0, 0.4, 0),),
        fault='',
        fault_time=float('nan'),
    )


@pytest.fixture
def story(rng):
    record, model = made_up_record(rng), RobotModel.named('two_link')
    box = Box(np.array([0.4, 0.5, 0.2]), np.full(3, 0.1), np.eye(3))
    scene = arm_scene(model, record.time, record.q, Obstacles.of({'box': box}))
    balls = PlanOccupancy(0.0, np.array([3.0, 6.0]), scene.capsules[:2], np.full((2, 3, 2), 0.1))
    scene = type(scene)(**{**scene.__dict__, 'occupancy': (balls,)})
    return LoopStory('Made up', 'numbers only', record, scene, truth=TRUTH, clearance=0.02)


@pytest.fixture(scope='module')
def browser():
    if chromium() is None:
        pytest.skip('no Chromium on PATH to look at pages with; install chromium to run this')
    opened = Browser()
    yield opened
    opened.close()


def picture(browser):
    """Bytes of what the canvas shows."""
    return browser.value("document.getElementById('arm').toDataURL()")


def colors(browser):
    """How many pixels of the canvas look like the arm, its tip and the obstacle."""
    return browser.value(
        '(() => { const c = document.getElementById("arm"); const d = c.getContext("2d")'
        '.getImageData(0, 0, c.width, c.height).data; let bluish = 0, orange = 0, red = 0;'
        'for (let i = 0; i < d.length; i += 4) { if (d[i + 3] < 200) continue;'
        'if (d[i + 2] > d[i] + 15) bluish++; if (d[i] > d[i + 2] + 90 && d[i + 1] > 100) orange++;'
        'if (d[i] > d[i + 1] + 60 && d[i + 1] < 150) red++; } return [bluish, orange, red]; })()'
    )


def seek(browser, index):
    browser.value(
        f"(() => {{ const s = document.getElementById('time'); s.value = {index};"
        "s.dispatchEvent(new Event('input')); })()"
    )


@pytest.mark.parametrize('dark', [False, True], ids=['light', 'dark'])
def test_a_page_of_a_run_draws_and_its_slider_moves_the_arm(browser, story, dark, tmp_path):
    path = tmp_path / 'run.html'
    write_page(path, loop_page(story))
    browser.open(path, dark=dark)
    assert browser.value('document.querySelectorAll("figure svg").length') >= 8
    arm, tip, box = colors(browser)
    assert arm > 500 and tip > 200 and box > 200
    first = picture(browser)
    seek(browser, 100)
    assert picture(browser) != first
    assert browser.value('document.querySelector(".play output").textContent').endswith(' s')
    cursors = 'document.querySelectorAll("line[visibility=visible]").length'
    assert browser.value(cursors) >= 8
    seek(browser, 0)
    assert picture(browser) == first
    background = browser.value('getComputedStyle(document.body).backgroundColor')
    red = int(background.removeprefix('rgb(').partition(',')[0])
    assert (red < 60) == dark
    assert browser.value('document.querySelectorAll("b").length') == 1  # text stays text
    assert browser.complaints() == []
    assert browser.requests() == [path.resolve().as_uri()]


def test_dragging_turns_the_arm_and_play_goes_on(browser, story, tmp_path):
    path = tmp_path / 'run.html'
    write_page(path, loop_page(story))
    browser.open(path)
    first = picture(browser)
    for kind, x in (('mousePressed', 500), ('mouseMoved', 620), ('mouseReleased', 620)):
        browser.call(
            'Input.dispatchMouseEvent', type=kind, x=x, y=500, button='left', buttons=1,
            clickCount=1,
        )  # fmt: skip
    turned = picture(browser)
    assert turned != first
    browser.value("document.getElementById('play').click()")
    waited = browser.value(
        'new Promise(done => setTimeout(() => done(document.getElementById("time").value), 900))'
    )
    assert int(waited) > 5
    assert browser.complaints() == []


def test_a_page_of_a_recording_draws(browser, tmp_path, capsys):
    bag = as_bag(trial(seconds=2.0), tmp_path / 'run')
    path, plots = tmp_path / 'page.html', tmp_path / 'plots'
    asked = ['identify', str(bag), '--robot', 'two_link', '--json']
    assert main([*asked, '--html', str(path), '--plots', str(plots)]) == 0
    capsys.readouterr()
    browser.open(path)
    assert (
        browser.value('document.querySelector(".verdict b").textContent') == 'Bounds were found.'
    )
    assert colors(browser)[0] > 500
    assert browser.complaints() == []
    assert len(list(plots.glob('*.png'))) == len(list(plots.glob('*.svg'))) == 2


def test_a_page_is_one_file_that_names_no_address(story):
    page = html_of(loop_page(story))
    assert 'src=' not in page and '@import' not in page and 'url(' not in page
    addresses = {
        word for word in page.replace('"', ' ').replace("'", ' ').split() if '://' in word
    }
    assert addresses == {'http://www.w3.org/2000/svg'}  # the name of a format, not a place


def test_peaks_are_drawn_however_short_they_are(story):
    assert '41.5' in html_of(loop_page(story)).partition('"joint_1"')[2]


def test_a_broken_promise_is_the_verdict(story):
    record = story.record
    for changed, sentence in (
        ({'error': record.error * 10.0}, 'a tracking error exceeded its bound'),
        ({'tau': record.tau + 6.0}, 'a torque left what the certificate allows for'),
        ({'fault': 'stamps went back'}, 'there was a fault: stamps went back'),
    ):
        bad = type(record)(**{**record.__dict__, **changed})
        page = loop_page(LoopStory('x', 'y', bad, None, truth=TRUTH))
        assert not page.is_good
        assert sentence in page.verdict[1]
    outside = loop_page(LoopStory('x', 'y', record, None, truth=TRUTH + 5.0))
    assert 'a true parameter was outside its bounds' in outside.verdict[1]
    touched = loop_page(LoopStory('x', 'y', record, None, clearance=-0.001))
    assert 'the arm touched something' in touched.verdict[1]
    assert loop_page(story).is_good


def test_capsules_are_where_forward_kinematics_puts_them():
    model = RobotModel.named('two_link')
    q = np.array([[0.3, -0.7]])
    scene = arm_scene(model, np.zeros(1), q, NO_OBSTACLES)
    elbow = 0.4 * np.array([np.cos(0.3), 0.0, -np.sin(0.3)])
    link = list(model.capsules.names).index('link_1')
    np.testing.assert_allclose(np.abs(scene.capsules[0, link, 1]), np.abs(elbow), atol=1e-9)
    assert scene.is_tip == (False, False, True)


def test_what_is_drawn_as_reachable_contains_the_arm_on_its_plan(rng):
    """Any parameters, any tracking error within the bound; sampled."""
    model = RobotModel.named('two_link')
    theta = ratio_bounds(model.theta, 0.05)
    estimate = ParameterEstimate(model.layout, model.theta, theta)
    gains = Gains(np.full(2, 5.0), 20.0, 1.0, 1e-3)
    curve = Bezier(np.array([0.2, -0.4]), np.zeros(2), np.zeros(2), 2.0)
    k = np.array([0.5, 0.3])
    horizon = Horizon(curve, k, np.zeros(2))
    problem = Problem(model, estimate, horizon, gains, NO_OBSTACLES)
    certificate = ReachableSet.certify_center(problem)
    plan = Plan(1.0, 2.0, curve, k, theta, certificate)
    (drawn,) = plan_occupancy(plan)
    names = [i for i, joint in enumerate(model.capsules.joint) if joint >= 0]
    for _ in range(200):
        t = rng.uniform(0.0, 2.0)
        q = plan.desired(1.0 + t)[0] + certificate.error.position * rng.uniform(-1.0, 1.0, 2)
        placed = arm_scene(model, np.zeros(1), q[None], NO_OBSTACLES).capsules[0, names]
        step = int(np.searchsorted(drawn.ends, t))
        apart = np.linalg.norm(placed - drawn.points[step], axis=-1)
        assert (apart + model.capsules.radius[names][:, None] <= drawn.radii[step] + 1e-9).all()


@pytest.mark.slow
def test_figures_are_written_in_both_formats(story, tmp_path):
    written = write_figures(tmp_path, loop_page(story))
    assert {path.suffix for path in written} == {'.png', '.svg'}
    assert all(path.stat().st_size > 1000 for path in written)
    assert (tmp_path / 'torques.png').exists()
    assert Path(written[0]).read_bytes().startswith(b'\x89PNG')
