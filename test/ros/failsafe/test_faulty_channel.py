"""The wire of the failsafe matrix does what it was told, by hand and without a node."""

import json
import math

import pytest
from ros.faulty_channel import DELAYS, TOLD, FaultyChannel
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from safe_sysid.ros.messages.codec import SECOND, stamp_of, time_of


class Wire:
    """What goes in by topic, and all that came out of it."""

    def __init__(self, disturbance):
        self.hear, self.out = {}, {}
        self.channel = FaultyChannel(self)
        self.hear['disturbance'](String(data=disturbance))

    def create_publisher(self, message, topic, delivery):
        del message, delivery
        self.out[topic] = []
        return type('Publisher', (), {'publish': lambda _, msg: self.out[topic].append(msg)})()

    def create_subscription(self, message, topic, hear, delivery):
        del message, delivery
        self.hear[topic] = hear


def message(kind, number):
    if kind == 'plan':
        points = [JointTrajectoryPoint(positions=[0.1, 0.2]) for _ in range(2)]
        return JointTrajectory(joint_names=[str(number)], points=points)
    return Float64MultiArray(data=[float(number), 1.0, 2.0, 3.0])


def told(kind, disturbance, count=6):
    """Messages that come out of so many of a kind."""
    wire, (_, topic, _) = Wire(disturbance), TOLD[kind]
    for number in range(count):
        wire.hear[f'told_{topic}'](message(kind, number))
    assert json.loads(wire.out['disturbed'][-1].data)['disturbance'] == disturbance
    return wire.out[topic]


@pytest.mark.parametrize('kind', TOLD)
def test_what_is_told_is_passed_on_lost_late_or_twice(kind):
    assert len(told(kind, '')) == len(told(kind, 'state silent')) == 6
    assert told(kind, f'{kind} silent') == []
    assert len(told(kind, 'cut')) == 6  # which is between the loop and its driver
    assert len(told(kind, f'{kind} twice')) == 12
    late = told(kind, f'{kind} late')
    assert late == told(kind, '')[: 6 - DELAYS[kind]]


@pytest.mark.parametrize('kind', TOLD)
def test_one_number_of_each_is_none(kind):
    for msg in told(kind, f'{kind} not a number'):
        numbers = [x for p in msg.points for x in p.positions] if kind == 'plan' else msg.data
        assert 0 < sum(map(math.isnan, numbers)) < len(numbers)


@pytest.mark.parametrize(
    ('disturbance', 'jump'),
    [('', 0.0), ('clock ahead', 100.0), ('clock back', -100.0),
     ('clock a little ahead', 0.5), ('clock a little back', -0.5)],
)  # fmt: skip
def test_the_clock_of_the_driver_is_set(disturbance, jump):
    wire, stamp = Wire(disturbance), 1_763_744_000 * SECOND + 250_000_000
    msg = JointState()
    msg.header.stamp = time_of(stamp)
    wire.hear['measured'](msg)
    assert stamp_of(wire.out['joint_states'][0].header.stamp) == stamp + round(jump * SECOND)
