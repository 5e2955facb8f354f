"""Elementary functions of intervals enclose the true values, computed to 60 digits."""

from decimal import Decimal, getcontext

import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.sets.elementary import LARGEST_ARGUMENT, cos, sin, sqrt
from safe_sysid.sets.interval import Interval

getcontext().prec = 120


def sine_cosine(x: float) -> tuple[Decimal, Decimal]:
    """Power series of exp(ix); 120 digits leave 60 after the cancellation at |x| <= 100."""
    x = Decimal(float(x))
    parts = [Decimal(0), Decimal(0)]
    term, n = Decimal(1), 0
    while n < abs(x) or abs(term) > Decimal(10) ** -80:
        parts[n % 2] += term if n % 4 < 2 else -term
        n += 1
        term = term * x / n
    return parts[1], parts[0]


def adversarial_arguments(rng):
    """Floats around every quarter turn, tiny and ordinary ones."""
    quarters = np.arange(-40, 41) * (np.pi / 2)
    neighbours = [np.nextafter(quarters, s * np.inf) for s in (-1, 1)]
    return np.concatenate(
        [quarters, *neighbours, rng.uniform(-60, 60, 200), [1e-300, -1e-9, 5e-324, 0.0]]
    )


def escapes(sine, cosine, arguments) -> int:
    """How many true values lie outside the enclosures of single points."""
    count = 0
    for x in arguments:
        s, c = sine_cosine(x)
        for value, enclosure in ((s, sine(Interval.of(x))), (c, cosine(Interval.of(x)))):
            lower, upper = (Decimal(float(e)) for e in (enclosure.lower, enclosure.upper))
            count += not lower <= value <= upper
    return count


def test_sine_and_cosine_enclose_the_true_value(rng):
    assert escapes(sin, cos, adversarial_arguments(rng)) == 0


def test_the_check_finds_a_sine_without_margin(rng):
    bare = [lambda x, f=f: Interval.of(f(x.lower)) for f in (np.sin, np.cos)]
    assert escapes(*bare, adversarial_arguments(rng)) > 0


@pytest.mark.parametrize(('enclose', 'function'), [(sin, np.sin), (cos, np.cos)])
def test_range_is_sound_and_tight_against_dense_sampling(enclose, function, rng):
    lower = rng.uniform(-20, 20, 500)
    upper = lower + 10.0 ** rng.uniform(-6, 1, 500)
    z = enclose(Interval(lower, upper))
    samples = function(np.linspace(lower, upper, 4001))
    assert np.all(z.lower <= samples.min(axis=0))
    assert np.all(z.upper >= samples.max(axis=0))
    step = (upper - lower) / 4000
    assert np.all(z.lower >= samples.min(axis=0) - step**2 - 1e-14)
    assert np.all(z.upper <= samples.max(axis=0) + step**2 + 1e-14)


def test_range_around_a_crest_by_hand():
    z = cos(Interval(-0.5, 1.0))
    assert z.upper == 1.0
    assert z.lower == pytest.approx(np.cos(1.0))
    z = sin(Interval(4.0, 5.0))
    assert z.lower == -1.0
    assert z.upper == pytest.approx(np.sin(4.0))


def test_huge_and_unbounded_arguments_give_the_whole_range():
    z = sin(Interval([2 * LARGEST_ARGUMENT, -np.inf], [2 * LARGEST_ARGUMENT, 0.0]))
    assert z.lower.tolist() == [-1.0, -1.0]
    assert z.upper.tolist() == [1.0, 1.0]


def test_square_root_encloses_the_true_value(rng):
    for x in [*10.0 ** rng.uniform(-300, 300, 300), 0.0, 5e-324, 4.0]:
        z = sqrt(Interval.of(x))
        truth = Decimal(float(x)).sqrt()
        assert Decimal(float(z.lower)) <= truth <= Decimal(float(z.upper))
        assert z.lower >= 0.0


def test_square_root_of_a_negative_number_is_refused():
    with pytest.raises(BoundError, match='negative'):
        sqrt(Interval(-1e-300, 1.0))
