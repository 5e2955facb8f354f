"""At rest the law counts on all that its plan is certified for: what is held may change there."""

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.inertia import from_mass_com_inertia
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.track.counted_parameters import CountedParameters
from safe_sysid.track.gains import Gains
from safe_sysid.track.robust_passivity import RobustPassivityController
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

PLACE, REST = np.array([-1.0, 0.5]), np.zeros(2)
GAINS = Gains(np.full(2, 10.0), V_M=0.04, alpha=25.0)
PERIOD, STEPS, DURATION = 1e-3, 4, 0.5  # [s], of the simulator in one, [s]
CHANGES, ENDS = 0.7, 1.5  # [s]
HEAVY = 0.5  # [kg]


@pytest.fixture(scope='module')
def arm():
    return RobotModel.named('two_link')


def holding(arm, kg):
    """Parameters of an arm without friction that holds a point mass at its tip."""
    theta, layout = arm.theta.copy(), arm.layout
    theta[layout.joint_entries('Fc')] = theta[layout.joint_entries('Fv')] = 0.0
    tip = 2.0 * arm.theta[layout.end_effector][1:4] / arm.theta[layout.end_effector][0]
    theta[layout.end_effector] += from_mass_com_inertia(np.array(kg), tip, np.zeros((3, 3)))
    return theta


def known(arm, least, most, nominal=0.1):
    ends = np.stack([holding(arm, least), holding(arm, most)])
    bounds = Interval(ends.min(axis=0), ends.max(axis=0))
    return ParameterEstimate(arm.layout, holding(arm, nominal), bounds)


def plan_for(estimate, k):
    curve = Bezier(PLACE - k, REST, REST, DURATION)
    return Plan(0.0, DURATION, curve, k, estimate.bounds, None, estimate.theta)


def most_energy(arm, plan, estimate):
    """Largest V of a body that is picked up at rest, of a loop by Pinocchio [J]."""
    controller, most = RobustPassivityController(arm, GAINS, Clock(0)), 0.0
    q, qd = np.array(plan.curve.q0), REST.copy()
    bodies = [arm.with_parameters(holding(arm, kg)).pinocchio() for kg in (0.1, HEAVY)]
    for i in range(round(ENDS / PERIOD)):
        t = i * PERIOD
        body = bodies[t >= CHANGES]
        data = body.createData()
        sample = JointMeasurement(round(1e9 * t), q.copy(), qd.copy(), REST)
        torque = controller.step(sample, plan, estimate)
        q_d, qd_d, _ = plan.desired(t)
        r = qd_d - qd + GAINS.K_r * (q_d - q)
        upper = np.triu(pin.crba(body, data, q))
        if t >= CHANGES:
            inertia = upper + np.triu(upper, 1).T
            most = max(most, float(0.5 * r @ inertia @ r))
        for _ in range(STEPS):
            qd = qd + PERIOD / STEPS * pin.aba(body, data, q, qd, torque)
            q = q + PERIOD / STEPS * qd
    return most


@pytest.mark.parametrize('k', [REST, np.array([0.1, -0.1])])
def test_a_body_that_the_plan_allows_for_and_the_estimate_does_not_keeps_the_bound(arm, k):
    plan = plan_for(known(arm, 0.0, HEAVY), k)
    assert most_energy(arm, plan, known(arm, 0.05, 0.15)) <= 1.01 * GAINS.V_M


def test_it_would_not_on_what_the_estimate_says(arm):
    narrow = known(arm, 0.05, 0.15)
    assert most_energy(arm, plan_for(narrow, REST), narrow) > 3.0 * GAINS.V_M


def test_the_estimate_counts_while_the_arm_is_to_move(arm):
    wide, narrow = known(arm, 0.0, HEAVY), known(arm, 0.05, 0.15)
    counted = CountedParameters(arm, plan_for(wide, np.full(2, 0.1)), narrow)
    assert counted.bounds(0.0) is narrow.bounds
    assert counted.bounds(0.99 * DURATION) is narrow.bounds
    assert counted.bounds(DURATION) is wide.bounds
    still = CountedParameters(arm, plan_for(wide, REST), narrow)
    assert still.bounds(0.0) is wide.bounds
    beside = CountedParameters(arm, plan_for(narrow, np.full(2, 0.1)), wide)
    assert beside.bounds(0.0) is narrow.bounds
    for each, moment, bounds in ((counted, 0.0, narrow), (counted, 1.0, wide), (still, 0.0, wide)):
        np.testing.assert_allclose(
            each.at(moment).radius, bounds.bounds.radius, rtol=1e-12, atol=0.0
        )
