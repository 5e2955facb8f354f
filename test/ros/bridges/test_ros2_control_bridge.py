"""The bridge to effort controllers of ros2_control, over real middleware; a simulated arm."""

import numpy as np
import pytest
import rclpy
from rclpy.time import Time
from ros.generated_messages import importable
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


HOLD, EFFORT = 'position_controller', 'forward_effort_controller'
STRICT = 2


def services():
    """Types of the services, which are generated before."""
    from controller_manager_msgs.srv import ListControllers, SwitchController

    return SwitchController, ListControllers


class Driver:
    """joint_state_broadcaster and effort controller of one arm and its gripper."""

    def __init__(self, node, model):
        self.arm = SimulatedArm(model, START, np.random.default_rng(1), ArmSettings(PERIOD))
        self.names = list(model.layout.joint_names)
        self.node = node
        self.told: list = []
        self.torque = np.zeros(model.n)  # that the controller holds
        self._states = node.create_publisher(JointState, '/joint_states', SAMPLES)
        self.obeys = True  # the manager
        self.active = EFFORT
        for kind, name, answer in zip(
            services(),
            ('switch_controller', 'list_controllers'),
            (self._on_switch, self._on_list),
            strict=True,
        ):
            node.create_service(kind, f'/controller_manager/{name}', answer)
        node.create_subscription(
            Float64MultiArray, '/forward_effort_controller/commands', self._on_command, SAMPLES
        )

    @property
    def is_connected(self):
        return self._states.get_subscription_count() > 0 and (
            self.node.count_publishers('/forward_effort_controller/commands') > 0
        )

    def message(self, order):
        """State with the joints in some order, and a gripper between them."""
        sample = self.arm.measure()
        msg = JointState(name=[self.names[i] for i in order])
        msg.header.stamp = self.node.get_clock().now().to_msg()
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

    def _on_switch(self, request, response):
        """As the manager: what is strict is refused where a controller is on already."""
        (wanted,) = request.activate_controllers
        is_done = request.strictness == STRICT and wanted == self.active
        response.ok = self.obeys and not is_done
        if response.ok:
            self.active = wanted
        return response

    def _on_list(self, request, response):
        del request
        from controller_manager_msgs.msg import ControllerState

        for name in (HOLD, EFFORT):
            state = 'active' if name == self.active else 'inactive'
            response.controller.append(ControllerState(name=name, state=state))
        return response

    def _on_command(self, msg):
        self.told.append(np.array(msg.data))
        for place, value in zip(CONTROLLER, msg.data, strict=True):
            self.torque[place] = value


@pytest.fixture(scope='module')
def manager_messages():
    with importable('controller_manager_msgs'):
        yield


@pytest.fixture(scope='module')
def connected(manager_messages, tmp_path_factory):
    del manager_messages
    rclpy.init()
    try:
        yield from running(tmp_path_factory)
    finally:
        rclpy.shutdown()


def running(tmp_path_factory):
    """Driver and loop of a bridge that runs, for as long as somebody wants it."""
    node = rclpy.create_node('everybody_else', namespace='loop')
    model = RobotModel.named('kinova_gen3')
    driver = Driver(node, model)
    loop = SmallLoop(node, model, SpringLaw(model, TARGET, 100.0, 20.0))
    settings = changed_settings(
        tmp_path_factory.mktemp('settings'),
        'kinova_gen3',
        ros2_control_bridge__guard__max_age=2.0,  # a busy machine is late
        ros2_control_bridge__hold_controller='position_controller',
        ros2_control_bridge__probe__driver='trusted',
        ros2_control_bridge__controller_joints=[driver.names[i] for i in CONTROLLER],
    )
    own = ['--params-file', str(settings), '-r', '__ns:=/loop']
    with running_node('ros2_control_bridge', *own):
        loop.wait_until(lambda: loop.is_connected and driver.is_connected, 'the bridge')
        # each side finds the other in its own time; what is sent before is lost
        greet = lambda: stand(driver, np.random.default_rng(0))  # noqa: E731
        loop.wait_until(lambda: loop.samples and NAME in loop.said, 'the first sample', greet)
        settle(driver, loop)
        loop.samples.clear()
        loop.torques.clear()
        yield driver, loop
    node.destroy_node()


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


def settle(driver, loop):
    """Wait for the sample that answers one last state, behind all that was on its way."""
    sample = driver.message(range(7))
    driver.send(sample)
    last = Time.from_msg(sample.header.stamp).nanoseconds
    loop.wait_until(lambda: loop.samples and loop.samples[-1].stamp >= last, 'the last sample')


def stand(driver, rng):
    """A state of an arm that its driver holds."""
    msg = driver.message(rng.permutation(7))
    msg.velocity = [0.0] * 8
    driver.send(msg)


@pytest.mark.slow
def test_torque_begins_with_the_first_mode_that_asks_for_it_and_ends_in_other_hands(
    connected, rng
):
    """No constant torque holds an arm: the law goes on until the manager has switched."""
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
    assert driver.active == 'forward_effort_controller'
    driver.obeys = False
    say(loop, 'idle')
    refused = 'position_controller is to hold the arm, but the controller manager refused'
    loop.wait_until(lambda: refused in loop.trouble(NAME), refused, lambda: stand(driver, rng))
    told = len(driver.told)
    loop.wait_until(lambda: len(driver.told) > told + 3, 'torque', lambda: stand(driver, rng))
    assert np.abs(driver.told[-1]).max() > 1.0
    driver.obeys = True
    expect_release(driver, loop, rng)
    told = -1
    while len(driver.told) > told:  # what was on its way
        told = len(driver.told)
        for _ in range(20):
            rclpy.spin_once(driver.node, timeout_sec=0.01)
    for _ in range(10):
        samples = len(loop.samples)
        stand(driver, rng)
        loop.wait_until(lambda n=samples: len(loop.samples) > n, 'a sample')
    assert len(driver.told) == told


