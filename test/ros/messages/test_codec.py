"""Messages say exactly what the values say, whatever the order of joints, or are refused."""

from dataclasses import replace
import math

from builtin_interfaces.msg import Time
import numpy as np
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from safe_sysid.errors import MeasurementError, MessageError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate, ParameterLayout, ratio_bounds
from safe_sysid.plan import message
from safe_sysid.plan.agreement import Followed
from safe_sysid.plan.message import PlanNotice, followed_of, name_of, notice_of, plan_notice
from safe_sysid.ros.messages.codec import (
    LATEST,
    SECOND,
    JointStateReader,
    JointStateWriter,
    TorqueReader,
    TorqueWriter,
    estimate_message,
    estimate_of,
    goal_positions,
    path_points,
    plan_message,
    time_of,
)
from safe_sysid.track.guarded_torque import Command
from safe_sysid.track.law_numbers import NUMBERS, ROWS, law_of, numbers_of
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.task_motion import Piece, TaskMotion, minimum_jerk

NAMES = ('a', 'b', 'c')
STAMP = 1_763_744_000_123_456_789  # [ns] a float of seconds would lose the last three digits


def wired(msg):
    """The message as it arrives in another process."""
    return deserialize_message(serialize_message(msg), type(msg))


def random_measurement(rng):
    return JointMeasurement(STAMP, *rng.normal(size=(3, 3)))


def random_estimate(rng):
    layout = ParameterLayout(NAMES, 2)
    theta = rng.normal(size=layout.size)
    return ParameterEstimate(layout, theta, ratio_bounds(theta, 0.1, 0.2))


def test_a_measurement_arrives_to_the_last_bit(rng):
    sent = random_measurement(rng)
    got = JointStateReader(NAMES).measurement(wired(JointStateWriter(NAMES).message(sent)))
    assert got.stamp == sent.stamp
    for field in ('position', 'velocity', 'torque'):
        assert np.array_equal(getattr(got, field), getattr(sent, field))


def test_joints_are_matched_by_name_also_when_the_order_changes_on_the_way(rng):
    sent, reader = random_measurement(rng), JointStateReader(NAMES)
    for order in ([2, 0, 1], [0, 1, 2], [1, 2, 0]):
        msg = JointStateWriter([NAMES[i] for i in order]).message(
            JointMeasurement(STAMP, *(x[order] for x in vars_of(sent)))
        )
        msg.name = [*msg.name, 'gripper']
        for field in ('position', 'velocity', 'effort'):
            setattr(msg, field, [*getattr(msg, field), 9.0])
        got = reader.measurement(wired(msg))
        assert all(np.array_equal(x, y) for x, y in zip(vars_of(got), vars_of(sent), strict=True))


def vars_of(measurement):
    return measurement.position, measurement.velocity, measurement.torque


@pytest.mark.parametrize(
    ('change', 'complaint'),
    [
        ({'name': ['a', 'b', 'x']}, r"joint_states has no \['c'\]; its joints are"),
        ({'name': ['a', 'b', 'c', 'c'], 'position': [0.0] * 4}, r"\['c'\] more than once"),
        ({'effort': []}, '3 names and 0 numbers in effort'),
        ({'velocity': [0.0, math.nan, 0.0]}, 'velocity of b in joint_states is nan'),
        ({'position': [0.0, 0.0, math.inf]}, 'position of c in joint_states is inf'),
    ],
)
def test_what_is_no_measurement_is_refused_by_name(rng, change, complaint):
    msg = JointStateWriter(NAMES).message(random_measurement(rng))
    for field, value in change.items():
        setattr(msg, field, value)
    with pytest.raises(MeasurementError, match=complaint):
        JointStateReader(NAMES).measurement(msg)


@pytest.mark.parametrize('reads', ['measurement', 'motion'])
def test_a_stamp_after_which_ros_cannot_tell_a_plan_is_refused(rng, reads):
    sent = random_measurement(rng)
    read, writer = getattr(JointStateReader(NAMES), reads), JointStateWriter(NAMES)
    assert read(writer.message(replace(sent, stamp=LATEST))).stamp == LATEST
    assert time_of(LATEST + 1000 * SECOND).sec > 0  # the end of any plan
    late = writer.message(sent)
    late.header.stamp = Time(sec=2**31 - 1, nanosec=2**32 - 1)
    with pytest.raises(MeasurementError, match='the stamp of joint_states is 21474836512949'):
        read(late)


def test_a_torque_arrives_with_the_stamp_it_answers(rng):
    sent = Command(rng.normal(size=3), STAMP)
    msg = wired(TorqueWriter(NAMES).message(sent))
    got = TorqueReader(NAMES).command(msg)
    assert got.stamp == STAMP
    assert np.array_equal(got.torque, sent.torque)
    assert list(msg.data[msg.layout.data_offset :]) == sent.torque.tolist()


