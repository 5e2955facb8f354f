"""ObeyProbe: whether a driver does what it is told, found out by a motion that is hardly one.

An effort interface may exist, be activated, take commands, and change nothing: only a motion of
the arm shows that a torque arrives, as a sensor behind the gear does not see a small one. So,
joint by joint from the base, the other joints are held while the torque of one changes by `ramp`
from what held it on average, until

    it has moved with the ramp by `seen`      it obeys; it is led back, and the next one follows
    it has moved twice that against it        the sign of commands or of positions is wrong
    another joint has moved as much           commands are for other joints, in another order
    any joint has left its place by `far`     it was not held: any of these, or gravity is wrong
    the ramp has come to `share` of the torque limit, or to its `time`    nothing acts on commands

Motions are those of positions since the ramp began. No joint is told a torque beyond its limit;
the arm moves by about `seen`, plus what it does from then until it stands again. A driver that
moves otherwise than it should cannot be trusted to hold the arm either (`is_wild`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import OneOf, Positive, PositiveShare, Settings
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.track.controller import Controller
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

SECOND = 1_000_000_000  # [ns]
BLINK = 1e-3  # [s] duration of a plan that stays where it is
Trust = Annotated[str, OneOf(('probed', 'trusted'))]


@dataclass(frozen=True)
class ProbeSettings(Settings):
    """How far the probe of each joint goes at most."""

    driver: Trust = 'probed'  # trusted: torque begins without, as in simulators
    ramp: Positive = 1.0  # [N m/s]
    share: PositiveShare = 0.15  # of the torque limit
    time: Positive = 10.0  # [s] of the ramp of one joint
    seen: Positive = 0.0017  # [rad] that count as motion: some steps of the encoder
    far: Positive = 0.01  # [rad] from its place, at which no joint is held any more
    settling: Positive = 0.5  # [s] in which the arm is held, before each ramp and at the end


class Obedience(Enum):
    """What is known of a driver."""

    UNKNOWN = 'not known yet'
    OBEYS = 'obeys'
    REFUSED = 'does not obey'


class ObeyProbe:
    """Commands the arm like a controller; whoever asks for its torques checks them."""

    def __init__(
        self, model: RobotModel, settings: ProbeSettings, clock: Clock, law: Controller
    ) -> None:
        self._model, self._settings, self._clock, self._law = model, settings, clock, law
        self.obedience, self.reason = Obedience.UNKNOWN, ''
        self.is_wild = False
        self._joint = 0
        self._hold: Plan | None = None
        self._since: int | None = None  # begin of the settling, or of the ramp [ns]
        self._held: list[Array] = []  # torques while settling
        self._begin: tuple[Array, float] | None = None  # positions and torque of the joint
        if settings.driver == 'trusted':
            self.obedience = Obedience.OBEYS

    def leave(self) -> None:
        """Stop, where nothing is known yet; from the beginning next time."""
        self._joint, self._hold, self._since, self._begin = 0, None, None, None
        self._held.clear()

    def step(self, measurement: JointMeasurement, estimate: ParameterEstimate) -> Array:
        """Torque (n,) [N m] that answers a measurement."""
        now, q = measurement.stamp, np.asarray(measurement.position)
        if self._hold is None or self._since is None:
            self._hold, self._since = self._place(now, q, estimate), now
        limit = self._model.limits.torque
        torque = np.clip(self._law.step(measurement, self._hold, estimate), -limit, limit)
        self._expect_hold(q - self._hold.curve.q0)
        if self.obedience is not Obedience.UNKNOWN:
            return torque
        elapsed = (now - self._since) / SECOND
        if self._begin is None:
            if elapsed >= 0.5 * self._settings.settling:
                self._held.append(torque)
            if elapsed >= self._settings.settling:
                self._go_on(now, q, np.mean(self._held, axis=0))
            return torque
        return self._ramped(now, q, torque, elapsed)

    def _go_on(self, now: int, q: Array, held: Array) -> None:
        """Begin the next ramp; after the last one the driver has obeyed with every joint."""
        if self._joint == self._model.n:
            self.obedience = Obedience.OBEYS
            return
        self._begin, self._since = (q, float(held[self._joint])), now
        self._held.clear()

    def _ramped(self, now: int, q: Array, torque: Array, elapsed: float) -> Array:
        """Torque with that of one joint on its ramp, as long as nothing is known of it."""
        assert self._begin is not None
        j, (begin, held), limit = self._joint, self._begin, self._model.limits.torque
        way = self._direction(held)
        change = self._settings.ramp * elapsed
        self._judge(q - begin, way, change)
        if self.obedience is Obedience.UNKNOWN and (q - begin)[j] * way < self._settings.seen:
            torque[j] = np.clip(held + way * change, -limit[j], limit[j])
            return torque
        self._joint, self._begin, self._since = j + 1, None, now
        return torque

    def _expect_hold(self, moved: Array) -> None:
        """Refuse a driver under which a joint leaves its place."""
        j = int(np.argmax(np.abs(moved)))
        if self.obedience is Obedience.UNKNOWN and abs(moved[j]) > self._settings.far:
            name = self._model.layout.joint_names[j]
            self._distrust(
                f'{name} left its place by {moved[j]:.2g} rad while it was to be held: the sign, '
                'scale, order or gravity of the commands is wrong, or the arm is touched'
            )

    def _judge(self, moved: Array, way: float, change: float) -> None:
        """Refuse a driver that does not what the ramp asks for."""
        j, seen, settings = self._joint, self._settings.seen, self._settings
        others = np.delete(np.arange(len(moved)), j)
        name = self._model.layout.joint_names
        furthest = int(others[np.argmax(np.abs(moved[others]))]) if len(others) else j
        if moved[j] * way <= -2.0 * seen:
            self._distrust(
                f'{name[j]} turned by {moved[j]:.2g} rad while its torque changed by '
                f'{way * change:.3g} N m: the sign of command or of positions is wrong'
            )
        elif furthest != j and abs(moved[furthest]) >= 2.0 * seen:
            self._distrust(
                f'{name[furthest]} turned by {moved[furthest]:.2g} rad while the torque of '
                f'{name[j]} changed by {way * change:.3g} N m: see controller_joints, or what '
                'touches the arm'
            )
        elif moved[j] * way < seen and self._is_spent(change):
            self._refuse(
                f'{name[j]} did not move while its torque changed by {way * change:.3g} N m '
                f'({change / settings.ramp:.3g} s): the driver takes effort commands and does not '
                'act on them, as ros2_kortex does; or its friction is above that'
            )

    def _is_spent(self, change: float) -> bool:
        settings, limit = self._settings, self._model.limits.torque[self._joint]
        return change >= settings.share * limit or change >= settings.ramp * settings.time

    def _refuse(self, reason: str) -> None:
        self.obedience, self.reason = Obedience.REFUSED, reason

    def _distrust(self, reason: str) -> None:
        """Refuse a driver that moves the arm otherwise than it is told."""
        self.is_wild = True
        self._refuse(reason)

    def _direction(self, held: float) -> float:
        """Up or down, to where the torque limit is further away."""
        return -1.0 if held > 0.0 else 1.0

    def _place(self, now: int, q: Array, estimate: ParameterEstimate) -> Plan:
        """Return a plan that stays where the arm is."""
        t, rest = self._clock.seconds(now), np.zeros_like(q)
        curve = Bezier(q, rest, rest, BLINK)
        return Plan(t, t, curve, rest, estimate.bounds, None, estimate.theta)
