"""HandOver: an arm under torque is let go only into something that holds it without us.

No constant torque holds an arm, so the law goes on until the robot's own hold is seen to be there:

    looked for       whoever was here before may have left a torque at work; nothing is given yet.
                     Where nobody can tell, it stays so, and an arm that moves is stopped
    under torque     the mode asks for torque; or the arm has not come to rest yet on its plan
    handing back     at rest; something else was asked to hold the arm, the law still does
    watched          it holds the arm, which has not been seen to stand under it yet
    free             no torque; the state before the first torque, too

Whether the arm stands is seen from its positions (`standing.py`). In other hands samples count by
their own stamps, however late they come: who looks may be slow.

What refuses or does not answer is asked again every `limit`, and the law goes on until it obeys.
Times are stamps [ns], so a simulated clock may stand still.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np

from safe_sysid.config import Positive, Settings
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.track.standing import REST_SPEED, Standing

AGAIN = 0.2  # [s] after which it is looked again for who holds the arm


@dataclass(frozen=True)
class HandOverSettings(Settings):
    """When an arm counts as standing."""

    rest_speed: Positive = REST_SPEED  # [rad/s] below which a joint counts as at rest, on average
    settled: Positive = 0.2  # [s] for which; no joint may go further than that speed takes it
    limit: Positive = 2.0  # [s] for an answer, then whoever is to hold the arm is asked again


class Holder(Protocol):
    """What holds an arm without torque from us: brakes, or a controller of its driver."""

    def take(self) -> None:
        """Begin to hold the arm; whether it does is seen later."""

    def give(self) -> None:
        """Leave the arm to our torque."""

    def look(self) -> None:
        """Find out whether a torque is at work already, and change nothing."""

    @property
    def has_torque(self) -> bool | None:
        """Whether a torque was at work when it was looked for; None: that is not known yet."""
        ...

    @property
    def can_tell(self) -> bool:
        """Whether it will be known at all."""
        ...

    @property
    def holds(self) -> bool:
        """Whether it was seen to hold the arm."""
        ...

    @property
    def listens(self) -> bool:
        """Whether it leaves the arm to our torque, as far as anybody can tell."""
        ...

    def __str__(self) -> str:
        """Return what it is, and why it does not do what it was asked for."""
        ...


class Hands(Enum):
    """Who holds the arm."""

    FREE = 'without torque'
    LOOKED_FOR = 'looked for, as a torque may be at work since before'
    TORQUE = 'under torque'
    HANDING_BACK = 'at rest under torque, which is given until something else holds the arm'
    WATCHED = 'held by something else, but not seen to stand yet'


class HandOver:
    """Knows whether a torque has to be given; begins without one."""

    def __init__(self, settings: HandOverSettings, holder: Holder) -> None:
        self._settings, self._holder = settings, holder
        self._standing = Standing(settings.rest_speed * settings.settled, settings.settled)
        self._seen_at: int | None = None  # stamp of the last step with a measurement
        self._asked_at = self._watched_since = self._given_at = 0
        self._looked_at: int | None = None  # [ns], for who holds the arm
        self._first: JointMeasurement | None = None  # that was seen while nobody could tell
        self._looking_since = 0  # [ns]
        self._unheard_since: int | None = None  # [ns] while whoever held the arm goes on
        self._is_unheard = False
        self._over_since: int | None = None  # motion that was planned
        self._is_late = False
        self.hands = Hands.FREE

    @property
    def gives_torque(self) -> bool:
        """Whether the arm falls without our torque."""
        return self.hands in (Hands.TORQUE, Hands.HANDING_BACK)

    def look(self) -> None:
        """Find out who holds the arm before any torque is given."""
        self._holder.look()
        self._looked_at = self._first = None
        self.hands = Hands.FREE if self._holder.has_torque is False else Hands.LOOKED_FOR

    def find(self, now: int, measurement: JointMeasurement | None) -> bool:
        """Whether a torque was found at work; without one the arm is left as it is.

        Where nobody can tell, an arm that moves has to be stopped, whatever it is that moves it
        and whenever; one that stands may stand under a torque, and is not free.
        """
        if self.hands is not Hands.LOOKED_FOR:
            return False
        can_tell = self._holder.can_tell
        found = self._holder.has_torque if can_tell else self._moves(measurement)
        if found is False and can_tell:
            self.hands, self._is_late = Hands.FREE, False
        elif found is False:
            self._is_late = True  # it stands, under a torque of before or in other hands
        if found is None:
            self._look_again(now)
        return found is True

    def _moves(self, measurement: JointMeasurement | None) -> bool | None:
        """Whether the arm leaves the place where it was first seen; None: it may yet."""
        if measurement is None:
            return None
        if self._first is None:
            self._first = measurement
        way = float(np.abs(measurement.position - self._first.position).max())
        if way > self._settings.rest_speed * self._settings.settled:
            return True
        seen = measurement.stamp - self._first.stamp
        return False if seen >= 1e9 * self._settings.settled else None

    def _look_again(self, now: int) -> None:
        """Ask again where nobody has answered."""
        if self._looked_at is None:
            self._looked_at = self._looking_since = now
        elif now - self._looked_at > AGAIN * 1e9:
            self._looked_at = now
            self._holder.look()
        self._is_late = now - self._looking_since > 2e9 * self._settings.limit

    def engage(self) -> None:
        """Give torque from here on."""
        if self.hands is not Hands.TORQUE:
            self.hands = Hands.TORQUE
            self._seen_at = self._over_since = None
            self._standing.reset()
            self._is_late = False
            self._holder.give()

    @property
    def is_heard(self) -> bool:
        """Whether the arm is under our torque, and nobody else's."""
        return self.hands is Hands.TORQUE and self._holder.listens

    @property
    def unheard(self) -> str:
        """Why our torque reaches no arm, though it was asked for again; empty where it does."""
        return str(self._holder) if self._is_unheard else ''

    def insist(self, now: int, is_wanted: bool) -> None:
        """Ask again for an arm that is to be under our torque, until it is."""
        if not is_wanted or self.hands is not Hands.TORQUE or self._holder.listens:
            self._unheard_since, self._is_unheard = None, False
            return
        if self._unheard_since is None:
            self._unheard_since = self._given_at = now
        limit = self._settings.limit * 1e9
        if now - self._given_at > limit:
            self._given_at = now
            self._holder.give()
        self._is_unheard = now - self._unheard_since > 2 * limit

    def give_up(self, now: int) -> None:
        """Hand the arm over as it is: it may not do what our torque asks for."""
        if self.hands in (Hands.TORQUE, Hands.LOOKED_FOR):
            self._seen_at = now
            self._is_late = False
            self._ask(now)

    def step(self, now: int, measurement: JointMeasurement | None, is_over: bool) -> None:
        """Go on letting the arm go; `is_over` says that no motion of it is planned any more.

        No measurement is one that is too old to go by; in other hands any will do.
        """
        stands = self._stands(now, measurement)
        if is_over and self._over_since is None:
            self._over_since = now
        if self._over_since is not None and now - self._over_since > 2e9 * self._settings.limit:
            self._is_late = self.hands is not Hands.FREE
        if self.hands is Hands.TORQUE and ((stands and is_over) or self._is_blind(now)):
            self._ask(now)
        if self.hands is Hands.HANDING_BACK:
            if self._holder.holds:
                self.hands, self._watched_since = Hands.WATCHED, now
                self._standing.reset()
            elif now - self._asked_at > self._settings.limit * 1e9:
                self._is_late = True
                self._ask(now)
        elif self.hands is Hands.WATCHED and stands:
            self.hands, self._is_late = Hands.FREE, False

    @property
    def complaint(self) -> str:
        """What the arm waits for, once that takes too long; empty until then."""
        return str(self) if self._is_late else ''

    def __str__(self) -> str:
        return f'{self.hands.value}: {self._holder}'

    def _ask(self, now: int) -> None:
        self.hands, self._asked_at = Hands.HANDING_BACK, now
        self._holder.take()

    def _stands(self, now: int, measurement: JointMeasurement | None) -> bool:
        """Whether all joints have been in one place for a while."""
        if measurement is None:
            self._seen_at = now if self._seen_at is None else self._seen_at
            self._standing.reset()
            return False
        self._seen_at = at = now
        if self.hands is Hands.WATCHED:
            at = measurement.stamp
            if at <= self._watched_since:
                return False
        return self._standing.step(at, measurement.position)

    def _is_blind(self, now: int) -> bool:
        """Whether nothing has been measured for so long that any other hold is better."""
        assert self._seen_at is not None
        return now - self._seen_at > self._settings.limit * 1e9
