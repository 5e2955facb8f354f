"""The buffer keeps to its budget and loses what matters least."""

import numpy as np
import pytest

from safe_sysid.errors import BoundError, ConfigError
from safe_sysid.identify.observation import Observation
from safe_sysid.identify.row_buffer import RowBuffer


def rows_numbered(first, count):
    """Rows whose every field tells their number."""
    number = np.arange(first, first + count, dtype=float)
    return Observation(
        Y_e=np.repeat(number[:, None], 10, axis=1),
        Y_r=np.repeat(number[:, None], 4, axis=1),
        b=number.copy(),
        delta=number + 1.0,
        joint=np.arange(first, first + count),
        start=number.copy(),
        end=number + 0.5,
    )


def filled(budget, *counts):
    buffer = RowBuffer(budget)
    first = 0
    for count in counts:
        buffer.add(rows_numbered(first, count))
        first += count
    return buffer


def check_numbers(buffer):
    """Numbers of the rows kept, which every field has to agree with."""
    rows, numbers = buffer.rows()
    for value in (rows.b, rows.delta - 1.0, rows.joint, rows.start, rows.end - 0.5):
        np.testing.assert_array_equal(value, numbers)
    np.testing.assert_array_equal(rows.Y_e, np.repeat(numbers[:, None], 10, axis=1))
    np.testing.assert_array_equal(rows.Y_r, np.repeat(numbers[:, None], 4, axis=1))
    return numbers.tolist()


def test_everything_is_kept_until_the_budget_is_reached():
    assert check_numbers(filled(10, 4, 6)) == list(range(10))


def test_of_rows_that_nobody_knows_the_newest_are_kept():
    assert check_numbers(filled(10, 7, 7)) == list(range(4, 14))


def test_rows_that_matter_stay_and_the_least_go_first():
    buffer = filled(6, 6)
    buffer.rows()
    buffer.weigh(np.array([0.0, 5.0, 1.0, 4.0, 2.0, 3.0]))
    buffer.add(rows_numbered(6, 3))
    assert check_numbers(buffer) == [1, 3, 5, 6, 7, 8]
    buffer.weigh(np.array([5.0, 4.0, 3.0, 0.0, 9.0, 0.0]))
    buffer.add(rows_numbered(9, 2))
    assert check_numbers(buffer) == [1, 3, 5, 7, 9, 10]


def test_new_rows_come_before_rows_that_matter_until_they_are_weighed():
    buffer = filled(4, 4)
    buffer.rows()
    buffer.weigh(np.full(4, 1e9))
    buffer.add(rows_numbered(4, 3))
    assert check_numbers(buffer) == [3, 4, 5, 6]


def test_of_rows_that_matter_alike_the_newest_are_kept():
    buffer = filled(4, 4)
    buffer.rows()
    buffer.weigh(np.zeros(4))
    buffer.add(rows_numbered(4, 1))
    assert check_numbers(buffer) == [1, 2, 3, 4]


def test_numbers_and_memory_are_right_over_a_long_run(rng):
    buffer, added = RowBuffer(50), 0
    matters = {}
    for _ in range(300):
        count = int(rng.integers(1, 8))
        buffer.add(rows_numbered(added, count))
        added += count
        assert len(buffer) <= 100
        if rng.random() < 0.2:
            numbers = check_numbers(buffer)
            assert len(numbers) <= 50
            assert numbers == sorted(set(numbers))
            assert numbers[-1] == added - 1
            weight = rng.random(len(numbers))
            matters = dict(zip(numbers, weight, strict=True))
            buffer.weigh(weight)
    assert matters


def test_the_weightiest_row_is_never_lost(rng):
    buffer = filled(10, 10)
    for first in range(10, 400, 3):
        numbers = check_numbers(buffer)
        assert 0 in numbers
        buffer.weigh(np.where(np.array(numbers) == 0, 1.0, rng.random(len(numbers))))
        buffer.add(rows_numbered(first, 3))


def test_what_the_caller_does_with_its_weights_later_changes_nothing():
    buffer = filled(2, 2)
    buffer.rows()
    weight = np.array([1.0, 0.0])
    buffer.weigh(weight)
    weight[:] = [0.0, 1.0]
    buffer.add(rows_numbered(2, 1))
    assert check_numbers(buffer) == [0, 2]


def test_weights_that_are_not_those_of_the_rows_are_refused():
    buffer = filled(10, 5)
    buffer.rows()
    buffer.add(rows_numbered(5, 2))
    with pytest.raises(BoundError, match=r'weights of shape \(5,\) for 7 rows'):
        buffer.weigh(np.zeros(5))


def test_a_budget_of_nothing_is_refused():
    with pytest.raises(ConfigError, match='row budget is 0, it has to be 1 or more'):
        RowBuffer(0)
