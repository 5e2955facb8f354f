"""Search for a certified task motion: two pieces, ending as far along a route as possible.

The longest motion is tried first, then the same more slowly, while that takes less time than two
of half the length, then shorter ones. How slowly and how far is found by bisection, since fast and
long motions are harder than slow and short ones: not always, so there may be a faster or longer
one that was not tried. Both pieces have certificates before the motion may start: the second one
is what the arm falls back to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
import time
from typing import NamedTuple

import numpy as np

from safe_sysid.errors import BoundError, SafeSysidError
from safe_sysid.plan.path.route import Follow
from safe_sysid.plan.result import SearchFinding, SearchOutcome
from safe_sysid.plan.search.best_plan import RESERVE, Budget
from safe_sysid.plan.search.nominal_check import NEAR, NominalCheck
from safe_sysid.plan.search.pieces import certified, horizon_of
from safe_sysid.plan.search.task_settings import TaskSettings, lasting
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.trajectory.task_motion import TaskMotion, minimum_jerk

AS_TWO = 1.5  # times as long as one motion take two, the second of which takes over half way


class _Wanted(NamedTuple):
    """A motion that is to be tried."""

    length: float  # [rad] along the route, where it ends
    pace: float = 1.0  # times as long as motions last


def find_motion(
    problem: Problem, follow: Follow, budget: Budget, settings: TaskSettings
) -> SearchFinding:
    """Find the certified motion along a route that ends farthest along it."""
    return _Search(problem, follow, budget, settings).finding()


class _Search:
    """One search: what was proven and refused so far, and how long things take."""

    def __init__(
        self, problem: Problem, follow: Follow, budget: Budget, settings: TaskSettings
    ) -> None:
        self._problem, self._follow = problem, follow
        self._budget, self._settings = budget, settings
        self._begin = time.monotonic()
        self._proven: PlanCertificate | None = None
        self._left = self._first = np.inf
        self._refused: PlanCertificate | None = None
        self._slowest = settings.slow
        self._starts = 0
        self._unbounded = ''  # why the tracking error of a motion has no bound
        self._check = NominalCheck(problem, settings.checks)

    def finding(self) -> SearchFinding:
        """Look, and say what was found, whatever happens."""
        trouble = ''
        try:
            outcome = self._outcome()
        except SafeSysidError as error:
            outcome, trouble = SearchOutcome.UNUSABLE, str(error)
        if self._proven is not None:
            outcome, trouble = SearchOutcome.FOUND, ''
        elif self._refused is None:
            trouble = trouble or self._unbounded
        seconds = time.monotonic() - self._begin
        return SearchFinding(
            outcome,
            self._proven,
            self._left,
            self._refused,
            trouble,
            {'task': seconds, 'total': seconds},
            self._starts,
            self._first,
        )

    def _outcome(self) -> SearchOutcome:
        """Go through kinds of motions until one is proven; why none is, if none is."""
        for easiest_first, number in self._kinds():
            interrupted = self._hardest(easiest_first, number)
            if interrupted is not None:
                return interrupted
            if self._proven is not None:
                return SearchOutcome.FOUND
        if self._starts == 0:  # to have a constraint to name
            easiest = _Wanted(self._lengths()[0])
            first_via = self._settings.vias[0]
            self._prove(self._horizons(self._motion(easiest, first_via)), easiest.length)
        return SearchOutcome.NONE_CERTIFIED

    def _kinds(self) -> Iterator[tuple[list[_Wanted], int]]:
        """Motions of a kind, the easiest first, and the number of the one to begin with.

        A kind is worth a try where none of those before is proven: it takes more time to the end
        of the longest motion.
        """
        *shorter, longest = self._lengths()
        half = self._follow.begin + 0.5 * (longest - self._follow.begin)
        paces = self._settings.paces
        fastest, slowest = paces[0], paces[-1]
        quick = [_Wanted(longest, pace) for pace in reversed(paces) if pace <= AS_TWO]
        yield quick, len(quick) - 1
        for kind in (
            [_Wanted(each, fastest) for each in shorter if each >= half],
            [_Wanted(longest, pace) for pace in reversed(paces) if pace > AS_TWO],
            [_Wanted(each, fastest) for each in shorter if each < half],
            [_Wanted(each, slowest) for each in shorter if slowest > fastest],
        ):
            yield kind, len(kind) // 2

    def _hardest(self, easiest_first: list[_Wanted], number: int) -> SearchOutcome | None:
        """Keep the hardest motion that is proven, by bisection that begins with a number.

        What ends it before that, if anything does.
        """
        low, high = 0, len(easiest_first)
        while low < high:
            is_proven = self._try(easiest_first[number])
            if self._budget.is_cancelled:
                return SearchOutcome.CANCELLED
            if self._has_no_time:
                return SearchOutcome.OUT_OF_TIME
            low, high = (number + 1, high) if is_proven else (low, number)
            number = (low + high) // 2
        return None

    @property
    def _has_no_time(self) -> bool:
        return self._budget.is_cancelled or self._budget.left < RESERVE * self._slowest

    def _lengths(self) -> list[float]:
        """How far along the route motions may end, the nearest first."""
        settings, route = self._settings, self._follow.route
        left = route.length - self._follow.begin
        lengths: list[float] = []
        step = min(settings.longest, left)
        while step >= settings.shortest or not lengths:
            lengths.append(self._follow.begin + step)
            step *= settings.shorter
        return lengths[::-1]

    def _try(self, wanted: _Wanted) -> bool:
        """Whether such a motion is proven; the first one found is kept."""
        for share in self._settings.vias:
            if self._has_no_time:
                return False
            horizons = self._horizons(self._motion(wanted, share))
            if all(self._is_worth_a_try(each) for each in horizons) and self._prove(
                horizons, wanted.length
            ):
                return True
        return False

    def _prove(self, horizons: list[Horizon], length: float) -> bool:
        """Try to prove a motion; keep it, or what is nearest to being proven."""
        try:
            certificate = self._certified(horizons)
        except BoundError as error:  # its tracking error has no bound
            self._unbounded = str(error)
            return False
        if certificate.holds:
            self._proven, self._left = certificate, self._follow.route.length - length
            self._first = min(self._first, time.monotonic() - self._begin)
        elif self._refused is None or _share(certificate) > _share(self._refused):
            self._refused = certificate
        return certificate.holds

    def _motion(self, wanted: _Wanted, share: float) -> TaskMotion:
        """From the start of the next plan through a point on the route to one at a length."""
        length = wanted.length
        route, begin = self._follow.route, self._follow.begin
        curve = self._problem.horizon.curve
        start = curve.q0, curve.qd0, curve.qdd0
        via = route.toward(curve.q0, begin + share * (length - begin))
        durations = lasting(self._settings.durations, wanted.pace)
        return minimum_jerk(start, via, route.toward(via, length), durations)

    def _horizons(self, motion: TaskMotion) -> list[Horizon]:
        """One for each piece."""
        return [horizon_of(self._problem, piece) for piece in motion.pieces]

    def _is_worth_a_try(self, piece: Horizon) -> bool:
        """By checks in floats, which take a third of the time of a certificate."""
        return self._check.along(piece).margin(piece.k_center) > 0.0

    def _certified(self, pieces: list[Horizon]) -> PlanCertificate:
        """Certificate of the first piece, with those of the others; stops at one that fails."""
        self._starts += 1
        begin = time.monotonic()
        proven: list[PlanCertificate] = []
        for piece in pieces:
            proven.append(certified(self._problem, piece, proven[-1] if proven else None))
            if not proven[-1].holds:
                break
        taken = time.monotonic() - begin
        first_time = self._slowest == self._settings.slow
        self._slowest = taken if first_time else max(self._slowest, taken)
        return replace(proven[0], then=tuple(proven[1:]))


def _share(certificate: PlanCertificate) -> float:
    """Smallest margin as a share of its limit, clearances as those of `NominalCheck`."""
    smallest = certificate.smallest
    return smallest.margin / abs(smallest.limit) if smallest.limit else smallest.margin / NEAR
