"""Whether the intervals hold on the user's own recordings: empty pieces with bodies added to them.

A piece is left out, a body that was not there is added to its raw torques, and
the rest says what the arm is. Friction terms, kappa and the promise are those of the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import betaincinv

from safe_sysid.arrays import Array
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.difference.against_empty import (
    DifferenceProblem,
    payload_difference,
    with_empty_evidence,
)
from safe_sysid.identify.difference.virtual_payload import VirtualPayload, holding

BODIES = ((0.0, 0.0), (1.0, 0.05), (2.8, 0.10), (2.8, 0.16))  # [kg], [m]
GAP = 0.5  # [s] beside a piece
SHORTEST_REST = 5.0  # [s] of what is left beside a piece
COVERED = 0.93  # share of 95 % intervals; less than that beyond doubt is a warning


@dataclass(frozen=True)
class PieceResult:
    """One piece with one body."""

    recording: int
    begin: float  # [s]
    truth: float  # [kg]
    estimate: float  # [kg]
    statistical: tuple[float, float] | None  # [kg]
    guaranteed: tuple[float, float] | None  # [kg]
    refused: str | None  # why either of them is missing
    unit: float = 0.0  # [kg] of the statistical half-width, by the unit of the effort


@dataclass(frozen=True)
class SelfTest:
    """All pieces of one length."""

    seconds: float
    results: tuple[PieceResult, ...]

    @property
    def statistical(self) -> tuple[int, int]:
        """Intervals that contain the truth, and intervals."""
        return _covered([(r.statistical, r.truth) for r in self.results])

    @property
    def guaranteed(self) -> tuple[int, int]:
        """The same of guaranteed ones."""
        return _covered([(r.guaranteed, r.truth) for r in self.results])

    @property
    def errors(self) -> Array:
        """Of all estimates [kg]."""
        return np.array([r.estimate - r.truth for r in self.results])

    def half_widths(self, kind: str) -> Array:
        """Of the intervals of a kind that were given [kg]."""
        given = [getattr(r, kind) for r in self.results]
        return np.array([0.5 * (b - a) for a, b in (x for x in given if x is not None)])

    @property
    def without_unit(self) -> Array:
        """Statistical half-widths if the unit of the effort were exact [kg]."""
        units = [r.unit for r in self.results if r.statistical is not None]
        halves: Array = self.half_widths('statistical') - np.array(units)
        return halves

    @property
    def warning(self) -> str | None:
        """Return why the intervals should not be relied on, if so."""
        inside, count = self.statistical
        sure, promised = self.guaranteed
        if sure < promised:
            return (
                f'{promised - sure} of {promised} guaranteed intervals miss the body that was '
                'added: do not rely on these intervals'
            )
        upper = binomial_limits(inside, count)[1]
        if upper < COVERED:
            return (
                f'{inside} of {count} statistical intervals contain the body that was added, '
                f'at most {100 * upper:.0f} % of such: do not rely on these intervals'
            )
        return None

    def as_mapping(self) -> dict[str, Any]:
        """Everything in the types of JSON."""
        inside, count = self.statistical
        sure, promised = self.guaranteed
        finite = self.errors[np.isfinite(self.errors)]
        return {
            'piece_s': self.seconds,
            'pieces': len(self.results),
            'rms_kg': float(np.sqrt(np.mean(finite**2))) if len(finite) else None,
            'largest_kg': float(np.abs(finite).max()) if len(finite) else None,
            'statistical': {
                'given': count, 'inside': inside, 'limits_95': binomial_limits(inside, count),
                'half_width_kg': _median(self.half_widths('statistical')),
            },
            'guaranteed': {
                'given': promised, 'inside': sure,
                'half_width_kg': _median(self.half_widths('guaranteed')),
            },
            'warning': self.warning,
        }  # fmt: skip

    def __str__(self) -> str:
        if not self.results:
            return f'Self-test, pieces of {self.seconds:g} s: none is long enough.'
        table = self.as_mapping()
        begin = f'Self-test: {table["pieces"]} bodies in empty pieces of {self.seconds:g} s'
        if table['rms_kg'] is None:
            return f'{begin}: all refused, {self.results[0].refused}'
        lines = [
            f'{begin}, off by {table["rms_kg"]:.3f} kg rms, {table["largest_kg"]:.3f} kg at most'
        ]
        for kind in ('statistical', 'guaranteed'):
            of = table[kind]
            half = of['half_width_kg']
            width = '' if half is None else f', ± {half:.3f} kg (median)'
            lines.append(f'  {kind:11} {of["inside"]} of {of["given"]} contain it{width}')
        if self.warning is not None:
            lines.append(f'  WARNING: {self.warning}')
        return '\n'.join(lines)


def _median(values: Array) -> float | None:
    return float(np.median(values)) if len(values) else None


def binomial_limits(inside: int, count: int) -> tuple[float, float]:
    """Exact 95 % limits of a share (Clopper and Pearson)."""
    if count == 0:
        return 0.0, 1.0
    lower = 0.0 if inside == 0 else float(betaincinv(inside, count - inside + 1, 0.025))
    upper = 1.0 if inside == count else float(betaincinv(inside + 1, count - inside, 0.975))
    return lower, upper


def self_test(
    problem: DifferenceProblem,
    seconds: float,
    rng: np.random.Generator,
    bodies: Sequence[tuple[float, float]] = BODIES,
    progress: Callable[[str], None] = lambda _: None,
) -> SelfTest:
    """Identify bodies that were added to pieces of the empty recordings of a problem."""
    results: list[PieceResult] = []
    for number, logs in enumerate(problem.empty):
        for which, log in enumerate(logs):
            for i in range(int(log.seconds / seconds)):
                piece, rest = _cut(log, i * seconds, (i + 1) * seconds)
                here = [*logs[:which], *rest, *logs[which + 1 :]]
                others = [x for k, x in enumerate(problem.empty) if k != number]
                empty = others or [here]
                if sum(x.seconds for x in empty[0]) < SHORTEST_REST:
                    continue
                progress(f'recording {number + 1}, {i * seconds:g} to {(i + 1) * seconds:g} s')
                given = replace(problem, empty=empty, loaded=[piece])
                results += _with_bodies(given, (number, piece.begin), bodies, rng)
    return SelfTest(seconds, tuple(results))


def _cut(log: EvenLog, begin: float, end: float) -> tuple[EvenLog, list[EvenLog]]:
    """Return a piece, and what is left beside it."""
    whole = log.seconds
    rest = [
        log.part(a / whole, b / whole)
        for a, b in ((0.0, begin - GAP), (end + GAP, whole))
        if b - a >= SHORTEST_REST
    ]
    return log.part(begin / whole, end / whole), rest


def _with_bodies(
    problem: DifferenceProblem,
    place: tuple[int, float],
    bodies: Sequence[tuple[float, float]],
    rng: np.random.Generator,
) -> list[PieceResult]:
    """Identify each of the bodies in one piece, its torques reported as wrong as is promised."""
    found = []
    evidence = with_empty_evidence(problem)
    into = problem.frame[1]
    for mass, distance in bodies:
        share = problem.gain_error * rng.uniform(-1.0, 1.0, len(problem.gain_error))
        body = VirtualPayload(mass, distance, tuple(share.tolist()))
        held = [holding(problem.model, log, body) for log in problem.loaded]
        truth = float((into @ body.parameters())[0])
        found.append(result_of(replace(evidence, loaded=held), place, truth))
    return found


def result_of(problem: DifferenceProblem, place: tuple[int, float], truth: float) -> PieceResult:
    """Compare the intervals of a problem with the mass [kg] that is known to be held."""
    try:
        answer = payload_difference(problem)
    except MeasurementError as error:
        return PieceResult(*place, truth, np.nan, None, None, str(error))
    given, sure = (
        None if x is None else (float(x.lower[0]), float(x.upper[0]))
        for x in (answer.statistical_bounds, answer.guaranteed_bounds)
    )
    reasons = [x for x in (answer.withheld, answer.not_guaranteed) if x is not None]
    refused = '; '.join(reasons) or None
    half = answer.statistical
    unit = 0.0 if half is None else float(half.bounds.radius[0] - half.from_residuals[0])
    return PieceResult(*place, truth, float(answer.nominal[0]), given, sure, refused, unit)


def _covered(pairs: list[tuple[tuple[float, float] | None, float]]) -> tuple[int, int]:
    given = [(pair, truth) for pair, truth in pairs if pair is not None]
    return sum(a <= truth <= b for (a, b), truth in given), len(given)
