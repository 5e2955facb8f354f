"""track -> robot: KUKA LBR over FRI, torques on top of its joint impedance control."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
import sys
import time
from typing import Any

import numpy as np
from rclpy.clock import Clock, ClockType
from rclpy.qos import QoSProfile

from safe_sysid.arrays import Array
from safe_sysid.config import PositiveShare
from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.effort_contract import CommandSignal, EffortContract
from safe_sysid.ros.bridges.bridge_settings import BridgeSettings
from safe_sysid.ros.bridges.fri_state import (
    JOINTS,
    FriState,
    StateRate,
    VelocityDifference,
    fri_state,
)
from safe_sysid.ros.bridges.guarded_edge import GuardedEdge
from safe_sysid.ros.process.configured_node import ConfiguredNode
from safe_sysid.ros.process.main import main_of
from safe_sysid.ros.process.parameters import read_config
from safe_sysid.ros.process.real_time import prepare_process, settle_memory
from safe_sysid.ros.watch.health import Condition, Health
from safe_sysid.track.position_echo import PositionEcho, Reported
from safe_sysid.track.supervisor import Cause

LOOK = 0.0005  # [s] between two looks for the answer to a sample
DRIVER = QoSProfile(depth=1)  # as the driver has it: reliable, and only the newest counts
IS_ECHO = (
    'the LBR driver reports the position that it commands (open_loop in its system '
    'configuration): set open_loop: false, or take a version that reports what is measured under '
    'impedance; nobody sees the arm as it is'
)
AGAIN = 1_000_000_000  # [ns] by which stamps go back when the robot's clock was set


@dataclass(frozen=True)
class OverlaySignal(CommandSignal):
    """A torque that comes on top of the robot's own gravity compensation."""

    adds_gravity: bool = True  # for the bare arm; enter no load data on the robot


@dataclass(frozen=True)
class LbrFriSettings(BridgeSettings):
    """Parameters of the bridge."""

    states: str = '/lbr/state'  # topic on which the driver reports
    commands: str = '/lbr/command/torque'  # topic of its torque controller
    patience: PositiveShare = 0.5  # share of a cycle that the answer to its state may take
    command: OverlaySignal = field(default_factory=OverlaySignal)


class Session:
    """The robot holds itself once its application has left torque control, which we cannot do."""

    listens = can_tell = True

    def __init__(self) -> None:
        self.holds = False
        self.has_torque: bool | None = None

    def see(self, state: FriState) -> None:
        """Take a state; the torque in the first one is not ours."""
        self.holds = not state.takes_torque
        if self.has_torque is None:
            self.has_torque = state.takes_torque and state.is_under_torque

    def look(self) -> None:
        """Ask nobody: the first state says it."""

    def take(self) -> None:
        """Leave it to the operator, who is told what to do in the diagnostics."""

    def give(self) -> None:
        """Leave it to the application on the robot."""

    def __str__(self) -> str:
        if self.holds:
            return 'the robot holds itself'
        return 'end the application on the robot, which then holds itself'


