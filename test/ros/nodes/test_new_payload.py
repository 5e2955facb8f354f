"""Another payload: its samples are told from those before, and the identifier has heard of it."""

import time

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
import pytest
import rclpy
from rclpy.node import Node
from ros.running_loop import changed_settings
from ros.running_node import greet, running_node, wait_until
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header
from std_srvs.srv import Trigger

from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.messages.codec import (
    SECOND,
    JointStateWriter,
    estimate_of,
    stamp_of,
    time_of,
)
from safe_sysid.ros.messages.qos import EVERY_SAMPLE, HEALTH, STATE
from safe_sysid.ros.process.lifecycle import STATE as LIFE
from safe_sysid.ros.process.lifecycle import WAITS
from safe_sysid.ros.watch.activation import NEEDED
from safe_sysid.ros.watch.awaited_answers import HEARS, TAKES
from safe_sysid.ros.watch.health import Condition, heard_from, status_of
from safe_sysid.ros.watch.payload_change import TAKEN, TOPIC
from safe_sysid.ros.watch.told_bounds import HEARD, TOLD
from safe_sysid.simulate.excited_motion import fourier_motion, true_torque

AGAIN = 5.0  # [s] without an answer
SETTLING = 0.5  # [s] of the supervisor's settings
MODEL = RobotModel.named('two_link')


class Rest:
    """What the node under test has around it."""

    def __init__(self):
        self.node = Node('rest')
        self.heard = {}
        self.samples = self.node.create_publisher(JointState, 'joint_states', EVERY_SAMPLE)
        self._health = self.node.create_publisher(DiagnosticArray, '/diagnostics', HEALTH)
        self._writer = JointStateWriter(MODEL.layout.joint_names, 'rest')
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._on_health, HEALTH)

    def _on_health(self, msg):
        for status in msg.status:
            self.heard[status.name] = heard_from(status)

    def says(self, name, key):
        """A figure of a node."""
        heard = self.heard.get(name)
        return None if heard is None else heard.figures.get(key)

    def wait(self, condition, what, step=lambda: None):
        def go_on():
            step()
            rclpy.spin_once(self.node, timeout_sec=0.01)

        wait_until(condition, what, go_on)

    def speak_as(self, name, figures):
        status = status_of(self.node, Condition('', frozenset(), figures))
        status.name = name
        self._health.publish(DiagnosticArray(status=[status]))

    def sample(self, stamp, q, qd, tau):
        self.samples.publish(self.message(stamp, q, qd, tau))

    def message(self, stamp, q, qd, tau):
        return self._writer.message(JointMeasurement(stamp, q, qd, tau))

    def call(self, service):
        client = self.node.create_client(Trigger, service)
        self.wait(client.service_is_ready, service)
        asked = []

        def ask_again():  # a question or its answer may get lost while the two find each other
            if not asked or time.monotonic() > asked[-1][0] + 5.0:
                asked.append((time.monotonic(), client.call_async(Trigger.Request())))

        answers = lambda: [future for _, future in asked if future.done()]  # noqa: E731
        self.wait(answers, f'answer of {service}', ask_again)
        return answers()[0].result()


@pytest.fixture
def rest():
    rclpy.init()
    everybody = Rest()
    yield everybody
    everybody.node.destroy_node()
    rclpy.try_shutdown()


