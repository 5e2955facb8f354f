"""A wire between a driver, and parts of the loop, that can be told to spoil what goes through it.

States come in on `measured` and go out on `joint_states`, torques come in on `torque_command` and
go out on `passed_torque`; plans, what they are certified for, and estimates come in on topics that
begin with `told_` and go out without that. What is done to them is a word on `disturbance`; how
often it was done is said on `disturbed` as JSON.
"""

from collections import Counter, deque
from copy import deepcopy
from functools import partial
import json
import math
import random
import sys

import rclpy
from rclpy.executors import ExternalShutdownException
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory

from safe_sysid.ros.messages.codec import SECOND, stamp_of, time_of
from safe_sysid.ros.messages.qos import PLANS, SAMPLES, STATE
from safe_sysid.ros.process.distributions import single_threaded_executor
from safe_sysid.ros.process.real_time import RealTimeSettings, prepare_process

SHARE = 0.05  # of the states that are lost, come twice, or come late
JUMPS = {  # [s] of the driver's clock
    'clock ahead': 100.0, 'clock back': -100.0, 'clock a little ahead': 0.5,
    'clock a little back': -0.5,
}  # fmt: skip
DELAYS = {'state': 30, 'torque': 30, 'plan': 1, 'certified': 1, 'estimate': 3}  # messages
DRIVERS = ('state', 'torque')  # kinds between the loop and its driver
FATES = ('late', 'twice', 'swapped', 'frozen')
WEAK = 0.3  # share of a torque that is left of it
STAMP = 2  # numbers before the torques


TOLD = {  # kind: message, topic behind `told_`, delivery
    'plan': (JointTrajectory, 'plan', PLANS),
    'certified': (Float64MultiArray, 'certified_estimate', PLANS),
    'estimate': (Float64MultiArray, 'parameter_estimate', STATE),
}


class FaultyChannel:
    """Passes states on, as it was told to."""

    def __init__(self, node):
        self._node, self._random = node, random.Random(20260101)
        self._disturbance, self._late = '', None
        self._counts, self._waiting = Counter(), {kind: deque() for kind in DELAYS}
        self._states = node.create_publisher(JointState, 'joint_states', SAMPLES)
        self._said = node.create_publisher(String, 'disturbed', STATE)
        node.create_subscription(JointState, 'measured', self._on_state, SAMPLES)
        self._torques = node.create_publisher(Float64MultiArray, 'passed_torque', SAMPLES)
        node.create_subscription(Float64MultiArray, 'torque_command', self._on_torque, SAMPLES)
        node.create_subscription(String, 'disturbance', self._on_disturbance, STATE)
        for kind, (message, topic, delivery) in TOLD.items():
            out = node.create_publisher(message, topic, delivery)
            heard = partial(self._on_told, kind, out)
            node.create_subscription(message, f'told_{topic}', heard, delivery)

    def _on_disturbance(self, msg):
        self._disturbance = msg.data
        self._counts = Counter()
        for waiting in self._waiting.values():
            waiting.clear()
        self._say()

    def _on_state(self, msg):
        for fated in self._passed('state', msg):
            for passed in self._spoilt(fated):
                self._states.publish(passed)
        if self._disturbance and not sum(self._counts.values()) % 10:
            self._say()

    def _on_torque(self, msg):
        if self._disturbance == 'torque not a number' and len(msg.data) > STAMP:
            msg.data[STAMP] = math.nan
        elif self._disturbance == 'torque weak':
            for i in range(STAMP, len(msg.data)):
                msg.data[i] *= WEAK
        for passed in self._passed('torque', msg):
            self._torques.publish(passed)

    def _on_told(self, kind, publisher, msg):
        if self._disturbance == f'{kind} not a number':
            self._counts[kind] += 1
            if kind == 'plan':
                for point in msg.points:
                    point.positions[0] = math.nan
            else:
                msg.data[-1] = math.nan
        for passed in self._passed(kind, msg):
            publisher.publish(passed)
        if self._disturbance.startswith(kind):
            self._say()

    def _passed(self, kind, msg):
        """What comes out for a message of one kind as its fate is, whatever is in it."""
        waiting, (whose, _, fate) = self._waiting[kind], self._disturbance.partition(' ')
        is_cut = self._disturbance == 'cut' and kind in DRIVERS
        if is_cut or (whose, fate) == (kind, 'silent'):
            self._counts[kind] += 1
            return []
        if whose != kind or fate not in FATES:
            return [msg]
        self._counts[kind] += 1
        if fate == 'twice':
            return [msg, msg]
        waiting.append(deepcopy(msg))
        if fate == 'frozen':
            return [waiting[0]]
        if fate == 'swapped':
            return [waiting.pop(), waiting.pop()] if len(waiting) == 2 else []
        return [waiting.popleft()] if len(waiting) > DELAYS[kind] else []

    def _say(self):
        said = {'disturbance': self._disturbance, **self._counts}
        self._said.publish(String(data=json.dumps(said)))

    def _spoilt(self, msg):
        """What becomes of a state: none, one or two."""
        if self._disturbance == 'lossy':
            return self._lost_or_late(msg)
        if self._disturbance == 'not a number':
            msg.position[1] = math.nan
        elif self._disturbance == 'wrong names':
            msg.name[0] = 'somebody_else'
        elif self._disturbance in JUMPS:
            jump = round(JUMPS[self._disturbance] * SECOND)
            msg.header.stamp = time_of(stamp_of(msg.header.stamp) + jump)
        self._counts['states'] += 1
        return [msg]

    def _lost_or_late(self, msg):
        due, self._late = self._late, None
        sent = [msg] if due is None else [msg, due]
        fate = self._random.random()
        if due is not None or fate >= 3 * SHARE:
            self._counts['as they came'] += 1
        elif fate < SHARE:
            self._counts['lost'] += 1
            sent = []
        elif fate < 2 * SHARE:
            self._counts['twice'] += 1
            sent = [msg, msg]
        else:
            self._counts['late'] += 1  # the next one overtakes it
            sent, self._late = [], deepcopy(msg)
        return sent


def main():
    """Until it is killed."""
    rclpy.init()
    node = rclpy.create_node('faulty_channel')
    channel = FaultyChannel(node)
    prepare_process(RealTimeSettings(priority=20))
    executor = single_threaded_executor()
    executor.add_node(node)
    try:
        while rclpy.ok():
            executor.spin_once(timeout_sec=0.2)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    del channel


if __name__ == '__main__':
    sys.exit(main())
