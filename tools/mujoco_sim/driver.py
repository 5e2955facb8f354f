"""What a driver under ros2_control makes of an arm: which commands act, and what it reports.

Controllers as they are: a forwarding one repeats its last command for ever, whoever has gone;
before the first one the arm is held; a position controller holds it from the moment that it is
switched on.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np

CLOCKS = ('none', 'before', 'after', 'late', 'tenth')
EFFORTS = ('applied', 'command', 'none')
ENDS = ('repeats', 'zero', 'holds')
EFFORT, HOLD = 'forward_effort_controller', 'joint_trajectory_controller'
START = 1_000_000_000  # [ns] of the first stamp; 0 is `no time` in ROS


@dataclass(frozen=True)
class Habits:
    """Switches, each one something that a driver really does; the defaults are the plainest."""

    period: float = 0.001  # [s]
    clock: str = (
        'before'  # /clock: none, before or after the states, a tick late, every tenth tick
    )
    seed: int = 1  # of the order of joints, and of noise
    gripper: bool = True  # more joints than those of the arm, without effort
    waits_with_effort: bool = False  # effort is nan until the first command
    wraps: bool = False  # positions in (-pi, pi]
    delay: int = 0  # ticks from a command to its effect
    adds_gravity: bool = False  # of the bare arm, to commands
    ignores: bool = False  # takes efforts and holds its position
    sign: int = 1  # of commands
    limit: float = float('inf')  # [N m] at which commands are clipped
    rate: float = float('inf')  # [N m/s] by which they change at most
    passes_nan: bool = False  # a command with nan reaches the arm, as in Humble
    effort: str = 'applied'  # reported: the torque that acts, the command as it came, or nan
    current: float | list = (
        1.0  # unit of reported efforts per N m, or one each; below 0: other way
    )
    weightless: bool = False  # reported efforts are without what holds the arm against gravity
    gain: float = 0.0  # share by which reported torques are wrong
    noise: float = 0.0  # [N m] of reported torques at most
    encoder: float | list = 0.0  # [rad] steps of positions, or one each
    differentiated: bool = False  # velocity is the difference of reported positions
    speed_noise: float = 0.0  # [rad/s] of reported velocities at most
    late: int = 0  # ticks by which efforts are reported later than positions
    end: str = 'repeats'  # once nobody commands any more: repeats the last, zero, or holds

    def __post_init__(self):
        """Refuse what is not a habit."""
        for name, allowed in (('clock', CLOCKS), ('effort', EFFORTS), ('end', ENDS)):
            if getattr(self, name) not in allowed:
                raise SystemExit(f'{name} is {getattr(self, name)!r}; allowed are {allowed}')


class Driver:
    """Broadcaster, effort controller, position controller and their manager."""

    def __init__(self, arm, names, habits, bare=None):
        self.arm, self.habits = arm, habits
        self._bare = bare  # the same arm with nothing in its hand, whose gravity a driver knows
        self._rng = np.random.default_rng(habits.seed)
        fingers = ['left_finger_joint', 'right_finger_joint'] if habits.gripper else []
        self._names, self._n = [*names, *fingers], len(names)
        self._order = self._rng.permutation(len(self._names))
        self.active = EFFORT
        self._told = None  # newest command; nothing is written before the first one
        self._due = deque([None] * habits.delay)
        self._acting = None
        self._efforts = deque(maxlen=habits.late + 1)
        self.ticks = 0
        self._before = self._position()
        self._velocity = np.zeros(self._n)

    @property
    def stamp(self):
        """Of the newest state [ns]."""
        return START + self.ticks * round(self.habits.period * 1e9)

    @property
    def is_commanded(self):
        """Whether the arm is moved by what somebody told."""
        return self.active == EFFORT and self._told is not None

    def command(self, data):
        """Take an effort command, or not."""
        told = np.array(data, dtype=float)
        is_whole = np.isfinite(told).all() or self.habits.passes_nan
        if self.active == EFFORT and told.shape == (self._n,) and is_whole:
            self._told = told

    def switch(self, on, off, is_strict):
        """Answer whether controllers were switched; the effort controller begins anew."""
        known = {*on, *off} <= {EFFORT, HOLD}
        fits = on != [self.active] and off == [self.active]
        is_done = known and (fits or not is_strict)
        if is_done and on:
            (self.active,) = on
            if fits:
                self.forget()
        return is_done

    def forget(self):
        """Command nothing, so that the arm is held."""
        self._told = self._acting = None
        self._due = deque([None] * self.habits.delay)

    def leave(self):
        """Nobody commands any more."""
        if self.habits.end == 'zero' and self._told is not None:
            self._told = np.zeros(self._n)
        elif self.habits.end == 'holds':
            self.forget()

    def tick(self):
        """One period of the arm."""
        self._due.append(self._told if self.active == EFFORT else None)
        told, habits = self._due.popleft(), self.habits
        self._acting = None if told is None or habits.ignores else self._actual(told)
        if self._acting is None:
            self.arm.stand()
        else:
            self.arm.move(self._acting, habits.period)
        self.ticks += 1
        position = self._position()
        self._velocity = self.arm.qd
        if habits.differentiated:
            self._velocity = (position - self._before) / habits.period
        if habits.speed_noise:
            wrong = self._rng.uniform(-1.0, 1.0, size=self._n)
            self._velocity = self._velocity + habits.speed_noise * wrong
        self._before = position
        if habits.late:
            self._efforts.append(self._effort())

    def _actual(self, told):
        """Torque that acts for a command."""
        wanted = np.clip(self.habits.sign * told, -self.habits.limit, self.habits.limit)
        if self.habits.adds_gravity:
            wanted = wanted + self._bare.gravity_at(self.arm.q)
        if np.isfinite(self.habits.rate):
            last = self.arm.gravity() if self._acting is None else self._acting
            most = self.habits.rate * self.habits.period
            wanted = np.clip(wanted, last - most, last + most)
        return wanted

    def _position(self):
        q, step = self.arm.q, np.array(self.habits.encoder)
        return step * np.round(q / step) if step.all() else q

    def state(self):
        """Names, positions, velocities and efforts as they are reported."""
        extra = len(self._names) - self._n
        position = self._before
        if self.habits.wraps:
            position = np.pi - np.mod(np.pi - position, 2.0 * np.pi)
        columns = [
            np.concatenate([position, np.zeros(extra)]),
            np.concatenate([self._velocity, np.zeros(extra)]),
            np.concatenate([self._reported_effort(), np.full(extra, np.nan)]),
        ]
        names = [self._names[j] for j in self._order]
        return names, *(column[self._order].tolist() for column in columns)

    def _reported_effort(self):
        """Of now, or of as many ticks before as it is late."""
        return self._efforts[0] if self._efforts else self._effort()

    def _effort(self):
        habits = self.habits
        if habits.effort == 'none' or (self._told is None and habits.waits_with_effort):
            return np.full(self._n, np.nan)
        if habits.effort == 'command' and self._told is not None:
            return self._told
        torque = self.arm.gravity() if self._acting is None else self._acting
        if habits.weightless:
            torque = torque - self.arm.gravity()
        noise = habits.noise * self._rng.uniform(-1.0, 1.0, size=self._n)
        return np.array(habits.current) * ((1.0 + habits.gain) * torque + noise)

    def words(self):
        """Kind and stamp [ns] of what is told in this tick, in its order; `state` has its own."""
        state, clock = ('state', self.stamp), ('clock', self.stamp)
        late = ('clock', self.stamp - round(self.habits.period * 1e9))
        tenth = [clock, state] if self.ticks % 10 == 0 else [state]
        return {
            'none': [state],
            'before': [clock, state],
            'after': [state, clock],
            'late': [late, state],
            'tenth': tenth,
        }[self.habits.clock]
