"""Searches: starts inside all limits, steps that never leave them, and designs that are proven."""

from dataclasses import replace

from excite.excite_problem import differences, rod_arm, rod_problem, small_problem
import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.errors import BoundError, ConfigError
from safe_sysid.excite import design
from safe_sysid.excite.barrier_descent import Descent
from safe_sysid.excite.certificate import certify, proven_distance
from safe_sysid.excite.criteria import smooth_condition
from safe_sysid.excite.design import (
    design_problem,
    payload_problem,
    random_start,
    search,
)
from safe_sysid.excite.design_problem import NEAR
from safe_sysid.excite.settings import ExcitationSettings, read_settings, settings_of
from safe_sysid.model.arm import arm_of
from safe_sysid.model.robot_model import RobotModel


def slack(problem, x):
    A, lower, upper = problem.limits
    return min((upper - x @ A.T).min(), (x @ A.T - lower).min())


def test_starts_are_inside_all_limits():
    for problem in (rod_problem(), small_problem(basis='bspline', order=12)):
        for seed in range(5):
            x = random_start(problem, np.random.default_rng(seed))
            assert slack(problem, x) > 0.0
            assert problem.rows(x).values.min() >= 0.0
            assert np.ptp(problem.states(x)[0], axis=0).min() > 1e-4


OPEN = [
    'panda',
    'two_link',
    'ur5e',
    'kinova_gen3',
    'fr3',
    'iiwa14',
    'lbr_med7',
    'so101',
    'ur10e',
    'xarm7',
    'z1',
]


@pytest.mark.parametrize('name', slow_after(4, OPEN))
def test_shipped_arms_have_poses_from_which_to_start(name):
    """Also those two of whose bodies, two joints apart, are nearer than the default clearance."""
    arm = arm_of(name, None)
    settings = settings_of(arm)
    problem = design_problem(arm.model, arm.model, settings)
    x = random_start(problem, np.random.default_rng(1))
    certificate = certify(problem.model, problem.contacts, problem.motion(0.1 * x), -np.inf)
    gaps = problem.contacts.distances(problem.states(0.1 * x)[0]).min(axis=0)
    assert np.all(certificate.distance * problem.contacts.share <= gaps)
    narrow = problem.contacts.narrow(settings.clearance)
    assert bool(narrow) is (name in ('panda', 'ur10e', 'ur5e'))
    assert all(0.0 < least < settings.clearance for least in narrow.values())


def test_steps_keep_linear_limits_and_bring_the_criterion_down():
    problem = rod_problem()
    descent = Descent(problem, random_start(problem, np.random.default_rng(1)))
    values = []
    for value in descent.steps(smooth_condition(2.0), 25):
        assert slack(problem, descent.x) > 0.0
        values.append(value)
    assert values[-1] < values[0] - 0.5


def test_row_gradients_agree_with_differences(rng):
    problem = rod_problem()
    x = random_start(problem, rng)
    rows = problem.rows(x)
    gaps = len(problem.checks) * len(problem.contacts.names)
    near = np.argsort(rows.values[:gaps])[:4]
    assert rows.values[near].max() < NEAR
    torques = rng.integers(gaps, len(rows.values), size=5)
    active = np.concatenate([near, torques])
    gradients = problem.row_gradients(rows, active)
    expected = differences(lambda at: problem.rows(at).values[active], x)
    np.testing.assert_allclose(gradients, expected.reshape(len(active), -1), atol=1e-6)


@pytest.mark.slow
def test_a_search_finds_a_proven_informative_motion():
    """One start for the arm with the rod: well below the 100 that count as poor."""
    problem = rod_problem()
    found = [one for one in search(problem, 'kappa', 1, 0) if one is not None]
    assert found[-1].condition < 55.0
    for candidate in (found[0], found[-1]):
        motion = problem.motion(candidate.x)
        assert proven_distance(problem.contacts, motion, 0.01)[0] >= 0.01
        assert certify(problem.model, problem.contacts, motion, 0.01).holds
        assert candidate.condition == pytest.approx(problem.information.condition(
            problem.states(candidate.x)
        ))  # fmt: skip


