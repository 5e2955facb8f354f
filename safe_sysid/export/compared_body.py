"""A payload found against empty recordings, as exports and drivers are told it."""

from __future__ import annotations

from dataclasses import replace

from safe_sysid.arrays import Array
from safe_sysid.identify.difference.answer import CONTAINS
from safe_sysid.identify.payload_in_frame import SOME, Body, nearest_body
from safe_sysid.sets.interval import Interval

GUARANTEED = 'guaranteed if the assumptions of its report hold'


def compared_body(
    frame: str,
    nominal: Array,
    intervals: tuple[Interval | None, Interval | None],
    confidence: float | None,
    contains: str = CONTAINS,
) -> Body | None:
    """Return a body within the statistical interval, else within the guaranteed one; or None.

    The nominal values are those of the statistics, which need not be a body: one near them is.
    """
    statistical, guaranteed = intervals
    bounds, kind = guaranteed, GUARANTEED
    if statistical is not None:
        share = 'an unknown share' if confidence is None else f'{100 * confidence:g} %'
        bounds, kind = statistical, f'a statistical interval of {share}, no bounds'
    if bounds is None:
        return None
    return Body(frame, nearest_body(nominal, bounds), bounds, kind=kind, contains=contains)


def with_mounted(body: Body, mounted: Array) -> Body:
    """Return all that is behind the flange: what the URDF has there as well, as it has it.

    Both recordings had it, so it is not in what one has more than the other.
    """
    if mounted[0] <= SOME:
        less = '; without what the flange carried in these as well, such as a gripper'
        return replace(body, contains=f'{body.contains}{less}')
    exact = f'with {mounted[0]:.3g} kg that the URDF has there, taken as exact'
    return replace(
        body,
        nominal=body.nominal + mounted,
        bounds=body.bounds + Interval(mounted, mounted),
        contains=f'{body.contains}, {exact}',
    )
