"""Interval arithmetic encloses exact arithmetic, not only floating-point arithmetic."""

from fractions import Fraction
import operator

import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.sets.interval import Interval, concatenate, stack

ADVERSARIAL = [0.0, 5e-324, -5e-324, 1e-310, 1e-160, -1e-160, 0.1, 1.0, -1.0, 3.0, 1e16, -1e150]


BEYOND_FLOATS = Fraction(10) ** 700
pytestmark = pytest.mark.filterwarnings('ignore:overflow')


def exact(value) -> Fraction:
    if np.isinf(value):
        return BEYOND_FLOATS if value > 0 else -BEYOND_FLOATS
    return Fraction(float(value))


def numbers(rng, count):
    """Numbers of every magnitude, with the nasty ones among them."""
    sizes = 10.0 ** rng.integers(-18, 18, count)
    return np.concatenate([rng.normal(size=count) * sizes, ADVERSARIAL])


def random_interval(rng, shape):
    ends = np.sort(rng.normal(size=(2, *shape)) * 10.0 ** rng.integers(-9, 9, (2, *shape)), axis=0)
    return Interval(ends[0], ends[1])


def holds(interval, value: Fraction) -> bool:
    return exact(interval.lower) <= value <= exact(interval.upper)


def escapes(operation, oracle, pairs) -> int:
    """How many exact results of end points lie outside what `operation` returns."""
    count = 0
    for x, y in pairs:
        result = operation(x, y)
        for a in (x.lower, x.upper):
            for b in (y.lower, y.upper):
                count += not holds(result, oracle(exact(a), exact(b)))
    return count


def random_pairs(rng, count=300):
    values = numbers(rng, count)
    for _ in range(count):
        x, y = (np.sort(rng.choice(values, 2)) for _ in range(2))
        yield Interval(*x), Interval(*y)


@pytest.mark.parametrize('operation', [operator.add, operator.sub, operator.mul])
def test_encloses_the_exact_result(operation, rng):
    assert escapes(operation, operation, random_pairs(rng)) == 0


def test_quotient_encloses_the_exact_quotient(rng):
    pairs = [(x, y) for x, y in random_pairs(rng, 600) if y.lower > 0 or y.upper < 0]
    assert len(pairs) > 100
    assert escapes(operator.truediv, operator.truediv, pairs) == 0


@pytest.mark.parametrize('name', ['add', 'sub', 'mul', 'truediv'])
def test_the_check_finds_an_operation_that_does_not_round(name, rng):
    operation = getattr(operator, name)

    def unrounded(x, y):
        ends = [operation(a, b) for a in (x.lower, x.upper) for b in (y.lower, y.upper)]
        return Interval(min(ends), max(ends))

    pairs = [(x, y) for x, y in random_pairs(rng) if y.lower > 0 or y.upper < 0]
    assert escapes(unrounded, operation, pairs) > 0


def test_product_across_zero_by_hand():
    z = Interval.of(1.0) * Interval(np.array(-3.0), np.array(4.0)) * -2.0
    assert (z.lower, z.upper) == (pytest.approx(-8.0), pytest.approx(6.0))


def test_square_across_zero_starts_at_zero():
    z = Interval(-3.0, 2.0).square()
    assert z.lower == 0.0
    assert z.upper == pytest.approx(9.0)
    assert holds(z, Fraction(9))


def test_square_encloses_the_exact_square(rng):
    for x, _ in random_pairs(rng):
        assert holds(x.square(), exact(x.lower) ** 2)
        assert holds(x.square(), exact(x.upper) ** 2)


def test_negation_swaps_the_ends():
    z = -Interval([-3.0, 1.0], [2.0, 4.0])
    assert z.lower.tolist() == [-2.0, -4.0]
    assert z.upper.tolist() == [3.0, -1.0]


def test_absolute_value_is_exact():
    z = abs(Interval([-3.0, 1.0, -5.0], [2.0, 4.0, -1.0]))
    assert z.lower.tolist() == [0.0, 1.0, 1.0]
    assert z.upper.tolist() == [3.0, 4.0, 5.0]


def test_center_and_radius_enclose_the_interval_exactly(rng):
    for x, _ in random_pairs(rng):
        center, radius = exact(x.center), exact(x.radius)
        assert center - radius <= exact(x.lower)
        assert exact(x.upper) <= center + radius
        again = Interval.from_center_radius(x.center, x.radius)
        assert again.contains(x)


@pytest.mark.parametrize('shape', [(), (40, 3, 6)])
def test_what_has_no_midpoint_is_named_by_one_entry_however_many_there_are(shape):
    upper = np.full(shape, 2.0)
    upper.flat[-1] = np.inf
    with pytest.raises(BoundError, match=r'unbounded interval \[1, inf\]$'):
        _ = Interval(np.ones(shape), upper).center


def test_a_point_has_radius_zero():
    assert Interval.of([0.1, -7.0]).radius.tolist() == [0.0, 0.0]


SHAPES = [((3, 4), (4, 2)), ((3, 4), (4,)), ((4,), (4, 2)), ((4,), (4,)), ((2, 3, 4), (4,))]


