"""PayloadEstimator: rows of one payload in, nominal theta_e and guaranteed [theta_e] out."""

from __future__ import annotations

from dataclasses import dataclass, replace
import time
from typing import Annotated

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.config import Count, Natural, OneOf, Positive, Settings
from safe_sysid.identify.change.held_next import HeldNext
from safe_sysid.identify.contradiction import Contradiction
from safe_sysid.identify.earlier_payloads import EarlierPayloads, EarlierRows
from safe_sysid.identify.linear_programs import Budget, Ending
from safe_sysid.identify.log_cholesky_fit import FitOutcome, fit
from safe_sysid.identify.observation import Observation
from safe_sysid.identify.row_buffer import RowBuffer
from safe_sysid.identify.set_membership import Membership, SetMembership
from safe_sysid.identify.signal_check import SignalCheck
from safe_sysid.model.inertia import is_consistent
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

EARLIER_SHARE = 4  # part of the rows kept that every payload before may have of its own

Nominal = Annotated[str, OneOf(('fit', 'middle'))]


@dataclass(frozen=True)
class SolveSettings(Settings):
    """How the rows of a payload become bounds."""

    row_budget: Count = 700  # rows kept; a 7-joint arm adds 7 per window
    pivots: Count = 4000  # of the simplex method per solve; what is left stays as wide as it was
    seconds: Positive = 10.0  # [s] the same, as the last resort: with it bounds depend on the load
    fit_iterations: Count = 500  # of Ipopt for the nominal value; thirty are usual
    fit_seconds: Positive = 10.0  # [s] the same, as the last resort
    reach: Positive | None = None  # [m] no part of the end effector is farther from the last joint
    nominal: Nominal = 'fit'  # to rows; middle: of the bounds, where no parameter is far from it
    remembered_payloads: Natural = 2  # payloads before, an empty gripper too, whose rows bind the
    # arm still, and the calibration beside the arm: its links, friction and offsets have to be the
    # same as then; 0: none, and no calibration

    @property
    def earlier_rows(self) -> int:
        """Rows that each payload before, and the calibration, may have."""
        return self.row_budget // EARLIER_SHARE


@dataclass(frozen=True, eq=False)
class Solution:
    """What the rows of a payload say."""

    theta_e: Array  # (10,) nominal, inside the bounds
    bounds: Interval  # (10,)
    contradiction: Contradiction | None
    refusal: str | None  # why the torque signal cannot be used; the bounds are the prior then
    rows: int
    seconds: float
    ending: Ending = Ending.ALL_DONE  # of the work; the clock, if it ended any


