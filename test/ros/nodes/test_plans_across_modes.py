"""A controller of its own: what it was told for one mode does not begin in the next one."""

from contextlib import contextmanager
from itertools import count
from unittest.mock import MagicMock

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
import pytest
import rclpy
from rclpy.node import Node
from ros.reference_loop import settings_of
from ros.running_node import running_node, wait_until
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory

from safe_sysid.errors import MeasurementError
from safe_sysid.measure.clock import Clock
from safe_sysid.model.dynamics.kinetic_energy import kinetic_energy
from safe_sysid.plan.message import name_of
from safe_sysid.ros.messages.codec import SECOND, stamp_of, time_of
from safe_sysid.ros.messages.plan_publisher import PlanPublisher
from safe_sysid.ros.messages.qos import HEALTH, SAMPLES, STATE
from safe_sysid.ros.nodes.controller_node import ControllerNode, ControllerNodeSettings
from safe_sysid.ros.process.distributions import single_threaded_executor
from safe_sysid.ros.watch.bodies_energy import BODIES, SHARE
from safe_sysid.sets.interval import Interval
from safe_sysid.share import share_directory
from safe_sysid.track.supervisor import Mode
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

FILE = share_directory() / 'config/loop/two_link.yaml'
ARM = settings_of(FILE, 'controller', ControllerNodeSettings).arm()
CLOCK = Clock(0)
LOOKS = 10  # for the answer to a sample
AT, REST = np.array([-1.4, 0.3]), np.zeros(2)


def plan(start, curve, k=REST):
    return Plan(start, start + 1.0, curve, k, ARM.prior.bounds, 'certified', ARM.prior.theta)


def standing(start):
    return plan(start, Bezier(AT, REST, REST, 2.0))


def moving(start, before):
    return plan(start, before.curve_from(start, 2.0), np.array([0.3, 0.1]))


def energy(mass, velocity):
    """V of an arm that moves so and should stand, with another mass than the nominal one."""
    theta = ARM.prior.theta.copy()
    theta[ARM.model.layout.end_effector.start] = mass
    return float(kinetic_energy(ARM.model, Interval.of(theta), AT, velocity).center)


class Others:
    """The rest of the loop: an arm that stands, whatever it is told."""

    def __init__(self):
        self.node, self.followed, self.newest_answer = Node('others'), [], 0
        self.velocity, self.figures = REST, {}
        self._plans = PlanPublisher(self.node, ARM.model)
        publish, subscribe = self.node.create_publisher, self.node.create_subscription
        self._modes = publish(String, 'mode', STATE)
        self._samples = publish(JointState, 'joint_states', SAMPLES)
        subscribe(JointTrajectory, 'plan_in_force', self._on_plan, STATE)
        subscribe(Float64MultiArray, 'torque_command', self._on_torque, SAMPLES)
        subscribe(DiagnosticArray, '/diagnostics', self._on_health, HEALTH)
        self._executor = single_threaded_executor()
        self._executor.add_node(self.node)

    def _on_plan(self, msg):
        if msg.points:
            self.followed.append(stamp_of(msg.header.stamp) / SECOND)

    def _on_torque(self, msg):
        second, rest, *_ = msg.data
        self.newest_answer = int(second) * SECOND + int(rest)

    def _on_health(self, msg):
        for status in msg.status:
            self.figures |= {pair.key: pair.value for pair in status.values}

    def close(self):
        """Have nobody hear the last mode any more: a bridge of another test would follow it."""
        self._executor.shutdown()
        self.node.destroy_node()

    def told(self, mode, t, is_enough):
        """Do what `answered` does until figures of the controller are enough."""
        self._give(mode, t, lambda: is_enough(self.figures))

    def begin(self, mode, plan):
        """Have a plan followed, told until it is: before a mode is heard it is dropped."""
        self._give(
            mode,
            plan.start_time,
            lambda: self.followed == [plan.start_time],
            lambda: self.tell(plan),
        )

    def tell(self, *plans):
        for each in plans:
            self._plans.publish(each, CLOCK, 0)

    def answered(self, mode, t):
        """Name the mode, then give samples from a time on [s] until one of them is answered."""
        self._give(mode, t, lambda: self.newest_answer >= CLOCK.stamp(t))

    def followed_from(self, mode, t, *starts):
        """Do the same until these plans were followed [s]."""
        self._give(mode, t, lambda: self.followed == list(starts))

    def _give(self, mode, t, is_enough, first=lambda: None):
        stamps = count(CLOCK.stamp(t), 1000)  # every microsecond: however long it takes

        def give():
            first()
            stamp = next(stamps)
            sample = JointState(name=list(ARM.model.layout.joint_names), position=AT.tolist())
            sample.velocity, sample.effort = self.velocity.tolist(), REST.tolist()
            sample.header.stamp = time_of(stamp)
            self._modes.publish(String(data=mode))
            self._samples.publish(sample)
            for _ in range(LOOKS):
                self._executor.spin_once(timeout_sec=0.01)
                if self.newest_answer >= stamp:
                    return

        wait_until(is_enough, f'{mode} at {t} s, followed {self.followed}', give)


