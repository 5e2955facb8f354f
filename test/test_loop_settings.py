"""What a loop promises of an arm: what nobody states is wide, and simulators use all of it."""

import numpy as np
import pytest
from ros.reference_loop import settings_of

from safe_sysid.loop_settings import LoopPriorSettings, LoopSettings
from safe_sysid.model.inertia import is_consistent
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.bridges.builtin_sim_bridge import BuiltinSimSettings
from safe_sysid.share import share_directory
from safe_sysid.simulate.rigid_body import RigidBody

ROBOTS = ('kinova_gen3', 'lbr_med7', 'two_link')
BODY = {'lower': (-9.0,) * 10, 'nominal': (0.0,) * 10, 'upper': (9.0,) * 10}


def shipped(robot, node, cls):
    return settings_of(share_directory() / 'config' / 'loop' / f'{robot}.yaml', node, cls)


@pytest.mark.parametrize('robot', ROBOTS)
def test_no_shipped_loop_promises_that_a_parameter_is_exactly_its_figure(robot):
    arm = shipped(robot, 'everybody', LoopSettings).arm()
    rest = arm.prior.layout.rest
    assert (arm.prior.bounds.radius[rest] > 1e-6).all()
    assert arm.prior.bounds.contains(arm.prior.theta)


def test_what_a_loop_does_not_state_is_wide():
    model = RobotModel.named('kinova_gen3')
    bounds = LoopPriorSettings(**BODY).estimate(model).bounds
    coulomb, offset = model.layout.joint_entries('Fc'), model.layout.joint_entries('beta')
    np.testing.assert_allclose(bounds.upper[coulomb], 0.3 * model.limits.torque)
    np.testing.assert_allclose(bounds.upper[offset], 0.1 * model.limits.torque)


def test_widths_of_the_loop_count_more_than_those_of_the_arm():
    model = RobotModel.named('two_link')
    offset = model.layout.joint_entries('beta')
    assert LoopPriorSettings(**BODY).estimate(model).bounds.upper[offset] == pytest.approx(0.05)
    stated = shipped('kinova_gen3', 'everybody', LoopSettings).prior.uncertainty
    bounds = LoopPriorSettings(**BODY, uncertainty=stated).estimate(model).bounds
    assert bounds.upper[offset] == pytest.approx(stated.offset.absolute[0])


@pytest.mark.parametrize('robot', ROBOTS)
def test_a_simulated_arm_is_anywhere_in_what_the_loop_promises(robot):
    settings = shipped(robot, 'builtin_sim_bridge', BuiltinSimSettings)
    bounds = settings.arm().prior.bounds
    truth = settings.simulated_arm(RigidBody).model
    rest = truth.layout.rest
    assert ((bounds.lower <= truth.theta) & (truth.theta <= bounds.upper))[rest].all()
    friction = slice(10 * truth.n, None)
    share = np.abs(truth.theta - bounds.center)[friction] / bounds.radius[friction]
    assert share.mean() > 0.3 and share.max() > 0.7
    assert all(is_consistent(truth.theta[truth.layout.inertial(j)]) for j in range(truth.n))