class PayloadEstimator:
    """Bounds on one payload, which only shrink until a contradiction or a new payload."""

    def __init__(
        self, model: RobotModel, prior: ParameterEstimate, settings: SolveSettings
    ) -> None:
        self._model = model
        self._prior = prior
        self._rest = prior.bounds[prior.layout.rest]
        self._theta_r = prior.theta[prior.layout.rest]
        self._settings = settings
        self._earlier = EarlierPayloads(settings.remembered_payloads)
        self._since = -np.inf  # [s] rows of windows that began before are of no payload
        self._reset()

    def calibrate(self, rows: EarlierRows) -> None:
        """Take rows of the arm as it was calibrated, which bind theta_r with any payload."""
        self._earlier.calibrate(rows)

    def new_payload(self, until: float | None) -> None:
        """Back to the prior of the payload; rows that ended by a time [s] tell of the arm still.

        None: the rows are not to be trusted, and no payload before them is.
        """
        if until is None:
            self._earlier.forget()
        else:
            self._remember(until)
        self._since = -np.inf
        self._reset()

    def change(self, after: float, before: float, held: HeldNext) -> None:
        """Give rows that ended by `after` [s] to the payload of then, later ones to the next.

        Those are of windows that began at `before` [s] or later.

        Windows that touch what is between are of neither, those that come later too.
        """
        later = self._buffer.begun(before)
        self._remember(after)
        self._since = before
        self._reset()
        self._bounds = self._alone = held.bounds
        self._theta_e = held.nominal
        if later is not None:
            self.add(later)

    def _remember(self, until: float) -> None:
        """Keep rows that ended by a time [s], for what they tell of the arm."""
        rows = self._buffer.best(self._settings.earlier_rows, until)
        if rows is not None:
            self._earlier.remember(rows, self._prior.end_effector_bounds)

    def _reset(self) -> None:
        """Back to the prior: a new payload, or rows that contradict each other."""
        self._buffer = RowBuffer(self._settings.row_budget)
        layout = self._model.layout
        labels = [layout.labels[i] for i in layout.rest]
        self._programs, self._calibrated_programs = (
            SetMembership(layout.joint_names, self._settings.reach, labels) for _ in range(2)
        )
        self._signal_check = SignalCheck(self._model, self._prior.bounds)
        self._bounds = self._alone = self._prior.end_effector_bounds  # without a calibration
        self._theta_e = self._prior.end_effector

    def add(self, rows: Observation) -> None:
        """Take the rows of a window."""
        if rows.start.min() < self._since:
            return
        self._signal_check.add_rows(rows)
        self._buffer.add(rows)

    def solve(self) -> Solution:
        """Nominal value and bounds from all rows kept."""
        begin = time.monotonic()
        if len(self._buffer) == 0:  # all rows since a change touch it
            return Solution(self._theta_e, self._bounds, None, None, 0, 0.0)
        rows, numbers = self._buffer.rows()
        contradiction, refusal = None, self._signal_check.verdict().refusal
        ending = Ending.ALL_DONE
        if refusal is None:
            contradiction, ending = self._tighten(rows, numbers)
        if refusal is not None or contradiction is not None:
            self._earlier.forget()
            self._reset()
        elapsed = time.monotonic() - begin
        return Solution(
            self._theta_e, self._bounds, contradiction, refusal, len(rows), elapsed, ending
        )

    def _tighten(
        self, rows: Observation, numbers: IntArray
    ) -> tuple[Contradiction | None, Ending]:
        """Smaller bounds and a better nominal value, or the contradiction.

        Rows of a calibration come second, with as much work of their own. The others go on from
        what they say alone, so bounds are within those without a calibration.
        """
        deadline = time.monotonic() + self._settings.seconds
        joined = self._earlier.with_payloads(rows, numbers, self._rest)
        first = found = self._solved(self._programs, joined, self._alone, deadline)
        if first.bounds is None:
            return self._named(first.contradiction), first.ending
        self._alone = bounds = first.bounds
        if self._earlier.has_calibration:
            within = self._alone.intersection(self._bounds)
            joined = self._earlier.with_calibration(rows, numbers, self._rest)
            found = self._solved(
                self._calibrated_programs,
                joined,
                self._alone if within is None else within,
                deadline,
            )
            if found.bounds is None:
                return self._named(found.contradiction), found.ending
            bounds = found.bounds
        self._bounds = bounds
        self._buffer.weigh(first.weight[: len(rows)])
        center = first.center if found.center is None else found.center
        self._theta_e, is_whole = self._nominal(rows, center)
        if not is_whole:
            return None, Ending.CLOCK
        return None, found.ending if first.ending is Ending.ALL_DONE else first.ending

    def _solved(
        self,
        programs: SetMembership,
        joined: tuple[Observation, IntArray, Interval],
        within: Interval,
        deadline: float,
    ) -> Membership:
        """Smaller bounds from all rows of one kind."""
        every, numbers, rest = joined
        budget = Budget(self._settings.pivots, deadline)
        return programs.solve(every, rest, within, numbers, budget)

    def _named(self, contradiction: Contradiction | None) -> Contradiction | None:
        """Return it with what of before may explain it first, and forget that."""
        earlier = self._earlier.doubt()
        if contradiction is None or not earlier:
            return contradiction
        return replace(contradiction, promises=(*earlier, *(contradiction.promises or ())))

    def _nominal(self, rows: Observation, center: Array | None) -> tuple[Array, bool]:
        """Return the fit, with theta_r within what is known of it, moved into the bounds.

        Or the middle of the bounds. Rows that say next to nothing leave the fit at an edge,
        and what is twice as far from it costs a certificate twice as much. The second is whether
        the clock let it end.
        """
        bounds = self._bounds
        if self._settings.nominal == 'middle' and is_consistent(bounds.center):
            return np.asarray(bounds.center), True
        start = self._prior.end_effector if center is None else center
        chosen = self._settings
        limits = chosen.fit_iterations, chosen.fit_seconds
        best = fit(rows, self._theta_r, start, *limits, self._rest.radius)
        inside = _inside(bounds, best.phi, center, self._theta_e)
        return inside, best.outcome is not FitOutcome.OUT_OF_TIME


def _inside(bounds: Interval, best: Array, center: Array | None, last: Array) -> Array:
    """Return the point in bounds nearest the fit, from their middle; a body if it can be.

    On the segment between two bodies every point is a body.
    """
    middles = [x for x in (center, last) if x is not None and bounds.contains(x)]
    for middle in middles:
        if is_consistent(middle):
            step = best - middle
            with np.errstate(divide='ignore', invalid='ignore'):
                room = np.where(step > 0, bounds.upper - middle, bounds.lower - middle) / step
            share = min(1.0, float(np.nanmin(np.where(step == 0, np.inf, room))))
            return np.clip(middle + share * step, bounds.lower, bounds.upper)
    return np.clip(best, bounds.lower, bounds.upper)
