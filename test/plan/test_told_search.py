"""What the planner says of a search is read as it was said, whatever its sentence is."""

import pytest

from safe_sysid.errors import MeasurementError
from safe_sysid.measure.clock import Clock
from safe_sysid.plan.result import PlanResult, SearchFinding, SearchOutcome
from safe_sysid.plan.told_search import OUTCOME, ToldSearch, told_search

CLOCK = Clock(5_000_000_000)


@pytest.mark.parametrize('outcome', list(SearchOutcome))
@pytest.mark.parametrize('trouble', ['', 'a reason, with a comma: and a colon'])
def test_every_outcome_is_read_back(outcome, trouble):
    """Sentences without a reason go on with what the arm does, after a semicolon."""
    finding = SearchFinding(outcome, cost=0.25, trouble=trouble, seconds={'total': 0.5})
    told = ToldSearch.of(PlanResult(None, None, finding, 2.0), CLOCK)
    heard = {key: str(value) for key, value in told.figures().items()}
    assert told_search(heard) == told
    assert (told.outcome, told.stamp, told.seconds, told.cost) == (outcome, 7 * 10**9, 0.5, 0.25)


def test_before_the_first_search_there_is_none():
    assert told_search({'found': 'nothing yet'}) is None


def test_an_outcome_nobody_knows_is_refused():
    told = ToldSearch(SearchOutcome.FOUND, 'new plan', 0, 0.1, 1.0)
    heard = {key: str(value) for key, value in told.figures().items()}
    with pytest.raises(MeasurementError, match="outcome of a search is 'LUCK'.*'FOUND'"):
        told_search({**heard, OUTCOME: 'LUCK'})
