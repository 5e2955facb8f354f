"""What an action needs of the loop, and how it comes out; no message types in here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from safe_sysid.arrays import Array
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.track.supervisor import Mode, Signal

PATIENCE = 200  # looks at a planner that does not answer, or at a mode that does not come


@dataclass(frozen=True, eq=False)
class Motion:
    """What the arm does at a sample, and what the plan in force wants then."""

    stamp: int  # [ns]
    position: Array  # (n,) [rad]
    velocity: Array  # [rad/s]
    desired: tuple[Array, Array, Array]  # position, velocity and acceleration


class Why(Enum):
    """Why something was not done."""

    NOT_BEGUN = 'nothing was begun'
    ENDED_EARLY = 'it ended before it was done'


class Loop(Protocol):
    """The supervisor, as actions see it."""

    @property
    def mode(self) -> Mode:
        """What the loop does now."""

    def ask(self, signal: Signal) -> tuple[bool, str]:
        """Whether a request was granted, and what it led to."""

    def is_at_rest(self) -> bool:
        """Whether the arm stands, and no plan goes on."""

    def sentence(self) -> str:
        """Return the mode; of a fault its causes and the way back."""

    @property
    def now(self) -> int:
        """Time by the stamps of samples, whatever the clock on the wall says [ns]; 0: none yet."""

    def motion(self) -> Motion | None:
        """Return what the arm does; None without a plan in force."""

    @property
    def measured(self) -> JointMeasurement | None:
        """The newest measurement, with a plan in force or without."""

    @property
    def load_changes(self) -> int:
        """How often what is held has changed as was announced."""

    @property
    def bounds_for_change(self) -> str:
        """Name of the estimate for what is held and what may be held next; empty: none."""

    @property
    def is_change_pending(self) -> bool:
        """Whether somebody has yet to take what was told of the payload."""

    def void(self, stamp: int) -> None:
        """Have the goal of this stamp begin nothing, now or later."""

    @property
    def silent(self) -> Sequence[str]:
        """Nodes that were heard and are not any more."""

    def figure(self, key: str, node: str = 'planner') -> str:
        """Return a figure that a node tells of itself; empty where there is none."""


def rests(loop: Loop) -> bool:
    """Whether no motion of the loop goes on: in idle it gives no torque at all."""
    return loop.mode is Mode.IDLE or loop.is_at_rest()


@dataclass(frozen=True)
class Outcome:
    """How an action came out; the arm is at rest."""

    success: bool
    message: str
    why: Why = Why.ENDED_EARLY  # where it is no success


class Asked(Protocol):
    """An action that goes on."""

    def step(self) -> Outcome | None:
        """Go on; how it came out, once it is over and the arm is at rest."""

    def take_back(self) -> None:
        """Come to rest, then be over."""
