"""Pages in a real browser: they draw, the slider moves the arm, nothing complains."""

from importlib.resources import files
from pathlib import Path
import re

from cli.recorded_arm import as_bag, trial
import numpy as np
import pytest
from report.made_up_run import TRUTH

from safe_sysid.audit.ledger import Entry, Ledger
from safe_sysid.cli.main import main
from safe_sysid.model.collision.contact import ContactClearance
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.report.arm_scene import (
    arm_scene,
    drawn_capsules,
    motion_of,
    placed_capsules,
    plan_occupancy,
)
from safe_sysid.report.html_page import html_of
from safe_sysid.report.loop_page import LoopStory, loop_page
from safe_sysid.report.page_figures import write_figures
from safe_sysid.track.gains import Gains
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan


@pytest.mark.slow
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
    assert browser.value('document.querySelectorAll("figure svg").length') >= 2
    assert browser.complaints() == []
    assert len(list(plots.glob('*.png'))) == len(list(plots.glob('*.svg'))) == 2


def test_a_page_is_one_file_that_names_no_address(story):
    page = html_of(loop_page(story))
    markup = re.sub(r'(<(script|style)[^>]*>).*?</\2>', r'\1', page, flags=re.DOTALL)
    assert markup.count('<script') == page.count('</script>')  # none is closed too early
    assert ' src=' not in markup and '<link' not in markup
    style = page.partition('<style>')[2].partition('</style>')[0]
    assert '@import' not in style and 'url(' not in style
    addresses = set(re.findall(r'https?://[^"\'` ]*', page))
    assert addresses == {  # the names of two formats, not places
        'http://www.w3.org/2000/svg',
        'http://www.w3.org/1999/xhtml',
    }


def test_the_library_comes_with_its_version_and_licence():
    head = (files('safe_sysid.report') / 'page' / 'three.min.js').read_text('utf-8')[:2000]
    build = (Path(__file__).parents[2] / 'tools' / 'three_bundle' / 'build.sh').read_text('utf-8')
    version = re.search(r'THREE=(\S+)', build).group(1)
    assert f'three.js {version},' in head
    assert 'The MIT License' in head and 'Permission is hereby granted' in head


def test_a_page_without_a_scene_has_no_library(story):
    without = type(story)(**{**story.__dict__, 'scene': None})
    assert len(html_of(loop_page(without))) < 300_000 < len(html_of(loop_page(story)))


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


def placed_at(model, q):
    """Capsules of an arm as a page draws them, (m, 2, 3)."""
    return placed_capsules(drawn_capsules(model), motion_of(model, np.zeros(1), q[None]))[0]


def test_capsules_are_where_forward_kinematics_puts_them():
    model = RobotModel.named('two_link')
    q = np.array([0.3, -0.7])
    elbow = 0.4 * np.array([np.cos(0.3), 0.0, -np.sin(0.3)])
    link = list(model.capsules.names).index('link_1')
    np.testing.assert_allclose(np.abs(placed_at(model, q)[link, 1]), np.abs(elbow), atol=1e-9)
    scene = arm_scene(model, np.zeros(1), q[None], NO_OBSTACLES)
    assert scene.shape.is_tip == (False, False, True)


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
        placed = placed_at(model, q)[names]
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


def test_what_is_held_is_said_first_without_the_gripper_and_rounded_outward(story):
    last = story.record.estimates
    own = ratio_bounds(0.2 * TRUTH, 0.05)
    page = loop_page(type(story)(**{**story.__dict__, 'own': own, 'rests_on': ('a rock',)}))
    said = re.fullmatch(r'It holds ([\d.]+) to ([\d.]+) kg\.', page.answer[0])
    low, high = float(said.group(1)), float(said.group(2))
    assert 0.0 <= last.lower[-1, 0] - own.upper[0] - low < 0.01
    assert 0.0 <= high - (last.upper[-1, 0] - own.lower[0]) < 0.01
    assert page.sections[0].bars is not None
    assert page.sections[1].sentences == ('a rock',)
    assert 'moves' in loop_page(story).answer[0]  # where nobody says what the gripper is


def test_an_entry_of_the_ledger_that_is_broken_is_the_verdict(story):
    entry = Entry('every motion is certified', '3 of 4', is_kept=False)
    gap = ContactClearance(0.1, 'a', 'b')
    page = loop_page(type(story)(**{**story.__dict__, 'ledger': Ledger((entry,), gap, gap)}))
    assert not page.is_good
    assert 'every motion is certified: 3 of 4' in page.verdict[1]
