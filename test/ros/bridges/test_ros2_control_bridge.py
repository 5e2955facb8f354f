"""The bridge to effort controllers of ros2_control, over real middleware; a simulated arm."""

import numpy as np
import pytest
import rclpy
from ros.running_loop import changed_settings
from ros.running_node import running_node
from ros.small_loop import SmallLoop, SpringLaw
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.messages.qos import SAMPLES
from safe_sysid.share import share_directory
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm
from safe_sysid.track.supervisor import Cause

LOOP = share_directory() / 'config' / 'loop' / 'kinova_gen3.yaml'
PERIOD = 0.005  # [s]
START = np.array([-0.48, 0.05, -0.12, 0.17, 3.12, 0.13, -1.39])  # [rad]
TARGET = START + 0.05
NAME = '/loop/ros2_control_bridge'
CONTROLLER = [6, 2, 4, 0, 5, 1, 3]  # order of joints in the effort controller


class Driver:
    """joint_state_broadcaster and effort controller of one arm and its gripper."""

    def __init__(self, node, model):
        self.arm = SimulatedArm(model, START, np.random.default_rng(1), ArmSettings(PERIOD))
        self.names = list(model.layout.joint_names)
        self._node = node
        self.told: list = []
        self.torque = np.zeros(model.n)  # that the controller holds
        self._states = node.create_publisher(JointState, '/joint_states', SAMPLES)
        node.create_subscription(
            Float64MultiArray, '/forward_effort_controller/commands', self._on_command, SAMPLES
        )

    @property
    def is_connected(self):
        return self._states.get_subscription_count() > 0 and (
            self._node.count_publishers('/forward_effort_controller/commands') > 0
        )

    def message(self, order):
        """State with the joints in some order, and a gripper between them."""
        sample = self.arm.measure()
        msg = JointState(name=[self.names[i] for i in order])
        msg.header.stamp = self._node.get_clock().now().to_msg()
        msg.position = [float(sample.position[i]) for i in order]
        msg.velocity = [float(sample.velocity[i]) for i in order]
        msg.effort = [float(sample.torque[i]) for i in order]
        msg.name.insert(3, 'gripper')
        for values in (msg.position, msg.velocity, msg.effort):
            values.insert(3, 99.0)
        return msg

    def send(self, msg):
        self._states.publish(msg)

    def move(self):
        self.arm.apply(self.torque)

    def _on_command(self, msg):
        self.told.append(np.array(msg.data))
        for place, value in zip(CONTROLLER, msg.data, strict=True):
            self.torque[place] = value


@pytest.fixture(scope='module')
def connected(tmp_path_factory):
    rclpy.init()
    node = rclpy.create_node('everybody_else', namespace='loop')
    model = RobotModel.named('kinova_gen3')
    driver = Driver(node, model)
    loop = SmallLoop(node, model, SpringLaw(model, TARGET, 100.0, 20.0))
    settings = changed_settings(
        tmp_path_factory.mktemp('settings'),
        'kinova_gen3',
        ros2_control_bridge__guard__max_age=2.0,  # a busy machine is late
        ros2_control_bridge__controller_joints=[driver.names[i] for i in CONTROLLER],
    )
    own = ['--params-file', str(settings), '-r', '__ns:=/loop']
    with running_node('ros2_control_bridge', *own):
        loop.wait_until(lambda: loop.is_connected and driver.is_connected, 'the bridge')
        yield driver, loop
    node.destroy_node()
    rclpy.shutdown()


def say(loop, mode):
    loop.say(mode)
    loop.wait_until(lambda: loop.figures(NAME).get('mode') == mode, f'mode {mode}')


def cycle(driver, loop, rng):
    """One period: a state in any order, and motion with a torque that answers it."""
    driver.send(driver.message(rng.permutation(7)))
    answered, told = len(loop.samples), len(driver.told)
    loop.wait_until(lambda: len(loop.samples) > answered, 'the sample')
    wanted = loop.torques[-1][CONTROLLER]
    if told < 40:  # the guard comes from the torque it measured
        loop.wait_until(lambda: len(driver.told) > told + 1, 'a command')
    else:
        loop.wait_until(
            lambda: len(driver.told) and np.allclose(driver.told[-1], wanted, atol=1e-9),
            'the torque of the loop',
        )
    driver.move()


def test_nothing_is_commanded_before_the_first_torque_and_zeros_after_the_last(connected, rng):
    driver, loop = connected
    say(loop, 'idle')
    driver.send(driver.message(rng.permutation(7)))
    loop.wait_until(lambda: len(loop.samples) == 1, 'a sample')
    assert driver.told == []
    say(loop, 'task')
    for _ in range(300):
        cycle(driver, loop, rng)
    assert np.abs(driver.arm.truth.position - TARGET).max() < 2e-2
    assert loop.trouble(NAME) == ''
    np.testing.assert_allclose(loop.samples[-1].torque, loop.torques[-2], atol=1e-9)
    say(loop, 'idle')
    told = len(driver.told)
    loop.wait_until(lambda: len(driver.told) > told + 3, 'zeros')
    np.testing.assert_array_equal(driver.told[-1], np.zeros(7))


def test_a_state_that_cannot_be_used_is_a_fault_and_goes_no_further(connected, rng):
    driver, loop = connected
    bad = [driver.message(range(7)) for _ in range(4)]
    bad[0].name[0] = 'somebody'
    bad[1].effort = []
    bad[2].velocity[1] = float('nan')
    bad[3].name[2] = bad[3].name[1]
    sentences = ('joint_states has no', 'needs position, velocity and effort', 'nan', 'has no')
    for msg, sentence in zip(bad, sentences, strict=True):
        samples = len(loop.samples)
        driver.send(msg)
        loop.wait_until(lambda s=sentence: s in loop.trouble(NAME), sentence)
        assert loop.said[NAME].faults == {Cause.BAD_MEASUREMENT}
        assert len(loop.samples) == samples
        driver.send(driver.message(rng.permutation(7)))
        loop.wait_until(lambda: loop.trouble(NAME) == '', 'no trouble')


def test_a_driver_that_falls_silent_leaves_the_guard_in_charge(connected, rng):
    """Without states the commands go on: the arm is braked, and the operator reads why."""
    driver, loop = connected
    say(loop, 'task')
    cycle(driver, loop, rng)
    told = len(driver.told)
    loop.wait_until(lambda: 'the command answers' in loop.trouble(NAME), 'the reason')
    assert loop.said[NAME].faults == {Cause.COMMAND_REFUSED}
    assert len(driver.told) > told
    assert np.isfinite(driver.told[-1]).all()
    say(loop, 'idle')


def test_a_controller_with_other_joints_is_refused():
    other = ['-p', 'controller_joints:=[joint_1, joint_2]', '-r', '__ns:=/loop']
    with running_node('ros2_control_bridge', '--params-file', str(LOOP), *other) as process:
        assert "controller_joints is ['joint_1', 'joint_2']; the same joints" in (
            process.stderr.read()
        )
        assert process.wait() == 2


def test_the_topic_of_the_driver_is_not_taken_for_that_of_the_loop():
    with running_node('ros2_control_bridge', '--params-file', str(LOOP)) as process:
        assert 'states is /joint_states, on which this bridge publishes' in process.stderr.read()
        assert process.wait() == 2
