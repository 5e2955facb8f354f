"""Torques of every state and theta are enclosed, on trees with revolute and prismatic joints."""

from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from reach.reach_samples import BOUNDS, random_error, random_horizon, sample
from tiers import slow_after

from safe_sysid.model.dynamics.regressors import slotine_li_regressor
from safe_sysid.model.parameters import ratio_bounds
from safe_sysid.reach import newton_euler
from safe_sysid.reach.body_columns import Body, body_columns, columns_of, places, table_of
from safe_sysid.reach.joint_reach import KINDS, QD, QD_A, joint_reach
from safe_sysid.reach.motion_transport import kernel_joints
from safe_sysid.reach.newton_euler import RigidBodyTorque, rigid_body_torque
from safe_sysid.reach.tracking_error import TrackingError
from safe_sysid.sets import steps
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.random_arm import random_tree

SAMPLES = 1_100  # 18 cases of these are 2e4 samples


class Case:
    """A random arm, its plans, and bounds of theta in which theta_0 is not in the middle."""

    def __init__(self, rng, n=4, k_range=0.1, degree=2, serial=False, intervals=8):
        self.model = random_tree(rng, n, serial)
        self.horizon = random_horizon(rng, n, k_range, intervals, degree)
        self.error = random_error(rng, n)
        self.theta_0 = self.model.theta
        bounds = ratio_bounds(self.theta_0, 0.01, 0.001)
        self.bounds = Interval(bounds.lower, bounds.upper + 0.1 * np.abs(self.theta_0))
        self.reach = joint_reach(self.model, self.horizon, self.error)

    def torque(self):
        return rigid_body_torque(self.model, self.reach, self.theta_0, self.bounds)

    def escapes(self, rng, torque: RigidBodyTorque, samples=200) -> int:
        """How often W_s theta_0 or W_s (theta - theta_0) leaves its set."""
        inertial = slice(0, 10 * self.model.n)
        lower, upper = self.bounds.lower[inertial], self.bounds.upper[inertial]
        count = 0
        for _ in range(samples):
            x, step, state = sample(rng, self.horizon, self.error)
            motion = [state[name] for name in ('q', 'qd', 'qd_a', 'qdd_a')]
            W = slotine_li_regressor(self.model, *motion)[:, inertial]
            theta_0 = self.theta_0[inertial]
            at_x = self.reach.monomials.values(x[: self.reach.monomials.variables])
            nominal, offset = torque.nominal[step], torque.offset[step]
            gap = np.abs(W @ theta_0 - nominal[:, :-1] @ at_x)
            count += np.sum(~(gap <= nominal[:, -1] + BOUNDS))
            worst = np.where(W[rng.integers(self.model.n)] > 0.0, upper, lower)
            for theta in (worst, rng.uniform(lower, upper)):
                gap = np.abs(W @ (theta - theta_0) - offset[:, :-1] @ at_x)
                count += np.sum(~(gap <= offset[:, -1] + torque.spread[step] + BOUNDS))
        return int(count)


WHOLE = [(*case, SAMPLES) for case in product([0.5, 0.0, 0.05], [2, 1, 3])]


@pytest.mark.parametrize(('k_range', 'degree', 'samples'), slow_after(1, [(0.5, 2, 300), *WHOLE]))
def test_torques_of_random_trees_do_not_escape(k_range, degree, samples, rng):
    for serial in (True, False):
        case = Case(rng, 4, k_range, degree, serial)
        assert case.escapes(rng, case.torque(), samples) == 0


def test_torques_of_one_joint_do_not_escape(rng):
    for _ in range(4):
        case = Case(rng, 1)
        assert case.escapes(rng, case.torque()) == 0


def steps_alone(case):
    """Return the torque at every time step, computed without any other."""
    for t in range(case.horizon.intervals):
        reach = replace(case.reach, rows=case.reach.rows[:, t : t + 1])
        yield t, replaced(case, reach).torque()


def replaced(case, reach):
    """The same case with other joint states."""
    other = copy(case)
    other.reach = reach
    return other


def by_numbers(case):
    """Return the torque of the same recursion on pools of numbers, one time step at a time."""
    inertial = slice(0, 10 * case.model.n)
    balls = newton_euler._balls(case.bounds[inertial] - case.theta_0[inertial])
    parameters = np.stack([case.theta_0[inertial], *balls])
    joints, columns = kernel_joints(case.model.tree), body_columns(case.reach, newton_euler.STATE)
    _, T, n, width = case.reach.rows.shape
    result = RigidBodyTorque(np.empty((T, n, width)), np.empty((T, n, width)), np.empty((T, n)))
    for t in range(T):
        sums, bodies = newton_euler.Sums(np.zeros((2 * n, width)), np.zeros((n, 1))), []
        for i, up in enumerate(joints.parent):
            mine, table = columns_of(columns, i), table_of(columns, i)
            pool = np.full((newton_euler._rows(i + 1), len(mine)), np.nan)
            body = Body(pool, np.full((len(pool), table[0] + 1), np.nan))
            pool[: newton_euler.STATE] = case.reach.rows[: newton_euler.STATE, t, i, mine]
            if up < 0:
                newton_euler._set_base(body, joints.gravity, table)
            else:
                place = places(columns_of(columns, up), mine, np.empty(width, dtype=np.int64))
                newton_euler._take_motions(bodies[up], body, joints.below[i], place)
            newton_euler._advance(body, joints, i, table)
            theta = parameters[:, 10 * i : 10 * i + newton_euler.ENTRIES]
            newton_euler._add_torques(body, joints.below[i], theta, mine, table, sums)
            bodies.append(body)
        result.nominal[t], result.offset[t] = sums.rows.reshape(n, 2, -1).swapaxes(0, 1)
        result.spread[t] = sums.spread[:, 0] * (1.0 + 2.0**-40)
    return result