class LbrFriBridge(ConfiguredNode):
    """A state of the robot in, within its cycle a torque on top of gravity compensation out.

    The impedance acts about the measured position, so that it adds nothing but its damping. While
    no torque is to be given, it acts about the position where that began. That would not hold what
    the robot does not know it carries, so the last torque is given only once the session has left
    torque control.

    Before the first torque of a session it finds out whether positions are measured at all.
    """

    def __init__(self) -> None:
        super().__init__('lbr_fri_bridge')
        self._settings = settings = read_config(self, LbrFriSettings)
        state, command = _messages()
        arm = settings.arm()
        if arm.model.n != JOINTS:
            raise ConfigError(f'{arm.model.name} has {arm.model.n} joints, an LBR has {JOINTS}')
        self._contract = EffortContract(
            replace(settings, payload='').described(), settings.command
        )
        self._session = Session()
        self._edge = GuardedEdge(self, arm, settings, self._session)
        self.leave, self.hosted = self._edge, self._edge.hosted
        self._velocity = VelocityDifference()
        self._offset: int | None = None  # [ns] ROS time minus the robot's
        self._stamp = 0  # [ns] of the newest state
        self._waiting: tuple[FriState, JointMeasurement | None, float] | None = None
        self._held: Array | None = None  # [rad] position while no torque is given
        self._echo = PositionEcho()
        self._rate = StateRate()
        self._refusal = self._bad_state = ''
        self._has_given = False  # torque
        self._late = 0  # cycles whose answer was that to an earlier state
        self._msg = command()
        self._commands = self.create_publisher(command, settings.commands, DRIVER)
        self.create_subscription(state, settings.states, self._on_state, DRIVER)
        self._health = Health(self, self._condition, self._edge.life)
        self._warnings = '; '.join(prepare_process(settings.real_time))
        settle_memory()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self.create_timer(LOOK, self._look, clock=steady)

    def _on_state(self, msg: Any) -> None:
        arrived = time.monotonic()
        try:
            state = fri_state(msg, self._settings.period)
        except MeasurementError as error:
            self._bad_state = str(error)
            self._health.announce()
            return
        self._bad_state = ''
        if state.stamp < self._stamp - AGAIN:
            self._velocity, self._offset = VelocityDifference(), None
        self._stamp = state.stamp
        if not state.takes_torque and not self._edge.gives_torque:
            self._echo, self._has_given = PositionEcho(), False
        is_echo = self._echo.reported is Reported.COMMANDED
        self._notice(state.refusal or self._rate.complaint(state) or (IS_ECHO if is_echo else ''))
        measurement = self._measured(state)
        if measurement is not None:
            self._edge.publish(measurement)
        self._session.see(state)
        self._waiting = (state, measurement, arrived) if state.takes_torque else None
        if self._session.holds and self._edge.lets_go and measurement is not None:
            self._edge.torque(measurement.stamp, measurement)  # which nobody takes any more
        elif measurement is not None and self._edge.answered == measurement.stamp:
            self._look()  # a controller in this process has answered already

    def _notice(self, refusal: str) -> None:
        """Tell at once that the robot takes no torque any more, or does again."""
        if refusal != self._refusal:
            self._refusal = refusal
            self._held = None
            self._health.announce()

    def _measured(self, state: FriState) -> JointMeasurement | None:
        """Return the state as everybody else knows it, on the clock of ROS."""
        velocity = self._velocity.step(state)
        if velocity is None:
            return None
        if self._offset is None:
            self._offset = self.get_clock().now().nanoseconds - state.stamp
        torque = self._contract.torque(state.effort, state.position)
        return JointMeasurement(self._offset + state.stamp, state.position, velocity, torque)

    def _look(self) -> None:
        """Answer the robot once its state was answered, or when that takes too long."""
        if self._waiting is None:
            return
        state, measurement, arrived = self._waiting
        elapsed = time.monotonic() - arrived
        is_answered = measurement is not None and self._edge.answered == measurement.stamp
        if not is_answered and self._edge.gives_torque:
            if elapsed < self._settings.patience * state.period:
                return
            self._late += 1
        self._waiting = None
        # at most a cycle, so that time never goes back: the next state is on its way
        now = (self._offset or 0) + state.stamp + round(min(elapsed, state.period) * 1e9)
        if self._is_asking(state):
            self._command(self._echo.ask(state.stamp, state.position), np.zeros(JOINTS))
            return
        torque = self._edge.torque(now, measurement)
        if torque is None:
            self._held = state.position if self._held is None else self._held
            self._command(self._held, np.zeros(JOINTS))
        else:
            self._held, self._has_given = None, True
            self._echo.watch(state.position, torque)
            self._command(state.position, self._contract.effort(torque, state.position))

    def _is_asking(self, state: FriState) -> bool:
        """Whether positions are not known to be measured, so that no torque may begin.

        A bridge that was started again finds its last torque at work and has no time to ask.
        """
        if self._echo.reported is Reported.UNKNOWN and state.is_under_torque:
            self._echo.believe()
        if self._echo.reported is Reported.COMMANDED:
            return not self._has_given
        return self._echo.reported is Reported.UNKNOWN

    def _command(self, position: Array, effort: Array) -> None:
        self._msg.joint_position = position
        self._msg.torque = effort
        self._commands.publish(self._msg)

    def _condition(self) -> Condition:
        edge = self._edge.condition()
        faults = set(edge.faults)
        if self._bad_state:
            faults.add(Cause.BAD_MEASUREMENT)
        if self._refusal and self._edge.gives_torque:
            faults.add(Cause.ROBOT_NOT_READY)
        trouble = self._bad_state or self._refusal or edge.trouble or self._warnings
        figures = {'late answers': self._late, 'reported positions': self._echo.reported.value}
        return Condition(trouble, frozenset(faults), {**edge.figures, **figures})


def _messages() -> tuple[Any, Any]:
    """Message types of the driver, which is installed where the robot is."""
    try:
        from lbr_fri_idl.msg import LBRState, LBRTorqueCommand
    except ImportError as error:
        raise ConfigError(
            f'the messages of the LBR driver are missing ({error}); install lbr_fri_idl of the '
            'LBR stack and source its workspace'
        ) from error
    return LBRState, LBRTorqueCommand


def main() -> int:
    """Run the node."""
    return main_of(LbrFriBridge)


if __name__ == '__main__':
    sys.exit(main())
