"""Cycles of pick and place with something unknown: promises are kept, and little time is lost."""

import pytest

from safe_sysid.bench.experiments.handling_cycles import ANNOUNCED, run_cycle

ALLOWED = 1.3  # times as long as with a known payload


@pytest.mark.slow
@pytest.mark.parametrize('number', [0, 35])
def test_an_unknown_payload_that_is_announced_costs_little_time(number):
    cycle = run_cycle(0, number)
    assert (cycle.event, cycle.ended, cycle.broken) == (ANNOUNCED, '', [])
    assert cycle.known <= cycle.cycle <= ALLOWED * cycle.known