def extreme_product(A, B, pick):
    """Exact smallest or largest entry of the product, one index at a time."""
    A = [[[exact(v) for v in pair] for pair in row] for row in A]
    B = [[[exact(v) for v in pair] for pair in row] for row in B]
    columns = list(zip(*B, strict=True))
    return [
        [
            sum(pick(a * b for a in x for b in y) for x, y in zip(row, column, strict=True))
            for column in columns
        ]
        for row in A
    ]


@pytest.mark.parametrize('points', ['left', 'right', 'none'])
@pytest.mark.parametrize('shapes', SHAPES)
def test_matrix_product_encloses_the_exact_range(points, shapes, rng):
    A, B = (random_interval(rng, shape) for shape in shapes)
    A = Interval.of(A.lower) if points == 'left' else A
    B = Interval.of(B.lower) if points == 'right' else B
    C = A @ B
    assert C.shape == (A.lower @ B.lower).shape
    rows = np.stack([A.lower, A.upper], -1).reshape(-1, shapes[0][-1], 2)
    columns = np.stack([B.lower, B.upper], -1).reshape(shapes[1][0], -1, 2)
    for bound, pick, outside in ((C.lower, min, operator.le), (C.upper, max, operator.ge)):
        truth = np.array(extreme_product(rows, columns, pick), dtype=object).ravel()
        assert all(outside(exact(c), t) for c, t in zip(bound.ravel(), truth, strict=True))
        assert np.allclose(bound.ravel(), truth.astype(float), rtol=1e-12, atol=1e-12 * 1e18)


def test_matrix_product_accounts_for_accumulated_rounding():
    row = np.array([1e16, 1.0, -1e16, 1e-3] * 50)
    x = Interval.of(np.full(200, 0.1))
    truth = sum((exact(a) * exact(0.1) for a in row), Fraction(0))
    assert holds(row @ x, truth)
    assert holds(Interval(row, np.nextafter(row, np.inf)) @ x, truth)
    assert holds((Interval.of(row) * x).sum(), truth)
    assert truth != exact(row @ x.lower)


def test_array_on_the_left_asks_the_interval():
    x = Interval([1.0, 2.0], [3.0, 4.0])
    assert (np.ones((2, 2)) @ x).contains([4.0, 5.0])
    assert (np.array([2.0, 0.0]) * x).contains([[2.0, 0.0], [6.0, 0.0]])
    assert (1.0 - x).contains([-2.0, -3.0])
    assert (1.0 / x).contains([1 / 3, 0.25])


def test_hull_and_intersection_by_hand():
    x, y = Interval(0.0, 2.0), Interval(1.0, 5.0)
    assert (x.hull(y).lower, x.hull(y).upper) == (0.0, 5.0)
    both = x.intersection(y)
    assert (both.lower, both.upper) == (1.0, 2.0)
    assert x.intersection(Interval(2.0, 3.0)).contains(2.0)


def test_an_empty_intersection_is_none_and_named():
    x, y = Interval([0.0, 0.0], [1.0, 1.0]), Interval([0.5, 1.5], [2.0, 2.0])
    assert x.intersection(y) is None
    assert x.disjoint(y).tolist() == [False, True]


def test_contains_is_subset():
    x = Interval([0.0, 0.0], [1.0, 1.0])
    assert x.contains(x)
    assert not x.contains(Interval([0.0, 0.0], [1.0, 1.1]))


@pytest.mark.parametrize('ends', [(np.nan, 1.0), (0.0, np.nan), (2.0, 1.0), (np.inf, np.inf)])
def test_refuses_what_is_not_an_interval(ends):
    with pytest.raises(BoundError, match=r'not an interval at index \(1,\)'):
        Interval([0.0, ends[0]], [1.0, ends[1]])


def test_refuses_division_by_zero_and_negative_radius():
    with pytest.raises(BoundError, match='contains zero'):
        Interval.of(1.0) / Interval(-1.0, 1.0)
    with pytest.raises(BoundError, match='at least zero'):
        Interval.from_center_radius(0.0, -1.0)
    with pytest.raises(BoundError, match='unbounded'):
        _ = Interval(0.0, np.inf).radius
    with pytest.raises(BoundError, match='unbounded'):
        np.ones(1) @ Interval([0.0], [np.inf])


def test_unbounded_intervals_stay_sound():
    x = Interval([-np.inf, 0.0], [0.0, np.inf])
    assert (x * 0.0).contains([0.0, 0.0])
    assert (x + x).upper[1] == np.inf
    assert (Interval.of(1e308) * 10.0).upper == np.inf
    assert (Interval.of(1e308) * 10.0).lower == np.finfo(float).max


def test_is_a_value():
    ends = np.array([1.0, 2.0])
    x = Interval(ends, ends)
    ends[0] = 9.0
    assert x.lower[0] == 1.0
    with pytest.raises(ValueError, match='read-only'):
        x.lower[0] = 0.0


def test_indexing_and_joining():
    x = Interval(np.zeros((2, 3)), np.ones((2, 3)))
    assert x[1].shape == (3,)
    assert len(x) == 2
    assert concatenate([x, x]).shape == (4, 3)
    assert stack([x, x]).shape == (2, 2, 3)
    assert x.reshape(3, 2).shape == (3, 2)
    assert Interval([0.0], [[1.0], [2.0]]).shape == (2, 1)
