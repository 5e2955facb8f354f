"""What the statistics of the same rows say against the assumptions of a guaranteed interval.

Bounds on a payload that reaches farther than was stated need not contain it. The statistical
interval hardly knows that limit, and shows where it is exceeded. That it shows nothing proves
nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from safe_sysid.identify.difference.answer import PayloadDifference
from safe_sysid.model import inertia
from safe_sysid.sets.interval import Interval


def within_reach(found: PayloadDifference, reach: float) -> PayloadDifference:
    """Withhold a guaranteed interval where statistics see the centre beyond the reach [m]."""
    given = found.statistical_bounds
    if given is None or (nearest := _nearest_centre(given)) <= reach:
        return found
    why = (
        f'the centre of the payload is {nearest:.3g} m or more from {found.frame}, and no part of '
        f'it was to be farther than {reach:.3g} m from there, by what is taken for its distance '
        'from the last joint (--payload-reach)'
    )
    return replace(found, guaranteed=None, not_guaranteed=why)


def apart(found: PayloadDifference) -> str | None:
    """Say of which parameters both intervals have no value in common."""
    given, sure = found.statistical_bounds, found.guaranteed_bounds
    if given is None or sure is None:
        return None
    gaps = np.flatnonzero((given.lower > sure.upper) | (given.upper < sure.lower))
    names = ', '.join(inertia.LABELS[i] for i in gaps.tolist())
    return names and (
        f'the statistical and the guaranteed interval of {names} have no value in common: what '
        'one of them rests on is not so'
    )


def _nearest_centre(bounds: Interval) -> float:
    """Least distance [m] of a centre of mass within bounds from the frame."""
    if not bounds.lower[0] > 0.0:
        return 0.0
    centre = bounds[1:4] / bounds[0:1]
    beyond = np.maximum(np.maximum(centre.lower, -centre.upper), 0.0)
    return float(np.linalg.norm(beyond))
