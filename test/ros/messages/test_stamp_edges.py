"""Messages and gates across the ends of numbers and years: not a nanosecond is lost."""

from measure.test_stamp_edges import MS, S, across, at, edges, told_edges
import numpy as np
import pytest
from sensor_msgs.msg import JointState

from safe_sysid.errors import MeasurementError
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.ros.messages.codec import (
    LATEST,
    JointStateReader,
    JointStateWriter,
    TorqueReader,
    TorqueWriter,
    stamp_of,
    time_of,
)
from safe_sysid.ros.watch.clock_skew import LARGEST, ClockSkew
from safe_sysid.ros.watch.sample_gate import SampleGate
from safe_sysid.track.guarded_torque import Command

NAMES = ('a', 'b')
TOPICS = ('parameter_estimate', 'plan')


@told_edges
def test_a_stamp_is_a_time_and_back(edge):
    assert [stamp_of(time_of(edge + i)) for i in (-1, 0, 1)] == [edge - 1, edge, edge + 1]


@told_edges
def test_states_and_torques_have_the_stamp_of_their_sample(edge):
    states, torques = JointStateWriter(NAMES), TorqueWriter(NAMES)
    read, command = JointStateReader(NAMES), TorqueReader(NAMES)
    for stamp in (edge - 1, edge, edge + 1):
        sample = JointMeasurement(stamp, *np.zeros((3, 2)))
        assert read.measurement(states.message(sample)).stamp == stamp
        assert command.command(torques.message(Command(np.ones(2), stamp))).stamp == stamp


def test_what_ros_could_tell_no_plan_of_is_refused():
    msg = JointState(name=NAMES, position=[0.0, 0.0], velocity=[0.0, 0.0], effort=[0.0, 0.0])
    msg.header.stamp = time_of(LATEST)
    assert JointStateReader(NAMES).measurement(msg).stamp == LATEST > at(2038, 1, 1)
    msg.header.stamp = time_of(LATEST + 1)
    with pytest.raises(MeasurementError, match=r'up to 2\*\*31 s'):
        JointStateReader(NAMES).measurement(msg)


@edges
def test_a_gate_opens_for_the_very_sample(edge):
    gate = SampleGate.of(True, TOPICS)
    for stamp in across(edge, 1, 10):
        assert not gate.is_open(stamp)
        gate.note(TOPICS[0], stamp)
        assert not gate.is_open(stamp)
        gate.note(TOPICS[1], stamp)
        assert gate.is_open(stamp) and not gate.is_open(stamp + 1)


@edges
@pytest.mark.parametrize('way', [-3600 * S, 2 * S])
def test_a_gate_opens_after_a_step_of_the_clock_for_samples_of_then(edge, way):
    gate = SampleGate.of(True, TOPICS)
    for stamp in (edge, edge + way, edge + way + MS):
        for topic in TOPICS:
            gate.note(topic, stamp)
        assert gate.is_open(stamp)
    assert not gate.is_open(edge)


@edges
@pytest.mark.parametrize('slow', [0.0, 0.01])
def test_a_clock_is_as_quick_on_both_sides(edge, slow):
    skew, period = ClockSkew(), 10 * MS
    for i, stamp in enumerate(across(edge, period, 2400)):
        skew.step(stamp, 1e-9 * period * i * (1.0 + slow))
    assert skew.share == pytest.approx(slow, abs=0.1 * LARGEST)
    assert bool(skew.trouble) == bool(slow)
