"""Search for certified plans along a path: some of its pieces, then a stop, all of them proven.

A plan ends as soon as there is time to look for the next one. Where that is not found, the arm
stops, beside the path but along what was proven before it began.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
import time

from safe_sysid.arrays import Array
from safe_sysid.errors import SafeSysidError
from safe_sysid.plan.path.joint_path import BRIEFEST, JointPath, PathError, Traverse
from safe_sysid.plan.result import SearchFinding, SearchOutcome
from safe_sysid.plan.search.best_plan import RESERVE, Budget
from safe_sysid.plan.search.candidates import gentlest
from safe_sysid.plan.search.pieces import certified, horizon_of
from safe_sysid.plan.search.task_settings import TaskSettings
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.problem import Problem
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.task_motion import Piece

STOPS = (1.0, 0.6, 1.6)  # times the duration of the second piece of a task motion
State = tuple[Array, Array, Array]  # position, velocity, acceleration
SLOWER, TRIES = 1.5, 8  # times a piece without a time of its own may last longer, and how often


def find_traverse(
    problem: Problem, aim: Traverse, budget: Budget, settings: TaskSettings
) -> SearchFinding:
    """Find a certified plan along a path, which begins where plans of the problem do."""
    return _Search(problem, aim, budget, settings).finding()


def looked_at(problem: Problem, path: JointPath, is_timed: bool, budget: Budget) -> JointPath:
    """Refuse a path of which a piece is not certified; as many as there is time for.

    Of a path without times, pieces last as long as their certificates want.
    """
    before: PlanCertificate | None = None
    start = _state(path, 0)
    for knot in range(path.last):
        for attempt in range(TRIES):
            if budget.left < 0.0 or budget.is_cancelled:
                return path
            piece = path.piece(knot, start)
            proof = certified(problem, horizon_of(problem, piece), before)
            if proof.holds:
                break
            if is_timed or attempt == TRIES - 1:
                raise PathError(_refusal(path, knot, proof))
            path = path.slower(knot, SLOWER)
        before, start = proof, _state(path, knot + 1)
    return path


class _Search:
    """One search: the pieces that were proven, and why no more are."""

    def __init__(
        self, problem: Problem, aim: Traverse, budget: Budget, settings: TaskSettings
    ) -> None:
        self._problem, self._path, self._begin = problem, aim.path, aim.begin
        self._budget, self._settings = budget, settings
        self._since = time.monotonic()
        self._slowest, self._looks = 0.0, 0
        self._refused: PlanCertificate | None = None
        self._trouble = ''

    def finding(self) -> SearchFinding:
        """Look, and say what was found, whatever happens."""
        found: tuple[list[PlanCertificate], int] | None = None
        outcome = SearchOutcome.NONE_CERTIFIED
        try:
            found = self._found()
        except _NoTimeError:
            is_cancelled = self._budget.is_cancelled
            outcome = SearchOutcome.CANCELLED if is_cancelled else SearchOutcome.OUT_OF_TIME
        except SafeSysidError as error:
            outcome, self._trouble = SearchOutcome.UNUSABLE, str(error)
        seconds = {'total': time.monotonic() - self._since}
        if found is None:
            return SearchFinding(
                outcome,
                refused=self._refused,
                trouble=self._trouble,
                seconds=seconds,
                starts=self._looks,
            )
        (first, *then), end = found
        times = self._path.times
        return SearchFinding(
            SearchOutcome.FOUND,
            replace(first, then=tuple(then)),
            cost=float(times[-1] - times[end]),
            seconds=seconds,
            starts=self._looks,
            first=seconds['total'],
            until=float(times[end] - times[self._begin]),
            reaches=end,
        )

    def _found(self) -> tuple[list[PlanCertificate], int] | None:
        """Pieces with a stop, and the knot at which the next plan begins."""
        path, curve = self._path, self._problem.horizon.curve
        state = curve.q0, curve.qd0, curve.qdd0
        proven: list[PlanCertificate] = []
        ends = self._ends()
        for knot in range(self._begin, ends[-1]):
            piece = path.piece(knot, state)
            proof = self._certified(piece, proven[-1] if proven else None)
            if not proof.holds:
                self._trouble = _refusal(path, knot, proof)
                return None
            proven.append(proof)
            state = piece.end
            if knot + 1 in ends:
                stop = self._stop(knot + 1, state, proven[-1])
                if stop is not None:
                    return [*proven, *stop], knot + 1
        return None

    def _ends(self) -> list[int]:
        """Knots at which the next plan may begin, the first one preferred."""
        times, first = self._path.times, self._settings.durations[0]
        since = times - times[self._begin]
        late = [k for k in range(self._begin + 1, self._path.last + 1) if since[k] >= first]
        near = [k for k in late if since[k] <= 2.0 * first]
        return near or late[:1] or [self._path.last]

    def _stop(
        self, knot: int, state: State, before: PlanCertificate
    ) -> list[PlanCertificate] | None:
        """Certified rest after a knot: nothing where the path itself rests there."""
        if self._path.rests_at(knot):
            return []
        for piece in self._stops(state):
            proof = self._certified(piece, before)
            if proof.holds:
                return [proof]
            self._trouble = f'no stop after {_name(self._path, knot - 1)}: {proof.smallest}'
        return None

    def _stops(self, state: State) -> Iterator[Piece]:
        for share in STOPS:
            duration = max(share * self._settings.durations[1], BRIEFEST)
            curve = Bezier(*state, duration)
            yield Piece(curve, gentlest(curve))

    def _certified(self, piece: Piece, before: PlanCertificate | None) -> PlanCertificate:
        if self._budget.is_cancelled or self._budget.left < RESERVE * self._slowest:
            raise _NoTimeError
        begin = time.monotonic()
        self._looks += 1
        proof = certified(self._problem, horizon_of(self._problem, piece), before)
        self._slowest = max(self._slowest, time.monotonic() - begin)
        if not proof.holds:
            self._refused = proof
        return proof


class _NoTimeError(SafeSysidError):
    """The search has to end."""


def _state(path: JointPath, knot: int) -> State:
    q, qd, qdd = path.states[knot]
    return q, qd, qdd


def _name(path: JointPath, knot: int) -> str:
    return f'piece {path.asked[knot] + 1} of {path.count} of the path'


def _refusal(path: JointPath, knot: int, proof: PlanCertificate) -> str:
    """Which piece, and which limit."""
    begin, end = path.times[knot], path.times[knot + 1]
    return (
        f'{_name(path, knot)} (from {begin:.3g} to {end:.3g} s) is not certified: {proof.smallest}'
    )