def test_torques_for_other_joints_are_refused(rng):
    msg = TorqueWriter(('b', 'a', 'c')).message(Command(rng.normal(size=3), STAMP))
    with pytest.raises(MessageError, match='is for'):
        TorqueReader(NAMES).command(msg)
    short = TorqueWriter(NAMES).message(Command(rng.normal(size=3), STAMP))
    short.data = short.data[:-1]
    with pytest.raises(MessageError, match='has 4 numbers, not 5'):
        TorqueReader(NAMES).command(short)


def test_an_estimate_arrives_to_the_last_bit_and_keeps_its_name(rng):
    sent = random_estimate(rng)
    msg = wired(estimate_message(sent, STAMP))
    got = estimate_of(msg, sent.layout)
    assert got.stamp == STAMP
    assert np.array_equal(got.estimate.theta, sent.theta)
    assert np.array_equal(got.estimate.bounds.lower, sent.bounds.lower)
    assert np.array_equal(got.estimate.bounds.upper, sent.bounds.upper)
    assert name_of(got.estimate) == name_of(sent) != name_of(random_estimate(rng))
    assert [dim.size for dim in msg.layout.dim] == [3, sent.layout.size]
    assert msg.layout.dim[1].label.split(', ') == list(sent.layout.labels)


def test_an_estimate_of_another_arm_or_beside_its_bounds_is_refused(rng):
    sent = random_estimate(rng)
    with pytest.raises(MessageError, match='not about this arm'):
        estimate_of(estimate_message(sent, STAMP), ParameterLayout(('a', 'b', 'd'), 2))
    msg = estimate_message(sent, STAMP)
    msg.data[2 + sent.layout.size] = math.nan
    for topic in ('parameter_estimate', 'certified_estimate'):
        with pytest.raises(MessageError, match=f'{topic} has .* not in its bounds'):
            estimate_of(msg, sent.layout, topic)


def random_motion(rng, duration=3.0):
    """Two pieces, of which the first ends in motion."""
    start, via, goal = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=3)
    return minimum_jerk(tuple(start), via, goal, (duration, 1.5))


def one_piece(rng, duration=3.0):
    return TaskMotion((Piece(Bezier(*rng.normal(size=(3, 3)), duration), rng.normal(size=3)),))


@pytest.mark.parametrize('motion_of', [one_piece, random_motion])
def test_a_plan_is_the_same_motion_on_the_other_side(rng, motion_of):
    sent = PlanNotice(STAMP, motion_of(rng), 'name')
    msg = wired(plan_message(sent, NAMES))
    assert len(msg.points) == len(sent.motion.pieces) + 1
    got = plan_notice(msg, NAMES)
    assert (got.start, got.certified_for) == (STAMP, 'name')
    clock, estimate = Clock(STAMP - 5), random_estimate(rng)
    plan = got.plan(clock, estimate)
    for t in np.linspace(0.0, sent.motion.duration, 31):
        for x, expected in zip(plan.motion.desired(t), sent.motion.desired(t), strict=True):
            assert np.allclose(x, expected, rtol=0.0, atol=1e-12)
    assert notice_of(plan, clock, 'name').start == STAMP
    assert np.array_equal(plan.theta_0, estimate.theta)
    assert plan.theta_bounds.contains(estimate.bounds)


@pytest.mark.parametrize(('motion_of', 'lasts'), [(one_piece, 3.0), (random_motion, 4.5)])
def test_a_plan_in_force_is_followed_until_its_last_piece_ends(rng, motion_of, lasts):
    msg = wired(plan_message(PlanNotice(STAMP, motion_of(rng), 'name'), NAMES))
    assert followed_of(msg, NAMES) == Followed(STAMP, STAMP + round(lasts * 1e9))
    with pytest.raises(MessageError, match='plan is for'):
        followed_of(msg, ('a', 'b', 'd'))


def test_without_points_no_plan_is_followed():
    assert followed_of(JointTrajectory(), NAMES) is None


def test_a_plan_that_does_not_end_at_rest_or_is_for_others_is_refused(rng):
    msg = plan_message(PlanNotice(STAMP, one_piece(rng), ''), NAMES)
    with pytest.raises(MessageError, match='plan is for'):
        plan_notice(msg, ('a', 'b', 'd'))
    msg.points[1].velocities = [0.0, 1e-9, 0.0]
    with pytest.raises(MessageError, match='does not end at rest'):
        plan_notice(msg, NAMES)
    msg.points[0].positions = [0.0, math.nan, 0.0]
    with pytest.raises(MessageError, match='not 3 finite numbers'):
        plan_notice(msg, NAMES)
    empty = plan_message(PlanNotice(STAMP, one_piece(rng, 1e-10), ''), NAMES)
    with pytest.raises(MessageError, match='lasts 0 ns'):
        plan_notice(empty, NAMES)


