"""Drake and MuJoCo behind the topics of a robot: what comes out is what they do with torques."""

from functools import partial

import numpy as np
import pytest
import rclpy
from ros.running_loop import changed_settings
from ros.running_node import running_node
from ros.small_loop import SmallLoop, SpringLaw

from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.bridges.drake_bridge import CREEP
from safe_sysid.simulate.drake import DrakeBody
from safe_sysid.simulate.mujoco import MujocoBody
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm

PERIOD = 0.002  # [s]
START = [-1.4, 0.3]  # [rad]
STEPS = 80
SIMULATORS = {
    'drake_bridge': ('pydrake', partial(DrakeBody, creep=CREEP)),
    'mujoco_bridge': ('mujoco', MujocoBody),
}


@pytest.fixture
def node():
    rclpy.init()
    node = rclpy.create_node('everybody_else')
    yield node
    node.destroy_node()
    rclpy.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize('bridge', SIMULATORS)
def test_in_lockstep_the_samples_are_theirs_under_the_torques_told(tmp_path, node, bridge):
    library, dynamics = SIMULATORS[bridge]
    pytest.importorskip(library, reason='other simulators are extras')
    model = RobotModel.named('two_link')
    loop = SmallLoop(node, model, SpringLaw(model, [-1.2, 0.1], 30.0, 2.0))
    settings = changed_settings(
        tmp_path,
        'two_link',
        all__timing='lockstep',
        all__period=PERIOD,
        **{
            f'{bridge}__unknown_links': False,
            f'{bridge}__start': START,
            f'{bridge}__sensors__torque_ratio': [0.0],
            f'{bridge}__actuators': 'exact',
        },
    )
    with running_node(bridge, '--params-file', str(settings)):
        loop.wait_until(lambda: loop.is_connected, 'the simulator')
        loop.say('task')
        loop.wait_until(lambda: len(loop.samples) > STEPS, f'{STEPS} samples')
        loop.say('idle')
        is_released = lambda: loop.figures(f'/{bridge}').get('released') == 'True'  # noqa: E731
        loop.wait_until(is_released, 'rest in its brakes')
    samples = {sample.stamp: sample for sample in loop.samples}  # told again until answered
    stamps = sorted(samples)[: STEPS + 1]
    assert set(np.diff(stamps)) == {round(PERIOD * 1e9)}
    rng = np.random.default_rng(0)
    arm = SimulatedArm(model, np.array(START), rng, ArmSettings(PERIOD), dynamics)
    for stamp in stamps[1:]:
        arm.apply(samples[stamp].torque)
        truth = arm.truth
        np.testing.assert_allclose(samples[stamp].position, truth.position, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(samples[stamp].velocity, truth.velocity, rtol=0.0, atol=1e-12)
    assert np.abs(arm.truth.position - START).max() > 0.02
    torques = np.array([samples[stamp].torque for stamp in stamps[1:]])
    assert min(np.abs(torques - t).max(axis=1).min() for t in loop.torques[20:-2]) < 1e-12
