"""Certificate: one plan, what it was proven for, and how far it is from every limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from safe_sysid.arrays import Array
from safe_sysid.reach.margin import Margin
from safe_sysid.reach.obstacles import Obstacles
from safe_sysid.reach.tracking_error import TrackingError
from safe_sysid.sets.interval import Interval

ASSUMPTIONS = (
    'the parameters of the arm are within the bounds of the certificate',
    'V <= V_M when the plan starts, and the robust controller keeps it so until the plan ends',
    'the plan starts at the desired state of the curve',
    'the capsules contain the arm and its payload, the obstacles what is in the way',
)


@dataclass(frozen=True, eq=False)
class Certificate:
    """The smallest margin of every kind, proven under ASSUMPTIONS for the plan with this k."""

    k: Array  # (n,)
    bounds: Interval  # [theta] it is proven for
    error: TrackingError
    obstacles: Obstacles
    margins: Mapping[str, Margin]  # kind -> smallest margin of this kind; only kinds that exist

    @property
    def smallest(self) -> Margin:
        """Margin that decides: one that may be negative, else the one nearest to its limit.

        Margins of different units are compared by their share of the limit, clearances as they
        are in metres; a margin that fails comes before all that hold.
        """
        return min(self.margins.values(), key=_rank)

    @property
    def holds(self) -> bool:
        """Whether every constraint is proven."""
        return all(margin.margin > 0.0 for margin in self.margins.values())

    def __str__(self) -> str:
        verdict = 'certified' if self.holds else 'not certified'
        return f'{verdict}, smallest margin: {self.smallest}'


def _rank(margin: Margin) -> tuple[bool, float]:
    share = margin.margin / abs(margin.limit) if margin.limit else margin.margin
    return margin.margin > 0.0, share