FORGED = 1_000_000  # letters of a name
LONG_MESSAGE = 3000  # letters of a sentence that nobody minds


@pytest.mark.parametrize('forged', ['points', 'effort', 'names', 'name', 'estimate'])
def test_a_plan_of_forged_lengths_is_refused_with_one_sentence(rng, forged, monkeypatch):
    """Before a curve is made of any of its points."""
    msg = plan_message(PlanNotice(STAMP, one_piece(rng), 'name'), NAMES)
    if forged == 'points':
        for i in range(5_000):  # well made but for their number
            point = JointTrajectoryPoint(positions=msg.points[-1].positions)
            point.velocities = point.accelerations = [0.0] * len(NAMES)
            point.time_from_start.sec = 10 + i
            msg.points.append(point)
    elif forged == 'effort':
        msg.points[1].effort = [0.0] * 1_000_000
    elif forged == 'names':
        msg.joint_names = [*NAMES, *('x' * 50 for _ in range(50_000))]
    elif forged == 'name':
        msg.joint_names = [*NAMES[:-1], 'x' * FORGED]
    else:
        msg.header.frame_id = 'x' * FORGED
    made = []
    monkeypatch.setattr(message, 'Bezier', lambda *a, **k: made.append(1) or Bezier(*a, **k))
    with pytest.raises(MessageError) as refused:
        plan_notice(msg, NAMES)
    assert len(str(refused.value)) < LONG_MESSAGE
    assert len(made) <= 1


@pytest.mark.parametrize('forged', ['points', 'names', 'lengths'])
def test_a_path_of_forged_lengths_is_refused_before_its_points_are_read(forged):
    msg = JointTrajectory(joint_names=list(NAMES))
    point = JointTrajectoryPoint(positions=[0.0] * len(NAMES))
    msg.points = [point] * (2 if forged != 'points' else 100_000)
    if forged == 'names':
        msg.joint_names = ['x'] * 100_000
    elif forged == 'lengths':
        point.velocities = [0.0] * 100_000
    with pytest.raises(MessageError) as refused:
        path_points(msg, NAMES)
    assert len(str(refused.value)) < LONG_MESSAGE


def test_states_and_goals_of_ever_so_many_joints_are_refused_with_one_sentence():
    many = JointState(name=[f'joint {i}' for i in range(100_000)], position=[0.0] * 100_000)
    with pytest.raises(MeasurementError, match='has no .* and 99980 more') as refused:
        JointStateReader(NAMES).measurement(many)
    assert len(str(refused.value)) < LONG_MESSAGE
    twice = JointState(name=['x' * FORGED] * 2, position=[0.0] * 2)
    with pytest.raises(MessageError, match='more than once') as refused:
        goal_positions(twice)
    assert len(str(refused.value)) < LONG_MESSAGE


def law_numbers(rng, n):
    """Numbers of a law of n joints; what they mean does not matter here."""
    alone = [0.001, 0.002, 0.0005, 0.05, 1e-4, 0.01, 0.003, 0.0004, 0.02, 0.9, 1.1]
    alone += rng.random(NUMBERS - len(alone)).tolist()
    return np.concatenate([alone, rng.random(ROWS * n)])


def test_laws_of_an_arm_that_is_seen_late_come_back_with_their_plan(rng):
    motion = random_motion(rng)
    laws = tuple(law_of(law_numbers(rng, len(NAMES)), len(NAMES)) for _ in motion.pieces)
    sent = PlanNotice(STAMP, motion, 'name', laws)
    told = plan_notice(wired(plan_message(sent, NAMES)), NAMES)
    assert len(told.laws) == len(laws) > 1
    for law, again in zip(laws, told.laws, strict=True):
        np.testing.assert_array_equal(numbers_of(law), numbers_of(again))
        assert again.sampling.is_same(law.sampling)
    exact = plan_notice(wired(plan_message(PlanNotice(STAMP, motion, 'name'), NAMES)), NAMES)
    assert exact.laws == ()


def test_a_law_that_is_incomplete_or_not_finite_is_refused(rng):
    numbers = law_numbers(rng, len(NAMES))
    motion = one_piece(rng)
    law = law_of(numbers, len(NAMES))
    for spoiled in (numbers[:-1], np.where(np.arange(len(numbers)) == 9, np.nan, numbers)):
        msg = plan_message(PlanNotice(STAMP, motion, 'name', (law,)), NAMES)
        msg.points[1].effort = spoiled.tolist()
        with pytest.raises(MessageError, match='finite ones are needed'):
            plan_notice(msg, NAMES)
