"""PayloadDifference: what a loaded and empty recordings say, in two kinds of interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.identify.determined import determined
from safe_sysid.identify.difference.distribution_free import DistributionFree
from safe_sysid.identify.difference.friction_choice import FrictionChoice
from safe_sysid.identify.difference.guaranteed import Guarantee
from safe_sysid.identify.difference.torque_delay import LaterWithPayload, TorqueDelay
from safe_sysid.identify.difference.what_limits import Shares
from safe_sysid.sets.interval import Interval

METHOD = 'cluster_t'
CONTAINS = 'what was not there in the empty recordings'


@dataclass(frozen=True, eq=False)
class Statistical:
    """An interval of ten parameters with its confidence, under repetitions of recordings."""

    bounds: Interval  # (10,)
    confidence: float
    from_residuals: Array  # (10,) half-widths without what scales with the payload
    from_gains: Array  # (10,) half-widths by the unit of the effort
    kappa: Array  # (10,) by which deviations are enlarged
    kappa_of_data: Array  # (10,) the same without the floor for few recordings
    pieces: int  # of empty recordings that this is from
    piece_s: float
    correlation_s: float
    freedom: Array  # (10,)
    shares: Shares  # what limits each parameter
    free: DistributionFree  # of the mass, the unit of the effort counted as in the bounds
    unlike: str | None  # of an effort that is another one with the payload
    unlike_from: float  # share by which efforts of all joints have to differ to be noticed


@dataclass(frozen=True, eq=False)
class Residuals:
    """What is left of the torque, joint by joint."""

    velocity: Array  # (N, n) [rad/s]
    torque: Array  # (N, n) [N m]
    loaded: AnyArray  # (N,) bool


@dataclass(frozen=True, eq=False)
class PayloadDifference:
    """What the loaded arm holds beyond the empty one, ten parameters in a frame of its flange."""

    frame: str
    nominal: Array  # (10,)
    statistical: Statistical | None  # an interval at a confidence
    withheld: str | None  # why there is no statistical interval
    guaranteed: Guarantee | None
    not_guaranteed: str | None  # why there is no guaranteed interval
    friction: FrictionChoice
    cutoff: float  # [Hz]
    load_ratio: Array  # (n,) residuals of loaded rows over those of empty ones
    error: tuple[float, float]  # residuals of empty and loaded rows, share of their torque
    delay: TorqueDelay  # of torques against positions
    residuals: Residuals
    later: LaterWithPayload | None  # than without it, if that is beyond doubt
    next_recording: str | None  # that would halve the statistical interval of the mass
    strange_unit: str | None = None  # of an effort whose unit was stated all the same

    @property
    def refused(self) -> str | None:
        """Why there is no interval at all."""
        if self.statistical is not None or self.guaranteed_bounds is not None:
            return None
        if self.withheld == self.not_guaranteed:
            return self.withheld
        return f'{self.withheld}; {self.not_guaranteed}'

    @property
    def statistical_bounds(self) -> Interval | None:
        """Of the ten parameters, if they can be given."""
        return None if self.statistical is None else self.statistical.bounds

    @property
    def guaranteed_bounds(self) -> Interval | None:
        """Of the ten parameters, if they can be given."""
        return None if self.guaranteed is None else self.guaranteed.bounds

    @property
    def determined(self) -> AnyArray:
        """Which parameters the interval that is given says something of, (10,)."""
        bounds = self.statistical_bounds
        if bounds is None:
            bounds = self.guaranteed_bounds
        return np.zeros(10, dtype=bool) if bounds is None else determined(bounds)
