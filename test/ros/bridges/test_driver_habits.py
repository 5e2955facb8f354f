"""Habits of drivers under ros2_control, and a bridge that commands through each of them.

Bridge, loop and the arm of `tools/mujoco_sim` are in this process, and time is on `/clock`: it
goes on once what was said has been heard, so no test depends on how fast the machine is.
"""

from contextlib import contextmanager
from dataclasses import replace
import importlib.util
from pathlib import Path
import sys
import time

import numpy as np
import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from ros.running_loop import changed_settings
from ros.small_loop import SmallLoop, SpringLaw
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from tiers import slow_after

from safe_sysid.errors import ConfigError
from safe_sysid.model.facts import facts_path
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.bridges.ros2_control_bridge import Ros2ControlBridge
from safe_sysid.ros.messages.codec import SECOND
from safe_sysid.ros.messages.qos import SAMPLES
from safe_sysid.share import share_directory
from safe_sysid.track.supervisor import Cause

pytest.importorskip('mujoco', reason='MuJoCo is an extra')
FOLDER = Path(__file__).parents[3] / 'tools' / 'mujoco_sim'
PERIOD = 0.005  # [s]
START = np.array([-0.48, 0.05, -0.12, 0.17, 3.12, 0.13, -1.39])  # [rad]
NAME = '/loop/ros2_control_bridge'
GIVE_UP = 60.0  # [s]
SETTINGS = {
    'all__period': 9.0,  # [s] of the steady clock, in which a machine that is busy has answered
    'ros2_control_bridge__guard__max_age': 0.5 * PERIOD,
    'ros2_control_bridge__probe__driver': 'trusted',
    'ros2_control_bridge__guard__longest_step': 2.0 * PERIOD,
}


def loaded(name):
    spec = importlib.util.spec_from_file_location(f'habits_{name}', FOLDER / f'{name}.py')
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class Bench:
    """A driver with habits, the bridge to it, and a loop that pulls the arm somewhere."""

    def __init__(self, bridge, node, habits):
        arms, drivers = loaded('arm'), loaded('driver')
        facts = arms.facts_of('kinova_gen3', 'dumbbell_5lb')
        said = drivers.Habits(**{'period': PERIOD, **habits})
        bare = arms.Arm(replace(facts, payload=''), START)
        self.driver = drivers.Driver(arms.Arm(facts, START), facts.joints, said, bare)
        model = RobotModel.named('kinova_gen3')
        self.loop = SmallLoop(node, model, SpringLaw(model, START + 0.05, 100.0, 20.0))
        self.bridge, self.told = bridge, []
        self._clock = node.create_publisher(Clock, '/clock', SAMPLES)
        self._states = node.create_publisher(JointState, '/joint_states', SAMPLES)
        topic = '/forward_effort_controller/commands'
        node.create_subscription(Float64MultiArray, topic, self._on_command, SAMPLES)
        self._executor = SingleThreadedExecutor()
        for one in (bridge, node):
            self._executor.add_node(one)
        self.until(lambda: self.loop.is_connected, 'the loop')
        self.until(lambda: node.count_publishers(topic) > 0, 'the commands')
        self.until(lambda: self._states.get_subscription_count() > 0, 'the bridge')
        self.until(lambda: self._clock.get_subscription_count() > 0, 'its clock')

    def _on_command(self, msg):
        self.told.append(np.array(msg.data))
        self.driver.command(msg.data)

    def until(self, condition, what):
        end = time.monotonic() + GIVE_UP
        while not condition():
            assert time.monotonic() < end, f'waited {GIVE_UP} s for {what}; {self.loop.said}'
            self._executor.spin_once(timeout_sec=0.01)

    def tick(self, is_commanded):
        """Say what the driver says, wait until it was heard and answered, and move."""
        for kind, stamp in self.driver.words():
            self._say(kind, stamp)
            heard = self._now if kind == 'clock' else self._newest
            self.until(lambda stamp=stamp, heard=heard: heard() == stamp, f'{kind} of {stamp} ns')
        if is_commanded:
            told = len(self.told)
            self.until(lambda: len(self.told) > told, 'a command')
        self.driver.tick()

    def _say(self, kind, stamp):
        clock = Clock()
        clock.clock.sec, clock.clock.nanosec = divmod(stamp, SECOND)
        if kind == 'clock':
            self._clock.publish(clock)
            return
        names, position, velocity, effort = self.driver.state()
        msg = JointState(name=names, position=position, velocity=velocity, effort=effort)
        msg.header.stamp = clock.clock
        self._states.publish(msg)

    def _now(self):
        return self.bridge.get_clock().now().nanoseconds

    def _newest(self):
        return self.loop.samples[-1].stamp if self.loop.samples else 0

    def say(self, mode):
        self.loop.say(mode)
        self.until(lambda: self.loop.figures(NAME).get('mode') == mode, f'mode {mode}')


