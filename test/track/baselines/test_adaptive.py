"""Adaptive law: its energy falls, and it learns what the motion excites and nothing else."""

import numpy as np
import pytest
from track.baselines.follow import (
    MILLISECOND,
    arm_at,
    certain,
    exciting_plans,
    follow,
    resting_plan,
)
from track.law_states import CLOCK

from safe_sysid.errors import ConfigError
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.track.baselines.adaptation import (
    Adaptation,
    rates_of_all,
    rates_of_end_effector,
    unbounded,
)
from safe_sysid.track.baselines.adaptive import AdaptiveController, AdaptiveSettings

REACHED_OUT = np.array([0.3, 1.3, 0.2, 0.4, -0.1, 0.3, 0.0])


def controller_of(model, rates, settings=None):
    """A controller that starts from the parameters of the model, and what it learns."""
    adaptation = Adaptation(rates, model.theta, unbounded(model.theta))
    return AdaptiveController(model, settings or AdaptiveSettings(), CLOCK, adaptation), adaptation


def with_dumbbell():
    arm = RobotModel.named('kinova_gen3')
    return arm, arm.with_payload(read_payload('dumbbell_8lb'))


@pytest.mark.slow
def test_energy_of_errors_in_motion_and_parameters_only_falls(rng):
    """Without dry friction, up to what holding the torque for a millisecond adds."""
    known = RobotModel.named('two_link')
    Fc = known.layout.joint_entries('Fc')
    known = known.with_parameters(np.where(np.isin(np.arange(28), np.r_[Fc]), 0.0, known.theta))
    truth = known.with_parameters(1.3 * known.theta)
    rates = rates_of_all(known.layout)
    rates[Fc] = 0.0
    controller, adaptation = controller_of(known, rates)
    q = np.array([0.4, -0.8])
    plans = exciting_plans(rng, q, 1)
    arm = arm_at(truth, q - 0.1)
    energies = []
    for _ in range(3000):
        q_d, qd_d, _ = plans[0].desired(CLOCK.seconds(arm.stamp))
        r = qd_d - arm.qd + 5.0 * (q_d - arm.q)
        M = arm.mass_matrix()
        torque = controller.step(arm.measure(), plans[0], certain(known))
        left = (truth.theta - adaptation.theta)[rates > 0.0]
        energies.append(0.5 * r @ M @ r + 0.5 * np.sum(left**2 / rates[rates > 0.0]))
        arm.hold(torque, MILLISECOND)
    assert np.maximum(np.diff(energies), 0.0).sum() < 0.01 * energies[0]
    assert energies[-1] < 0.5 * energies[0]


@pytest.mark.slow
def test_it_learns_the_payload_under_excitation_and_not_without(rng):
    """Gravity at rest shows the mass, but not where along the vertical it is."""
    arm, truth = with_dumbbell()
    tip = arm.layout.end_effector
    left = {}
    for name, plans in (
        ('excited', exciting_plans(rng, REACHED_OUT, 14)),
        ('at rest', [resting_plan(REACHED_OUT)]),
    ):
        controller, adaptation = controller_of(arm, rates_of_end_effector(arm.layout))
        simulated, left[name] = arm_at(truth, REACHED_OUT), []
        for _ in range(2):
            errors = follow(controller, simulated, plans, certain(arm), 10.0)
            left[name].append((truth.theta - adaptation.theta)[tip])
        assert np.array_equal(adaptation.theta[arm.layout.rest], arm.theta[arm.layout.rest])
        assert np.max(np.abs(errors[-1])) < 0.001  # it carries the weight in either case
    missing = np.linalg.norm((truth.theta - arm.theta)[tip][1:4])
    moment = {
        name: [np.linalg.norm(error[1:4]) / missing for error in errors]
        for name, errors in left.items()
    }
    assert moment['excited'][1] < 0.1
    assert moment['at rest'][1] > 0.3
    assert moment['at rest'][1] > 0.97 * moment['at rest'][0]  # nor will it later


def test_adaptation_stays_in_its_bounds_and_moves_along_the_gradient():
    theta = np.array([0.0, 0.0])
    adaptation = Adaptation(
        np.array([1.0, 3.0]), theta, Interval(np.array([-1.0, -1.0]), np.array([1.0, 0.01]))
    )
    adaptation.advance(0)
    adaptation.follow(np.array([2.0, 2.0]))
    assert np.array_equal(adaptation.theta, theta)
    adaptation.advance(10 * MILLISECOND)
    assert np.allclose(adaptation.theta, [0.02, 0.01])
    with pytest.raises(ConfigError, match='inside the bounds'):
        Adaptation(np.ones(2), theta, Interval.of(np.ones(2)))
    for rates in (np.ones(3), np.array([1.0, -1.0]), np.array([1.0, np.nan])):
        with pytest.raises(ConfigError, match='2 finite numbers that are not negative'):
            Adaptation(rates, theta, unbounded(theta))