def expect_trouble(driver, loop, msg, sentence):
    """A state that is not what it should be, and one that is; how many were passed on."""
    settle(driver, loop)
    samples = len(loop.samples)
    driver.send(msg)
    loop.wait_until(lambda: sentence in loop.trouble(NAME), sentence)
    assert loop.said[NAME].faults == {Cause.BAD_MEASUREMENT}
    driver.send(driver.message(range(7)))
    loop.wait_until(lambda: loop.trouble(NAME) == '', 'no trouble')
    settle(driver, loop)
    return loop.samples[samples:-2]


def test_a_state_that_cannot_be_used_is_a_fault_and_goes_no_further(connected):
    driver, loop = connected
    bad = [driver.message(range(7)) for _ in range(3)]
    bad[0].name[0] = 'somebody'
    bad[1].velocity[1] = float('nan')
    bad[2].name[2] = bad[2].name[1]
    sentences = ('joint_states has no', 'velocity of joint_2', 'has no')
    for msg, sentence in zip(bad, sentences, strict=True):
        assert expect_trouble(driver, loop, msg, sentence) == []


@pytest.mark.parametrize('effort', [[], [0.0] * 7, [float('nan'), *[0.0] * 7]])
def test_a_state_without_effort_is_a_fault_and_still_says_where_the_arm_is(connected, effort):
    """Without it the arm would be braked by nobody knows what."""
    driver, loop = connected
    msg = driver.message(range(7))
    msg.effort = effort
    (sample,) = expect_trouble(driver, loop, msg, 'effort')
    assert np.isnan(sample.torque).all()
    np.testing.assert_array_equal(sample.position, driver.arm.measure().position)


@pytest.mark.slow
def test_a_manager_that_refuses_torque_is_named_and_asked_again(connected, rng):
    """Until it obeys nothing is commanded that could be taken for a driver that does not obey."""
    driver, loop = connected
    driver.active, driver.obeys = HOLD, False
    say(loop, 'task')
    sentence = f'{EFFORT} is to be on, but the controller manager refused'
    loop.wait_until(lambda: sentence in loop.trouble(NAME), sentence, lambda: stand(driver, rng))
    assert loop.said[NAME].faults == {Cause.ROBOT_NOT_READY}
    driver.obeys = True
    switched = lambda: driver.active == EFFORT and loop.trouble(NAME) == ''  # noqa: E731
    loop.wait_until(switched, 'torque', lambda: cycle_of_states(driver, loop))
    say(loop, 'idle')
    expect_release(driver, loop, rng)


@pytest.mark.slow
def test_a_controller_that_holds_the_arm_already_is_known_to(connected, rng):
    """A strict request is refused where its controller is on; the arm is in its hands then."""
    driver, loop = connected
    driver.active, driver.obeys = HOLD, False
    say(loop, 'task')
    for _ in range(5):
        cycle_of_states(driver, loop)
    driver.obeys = True
    driver.active = HOLD
    say(loop, 'idle')
    expect_release(driver, loop, rng)


def cycle_of_states(driver, loop):
    """One state that was passed on."""
    samples = len(loop.samples)
    driver.send(driver.message(range(7)))
    loop.wait_until(lambda: len(loop.samples) > samples, 'the sample')


@pytest.mark.slow
def test_a_driver_that_falls_silent_leaves_the_guard_in_charge(connected, rng):
    """Without states the commands go on: the arm is braked, and the operator reads why."""
    driver, loop = connected
    say(loop, 'task')
    cycle(driver, loop, rng)
    told = len(driver.told)
    faults = {Cause.COMMAND_REFUSED}
    loop.wait_until(lambda: loop.said[NAME].faults == faults, 'the fault')
    reasons = 'the command answers', 'was not seen for longer than'  # the latter 0.2 s later
    assert any(reason in loop.trouble(NAME) for reason in reasons)
    assert len(driver.told) > told
    assert np.isfinite(driver.told[-1]).all()
    say(loop, 'fault')  # torque for an arm that nobody sees is no brake
    loop.wait_until(lambda: driver.active == HOLD, 'other hands')
    loop.wait_until(lambda: 'was not seen for longer than' in loop.trouble(NAME), 'the reason')
    say(loop, 'idle')
    expect_release(driver, loop, rng)


def expect_release(driver, loop, rng):
    """The driver's own controller is switched on, and no torque is given any more."""
    is_released = lambda: loop.figures(NAME).get('released') == 'True'  # noqa: E731
    loop.wait_until(is_released, 'other hands', lambda: stand(driver, rng))
    assert driver.active == 'position_controller'
    assert loop.figures(NAME)['gives_torque'] == 'False'


@pytest.mark.slow
def test_a_controller_with_other_joints_is_refused():
    other = ['-p', 'controller_joints:=[joint_1, joint_2]', '-r', '__ns:=/loop']
    with running_node('ros2_control_bridge', '--params-file', str(LOOP), *other) as process:
        assert "controller_joints is ['joint_1', 'joint_2']; the same joints" in (
            process.stderr.read()
        )
        assert process.wait() == 2


@pytest.mark.slow
def test_the_topic_of_the_driver_is_not_taken_for_that_of_the_loop():
    with running_node('ros2_control_bridge', '--params-file', str(LOOP)) as process:
        assert 'states is /joint_states, on which this bridge publishes' in process.stderr.read()
        assert process.wait() == 2