@contextmanager
def bench(tmp_path, changed=SETTINGS, **habits):
    settings = changed_settings(tmp_path, 'kinova_gen3', **changed)
    own = ['--ros-args', '--params-file', str(settings), '-r', '__ns:=/loop']
    own += ['-p', 'use_sim_time:=true']
    rclpy.init(args=own)
    nodes = [rclpy.create_node('others', namespace='loop', use_global_arguments=False)]
    try:
        nodes.append(Ros2ControlBridge())
        yield Bench(nodes[1], nodes[0], habits)
    finally:
        for node in nodes:
            node.destroy_node()
        rclpy.try_shutdown()


@pytest.mark.parametrize('clock', slow_after(1, ['before', 'after', 'late', 'tenth']))
def test_commands_pass_whenever_the_clock_comes(tmp_path, clock):
    """A command answers the newest state: no clock that lags behind makes it one of the future."""
    with bench(tmp_path, clock=clock) as over:
        over.tick(is_commanded=False)
        over.say('task')
        for _ in range(60):  # the guard comes from what it measured
            over.tick(is_commanded=True)
        begin = len(over.loop.samples)
        for _ in range(40):
            over.tick(is_commanded=True)
        assert over.loop.trouble(NAME) == ''
        wanted, told = over.loop.torques[begin:], over.told[-40:]
    np.testing.assert_allclose(told, wanted, rtol=0.0, atol=1e-9)


@pytest.mark.slow
def test_a_driver_without_effort_until_it_is_commanded_is_commanded(tmp_path):
    """Gazebo reports nan until the first command; the arm is held from there on, not dropped."""
    with bench(tmp_path, waits_with_effort=True) as over:
        over.tick(is_commanded=False)
        assert np.isnan(over.loop.samples[-1].torque).all()
        assert over.loop.said == {} or over.loop.said[NAME].faults == set()
        gravity, begin = over.driver.arm.gravity(), over.driver.arm.q
        over.say('task')
        over.tick(is_commanded=True)
        # what it holds is known within the prior only
        assert np.abs(over.told[0] - gravity).max() < 0.3 * np.abs(gravity).max()
        assert np.abs(over.driver.arm.q - begin).max() < 1e-3
        for _ in range(60):
            over.tick(is_commanded=True)
        assert np.isfinite(over.loop.samples[-1].torque).all()
        assert over.loop.trouble(NAME) == ''
        over.say('idle')
        for _ in range(10):
            over.tick(is_commanded=True)
        over.driver.forget()
        over.driver.active = 'joint_trajectory_controller'  # which somebody switched on
        for _ in range(120):
            over.tick(is_commanded=False)
        assert Cause.BAD_MEASUREMENT not in over.loop.said[NAME].faults