@pytest.mark.slow
def test_a_tight_torque_limit_is_kept():
    """The same arm with an eighth of its torque: the search has to make use of all of it."""
    free = small_problem()
    bare = free.model
    limits = replace(bare.limits, torque=0.13 * bare.limits.torque)
    arm = replace(bare, limits=limits)
    few = {'floor': None, 'order': 3, 'sample_rate': 5.0, 'check_rate': 5.0}
    problem = design_problem(arm, arm, replace(read_settings(), clearance=0.005, **few))
    found = [one for one in search(problem, 'kappa', 0, 1) if one is not None][-1]
    proof = certify(arm, problem.contacts, problem.motion(found.x), 0.005)
    assert proof.holds, proof.failures
    assert proof.torque > 0.7


@pytest.mark.parametrize('criterion', ['D', 'A', 'E', 'rho', 'r_c', 'kappa-direct'])
def test_every_criterion_and_basis_gives_a_proven_motion(criterion, monkeypatch):
    monkeypatch.setattr(design, 'STEPS', (20, 10, 10, 10, 10))
    problem = small_problem(basis='bspline', order=9) if criterion == 'D' else small_problem()
    found = [one for one in search(problem, criterion, 0, 0) if one is not None]
    goals = [one.goal for one in found]
    assert min(goals) < goals[0] + 1e-9
    motion = problem.motion(found[-1].x)
    assert certify(problem.model, problem.contacts, motion, problem.required).holds


@pytest.mark.slow
def test_what_is_minimised_gets_smaller_than_by_another_criterion():
    problem = small_problem()
    best = {}
    for criterion in ('kappa', 'D'):
        starts = [list(search(problem, criterion, 0, start)) for start in range(2)]
        found = [one for each in starts for one in each if one is not None]
        best[criterion] = problem.information.summary(
            problem.states(min(found, key=lambda one: one.goal).x)
        )
    assert best['kappa'].condition < best['D'].condition
    assert best['D'].log_determinant > best['kappa'].log_determinant


def test_payload_only_looks_at_the_last_body(monkeypatch):
    monkeypatch.setattr(design, 'STEPS', (20, 5, 5, 5, 5))
    problem = payload_problem(*rod_arm(), read_settings())
    entries = problem.information.columns.entries
    layout = problem.model.layout
    assert set(entries) <= set(range(layout.end_effector.start, layout.end_effector.stop))
    found = [one for one in search(problem, 'kappa', 0, 0) if one is not None]
    assert found[-1].condition < found[0].condition < 1e3


def test_an_arm_that_is_in_the_floor_is_refused_with_a_reason():
    arm = RobotModel.named('two_link')
    problem = design_problem(arm, arm, read_settings())
    with pytest.raises(
        BoundError,
        match='link_1 and the floor are -40 mm apart at most .*; check floor, clearance',
    ):
        random_start(problem, np.random.default_rng(0))


@pytest.mark.parametrize(
    ('change', 'words'),
    [
        ({'basis': 'chebyshev'}, "basis is 'chebyshev', it has to be one of fourier, bspline"),
        ({'friction': ('Fx',)}, "friction is .*'Fx'.*, it has to be one of Fc, Fv, Ia, beta"),
        ({'duration': 0.0}, 'duration is 0.0'),
        ({'clearance': -1.0}, 'clearance is -1.0'),
        ({'extra_torque': 1.0}, 'extra_torque is 1.0'),
        ({'torque_noise': (1.0, 0.0)}, 'torque_noise is .*, it has to be at least 1e-06'),
    ],
)
def test_settings_out_of_range_are_refused(change, words):
    with pytest.raises(ConfigError, match=words):
        ExcitationSettings(**{**vars(read_settings()), **change})


def test_noise_for_another_number_of_joints_is_refused():
    with pytest.raises(ConfigError, match='torque_noise has 3 entries, two_link has 2 joints'):
        small_problem(torque_noise=(1.0, 1.0, 1.0))
