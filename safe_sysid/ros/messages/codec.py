"""ROS messages to and from the values that stages exchange; only plans have a file of their own.

Standard messages only. Three of them need an agreement on top of their definition:

    torque_command      Float64MultiArray; data_offset is 2, and the two numbers before the offset
                        are seconds and nanoseconds of the sample that the torque answers
    parameter_estimate  Float64MultiArray (3, 14 n), rows lower, nominal, upper; before the offset
                        the stamp of the newest sample in it, as above
    plan                JointTrajectory, see plan/message.py
"""

from __future__ import annotations

import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
import math

from builtin_interfaces.msg import Duration, Time
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header, MultiArrayDimension, MultiArrayLayout
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import MeasurementError, MessageError
from safe_sysid.input_file import listed
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate, ParameterLayout
from safe_sysid.plan.message import PlanNotice, fill_plan
from safe_sysid.plan.path.joint_path import MOST, Points
from safe_sysid.sets.interval import Interval
from safe_sysid.track.guarded_torque import Command

SECOND = 1_000_000_000  # [ns]
LATEST = (2**31 - 3600) * SECOND  # [ns] of a sample: ROS has to be able to tell the plans of then
OFFSET = 2  # numbers before the data of a stamped array: seconds and nanoseconds
ROWS = 'lower, nominal, upper'


def stamp_of(time: Time | Duration) -> int:
    """Nanoseconds of a ROS time or duration, a whole number."""
    return int(time.sec) * SECOND + int(time.nanosec)