def test_effort_that_never_comes_is_a_fault(tmp_path):
    """A driver without an effort state gets no loop that believes it has one."""
    with bench(tmp_path, effort='none') as over:
        over.tick(is_commanded=False)
        over.say('task')
        sentence = 'effort of all joints is still nan'
        for _ in range(100):
            over.tick(is_commanded=True)
        over._say('state', over.driver.stamp + SECOND // 100)
        over.until(lambda: sentence in over.loop.trouble(NAME), sentence)
        assert over.loop.said[NAME].faults >= {Cause.BAD_MEASUREMENT}


@pytest.mark.slow
@pytest.mark.parametrize('effort', [[], [float('nan')] * 3])
def test_an_arm_whose_effort_is_not_told_any_more_is_held_by_where_it_is(tmp_path, effort):
    """Where it is and how it moves is still told; without that no torque is a brake."""
    with bench(tmp_path) as over:
        over.tick(is_commanded=False)
        over.say('task')
        for _ in range(60):
            over.tick(is_commanded=True)
        state = over.driver.state
        over.driver.state = lambda: (*state()[:3], effort)
        over.tick(is_commanded=True)
        over.say('fault')
        begin = over.driver.arm.q.copy()
        for _ in range(200):
            over.tick(is_commanded=True)
        moved = np.abs(over.driver.arm.q - begin).max()
        assert over.loop.said[NAME].faults == {Cause.BAD_MEASUREMENT}
        assert over.loop.figures(NAME)['guard'] in (
            'holding',
            'braking along the rest of the plan',
        )
    assert moved < 0.05


@pytest.mark.slow
def test_a_joint_that_is_reported_in_one_turn_turns_on(tmp_path):
    """A Kinova reports positions in (-pi, pi]; a jump by a turn would be a motion to the loop."""
    with bench(tmp_path, wraps=True) as over:
        over.tick(is_commanded=False)
        over.say('task')
        for _ in range(150):
            over.tick(is_commanded=True)
        positions = np.array([sample.position for sample in over.loop.samples])
        reported = over.driver.state()
        there = over.driver.arm.q
    assert there[4] > np.pi > START[4]
    assert reported[1][reported[0].index('joint_5')] < 0.0
    assert np.abs(np.diff(positions, axis=0)).max() < 0.05
    assert positions[-1, 4] > np.pi


AMPERES = 0.08  # per N m


def of_currents(folder, scale):
    """Settings of an arm whose driver reports currents, and of a loop for it."""
    text = facts_path('kinova_gen3').read_text()
    text = text.replace('kind: torque', 'kind: current').replace(
        'effort_scale: 1.0', f'effort_scale: {scale}'
    )
    text = text.replace('urdf: kinova', f'urdf: {share_directory()}/urdf/kinova')
    (folder / 'kinova_of_currents.yaml').write_text(text)
    more = {'all__robot': str(folder / 'kinova_of_currents.yaml'), 'all__payload': ''}
    return {**SETTINGS, **more, 'ros2_control_bridge__command__adds_gravity': True}


@pytest.mark.slow
def test_a_driver_of_currents_that_adds_gravity_gets_torques_beside_it(tmp_path):
    """As that of Universal Robots: what it reports and what it is told are counted differently."""
    settings = of_currents(tmp_path, 1.0 / AMPERES)
    with bench(tmp_path, settings, adds_gravity=True, current=AMPERES) as over:
        over.tick(is_commanded=False)
        over.say('task')
        for _ in range(100):
            over.tick(is_commanded=True)
        assert over.loop.trouble(NAME) == ''
        told, done = over.loop.torques[-2], over.loop.samples[-1].torque
    np.testing.assert_allclose(done, told, rtol=0.0, atol=1e-9)


def test_currents_that_nobody_calibrated_are_refused(tmp_path):
    with (
        pytest.raises(ConfigError, match='effort is a motor current, and effort_scale is 1'),
        bench(tmp_path, of_currents(tmp_path, 1.0)),
    ):
        pass


PROBED = {**SETTINGS, 'ros2_control_bridge__probe__driver': 'probed'}


def probed(over):
    """Go through the probe; what the bridge says of its driver."""
    over.tick(is_commanded=False)
    over.say('probing')
    told = lambda: over.loop.figures(NAME).get('obeys')  # noqa: E731
    for _ in range(8000):
        over.tick(is_commanded=True)
        if told() != 'not known yet':
            return told()
    return told()


@pytest.mark.slow
def test_a_driver_that_takes_efforts_and_holds_its_position_is_refused_before_any_motion(tmp_path):
    """ros2_kortex exports effort commands, activates their controller, and ignores them."""
    with bench(tmp_path, PROBED, ignores=True) as over:
        assert probed(over) == 'does not obey'
        sentence = 'the driver takes effort commands and does not act on them'
        over.until(lambda: sentence in over.loop.trouble(NAME), sentence)
        assert over.loop.said[NAME].faults == {Cause.ROBOT_NOT_READY}
        torques = np.abs(over.told).max(axis=0)
    assert np.all(torques < 0.5 * RobotModel.named('kinova_gen3').limits.torque)


@pytest.mark.slow
def test_a_driver_that_obeys_is_known_to_and_commands_pass(tmp_path):
    with bench(tmp_path, PROBED) as over:
        assert probed(over) == 'obeys'
        assert np.abs(over.driver.arm.q - START).max() < 5e-3
        over.say('task')
        for _ in range(60):
            over.tick(is_commanded=True)
        assert over.loop.trouble(NAME) == ''
        np.testing.assert_allclose(over.told[-1], over.loop.torques[-1], rtol=0.0, atol=1e-9)


def test_commands_do_not_pass_before_the_driver_was_asked(tmp_path):
    with bench(tmp_path, PROBED) as over:
        over.tick(is_commanded=False)
        over.say('task')
        over.tick(is_commanded=False)
        sentence = 'nobody has found out yet whether the driver does what it is told'
        over.until(lambda: sentence in over.loop.trouble(NAME), sentence)
        assert over.loop.said[NAME].faults == {Cause.ROBOT_NOT_READY}
        for _ in range(60):
            over.tick(is_commanded=False)
        assert over.told == []
