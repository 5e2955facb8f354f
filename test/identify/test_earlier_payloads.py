"""What was learnt of the arm with an empty gripper makes bounds of the next payloads tighter."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.bench.experiments.kinova_dumbbell import kinova_trial
from safe_sysid.identify.earlier_payloads import FIRST_NUMBER, EarlierPayloads
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.identify.observation import Observation
from safe_sysid.identify.online_identifier import (
    IdentificationFault,
    IdentifierSettings,
    OnlineIdentifier,
)
from safe_sysid.identify.payload_estimator import PayloadEstimator, SolveSettings
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.excited_motion import fourier_motion, recorded, true_torque

BODY = np.array([1.0, 0.02, -0.03, 0.05, *(0.006, 0.0, 0.006, 0.0, 0.0, 0.006)])
SECONDS = 2.0
TARE, SHORT = 4.0, 0.5  # [s] of motion without the body, and with it


def settings(remembered):
    return IdentifierSettings(
        ObservationSettings(
            window=100,
            longest_step=0.0015,
            position_error=(0.0,),
            velocity_error=(0.0,),
            torque_ratio=(0.005,),
        ),
        SolveSettings(seconds=20.0, remembered_payloads=remembered),
    )


@pytest.fixture(scope='module')
def trial():
    return kinova_trial(np.random.default_rng(11), seconds=SECONDS)


def log_of(model: RobotModel, seed: int, seconds: float = SECONDS):
    motion = fourier_motion(np.random.default_rng(seed), model.n, seconds, 0.001)
    return recorded(motion, true_torque(model, motion))


def holding(model: RobotModel, body, friction=1.0):
    theta = model.theta.copy()
    theta[model.layout.end_effector] += body
    theta[model.layout.joint_entries('Fc')] *= friction
    return model.with_parameters(theta)


def bounds_of_second(trial, remembered, friction=1.0):
    """Bounds of a body that is taken after motions with an empty gripper."""
    heavy = holding(trial.model, BODY, friction)
    identifier = OnlineIdentifier(trial.model, trial.prior, settings(remembered), SolvesAtOnce)
    for log in (log_of(trial.model, 1, TARE), log_of(heavy, 2, SHORT)):
        identifier.new_payload()
        for i in range(len(log)):
            identifier.step(log[i])
        estimate = identifier.finish()
    truth = heavy.theta[trial.prior.layout.end_effector]
    return estimate.end_effector_bounds, truth


@pytest.mark.slow
def test_a_tare_makes_the_bounds_of_the_next_payload_tighter_and_they_hold(trial):
    (plain, truth), (tared, _) = (bounds_of_second(trial, k) for k in (0, 1))
    assert np.all((tared.lower <= truth) & (truth <= tared.upper))
    assert tared.radius[0] < 0.6 * plain.radius[0]
    assert np.all(tared.radius <= 1.01 * plain.radius)


@pytest.mark.slow
def test_an_arm_whose_friction_has_changed_is_named_or_its_bounds_hold(trial):
    try:
        bounds, truth = bounds_of_second(trial, 1, friction=1.04)
    except IdentificationFault as fault:
        assert 'payloads before' in fault.cause
    else:
        assert np.all((bounds.lower <= truth) & (truth <= bounds.upper))


def rows_at(times, theta_e=1.0):
    """One joint, one shared parameter: theta_e[0] + theta_r = theta_e + 2."""
    m = len(times)
    Y_e = np.zeros((m, 10))
    Y_e[:, 0] = 1.0
    t = np.array(times, dtype=float)
    b, delta = np.full(m, theta_e + 2.0), np.full(m, 0.1)
    return Observation(Y_e, np.ones((m, 1)), b, delta, np.zeros(m, dtype=int), t - 0.1, t)


def test_the_bodies_of_before_are_unknowns_in_their_own_bounds():
    earlier = EarlierPayloads(2)
    box = Interval(np.zeros(10), np.ones(10))
    for k in range(3):
        earlier.remember(rows_at([k + 1.0]), Interval(box.lower, (k + 1.0) * box.upper))
    every, numbers, rest = earlier.with_payloads(
        rows_at([9.0]), np.array([5]), Interval(np.zeros(1), np.ones(1))
    )
    assert len(earlier._payloads) == 2
    assert every.Y_r.shape == (3, 21)
    assert numbers.tolist() == [5, FIRST_NUMBER, FIRST_NUMBER + 1]
    assert every.Y_e[:, 0].tolist() == [1.0, 0.0, 0.0]
    assert every.Y_r[:, 1].tolist() == [0.0, 1.0, 0.0]
    assert every.Y_r[:, 11].tolist() == [0.0, 0.0, 1.0]
    assert rest.upper[[1, 11]].tolist() == [1.0, 3.0]  # the first and the last of three
    earlier.forget()
    assert earlier.with_payloads(rows_at([9.0]), np.array([5]), rest)[2] is rest


def remembered_ends(identifier):
    estimator = identifier._solves._estimator
    return [each.rows.end.max() for each in estimator._earlier._payloads]


@pytest.mark.slow
def test_rows_since_the_arm_came_to_rest_tell_nothing_of_the_arm(trial):
    """Somebody may have taken the body before saying so, but the arm stood."""
    identifier = OnlineIdentifier(trial.model, trial.prior, settings(1), SolvesAtOnce)
    log = log_of(trial.model, 1)
    for i in range(len(log)):
        identifier.step(log[i])
    end, still = log[len(log) - 1], np.zeros(trial.model.n)
    (weight,) = standard_regressor(trial.model, end.position[None], still[None], still[None])
    rest = replace(end, velocity=still, torque=weight @ trial.model.theta)
    for k in range(100, 1600):
        identifier.step(replace(rest, stamp=end.stamp + k * 1_000_000))
    identifier.new_payload()
    (last,) = remembered_ends(identifier)
    assert last <= 1.01  # 1 s before the arm last moved


def test_after_a_fault_nothing_is_remembered(trial):
    identifier = OnlineIdentifier(trial.model, trial.prior, settings(1), SolvesAtOnce)
    log = log_of(trial.model, 1)
    for i in range(1500):
        identifier.step(log[i])
    with pytest.raises(IdentificationFault):
        identifier.step(log[0])
    identifier.new_payload()
    assert remembered_ends(identifier) == []


@pytest.mark.parametrize(('settings', 'remembered'), [({}, 2), ({'remembered_payloads': 0}, 0)])
def test_the_first_and_the_last_are_remembered_unless_the_arm_may_change(
    trial, settings, remembered
):
    estimator = PayloadEstimator(trial.model, trial.prior, SolveSettings(**settings))
    window = momentum_rows(trial)
    for _ in range(3):
        estimator.add(window)
        estimator.new_payload(window.end.max())
    assert len(estimator._earlier._payloads) == remembered


def momentum_rows(trial):
    """Some rows of the arm of a trial."""
    r = trial.model.n
    Y_r = np.ones((r, len(trial.prior.layout.rest)))
    zero, one = np.zeros(r), np.ones(r)
    return Observation(np.ones((r, 10)), Y_r, zero, one, np.arange(r), zero, one)
