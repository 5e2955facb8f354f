"""Cycle of a Franka robot through libfranka: a state in, the torque of the loop out, every ms.

libfranka waits for the robot inside a call that lets no other Python run, so the cycle has a
process of its own and speaks to its bridge over a socket, one message each:

    to the bridge    'S' and a state, or 'T' and a sentence
    from the bridge  'G' take control; 'R' recover from a reflex; 'X' and torques; 'F' and torques:
                     the last of this control

A state that is not the bridge's turn (`stride`) is answered with the torque before. Every torque
is approached from the one that the robot says it was last told, as libfranka's own limiter does: a
robot stops in a reflex where one cycle changes it by more than 1 N m, whatever time has passed
between two answers of the bridge. Where the bridge does not answer in time, or is gone, control is
ended: the robot then holds itself.
"""

from __future__ import annotations

from dataclasses import dataclass
import signal
import socket
import struct
import sys
from typing import Any, Protocol

import numpy as np

from safe_sysid.arrays import Array

JOINTS = 7
ADDRESS, HANDLE, STRIDE = 1, 2, 3  # places of the arguments
AGAIN = 1.0  # [s] until a connection that was lost is tried again
SILENCE = 0.02  # [s] without an answer after which control is ended: a robot waits no longer
LARGEST_CHANGE = 0.99  # [N m] of a torque in one cycle; beyond 1 N m the robot stops in a reflex
STATE, TEXT, TAKE, RECOVER, TORQUE, FINISH = b'S', b'T', b'G', b'R', b'X', b'F'
NUMBERS = struct.Struct(f'<qbb{1 + 3 * JOINTS}d')
TORQUES = struct.Struct(f'<{JOINTS}d')
LONGEST = 4096  # [bytes] of a message
MODES = (
    *('other', 'idle', 'move', 'guiding', 'reflex', 'user stopped'),
    'automatic error recovery',
)


@dataclass(frozen=True, eq=False)
class FrankaState:
    """What the robot says of itself in one cycle."""

    stamp: int  # [ns] on the clock of the robot
    mode: str  # one of MODES
    takes_torque: bool  # whether it is under our control
    known_mass: float  # [kg] of end effector and load, whose weight the robot compensates
    q: Array  # (7,) [rad]
    qd: Array  # (7,) [rad/s]
    effort: Array  # (7,) [N m]

    def as_message(self) -> bytes:
        """As it is sent to the bridge."""
        numbers = (self.known_mass, *self.q, *self.qd, *self.effort)
        mode = MODES.index(self.mode)
        return STATE + NUMBERS.pack(self.stamp, mode, self.takes_torque, *numbers)

    @staticmethod
    def of_message(content: bytes) -> FrankaState:
        """As it was sent."""
        stamp, mode, takes_torque, mass, *numbers = NUMBERS.unpack(content)
        q, qd, effort = np.reshape(numbers, (3, JOINTS))
        return FrankaState(stamp, MODES[mode], bool(takes_torque), mass, q, qd, effort)


class Library(Protocol):
    """What is used of pylibfranka."""

    Torques: Any
    ControlException: type[Exception]
    CommandException: type[Exception]


class FrankaCycle:
    """The robot and whether it is under our control; `step` is one cycle."""

    def __init__(self, library: Library, robot: Any, bridge: socket.socket, stride: int) -> None:
        self._library, self._robot, self._bridge, self._stride = library, robot, bridge, stride
        self._control: Any = None
        self._torque = np.zeros(JOINTS)  # that the bridge wants
        self._count = 0
        self.is_over = False  # the bridge is gone

    def step(self) -> None:
        """Read a state, tell it, and answer it."""
        try:
            self._cycle()
        except (self._library.ControlException, self._library.CommandException) as error:
            self._control = None  # a reflex: the robot stops and holds itself
            self._say(str(error))

    def _cycle(self) -> None:
        state = self._control.readOnce()[0] if self._control else self._robot.read_once()
        self._count += 1
        if self._count % self._stride:
            if self._control:
                self._write(state, finished=False)
            return
        self._send(self._told(state).as_message())
        request = self._request()
        if self._control:
            self._answer(state, request)
        elif request[:1] == TAKE:
            self._torque = np.array(state.tau_J_d)  # until there is an answer
            self._control = self._robot.start_torque_control()
        elif request[:1] == RECOVER and MODES[int(state.robot_mode)] == 'reflex':
            self._robot.automatic_error_recovery()

    def _told(self, state: Any) -> FrankaState:
        return FrankaState(
            round(state.time.to_sec() * 1e3) * 1_000_000,
            MODES[int(state.robot_mode)],
            self._control is not None,
            state.m_ee + state.m_load,
            np.array(state.q),
            np.array(state.dq),
            np.array(state.tau_J),
        )

    def _answer(self, state: Any, request: bytes) -> None:
        """Pass a torque on; without one, or with the last one, end the control."""
        if request[:1] in (TORQUE, FINISH):
            self._torque = np.array(TORQUES.unpack(request[1:]))
        else:
            self._say(f'no torque came for {1e3 * SILENCE:g} ms, so the robot holds itself')
        ends = request[:1] != TORQUE
        self._write(state, finished=ends)
        if ends:
            self._control = None

    def _write(self, state: Any, *, finished: bool) -> None:
        told = np.array(state.tau_J_d)  # beside gravity, as what the bridge wants
        change = np.clip(self._torque - told, -LARGEST_CHANGE, LARGEST_CHANGE)
        torques = self._library.Torques((told + change).tolist())
        torques.motion_finished = finished
        self._control.writeOnce(torques)

    def _request(self) -> bytes:
        """Return what the bridge wants; empty: nothing in time, or it is gone.

        Under control there is one torque for each state. Requests for control that were still on
        their way are passed over: taken for an answer, each would make all torques a state older.
        """
        self._bridge.settimeout(SILENCE if self._control else 0.0)
        try:
            request = self._bridge.recv(LONGEST)
            while self._control and request[:1] in (TAKE, RECOVER):
                request = self._bridge.recv(LONGEST)
        except (BlockingIOError, TimeoutError):
            return b''
        except OSError:
            request = b''
        self.is_over = not request
        return request

    def _say(self, sentence: str) -> None:
        self._send(TEXT + sentence.encode()[: LONGEST - 1])

    def _send(self, content: bytes) -> None:
        self._bridge.settimeout(SILENCE)
        try:
            self._bridge.send(content)
        except OSError:  # full, as nobody reads; that it is closed is seen when it is read
            return


def main() -> int:
    """Run the cycle of the robot at an address, for the bridge at the other end of a socket."""
    import pylibfranka

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the bridge says when it is over
    bridge = socket.socket(fileno=int(sys.argv[HANDLE]))
    while not serve(pylibfranka, sys.argv[ADDRESS], bridge, int(sys.argv[STRIDE])):
        pass
    return 0


def serve(library: Any, address: str, bridge: socket.socket, stride: int) -> bool:
    """Connect, go on until the connection is lost, and tell whether the bridge is gone."""
    try:
        robot = library.Robot(address, library.RealtimeConfig.kIgnore)
        cycle = FrankaCycle(library, robot, bridge, stride)
        while not cycle.is_over:
            cycle.step()
    except (library.NetworkException, library.InvalidOperationException) as error:
        bridge.settimeout(AGAIN)
        try:
            bridge.send(TEXT + f'no connection: {error}'.encode()[: LONGEST - 1])
            return not bridge.recv(LONGEST)
        except TimeoutError:
            return False
        except OSError:
            return True
    return True


if __name__ == '__main__':
    sys.exit(main())
