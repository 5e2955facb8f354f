"""track -> robot: Franka robots through libfranka, torques beside the gravity they add."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from importlib.util import find_spec
import socket
import subprocess
import sys
import time

from rclpy.clock import Clock, ClockType

from safe_sysid.arrays import Array
from safe_sysid.config import PositiveShare
from safe_sysid.errors import ConfigError
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.effort_contract import CommandSignal, EffortContract
from safe_sysid.own_python import own_environment
from safe_sysid.ros.bridges.bridge_settings import BridgeSettings
from safe_sysid.ros.bridges.franka_cycle import (
    FINISH,
    JOINTS,
    LONGEST,
    RECOVER,
    STATE,
    TAKE,
    TORQUE,
    TORQUES,
    FrankaState,
)
from safe_sysid.ros.bridges.guarded_edge import GuardedEdge
from safe_sysid.ros.process.configured_node import ConfiguredNode
from safe_sysid.ros.process.main import main_of
from safe_sysid.ros.process.parameters import read_config
from safe_sysid.ros.process.real_time import prepare_process, settle_memory
from safe_sysid.ros.watch.health import Condition, Health
from safe_sysid.track.supervisor import Cause, Mode
from safe_sysid.track.torque_guard import GuardSettings

LOOK = 0.0005  # [s] between two looks for states, and for the answer to one
CYCLE = 0.001  # [s] of the robot
LARGEST_RATE = 1000.0  # [N m/s] of a torque, beyond which the robot stops in a reflex
WEIGHT = 0.001  # [kg] that counts as none
AGAIN = 1.0  # [s] between two requests for control
UNHEARD = 'the robot has not been heard yet'
READY = ('idle', 'move')  # modes in which torques are possible
CURES = {
    'user stopped': 'release the stop button',
    'guiding': 'let go of the buttons for guiding',
    'reflex': 'it stopped itself; supervisor/reset_fault recovers once the cause is gone',
    'automatic error recovery': 'wait until it is done',
    'other': 'unlock the brakes and activate FCI in Desk',
}


@dataclass(frozen=True)
class FrankaSignal(CommandSignal):
    """A torque beside the gravity of the arm, which the robot adds."""

    adds_gravity: bool = True  # for the bare arm; enter no end effector and no load in Desk


@dataclass(frozen=True)
class FrankaSettings(BridgeSettings):
    """Parameters of the bridge."""

    address: str = ''  # of the robot, such as 172.16.0.2
    patience: PositiveShare = 0.5  # share of a cycle that the answer to its state may take
    command: FrankaSignal = field(default_factory=FrankaSignal)
    guard: GuardSettings = field(default_factory=lambda: GuardSettings(rate=(900.0,)))


class Control:
    """The robot holds itself as soon as our control has ended, which the last torque asks for."""

    listens = can_tell = True
    has_torque = False  # it ended with the bridge that gave it

    def __init__(self) -> None:
        self.holds, self.ends = True, False

    def look(self) -> None:
        """Ask nobody: control of before has ended."""

    def take(self) -> None:
        """Let the next torque be the last."""
        self.ends = True

    def give(self) -> None:
        """Leave the arm to our torque."""
        self.ends = False

    def __str__(self) -> str:
        if self.holds:
            return 'the robot holds itself'
        return 'torque control is to end' if self.ends else 'the torque of this bridge'


class FrankaBridge(ConfiguredNode):
    """A state of the robot in, a torque beside gravity out; control begins with the first one."""

    def __init__(self) -> None:
        super().__init__('franka_bridge')
        self._settings = settings = read_config(self, FrankaSettings)
        arm, stride = settings.arm(), _checked(settings)
        self._contract = EffortContract(
            replace(settings, payload='').described(), settings.command
        )
        self._control = Control()
        self._edge = GuardedEdge(self, arm, settings, self._control)
        self.leave, self.hosted = self._edge, self._edge.hosted
        self._offset: int | None = None  # [ns] ROS time minus the robot's
        self._waiting: tuple[FrankaState, JointMeasurement, float] | None = None
        self._refusal = UNHEARD
        self._said = ''  # by the cycle
        self._lost = ''  # why control has ended unasked; until the fault is known
        self._asked = 0.0  # [s] when control was asked for
        self._late = 0  # states whose answer was that to an earlier one
        self._health = Health(self, self._condition, self._edge.life)
        self._warnings = '; '.join(prepare_process(settings.real_time))
        settle_memory()
        self._robot, self._process = _cycle(settings.address, stride)
        self._timer = self.create_timer(
            LOOK, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME)
        )

    def _look(self) -> None:
        """Take what the robot said, and answer it when the controller has, or in time."""
        while self._waiting is None and (content := self._received()) is not None:
            if not content:
                self._end_without_robot()
                return
            if content[:1] == STATE:
                self._on_state(FrankaState.of_message(content[1:]))
            else:
                self._said = content[1:].decode(errors='replace')
                self._health.announce()
        if self._waiting is not None:
            self._answer(*self._waiting)

    def _received(self) -> bytes | None:
        """Return what was sent; nothing yet, or empty where nobody is there any more."""
        try:
            return self._robot.recv(LONGEST)
        except BlockingIOError:
            return None
        except OSError:
            return b''

    def _end_without_robot(self) -> None:
        """Without the process of the cycle the robot stops and holds itself."""
        self._control.holds = True
        if self._edge.lets_go:
            self._edge.release()

    def _on_state(self, state: FrankaState) -> None:
        if not (self._control.holds or self._control.ends or state.takes_torque):
            self._lost = f'torque control has ended: {self._said or "the robot does not say why"}'
            self._health.announce()
        elif self._edge.mode is Mode.FAULT:
            self._lost = ''
        self._control.holds = not state.takes_torque
        if self._offset is None:
            self._offset = self.get_clock().now().nanoseconds - state.stamp
        measurement = JointMeasurement(
            self._offset + state.stamp,
            state.q,
            state.qd,
            self._contract.torque(state.effort, state.q),
        )
        self._notice(_refusal(state))
        self._edge.publish(measurement)
        if state.takes_torque:
            self._waiting = (state, measurement, time.monotonic())
        else:
            self._without_control(state, measurement)

    def _without_control(self, state: FrankaState, measurement: JointMeasurement) -> None:
        """Ask for control where torque is wanted; see the arm in the hands of the robot."""
        if self._edge.lets_go:
            self._edge.torque(measurement.stamp, measurement)  # which nobody takes any more
            return
        wanted = self._edge.gives_torque and self._edge.mode is not Mode.FAULT
        recovers = state.mode == 'reflex' and self._edge.mode is Mode.FAULT
        if (wanted and not self._refusal) or recovers:
            now = time.monotonic()
            if now - self._asked > AGAIN:
                self._asked = now
                self._send(RECOVER if recovers else TAKE)

    def _answer(self, state: FrankaState, measurement: JointMeasurement, arrived: float) -> None:
        elapsed, period = time.monotonic() - arrived, self._settings.period
        is_answered = self._edge.answered == measurement.stamp or self._edge.needs_no_answer
        if not is_answered and self._edge.gives_torque:
            if elapsed < self._settings.patience * period:
                return
            self._late += 1
        self._waiting = None
        # at most a period, so that time never goes back: the next state is on its way
        now = measurement.stamp + round(min(elapsed, period) * 1e9)
        torque = self._edge.torque(now, measurement)
        if torque is None:
            self._send(FINISH + TORQUES.pack(*[0.0] * JOINTS))
        else:
            kind = FINISH if self._control.ends else TORQUE
            self._send(kind + TORQUES.pack(*self._effort(torque, state.q)))

    def _effort(self, torque: Array, q: Array) -> Array:
        return self._contract.effort(torque, q)

    def _send(self, content: bytes) -> None:
        try:
            self._robot.send(content)
        except OSError as error:
            self._said = f'the process that speaks to the robot is gone: {error}'

    def _notice(self, refusal: str) -> None:
        """Tell at once that the robot takes no torque any more, or does again."""
        if refusal != self._refusal:
            self._refusal = refusal
            self._health.announce()

    def _condition(self) -> Condition:
        edge = self._edge.condition()
        faults = set(edge.faults)
        status = self._process.poll()
        gone = '' if status is None else f'the connection to the robot ended: {self._said}'
        is_left = self._edge.gives_torque and not self._edge.lets_go and self._control.holds
        if gone or self._lost or (self._refusal and is_left):
            faults.add(Cause.ROBOT_NOT_READY)
        refusal = self._refusal
        if refusal == UNHEARD and self._said:
            refusal = f'{refusal}: {self._said}'
        trouble = gone or self._lost or refusal or edge.trouble or self._warnings
        figures = {'late answers': self._late, 'robot said': self._said}
        return Condition(trouble, frozenset(faults), {**edge.figures, **figures})

    def destroy_node(self) -> None:
        """End the process that speaks to the robot, which ends its control."""
        if hasattr(self, '_process'):  # settings that were refused have none
            self._robot.close()
            try:
                self._process.wait(timeout=2.0)
            except subprocess.TimeoutExpired:
                self._process.kill()
        super().destroy_node()


def _refusal(state: FrankaState) -> str:
    """Say why the robot takes no torque; empty: it does."""
    if state.mode not in READY:
        return f"the robot is in mode '{state.mode}': {CURES[state.mode]}"
    if state.known_mass > WEIGHT:
        return (
            f'the robot holds up {state.known_mass:.3f} kg of an end effector or load by itself, '
            'which the law does, too: set both to 0 kg in Desk'
        )
    return ''


def _checked(settings: FrankaSettings) -> int:
    """Return how many cycles of the robot make a period of the loop, or refuse the settings."""
    stride = round(settings.period / CYCLE)
    if not settings.address:
        raise ConfigError('address is empty; it has to be that of the robot, such as 172.16.0.2')
    if stride < 1 or abs(stride * CYCLE - settings.period) > 1e-9:
        raise ConfigError(f'period is {settings.period} s; whole milliseconds are allowed')
    if max(settings.guard.rate) > LARGEST_RATE:
        raise ConfigError(
            f'guard.rate is {max(settings.guard.rate):g} N m/s; the robot stops above '
            f'{LARGEST_RATE:g} N m/s'
        )
    if settings.described().n != JOINTS:
        raise ConfigError(
            f'{settings.robot} has {settings.described().n} joints, a Franka robot has {JOINTS}'
        )
    if find_spec('pylibfranka') is None:
        raise ConfigError('pylibfranka is missing; install it: pip install pylibfranka')
    return stride


def _cycle(address: str, stride: int) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """Start the process that speaks to the robot, and return our end of the socket to it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    line = [sys.executable, '-m', 'safe_sysid.ros.bridges.franka_cycle', address]
    process = subprocess.Popen(
        [*line, str(theirs.fileno()), str(stride)],
        pass_fds=[theirs.fileno()],
        env=own_environment(),
        start_new_session=True,
    )
    theirs.close()
    return ours, process


def main() -> int:
    """Run the node."""
    return main_of(FrankaBridge)


if __name__ == '__main__':
    sys.exit(main())
