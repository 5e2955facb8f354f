"""Samples that were lost, and clocks that were set, are told for a while after it."""

import pytest

from safe_sysid.measure.stamp_breaks import LATELY, MANY, StampBreaks

START = 1_763_744_000_000_000_000  # [ns]
PERIOD = 10_000_000  # [ns]
LATE = LATELY // PERIOD


def breaks_after(*stamps):
    return then(StampBreaks(), *stamps)


def then(breaks, *stamps):
    for stamp in stamps:
        breaks.step(START + stamp)
    return breaks


def periods(first, last):
    return range(first * PERIOD, last * PERIOD, PERIOD)


@pytest.mark.parametrize('stamps', [(), periods(0, 300), [0, 0, PERIOD, 0, 3 * PERIOD, PERIOD]])
def test_samples_in_time_twice_late_or_lost_one_by_one_are_no_break(stamps):
    assert breaks_after(*stamps).trouble == ''


def test_a_gap_is_told_as_long_as_it_is_late_news():
    said = '0.5 s are between the stamps of two samples'
    breaks = breaks_after(0, PERIOD, 51 * PERIOD)
    assert breaks.trouble.startswith(said)
    assert then(breaks, *periods(52, 52 + LATE)).trouble.startswith(said)
    assert then(breaks, (52 + LATE) * PERIOD).trouble == ''


def test_a_clock_that_was_set_back_is_told_while_and_after_it_comes_up_to_where_it_was():
    before, again = [*periods(0, 100)], [*periods(49, 100)]
    assert breaks_after(*before, *again[: MANY - 1]).trouble == ''
    said = '51 samples in a row were not newer than one before, by up to 0.5 s'
    breaks = breaks_after(*before, *again)
    assert breaks.trouble.startswith(said)
    assert then(breaks, *periods(100, 100 + LATE)).trouble.startswith(said)
    assert then(breaks, (100 + LATE) * PERIOD).trouble == ''


def test_a_driver_that_repeats_itself_is_told():
    assert breaks_after(0, *[PERIOD] * (MANY + 1)).trouble.startswith(f'{MANY} samples in a row')
