"""What an LBR says in one FRI cycle, as values; whether it can be commanded, and its velocity."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import MeasurementError

JOINTS = 7
SECOND = 1_000_000_000  # [ns]
CYCLES = (0.002, 0.010)  # [s] between states: torques may be commanded at 100 to 500 Hz
SOME = 0.01  # [N m] of a torque that is not the zero of nobody
COUNTED = 20  # states, by which their rate is known
EXTERNAL = 2.0  # [N m] above which later drivers refuse to activate a compliant mode
SAME = 1e-3  # share by which the cycle may differ from the period of the loop
MOST_LOST = 5  # cycles without a state after which a velocity is unknown


class FriSession(IntEnum):
    """How far the connection with the controller of the robot has come."""

    IDLE = 0
    MONITORING_WAIT = 1
    MONITORING_READY = 2
    COMMANDING_WAIT = 3
    COMMANDING_ACTIVE = 4


class CommandMode(IntEnum):
    """What the client may command."""

    NONE = 0
    POSITION = 1
    WRENCH = 2
    TORQUE = 3


class ControlMode(IntEnum):
    """What the controller of the robot does with it."""

    POSITION = 0
    CARTESIAN_IMPEDANCE = 1
    JOINT_IMPEDANCE = 2
    NONE = 3


class Quality(IntEnum):
    """Of the connection."""

    POOR = 0
    FAIR = 1
    GOOD = 2
    EXCELLENT = 3


class Safety(IntEnum):
    """Whether a safety stop is in force."""

    NORMAL_OPERATION = 0
    SAFETY_STOP_0 = 1
    SAFETY_STOP_1 = 2
    SAFETY_STOP_2 = 3


class Drives(IntEnum):
    """Of all joints."""

    OFF = 0
    ON_THEIR_WAY = 1
    ACTIVE = 2


@dataclass(frozen=True, eq=False)
class FriState:
    """One state of the robot."""

    stamp: int  # [ns] of the robot's own clock
    period: float  # [s] of a cycle
    position: Array  # (7,) [rad]
    effort: Array  # (7,) [N m] as the sensors count it
    refusal: str  # why no torque can be commanded; empty if it can
    is_under_torque: bool = False  # of a command, ours or of one who has gone

    @property
    def takes_torque(self) -> bool:
        """Whether a commanded torque has an effect."""
        return not self.refusal


def fri_state(msg: Any, period: float) -> FriState:
    """State in a message, for a loop of this period [s]; an error if a number is not finite."""
    position = np.array(msg.measured_joint_position, dtype=np.float64)
    effort = np.array(msg.measured_torque, dtype=np.float64)
    for name, values in (('measured_joint_position', position), ('measured_torque', effort)):
        if not np.isfinite(values).all():
            joint = int(np.flatnonzero(~np.isfinite(values))[0])
            raise MeasurementError(
                f'{name} of A{joint + 1} in the state of the LBR is {values[joint]}; it has to be '
                'finite'
            )
    stamp = int(msg.time_stamp_sec) * SECOND + int(msg.time_stamp_nano_sec)
    commanded = np.array(msg.commanded_torque, dtype=np.float64)
    is_under_torque = bool((np.abs(commanded) > SOME).any())  # not where it is nan
    refusal = _refusal(msg, period)
    return FriState(stamp, float(msg.sample_time), position, effort, refusal, is_under_torque)


def _refusal(msg: Any, period: float) -> str:
    """Return the first thing that keeps the robot from taking torques."""
    wanted = (
        ('safety state', Safety, msg.safety_state, Safety.NORMAL_OPERATION),
        ('session state', FriSession, msg.session_state, FriSession.COMMANDING_ACTIVE),
        ('drives', Drives, msg.drive_state, Drives.ACTIVE),
        ('control mode', ControlMode, msg.control_mode, ControlMode.JOINT_IMPEDANCE),
        ('client command mode', CommandMode, msg.client_command_mode, CommandMode.TORQUE),
    )
    for name, kind, value, needed in wanted:
        if value != needed:
            known = value in kind._value2member_map_
            said = kind(value).name.lower() if known else f'{value}, which is unknown'
            why = _external_torque(msg) if kind is FriSession else ''
            return f'{name} of the LBR is {said}; {needed.name.lower()} is needed{why}'
    if msg.connection_quality < Quality.GOOD:
        return f'the connection with the LBR has quality {msg.connection_quality} of 0 to 3; ' + (
            'good (2) is needed'
        )
    shortest, longest = CYCLES
    if not shortest <= msg.sample_time <= longest:
        return (
            f'the LBR has a cycle of {msg.sample_time} s; torques need {shortest} to {longest} s, '
            'which is set where the session is opened on the robot'
        )
    if abs(msg.sample_time - period) > SAME * period:
        return (
            f'the LBR has a cycle of {msg.sample_time} s and the settings of the loop a period of '
            f'{period} s; make them the same'
        )
    return ''


def _external_torque(msg: Any) -> str:
    """Return what the driver may have against it: a torque that the robot sees no reason for."""
    torque = np.abs(np.array(msg.external_torque, dtype=np.float64))
    if not torque.max() > EXTERNAL:
        return ''
    joint = int(np.argmax(torque))
    return (
        f'. An external torque of {torque[joint]:.3g} N m is read on A{joint + 1}: drivers after '
        'pull request 271 do not let a compliant mode begin above external_torque_limit, '
        f'{EXTERNAL:g} N m where nobody sets it. Raise that for what the arm holds, and enter no '
        'payload on the robot'
    )


class StateRate:
    """Whether a state comes in every cycle; the driver's manager may have a slower rate."""

    def __init__(self) -> None:
        self._stamps: deque[int] = deque(maxlen=COUNTED)

    def complaint(self, state: FriState) -> str:
        """Why the states are too few, with this one; empty if they are not."""
        if self._stamps and state.stamp <= self._stamps[-1]:
            self._stamps.clear()
        self._stamps.append(state.stamp)
        if len(self._stamps) < COUNTED:
            return ''
        interval = float(np.median(np.diff(self._stamps))) / SECOND
        if interval < 1.5 * state.period:
            return ''
        return (
            f'states of the LBR come every {interval:.4g} s, its cycle is {state.period} s: set '
            f'update_rate of its controller_manager to {1.0 / state.period:.0f} at least'
        )


class VelocityDifference:
    """Velocity as mean of the last cycle: the robot reports none.

    It is what the velocity was half a cycle ago, and wrong by at most half a cycle times the
    largest acceleration, plus the encoders' step divided by a cycle.
    """

    def __init__(self) -> None:
        self._last: FriState | None = None

    def step(self, state: FriState) -> Array | None:
        """Velocity (7,) [rad/s]; None for the first state, after a gap, and for an old state."""
        last = self._last
        if last is not None and state.stamp <= last.stamp:
            return None
        self._last = state
        if last is None or state.stamp - last.stamp > MOST_LOST * state.period * SECOND:
            return None
        velocity: Array = (state.position - last.position) / ((state.stamp - last.stamp) / SECOND)
        return velocity
