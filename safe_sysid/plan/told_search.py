"""ToldSearch: what the planner says of a search among its figures, written and read here alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from safe_sysid.errors import MeasurementError
from safe_sysid.measure.clock import Clock
from safe_sysid.plan.result import PlanResult, SearchOutcome

OUTCOME, SENTENCE, STAMP, SECONDS, COST = (
    'outcome',
    'found',
    'said at [ns]',
    'searched [s]',
    'cost',
)


@dataclass(frozen=True)
class ToldSearch:
    """What a search came to."""

    outcome: SearchOutcome
    sentence: str
    stamp: int  # [ns] when the planner said so
    seconds: float  # of the search; 0 without one
    cost: float  # of the plan found; infinite without one

    @staticmethod
    def of(result: PlanResult, clock: Clock) -> ToldSearch:
        """Return the last search of a result, whose times are those of this clock."""
        finding = result.finding
        seconds = 0.0 if finding.seconds is None else finding.seconds['total']
        stamp = clock.stamp(result.time)
        return ToldSearch(finding.outcome, str(result), stamp, seconds, finding.cost)

    def figures(self) -> dict[str, object]:
        """For diagnostics."""
        return {
            OUTCOME: self.outcome.name,
            SENTENCE: self.sentence,
            STAMP: self.stamp,
            SECONDS: f'{self.seconds:.4g}',
            COST: f'{self.cost:.6g}',
        }


def told_search(figures: Mapping[str, str]) -> ToldSearch | None:
    """Return the search that figures of the planner tell; None before there was one."""
    if STAMP not in figures:
        return None
    name = figures.get(OUTCOME, '')
    if name not in SearchOutcome.__members__:
        raise MeasurementError(
            f"outcome of a search is '{name}' in figures of the planner; it has to be one of "
            f'{list(SearchOutcome.__members__)}, so another version has recorded them'
        )
    return ToldSearch(
        SearchOutcome[name],
        figures[SENTENCE],
        int(figures[STAMP]),
        float(figures[SECONDS]),
        float(figures[COST]),
    )
