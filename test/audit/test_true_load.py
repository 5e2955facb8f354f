"""What was true of a recorded arm: bounds have to have it whenever it was so."""

from types import SimpleNamespace

import numpy as np
import pytest

from safe_sysid.audit.ledger import _shrinking
from safe_sysid.audit.true_load import TrueLoad
from safe_sysid.identify.estimate_series import EstimateSeries

EMPTY, HOLDING = np.zeros(10), np.ones(10)
CLOSES, OPENS = 6.0, 20.0


def series(*rows):
    """Bounds of the same of all ten: time, lower and upper."""
    time, lower, upper = np.array(rows, dtype=float).T
    lower, upper = (np.repeat(x[:, None], 10, axis=1) for x in (lower, upper))
    return EstimateSeries(time, 0.5 * (lower + upper), lower, upper)


# narrow, either body, whatever may be held, narrow, either, whatever
KEPT = (
    (0, -0.5, 0.5),
    (3, -0.5, 1.5),
    (6, -0.2, 1.5),
    (9, 0.8, 1.2),
    (17, -0.5, 1.2),
    (20, -0.5, 1.5),
)


@pytest.fixture
def load():
    return TrueLoad.changing((CLOSES, OPENS), EMPTY, HOLDING)


def test_bounds_have_what_is_held_while_they_hold(load):
    assert load.is_within(series(*KEPT)).all()
    within = TrueLoad.always(EMPTY).is_within(series((0, -1, 1), (5, 0.1, 0.5), (9, -0.5, 0.5)))
    assert within.all(axis=1).tolist() == [True, False, True]


@pytest.mark.parametrize(
    ('number', 'bounds'),
    [
        (0, (0.5, 1.5)),  # of a hand that is empty
        (1, (-0.5, 0.5)),  # the bounds for the change lack what is picked
        (3, (-0.2, 0.2)),  # of one that holds something
        (4, (0.8, 1.2)),  # the bounds for the release lack the empty hand
        (5, (0.8, 1.2)),
    ],
)
def test_bounds_that_lack_it_are_named(load, number, bounds):
    rows = list(KEPT)
    rows[number] = (rows[number][0], *bounds)
    assert np.flatnonzero(~load.is_within(series(*rows)).all(axis=1)).tolist() == [number]


def test_bounds_may_be_wider_only_where_a_change_begins_or_ends():
    modes = (
        (0.0, 'task'),
        (3.0, 'changing'),
        (6.0, 'holding'),
        (17.0, 'changing'),
        (20.0, 'idle'),
    )

    def entry(rows, modes=modes):
        return _shrinking(
            SimpleNamespace(record=SimpleNamespace(estimates=series(*rows)), modes=modes)
        )

    assert entry(KEPT).is_kept
    assert 'mass known 4.3 times better, of one body' in entry(KEPT).finding
    assert not entry(KEPT, ((0.0, 'task'),)).is_kept
    wider = (*KEPT[:4], (10, 0.7, 1.2), *KEPT[4:])
    assert entry(wider).finding == '1 times not'


def test_what_was_known_from_one_time_to_another_begins_with_what_was_known_then():
    found = series(*KEPT).during(7.0, 17.0)
    assert found.time.tolist() == [6.0, 9.0]
    assert series(*KEPT).during(6.0, 9.0).time.tolist() == [6.0]
    assert series(*KEPT).during(-1.0, -0.5).time.tolist() == [0.0]