def with_error_variables(rng, case):
    """The same case with joint states that depend on errors too, at some times on none."""
    count, n = case.reach.monomials.count, case.model.n
    rows = case.reach.rows
    linear = 0.01 * rng.normal(size=(*rows.shape[:-1], 2 * n))
    linear[:, rng.random(rows.shape[1]) < 0.3] = 0.0
    rows = np.concatenate([rows[..., :count], linear, rows[..., count:]], axis=-1)
    return replaced(case, replace(case.reach, rows=np.ascontiguousarray(rows)))


def assert_same(torque, other):
    for part, same in zip(torque, other, strict=True):
        np.testing.assert_array_equal(part, same)


@pytest.mark.parametrize('count', slow_after(3, [1, 7, 20, 8, 9, 33]))
def test_a_time_step_is_what_it_is_alone(count, rng, monkeypatch):
    """Steps are computed several at once, and shared out among cores."""
    monkeypatch.setattr(steps, 'cores', lambda: 3)
    monkeypatch.setattr(steps, '_threads', cache(lambda: ThreadPoolExecutor(2)))
    case = Case(rng, 4, k_range=float(rng.choice([0.0, 0.1])), intervals=count)
    torque = case.torque()
    for t, alone in steps_alone(case):
        assert_same((part[t : t + 1] for part in torque), alone)


@pytest.mark.slow  # compiles the recursion for numbers
@pytest.mark.parametrize('errors', [False, True])
@pytest.mark.parametrize(('k_range', 'degree'), [(0.0, 2), (0.1, 1), (0.1, 2), (0.05, 3)])
def test_lanes_hold_what_numbers_do(k_range, degree, errors, rng):
    for n, serial, size in ((4, False, 0.1), (5, False, 0.0), (3, True, 0.1), (1, True, 0.0)):
        case = Case(rng, n, k_range, degree, serial, intervals=11)
        case.error = random_error(rng, n, size)
        case.reach = joint_reach(case.model, case.horizon, case.error)
        if errors:
            case = with_error_variables(rng, case)
        assert_same(case.torque(), by_numbers(case))


def without_remainder(rows):
    mutant = rows.copy()
    mutant[..., -1] = 0.0
    return mutant


def tight_cases(rng):
    """Cases whose sets are little more than what they have to be."""
    for _ in range(8):
        yield Case(rng, 2, k_range=0.0, serial=True, intervals=500)


def with_error(case, K_r, position, velocity):
    """The same case with one kind of tracking error above all others."""
    error = TrackingError(*(np.full(2, x) for x in (K_r, 0.0, position, velocity)))
    case.error, case.reach = error, joint_reach(case.model, case.horizon, error)
    return case


@pytest.mark.parametrize('part', slow_after(1, ['nominal', 'offset', 'spread']))
def test_a_forgotten_part_of_the_result_is_noticed(part, rng):
    escapes = 0
    for case in tight_cases(rng):
        torque = case.torque()
        forgotten = {
            'nominal': without_remainder(torque.nominal),
            'offset': 0.0 * torque.offset,
            'spread': 0.0 * torque.spread,
        }
        escapes += case.escapes(rng, torque._replace(**{part: forgotten[part]}))
    assert escapes > 0


@pytest.mark.parametrize(
    ('kind', 'error'),
    slow_after(
        1,
        [
            ('cos', (1e-3, 0.05, 0.0)),
            ('sin', (1e-3, 0.05, 0.0)),
            ('q', (1e-3, 0.05, 0.0)),
            ('qd', (1e-3, 0.0, 0.3)),
            ('qd_a', (1e3, 3e-4, 0.0)),
            ('qdd_a', (1e3, 0.0, 1e-3)),
        ],
    ),
)
def test_a_joint_state_without_its_remainder_is_noticed(kind, error, rng):
    escapes = 0
    for case in tight_cases(rng):
        case = with_error(case, *error)
        rows = case.reach.rows.copy()
        rows[KINDS.index(kind)] = without_remainder(rows[KINDS.index(kind)])
        case.reach = replace(case.reach, rows=rows)
        escapes += case.escapes(rng, case.torque())
    assert escapes > 0


@pytest.mark.slow
def test_reference_velocity_in_place_of_the_true_one_is_noticed(rng):
    escapes = 0
    for case in tight_cases(rng):
        case = with_error(case, 1e-3, 0.0, 0.3)
        rows = case.reach.rows.copy()
        rows[QD] = rows[QD_A]
        case.reach = replace(case.reach, rows=rows)
        escapes += case.escapes(rng, case.torque())
    assert escapes > 0


@pytest.mark.slow
def test_sets_of_a_single_plan_without_errors_are_close_to_the_torque(rng):
    case = Case(rng, k_range=0.0)
    case.horizon = replace(case.horizon, intervals=100_000)
    case.error = random_error(rng, 4, size=0.0)
    reach = joint_reach(case.model, case.horizon, case.error)
    nominal = rigid_body_torque(case.model, reach, case.theta_0, case.bounds).nominal
    assert nominal[..., -1].max() < 1e-2 * np.abs(nominal[..., 0]).max()
