"""SensedTopic: what a sensor shows again and again; what is old or ahead is not known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile

from safe_sysid.measure.stamp_ages import SECOND, StampAges
from safe_sysid.model.collision.shown_scene import Change, ShownScene
from safe_sysid.ros.messages.cloud_changes import KEY
from safe_sysid.ros.messages.codec import stamp_of
from safe_sysid.ros.messages.replacing_topic import ReplacingTopic
from safe_sysid.ros.messages.scene_topic import Read


@dataclass(frozen=True, eq=False)
class _Astray:
    """What came last and is not taken, as its stamp is too old or too far ahead."""

    changes: list[Change]
    stamp: int  # [ns]
    since: int  # [ns] when the first of those in a row came


class SensedTopic(ReplacingTopic):
    """What one topic shows; its age counts from the arrival or the stamp, whichever is earlier.

    What is not taken may be later, as a clock that was behind catches up. Until then there are no
    plans; after a while it is a fault.
    """

    def __init__(
        self,
        node: Node,
        topic: str,
        listens: tuple[Any, tuple[QoSProfile, ...]],
        scene: ShownScene,
        read: Read,
        ages: StampAges,
        on_change: Callable[[], None],
    ) -> None:
        super().__init__(node, topic, listens, scene, read, ages.clock.now, on_change)
        self._ages = ages
        self._since: int | None = None  # [ns] from when on the age of what is shown counts
        self._astray: _Astray | None = None

    @property
    def is_settled(self) -> bool:
        """Whether what came last is taken, understood and placed."""
        return self._astray is None and super().is_settled

    @property
    def unclear(self) -> str:
        """What is not understood, or not of now; empty: nothing."""
        astray, now = self._astray, self._now()
        if astray is None or now - astray.since < self._ages.patience * SECOND:
            return super().unclear
        trouble = self._ages.trouble(astray.stamp)
        return f'{self._topic}: {trouble}' if trouble else super().unclear

    def settle(self) -> None:
        """Take what is astray no more, place what moves, and notice silence and age."""
        astray, now = self._astray, self._now()
        if astray is not None and not self._ages.trouble(astray.stamp):
            self._accept(astray.changes, astray.stamp)
        said = self._grown_old(now)
        if said:
            self._scene.apply([Change(KEY, unclear=said)], now)
        super().settle()

    def shift(self, change: int) -> None:
        """Have all ages go on over a jump of the clock [ns]."""
        super().shift(change)
        self._since = None if self._since is None else self._since + change
        if self._astray is not None:
            self._astray = replace(self._astray, since=self._astray.since + change)

    def _grown_old(self, now: int) -> str:
        """Return why what is shown is too old; empty: it is not."""
        if self._heard is None:
            return ''
        self._heard = min(self._heard, now)  # after a step back of the clock
        if now - self._heard > self._ages.old * SECOND:
            return f'nothing has come for more than {self._ages.old} s'
        if self._since is None or self._astray is not None:
            return ''
        self._since = min(self._since, now)
        age = (now - self._since) / SECOND
        return self._ages.grown_old(age) if age > self._ages.old else ''

    def _hear(self, msg: Any) -> None:
        self._heard = now = self._now()
        changes, stamp = self._read(msg), stamp_of(msg.header.stamp)
        if not self._ages.trouble(stamp):
            self._accept(changes, stamp)
            return
        since = now if self._astray is None else self._astray.since
        self._astray = _Astray(changes, stamp, since)

    def _accept(self, changes: list[Change], stamp: int) -> None:
        self._astray, self._since, self._newest = None, self._ages.since(stamp), stamp
        self._scene.apply(changes, self._now())
        self._on_change()
