"""What pylibfranka 0.21 offers of a robot, as its stub file names it; 1 ms passes per cycle."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

JUMP = 1.0  # [N m] of a torque from one cycle to the next, beyond which the robot stops
IDLE, MOVE, REFLEX = 1, 2, 4


class ControlException(RuntimeError):  # noqa: N818 - as the library calls it
    pass


class CommandException(RuntimeError):  # noqa: N818
    pass


class Torques:
    def __init__(self, torques):
        self.tau_J, self.motion_finished = list(torques), False


@dataclass
class Robot:
    """Seven joints of 1 kg m2, held against gravity by the robot; it stands without control."""

    q: np.ndarray = field(default_factory=lambda: np.zeros(7))
    dq: np.ndarray = field(default_factory=lambda: np.zeros(7))
    load: float = 0.0  # [kg] that was entered in Desk
    mode: int = IDLE
    recovered: int = 0
    gravity: object = np.zeros_like  # torque of a position, which is in what is measured
    written: list = field(default_factory=list)

    def __post_init__(self):
        self.torque = np.zeros(7)
        self.cycles = 0
        self.is_controlled = False

    def read_once(self):
        assert not self.is_controlled
        return self._passed()

    def start_torque_control(self):
        if self.mode != IDLE:
            raise CommandException('command rejected: the robot is not idle')
        self.mode, self.is_controlled = MOVE, True
        return _Control(self)

    def automatic_error_recovery(self):
        self.recovered += 1
        self.mode = IDLE

    def _passed(self):
        self.cycles += 1
        if self.is_controlled:
            self.dq = self.dq + 1e-3 * self.torque
            self.q = self.q + 1e-3 * self.dq
        else:
            self.dq, self.torque = np.zeros(7), np.zeros(7)
        return SimpleNamespace(
            time=SimpleNamespace(to_sec=lambda at=1e-3 * self.cycles: at),
            robot_mode=self.mode,
            m_ee=0.0,
            m_load=self.load,
            q=list(self.q),
            dq=list(self.dq),
            tau_J=list(self.torque + self.gravity(self.q)),
            tau_J_d=list(self.torque),
        )

    def end(self, mode):
        self.mode, self.is_controlled = mode, False


class _Control:
    def __init__(self, robot):
        self._robot = robot

    def readOnce(self):  # noqa: N802 - as the library calls it
        robot = self._robot
        assert robot.is_controlled
        if robot.mode == REFLEX:
            robot.end(REFLEX)
            raise ControlException('libfranka: motion aborted by reflex')
        return robot._passed(), None

    def writeOnce(self, torques):  # noqa: N802
        robot = self._robot
        told = np.array(torques.tau_J)
        robot.written.append((told, torques.motion_finished))
        if np.abs(told - robot.torque).max() > JUMP:
            robot.mode = REFLEX
        robot.torque = told
        if torques.motion_finished:
            robot.end(IDLE)


LIBRARY = SimpleNamespace(
    Torques=Torques, ControlException=ControlException, CommandException=CommandException
)