@contextmanager
def others():
    rclpy.init()
    loop = Others()
    try:
        with running_node('controller_node', '--params-file', str(FILE)):
            yield loop
    finally:
        loop.close()
        rclpy.shutdown()


@pytest.mark.slow
def test_plans_told_for_one_mode_do_not_begin_in_the_next_one():
    first, later, again = standing(10.0), standing(12.0), standing(14.0)
    with others() as loop:
        loop.begin('task', first)
        loop.tell(moving(11.0, first), later, moving(13.0, later))
        for mode, t in (('braking', 10.7), ('holding', 10.8), ('task', 10.9)):
            loop.answered(mode, t)
        for t in (11.0, 12.0, 13.0):
            loop.answered('task', t)
        loop.tell(again, moving(15.0, again))
        loop.followed_from('task', 14.0, 10.0, 14.0)
        loop.followed_from('task', 15.0, 10.0, 14.0, 15.0)


@pytest.mark.slow
@pytest.mark.parametrize(('between', 'is_followed'), [('identified', True), ('holding', False)])
def test_an_arm_that_may_hold_something_else_begins_with_little_energy(between, is_followed):
    """It stays where its plan has brought it; in holding a body may have been changed."""
    V = kinetic_energy(ARM.model, ARM.prior.bounds, AT, np.array([1.0, 0.0]))
    speed = np.sqrt(ARM.gains.V_M / V.center)
    assert speed**2 * V.lower < ARM.gains.V_M < 0.99 * speed**2 * V.upper
    with others() as loop:
        loop.begin('exciting', standing(10.0))
        for t in (10.7, 11.4, 12.1):  # a second without a sample is a jump
            loop.answered(between, t)
        loop.velocity = speed * np.array([1.0, 0.0])
        loop.tell(standing(13.0))
        if is_followed:
            loop.followed_from('task', 13.0, 10.0, 13.0)
        else:
            refusal = 'last plan not taken over'
            loop.told('task', 13.0, lambda said: 'would begin' in said.get(refusal, ''))
            assert loop.followed == [10.0]


@pytest.mark.slow
def test_energy_of_the_worst_body_in_the_bounds_of_the_plan_is_told():
    """What is held next may be any of them, so that of a body that is held is not enough."""
    bounds, V_M = ARM.prior.end_effector_bounds, ARM.gains.V_M
    unit = np.array([1.0, 0.0])
    speed = np.sqrt(0.5 * V_M / energy(bounds.upper[0], unit))
    most = energy(bounds.upper[0], speed * unit) / V_M
    assert energy(bounds.lower[0], speed * unit) / V_M < 0.9 * most
    with others() as loop:
        loop.begin('changing', standing(10.0))
        loop.told('changing', 10.1, lambda said: said.get(BODIES) == name_of(ARM.prior))
        assert float(loop.figures[SHARE]) < most
        loop.velocity = speed * unit
        loop.told('changing', 10.3, lambda said: float(said[SHARE]) >= most)
        loop.velocity = REST
        loop.told('changing', 10.4, lambda said: float(said[SHARE]) >= most)
        loop.answered('changing', 11.0)
        loop.told('changing', 11.9, lambda said: float(said[SHARE]) < most)


def test_what_a_law_says_of_one_sample_is_no_trouble_once_torques_come_again():
    node = MagicMock(_mode=Mode.TASK, _no_torque='')
    node._controller.step.side_effect = [MeasurementError('two samples are needed'), REST]
    assert ControllerNode._torque(node, MagicMock()) is None
    assert node._no_torque == 'two samples are needed'
    assert ControllerNode._torque(node, MagicMock()) is REST
    assert node._no_torque == ''
