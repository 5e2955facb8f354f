"""A change of what is held is noticed, located and named, and nothing where there is none."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.optimize import minimize
from tiers import slow_after

from safe_sysid.bench.experiments.changing_payload import (
    TORQUE_RATIO,
    Event,
    begun,
    random_motion,
    windows_of,
)
from safe_sysid.identify.change.change_kinds import Kind, gain, gain_within, load_columns
from safe_sysid.identify.change.change_test import ChangeSettings
from safe_sysid.identify.change.change_watch import NoticedChange
from safe_sysid.identify.change.impulse_noise import (
    friction_covariance,
    impulse_covariance,
    lasting_variance,
)
from safe_sysid.identify.change.response import Change, Condition, ResponseSettings, unmet
from safe_sysid.identify.change.shared_posterior import SharedPosterior
from safe_sysid.model.held_body import placed
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.excited_motion import true_torque

AT = 2000  # sample at which something happens
SETTINGS = ChangeSettings()
UNMODELLED = 0.3  # [N m]
FAINT = Event('picked', 0.3)  # takes some windows to notice


@pytest.fixture(scope='module')
def motion():
    return random_motion(np.random.default_rng(4), 'kinova_gen3', 2.6, UNMODELLED)


@pytest.fixture(scope='module')
def before(motion):
    """Windows until something happens."""
    return list(windows_of(motion, motion.log(0, last=AT + 1)))


def change_of(motion, before, event):
    test = begun(motion, SETTINGS)
    for rows, position in (*before, *windows_of(motion, motion.log(AT, event))):
        change = test.add(rows, position)
        if change is not None:
            return change, test
    return None, test


def friction_like_a_load(rows, share):
    return share * np.sign(load_columns(rows)[:, 0])


@pytest.mark.parametrize('friction', slow_after(1, [3.0, 0.3, 30.0]))
def test_dry_friction_may_change_in_any_window_of_an_arm_that_hardly_moves(
    motion, before, rng, friction
):
    """A joint creeps to its place against it, and stands there with whatever is left."""

    def turns(at):
        return lambda i, rows: friction_like_a_load(rows, -1.0 if i < at else 1.0)

    histories = [
        *(turns(at) for at in (3, 15)),
        lambda i, rows: friction_like_a_load(rows, (-1.0) ** i),
        lambda i, rows: friction_like_a_load(rows, np.cos(0.3 * i)),
        lambda _, rows: rng.choice([-1.0, 1.0], len(rows)),
    ]
    for history in histories:
        test = begun(motion, SETTINGS)
        for i, (rows, position) in enumerate(before[:40]):
            dry = np.full(len(rows), friction * float(rows.end[0] - rows.start[0]))
            rubbed = replace(rows, b=rows.b + dry * history(i, rows))
            assert test.add(rubbed, position, dry) is None


def test_what_columns_explain_is_the_formula_of_least_squares(rng):
    D, e, A = rng.normal(size=(9, 4)), rng.normal(size=9), rng.normal(size=(9, 9))
    S = A @ A.T + np.eye(9)
    W = np.linalg.inv(S)
    x = np.linalg.solve(D.T @ W @ D, D.T @ W @ e)
    statistic, found = gain(D, S, e)
    assert statistic == pytest.approx(e @ W @ D @ x)
    np.testing.assert_allclose(found, x)


@pytest.mark.parametrize('largest', [0.0, 0.01, 0.1, 1.0, 10.0])
def test_what_short_columns_explain_is_what_a_search_finds(rng, largest):
    D, e, A = rng.normal(size=(9, 3)), rng.normal(size=9), rng.normal(size=(9, 9))
    S = A @ A.T + np.eye(9)
    score, x = gain_within(D, S, e, largest)
    assert np.linalg.norm(x) <= largest * (1.0 + 1e-9) + 1e-11
    W = np.linalg.inv(S)

    def gained(x):
        left = e - D @ x
        return e @ W @ e - left @ W @ left

    assert score == pytest.approx(gained(x), abs=1e-9)
    ball = {'type': 'ineq', 'fun': lambda x: largest**2 - x @ x}
    found = minimize(lambda x: -gained(x), 0.5 * x, constraints=ball, method='SLSQP')
    inside = found.x * min(1.0, largest / max(np.linalg.norm(found.x), 1e-300))
    assert score >= gained(inside) - 1e-6
    if largest == 10.0:
        assert score == pytest.approx(gain(D, S, e)[0])


def test_columns_that_say_the_same_count_once(rng):
    d, e = rng.normal(size=(9, 1)), rng.normal(size=9)
    one, two = (gain(D, np.eye(9), e)[0] for D in (d, np.hstack([d, 2.0 * d])))
    assert two == pytest.approx(one)


def test_the_covariance_of_impulses_is_the_double_integral():
    windows = [(0.0, 0.05), (0.05, 0.1), (0.13, 0.2)]
    found = impulse_covariance(windows, 0.3, 0.04)
    for i, (a, b) in enumerate(windows):
        for j, (c, d) in enumerate(windows):
            exact = dblquad(lambda s, t: 0.09 * np.exp(-abs(t - s) / 0.04), a, b, c, d)[0]
            assert found[i, j] == pytest.approx(exact, rel=1e-4)
    many = impulse_covariance([(0.05 * k, 0.05 * k + 0.05) for k in range(400)], 0.3, 0.04)
    assert many.sum() / 400 == pytest.approx(lasting_variance(0.05, 0.3, 0.04), rel=0.01)


def test_friction_stays_while_its_torque_does_and_is_forgotten_where_the_joint_moves():
    joint = np.array([0, 1] * 4)
    dry = np.array([0.2, 0.1, 0.2, 0.1, 0.0, 0.1, 0.2, 0.1])  # the first one moves in between
    b = np.array([1.0, 5.0, 1.0, 5.0, 1.0, 5.1, 1.0, 5.0])
    found = friction_covariance(joint, b, dry)
    assert found[0, 2] == pytest.approx(0.2**2)
    assert found[0, 4] == 0.0
    assert found[0, 6] < 1e-20
    assert found[1, 3] == pytest.approx(0.1**2)
    assert found[3, 5] == pytest.approx(0.1**2 * np.exp(-1.0))
    assert found[1, 7] == pytest.approx(0.1**2 * np.exp(-2.0))  # it went there, and back


def test_one_window_after_the_other_says_what_all_say_at_once(motion, before):
    rest = motion.prior.bounds[motion.prior.layout.rest]
    gains = np.full(motion.truth.n, TORQUE_RATIO)
    first = belief = SharedPosterior.before(motion.prior.end_effector_bounds, rest, gains)
    H = np.concatenate([first.row_matrix(rows) for rows, _ in before[:6]])
    b = np.concatenate([rows.b for rows, _ in before[:6]])
    for rows, _ in before[:6]:
        belief = belief.updated(belief.row_matrix(rows), rows.b, 0.01 * np.eye(len(rows)))
    information = np.eye(len(first.mean)) + H.T @ H / 0.01
    mean = np.linalg.solve(information, first.mean + H.T @ b / 0.01)
    np.testing.assert_allclose(belief.mean, mean, atol=1e-6)
    np.testing.assert_allclose(belief.covariance, np.linalg.inv(information), atol=1e-8)


@pytest.mark.parametrize(
    ('event', 'kind'),
    [
        (Event('picked', 1.0), Kind.PICKED),
        (Event('picked', -0.4), Kind.DROPPED),
        (Event('touched', 20.0), Kind.TOUCHED),
    ],
)
def test_a_large_change_is_found_at_once_located_and_named(motion, before, event, kind):
    found_at_once(motion, before, event, kind)


def test_a_slip_of_what_is_heavy_is_found_at_once_located_and_named():
    load = placed(RobotModel.named('kinova_gen3'), read_payload('dumbbell_8lb'))
    motion = random_motion(np.random.default_rng(4), 'kinova_gen3', 2.6, UNMODELLED, load)
    before = list(windows_of(motion, motion.log(0, last=AT + 1)))
    found_at_once(motion, before, Event('slipped', 0.1), Kind.SLIPPED)


def found_at_once(motion, before, event, kind):
    change, _ = change_of(motion, before, event)
    assert change.noticed <= AT * 1e-3 + 0.3
    assert change.after <= AT * 1e-3 <= change.before
    assert change.before - change.after < 0.5
    assert kind in [each.kind for each in change.explanations]
    assert change.statistic > change.threshold
    assert kind.value in str(change)


def test_a_change_below_what_is_seen_is_not_claimed(motion, before):
    assert change_of(motion, before, Event('picked', 0.01))[0] is None


def test_what_is_believed_after_a_change_is_the_belief_of_before_it(motion, before):
    change, test = change_of(motion, before, FAINT)
    assert change.noticed > AT * 1e-3 + 0.09  # so that some windows after it were learnt from
    alone = begun(motion, SETTINGS)
    for rows, position in before[: round(change.after / 0.05) + 1]:
        alone.add(rows, position)
    assert np.linalg.norm(test.belief.mean - alone.belief.mean) < 1e-9
    assert test.add(*before[-1]) is change


def test_the_arm_is_remembered_when_the_body_is_another(motion, before):
    change, test = change_of(motion, before, Event('picked', 2.0))
    shared, box = test.belief.covariance[10:, 10:], motion.prior.end_effector_bounds
    test.new_payload(box)
    np.testing.assert_array_equal(test.belief.covariance[10:, 10:], shared)
    np.testing.assert_array_equal(test.belief.covariance[:10, 10:], 0.0)
    assert test.belief.body[1][0, 0] == pytest.approx(box.radius[0] ** 2)
    after = windows_of(motion, motion.log(AT, Event('picked', 2.0)))
    later = [window for window in after if window[0].start[0] >= change.before - 1e-9]
    assert [test.add(*window) for window in later] == [None] * len(later)
    mean, covariance = test.belief.body
    mass = motion.truth.theta[motion.truth.layout.end_effector][0] + 2.0
    assert abs(mean[0] - mass) < 3.0 * np.sqrt(covariance[0, 0]) < 1.0


def with_errors(motion, rng, kind):
    """Return the motion with the worst of one kind of error that is promised."""
    signs = rng.choice([-1.0, 1.0], motion.truth.n)
    if kind == 'a gain at its bound':
        return replace(motion, errors=np.broadcast_to(signs, motion.errors.shape))
    if kind == 'noise at its bound':
        return replace(motion, errors=rng.choice([-1.0, 1.0], motion.errors.shape))
    theta, place = motion.truth.theta.copy(), motion.truth.layout
    if kind == 'links at a corner':
        radius = motion.prior.bounds.radius[place.rest]
        corner = motion.prior.bounds.center[place.rest] + radius * rng.choice([-1, 1], len(radius))
        theta[place.rest] = corner
        truth = motion.truth.with_parameters(theta)
        torque = motion.torque + true_torque(truth, motion.motion)
        torque -= true_torque(motion.truth, motion.motion)
        return replace(motion, truth=truth, torque=torque)
    warm = np.linspace(0.0, 1.0, len(motion.torque))[:, None]  # friction that falls by 2 %
    friction = np.sign(motion.motion.qd) * theta[place.joint_entries('Fc')]
    return replace(motion, torque=motion.torque - 0.02 * warm * friction)


@pytest.mark.parametrize(
    'kind',
    slow_after(
        2, ['a gain at its bound', 'friction drifts', 'noise at its bound', 'links at a corner']
    ),
)
def test_no_error_within_its_promise_looks_like_a_change(motion, rng, kind):
    wrong = with_errors(motion, rng, kind)
    test = begun(wrong, SETTINGS)
    changes = [test.add(*window) for window in windows_of(wrong, wrong.log(0))]
    assert changes == [None] * len(changes)
    assert len(changes) == 52


@pytest.mark.slow
def test_alarms_without_a_change_are_no_more_than_stated(rng):
    """At a rate so high that there are some."""
    motion = random_motion(rng, 'two_link', 20.0, UNMODELLED)
    rate = 7200.0
    test = begun(motion, ChangeSettings(false_alarms=rate))
    alarms = 0
    for rows, position in windows_of(motion, motion.log(0)):
        if test.add(rows, position) is not None:
            alarms += 1
            test.new_payload(motion.prior.end_effector_bounds)
    assert 1 <= alarms <= rate / 3600.0 * 20.0


@pytest.mark.parametrize('seed', slow_after(1, range(8)))
@pytest.mark.parametrize('size', slow_after(1, [0.1, 0.05, 0.2]))
def test_no_arm_goes_on_by_itself_after_a_slip(seed, size):
    """Judged by the windows of half a second after the alarm; few errors, so that all is seen."""
    load = placed(RobotModel.named('kinova_gen3'), read_payload('dumbbell_4lb'))
    motion = random_motion(np.random.default_rng(seed), 'kinova_gen3', 3.0, 0.1, load)
    test = begun(motion, ChangeSettings(unmodelled_torque=0.1))
    event, since = Event('slipped', size), 0
    for rows, position in (
        *windows_of(motion, motion.log(0, last=1501)),
        *windows_of(motion, motion.log(1500, event)),
    ):
        since += test.add(rows, position) is not None
        if since > 10:
            break
    found = test.judged()
    assert found is not None
    noticed = NoticedChange(3, 1, 2, found.explanations, found.is_explained)
    condition, _ = unmet(Change.noticed(noticed), 0, ResponseSettings())
    assert condition is Condition.CAUSE
