"""Samples that came twice or too late are told from clocks that jumped."""

import numpy as np

from safe_sysid.measure.sample_order import Arrival, SampleOrder

START = 1_763_744_000_000_000_000  # [ns]


def arrivals(*milliseconds):
    order = SampleOrder()
    return [order.step(START + round(t * 1e6)) for t in milliseconds], order


def test_samples_in_order_are_next_whatever_the_gaps():
    found, order = arrivals(0, 1, 2, 5, 900)
    assert found == [Arrival.NEXT] * 5
    assert (order.old, order.jumps) == (0, 0)


def test_duplicates_and_stragglers_are_old_and_change_nothing():
    found, order = arrivals(0, 1, 1, 3, 2, 4)
    assert found == [Arrival.NEXT] * 2 + [Arrival.OLD, Arrival.NEXT, Arrival.OLD, Arrival.NEXT]
    assert order.old == 2


def test_a_clock_that_jumps_either_way_is_noticed_once():
    for jump in (-3600e3, 3600e3):
        found, order = arrivals(0, 1, jump, jump + 1)
        assert found == [Arrival.NEXT, Arrival.NEXT, Arrival.JUMPED, Arrival.NEXT]
        assert order.jumps == 1


def test_whatever_comes_next_is_later_than_what_came_before(rng):
    order, newest = SampleOrder(), None
    for stamp in np.cumsum(rng.integers(-400_000_000, 500_000_000, size=1000)).tolist():
        if order.step(START + stamp) is Arrival.NEXT:
            assert newest is None or stamp > newest or abs(stamp - newest) > 1e9
            newest = stamp
        elif newest is not None and abs(stamp - newest) > 1_000_000_000:
            newest = stamp