@pytest.mark.slow
def test_nothing_begins_before_the_identifier_has_taken_the_new_payload(tmp_path, rest):
    """The identifier says nothing of payloads when it changes, and is slow to answer then."""
    settings = changed_settings(tmp_path, 'two_link')
    newest, still, there = 7 * SECOND, np.zeros(2), {LIFE: 'active', WAITS: 'False'}
    with running_node('supervisor_node', '--params-file', str(settings)):
        rest.wait(
            lambda: rest.says('/supervisor', 'at rest') == 'True',
            'the supervisor',
            lambda: (
                rest.speak_as('/bridge', {'gives_torque': False}),
                *(rest.speak_as(f'/{name}', there) for name in NEEDED),
                rest.sample(newest, still, still, still),
            ),
        )
        assert rest.call('supervisor/new_payload').success
        refused = rest.call('supervisor/start')
        assert not refused.success
        assert refused.message == f'excite has to wait until {TAKES}'
        told = []
        rest.node.create_subscription(Header, TOPIC, told.append, STATE)
        rest.speak_as('/identifier', {**there, TAKEN: -1})
        rest.wait(lambda: len(told) > 3, 'it is told again')
        (since,) = {stamp_of(msg.stamp) for msg in told}
        assert since >= newest + SETTLING * SECOND
        assert since < newest + 60 * SECOND
        assert not rest.call('supervisor/start').success
        rest.wait(
            lambda: 'has taken new_payload; it is told again' in rest.heard['/supervisor'].trouble,
            'it is said',
        )
        widened = {TOLD: 'prior first'}
        rest.speak_as('/planner', {**there, HEARD: 'narrower'})
        rest.speak_as('/identifier', {**there, TAKEN: since, **widened})
        rest.wait(
            lambda: f'no motion begins until {HEARS}' in rest.heard['/supervisor'].trouble,
            'the identifier has answered, and its estimate got lost',
        )
        refused = rest.call('supervisor/start')
        assert (refused.success, refused.message) == (False, f'excite has to wait until {HEARS}')
        rest.speak_as('/planner', {**there, HEARD: 'prior'})
        rest.wait(lambda: rest.heard['/supervisor'].trouble == '', 'the estimate is heard')
        assert rest.call('supervisor/start').success


@pytest.mark.slow
def test_the_identifier_takes_back_its_bounds_and_waits_for_samples_of_the_payload(
    tmp_path, rest, rng
):
    settings = changed_settings(tmp_path, 'two_link', all__timing='lockstep')
    motion = fourier_motion(rng, 2, 3.0, 0.001)
    torque = true_torque(MODEL, motion)
    estimates = []
    rest.node.create_subscription(
        Float64MultiArray,
        'parameter_estimate',
        lambda msg: estimates.append(estimate_of(msg, MODEL.layout)),
        STATE,
    )
    changes = rest.node.create_publisher(Header, TOPIC, STATE)
    arguments = ('--params-file', str(settings), '-p', 'waits_for_mode:=false')
    with running_node('identifier_node', *arguments):
        rest.wait(lambda: estimates, 'the identifier')
        prior = estimates[0].estimate.bounds
        first = (SECOND + int(motion.stamp[0]), motion.q[0], motion.qd[0], torque[0])
        greet(rest.samples, rest.message(*first))  # it comes again below, and counts once

        def send(first, last):
            for i in range(first, last):
                end = SECOND + int(motion.stamp[i])
                asked = []

                def ask_again(end=end, i=i, asked=asked):  # as a bridge in lockstep does
                    if not asked or time.monotonic() > asked[-1] + AGAIN:
                        asked.append(time.monotonic())
                        rest.sample(end, motion.q[i], motion.qd[i], torque[i])

                rest.wait(
                    lambda end=end: estimates[-1].stamp >= end,
                    f'the answer to sample {i}',
                    ask_again,
                )

        def knows_more():
            bounds = estimates[-1].estimate.bounds
            return bool(np.any(bounds.lower > prior.lower) or np.any(bounds.upper < prior.upper))

        send(0, 700)
        assert knows_more()
        since = int(SECOND + motion.stamp[900])
        changes.publish(Header(stamp=time_of(since)))
        rest.wait(lambda: rest.says('/identifier', TAKEN) == str(since), 'it answers')
        rest.wait(lambda: not knows_more(), 'the prior is told at once, without a sample')
        send(700, 1300)
        assert not knows_more()
        assert rest.says('/identifier', 'samples of the payload before') in ('200', '201')
        changes.publish(Header(stamp=time_of(since)))  # told again
        send(1300, 1900)
        assert knows_more()