def time_of(stamp: int) -> Time:
    """ROS time of a stamp [ns]."""
    return Time(sec=stamp // SECOND, nanosec=stamp % SECOND)


def numbers(values: Array) -> array.array[float]:
    """Array as message fields take it fastest; numpy would be copied number by number."""
    return array.array('d', np.ascontiguousarray(values, dtype=np.float64).tobytes())


class JointStateReader:
    """Reads joint_states in any order of joints; joints of other arms are left out."""

    def __init__(self, joint_names: Sequence[str]) -> None:
        self._joint_names = list(joint_names)
        self._names: list[str] = []
        self._order: IntArray = np.zeros(0, dtype=np.int64)

    def measurement(self, msg: JointState) -> JointMeasurement:
        """Read our joints' finite numbers from a message, or raise an error that names why not.

        Effort may be nan, of all joints: it is not measured yet.
        """
        self._learn_order(msg)
        position, velocity, effort = (
            self._values(msg, field) for field in ('position', 'velocity', 'effort')
        )
        stamp = stamp_of(msg.header.stamp)
        return self.checked(JointMeasurement(stamp, position, velocity, effort))

    def motion(self, msg: JointState) -> JointMeasurement:
        """Read the same without effort, which is nan: where the arm is, and how it moves."""
        self._learn_order(msg)
        position, velocity = (self._values(msg, field) for field in ('position', 'velocity'))
        effort = np.full_like(position, np.nan)
        stamp = stamp_of(msg.header.stamp)
        return self.checked(JointMeasurement(stamp, position, velocity, effort))

    def checked(self, measurement: JointMeasurement) -> JointMeasurement:
        """Return a measurement of finite numbers, or raise an error that names which is not."""
        if measurement.stamp > LATEST:
            raise MeasurementError(
                f'the stamp of joint_states is {measurement.stamp} ns; ROS can tell times up to '
                f'2**31 s, {LATEST} ns is allowed'
            )
        self._check(measurement.position, 'position')
        self._check(measurement.velocity, 'velocity')
        if not np.isnan(measurement.torque).all():
            self._check(measurement.torque, 'effort')
        return measurement

    def _learn_order(self, msg: JointState) -> None:
        if msg.name != self._names:
            self._order, self._names = self._order_in(msg.name), list(msg.name)

    def _order_in(self, names: Sequence[str]) -> IntArray:
        missing = [name for name in self._joint_names if name not in names]
        if missing:
            raise MeasurementError(
                f'joint_states has no {missing}; its joints are {listed(names)}'
            )
        repeated = [name for name in self._joint_names if list(names).count(name) > 1]
        if repeated:
            raise MeasurementError(f'joint_states has {repeated} more than once')
        return np.array([list(names).index(name) for name in self._joint_names], dtype=np.int64)

    def _values(self, msg: JointState, field: str) -> Array:
        given = getattr(msg, field)
        if len(given) != len(msg.name):
            raise MeasurementError(
                f'joint_states has {len(msg.name)} names and {len(given)} numbers in {field}; '
                'every joint needs position, velocity and effort'
            )
        values: Array = np.asarray(given, dtype=np.float64)[self._order]
        return values

    def _check(self, values: Array, field: str) -> None:
        if not np.isfinite(values).all():
            j = int(np.flatnonzero(~np.isfinite(values))[0])
            raise MeasurementError(
                f'{field} of {self._joint_names[j]} in joint_states is {values[j]}; it has to be '
                'finite'
            )


class JointStateWriter:
    """Writes joint_states into one message that is used again and again.

    `source` says who writes, so that readers notice when somebody else does as well.
    """

    def __init__(self, joint_names: Sequence[str], source: str = '') -> None:
        self._msg = JointState(header=Header(frame_id=source), name=list(joint_names))

    def message(self, measurement: JointMeasurement) -> JointState:
        """Return the message; valid until the next call."""
        self._msg.header.stamp.sec = measurement.stamp // SECOND
        self._msg.header.stamp.nanosec = measurement.stamp % SECOND
        self._msg.position = numbers(measurement.position)
        self._msg.velocity = numbers(measurement.velocity)
        self._msg.effort = numbers(measurement.torque)
        return self._msg


class TorqueWriter:
    """Writes torque_command into one message that is used again and again."""

    def __init__(self, joint_names: Sequence[str]) -> None:
        self._msg = Float64MultiArray(layout=_layout([(', '.join(joint_names), len(joint_names))]))
        self._data = np.zeros(OFFSET + len(joint_names))

    def message(self, command: Command) -> Float64MultiArray:
        """Return the message, valid until the next call; without torque it has the stamp alone."""
        size = OFFSET + len(command.torque)
        self._data[:OFFSET] = divmod(command.stamp, SECOND)
        self._data[OFFSET:size] = command.torque
        self._msg.data = numbers(self._data[:size])
        return self._msg


class TorqueReader:
    """Reads torque_command for the joints of one arm, in its order."""

    def __init__(self, joint_names: Sequence[str]) -> None:
        self._label = ', '.join(joint_names)
        self._size = OFFSET + len(joint_names)

    def command(self, msg: Float64MultiArray) -> Command:
        """Torque and the sample it answers; its numbers are for the guard to judge.

        The torque is empty where nothing follows from a sample.
        """
        labels = [dim.label for dim in msg.layout.dim]
        if labels != [self._label] or msg.layout.data_offset != OFFSET:
            raise MessageError(
                f'torque_command is for {listed(labels)} with offset {msg.layout.data_offset}; '
                f"['{self._label}'] and {OFFSET} are needed"
            )
        if len(msg.data) not in (OFFSET, self._size):
            raise MessageError(f'torque_command has {len(msg.data)} numbers, not {self._size}')
        data = np.array(msg.data, dtype=np.float64)
        return Command(data[OFFSET:], _checked_stamp(data, 'torque_command'))


@dataclass(frozen=True, eq=False)
class StampedEstimate:
    """An estimate and the newest sample that is in it."""

    estimate: ParameterEstimate
    stamp: int  # [ns]


def estimate_message(estimate: ParameterEstimate, stamp: int) -> Float64MultiArray:
    """parameter_estimate with labelled dimensions."""
    labels = ', '.join(estimate.layout.labels)
    layout = _layout([(ROWS, 3), (labels, estimate.layout.size)])
    rows = (estimate.bounds.lower, estimate.theta, estimate.bounds.upper)
    data = np.concatenate([divmod(stamp, SECOND), *rows])
    return Float64MultiArray(layout=layout, data=numbers(data))


def estimate_of(
    msg: Float64MultiArray, layout: ParameterLayout, topic: str = 'parameter_estimate'
) -> StampedEstimate:
    """Estimate of an arm, or an error if the message of a topic is about another one."""
    labels = [dim.label for dim in msg.layout.dim]
    if labels != [ROWS, ', '.join(layout.labels)] or msg.layout.data_offset != OFFSET:
        raise MessageError(
            f'{topic} is not about this arm: its dimensions are '
            f"{labels!s:.99}..., ['{ROWS}', '{', '.join(layout.labels):.40}...'] are needed"
        )
    if len(msg.data) != OFFSET + 3 * layout.size:
        raise MessageError(f'{topic} has {len(msg.data)} numbers, not {OFFSET + 3 * layout.size}')
    data = np.array(msg.data, dtype=np.float64)
    lower, theta, upper = data[OFFSET:].reshape(3, -1)
    if not np.all((lower <= theta) & (theta <= upper)):  # also refuses NaN
        raise MessageError(f'{topic} has a nominal value that is not in its bounds')
    estimate = ParameterEstimate(layout, theta, Interval(lower, upper))
    return StampedEstimate(estimate, _checked_stamp(data, topic))


def plan_message(notice: PlanNotice, joint_names: Sequence[str]) -> JointTrajectory:
    """Return a plan to be published."""
    msg = JointTrajectory()
    fill_plan(msg, JointTrajectoryPoint, notice, joint_names)
    return msg


def goal_positions(msg: JointState) -> dict[str, float]:
    """Return a position for each joint that a goal names, in any order [rad]."""
    if len(msg.position) != len(msg.name):
        raise MessageError(
            f'the goal has {len(msg.name)} names and {len(msg.position)} positions; every joint '
            'needs one, and no names at all take the goal away'
        )
    _check_named_once('the goal', msg.name)
    return dict(zip(msg.name, msg.position, strict=True))


def path_points(msg: JointTrajectory, joint_names: Sequence[str]) -> Points:
    """Return points of a path in our order of joints; joints of other arms are left out."""
    if len(msg.points) > MOST + 1:
        raise MessageError(f'the path has {len(msg.points)} points; {MOST + 1} are allowed')
    missing = [name for name in joint_names if name not in msg.joint_names]
    if missing:
        raise MessageError(
            f'the path has no {missing}; its joints are {listed(msg.joint_names)}, all of '
            f'{list(joint_names)} are needed'
        )
    _check_named_once('the path', msg.joint_names)
    order = [list(msg.joint_names).index(name) for name in joint_names]
    kinds: list[list[Array]] = []
    for field in ('positions', 'velocities', 'accelerations'):
        told = [np.array(getattr(point, field), dtype=np.float64) for point in msg.points]
        if any(len(row) not in (0, len(msg.joint_names)) for row in told):
            raise MessageError(
                f'{field} of a point of the path are not {len(msg.joint_names)}, one for each '
                'joint that it names'
            )
        kinds.append([row[order] if len(row) else row for row in told])
    times = [stamp_of(point.time_from_start) / SECOND for point in msg.points]
    return Points(times, *kinds)


def _check_named_once(what: str, names: Sequence[str]) -> None:
    """Refuse a message that says two things about one joint: which one counts, nobody knows."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise MessageError(
            f'{what} names {listed(repeated)} more than once; each joint is allowed once'
        )


def _layout(dimensions: Sequence[tuple[str, int]]) -> MultiArrayLayout:
    sizes = [size for _, size in dimensions]
    dims = [
        MultiArrayDimension(label=label, size=size, stride=math.prod(sizes[i:]))
        for i, (label, size) in enumerate(dimensions)
    ]
    return MultiArrayLayout(dim=dims, data_offset=OFFSET)


def _checked_stamp(data: Array, topic: str) -> int:
    seconds, nanoseconds = data[:OFFSET].tolist()
    if not (0.0 <= seconds < 2**32 and 0.0 <= nanoseconds < SECOND):
        raise MessageError(f'{topic} has the stamp {seconds} s and {nanoseconds} ns')
    return int(seconds) * SECOND + int(nanoseconds)
