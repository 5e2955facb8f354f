"""Stamps where numbers of some sizes end, and years: what computes with them goes on evenly."""

from datetime import datetime, timezone

from measure.bag.bags import joint_state
import numpy as np
import pytest

from safe_sysid.measure.arm_clock import ArmClock, standing
from safe_sysid.measure.bag.reader import read_rosbag
from safe_sysid.measure.bag.topic import BagTopic, Delivery
from safe_sysid.measure.bag.writer import BagSettings, BagWriter
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.recording import Samples, recording_of
from safe_sysid.measure.sample_order import Arrival, SampleOrder
from safe_sysid.measure.stamp_ages import StampAges
from safe_sysid.measure.time_column import stamps_of

S, MS = 1_000_000_000, 1_000_000  # [ns]


def at(*moment):
    """Stamp of a moment in UTC [ns]."""
    return int(datetime(*moment, tzinfo=timezone.utc).timestamp()) * S


TOLD = {  # [ns] that ROS can tell: seconds of 32 bits
    '2^31 ns': 2**31,
    '2^32 ns': 2**32,
    '2^53 ns': 2**53,
    '2^63 / 10 ns': 2**63 // 10,
    'second of 2016 that was counted twice': at(2017, 1, 1),
    'New Year 2027': at(2027, 1, 1),
    'leap day 2028': at(2028, 2, 29),
    '2^60 ns, in 2006': 2**60,
    'the last that a loop takes, in 2038': (2**31 - 3600) * S - 100 * MS,
}
STAMPS = {**TOLD, '2^31 s, in 2038': 2**31 * S, '2^62 ns': 2**62, 'near 2^63 ns': 2**63 - 100 * S}
edges = pytest.mark.parametrize('edge', STAMPS.values(), ids=STAMPS)
told_edges = pytest.mark.parametrize('edge', TOLD.values(), ids=TOLD)


def across(edge, period=MS, count=200):
    """Stamps of samples before and after an edge."""
    return [edge + period * i for i in range(-count // 2, count // 2)]


@edges
def test_a_clock_counts_nanoseconds_across_it(edge, rng):
    clock = Clock(edge - 1)
    assert [clock.seconds(edge + i) for i in (-2, -1, 0, 1)] == [-1e-9, 0.0, 1e-9, 2e-9]
    for elapsed in rng.integers(-S, 90 * S, 50).tolist():
        assert clock.stamp(clock.seconds(edge + elapsed)) == edge + elapsed


@edges
def test_samples_in_order_are_next(edge):
    order = SampleOrder()
    assert {order.step(stamp) for stamp in across(edge)} == {Arrival.NEXT}
    assert order.step(edge) is Arrival.OLD


@edges
@pytest.mark.parametrize('way', [-3600 * S, -2 * S, 2 * S, 60 * S])
def test_a_clock_that_is_set_there_jumps_once(edge, way):
    order = SampleOrder()
    found = [order.step(stamp) for stamp in (edge, edge + MS, edge + way, edge + way + MS)]
    assert found == [Arrival.NEXT, Arrival.NEXT, Arrival.JUMPED, Arrival.NEXT]


@edges
def test_the_clock_of_the_arm_goes_on_across_it(edge):
    steady = [7 * S]
    clock = ArmClock(lambda: 0, lambda: steady[0])
    for stamp in across(edge):
        assert clock.note(stamp) in (0, edge - 100 * MS)  # the first one sets it
        assert clock.now() == stamp
        steady[0] += MS
    assert clock.now() == across(edge)[-1] + MS
    assert StampAges(clock, old=0.5, ahead=0.1, patience=1.0).trouble(edge) == ''


@edges
@pytest.mark.parametrize('way', [-3600 * S, -2 * S, 2 * S, 60 * S])
def test_a_step_in_lockstep_counts_with_the_second_sample(edge, way):
    clock = ArmClock(lambda: 0, standing)
    for stamp in across(edge):
        clock.note(stamp)
    there = across(edge)[-1]
    assert clock.note(there + way) == 0 and clock.now() == there
    # Time stands between two samples there, so the second one is within a jump of the first.
    assert clock.note(there + way + MS) == way + MS
    assert clock.now() == there + way + MS
    assert clock.note(there + way + 2 * MS) == 0


@edges
@pytest.mark.parametrize('unit', [1, S])
def test_a_column_of_a_table_tells_the_stamps(edge, unit):
    stamps = [stamp for stamp in across(edge, count=20) if stamp < 9 * 10**18]
    texts = [f'{stamp // unit}.{stamp % unit:09}' if unit > 1 else str(stamp) for stamp in stamps]
    found, torn = stamps_of([texts], unit)
    assert found.tolist()[: len(stamps)] == stamps and not torn


@edges
def test_a_recording_is_even_across_it(edge):
    stamp = np.array(across(edge), dtype=np.int64)
    still = np.zeros((len(stamp), 1))
    found = recording_of('x', ('a',), Samples(stamp, still, still, still), ())
    assert np.array_equal(found.stamp, stamp)
    assert found.timing.samples == len(stamp) and found.timing.duplicates == 0
    part = found.between(0.05, 0.1)
    assert part.stamp[0] == stamp[50] and part.stamp[-1] == stamp[100]


@told_edges
@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_a_bag_of_ours_gives_the_stamps_back(edge, storage, tmp_path):
    bag = BagWriter(tmp_path / 'bag', BagSettings(storage, 0.07))
    number = bag.add_topic(
        BagTopic('/joint_states', 'sensor_msgs/msg/JointState', '', '', Delivery.RELIABLE)
    )
    stamps = across(edge, count=20)
    for stamp in stamps:
        data = joint_state(stamp, ('a',), [0.1], [0.2], [0.3])
        bag.write(number, stamp + 5, stamp + 3, data)
    bag.close()
    assert read_rosbag(tmp_path / 'bag', ('a',)).stamp.tolist() == stamps


@edges
@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_a_bag_without_stamps_of_a_driver_has_those_of_their_arrival(edge, storage, tmp_path):
    bag = BagWriter(tmp_path / 'bag', BagSettings(storage, 0.07))
    number = bag.add_topic(
        BagTopic('/joint_states', 'sensor_msgs/msg/JointState', '', '', Delivery.RELIABLE)
    )
    stamps = across(edge, count=20)
    for stamp in stamps:
        bag.write(number, stamp, stamp, joint_state(0, ('a',), [0.1], [0.2], [0.3]))
    bag.close()
    assert read_rosbag(tmp_path / 'bag', ('a',)).stamp.tolist() == stamps
