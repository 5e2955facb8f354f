"""Taylor models contain every function that exact arithmetic makes of their members."""

from decimal import Decimal, getcontext
from fractions import Fraction
import operator

import numpy as np
import pytest
from sets.exact_polynomials import (
    MAGNITUDES,
    cancelling_model,
    escapes,
    exact_polynomial,
    members,
    random_box_point,
    random_model,
)

from safe_sysid.errors import BoundError
from safe_sysid.sets.interval import Interval
from safe_sysid.sets.monomials import monomials
from safe_sysid.sets.taylor_model import TaylorModel, stack

getcontext().prec = 60
TABLES = [(0, 2), (1, 4), (2, 3), (3, 1), (7, 2)]


def operand_pairs(rng, table, repeats=6):
    for i in range(repeats):
        sizes = (MAGNITUDES[i % 5], MAGNITUDES[(i * 3) % 5])
        yield tuple(random_model(rng, table, (), size) for size in sizes)
        yield cancelling_model(rng, table), cancelling_model(rng, table)


def total_escapes(rng, operation, oracle, table):
    return sum(escapes(rng, operation, oracle, operands) for operands in operand_pairs(rng, table))


@pytest.mark.parametrize('size', TABLES)
@pytest.mark.parametrize('operation', [operator.add, operator.sub, operator.mul])
def test_operation_encloses_the_exact_polynomials(operation, size, rng):
    assert total_escapes(rng, operation, operation, monomials(*size)) == 0


@pytest.mark.parametrize('size', TABLES)
def test_square_and_power_enclose_the_exact_polynomials(size, rng):
    for model, other in operand_pairs(rng, monomials(*size)):
        assert escapes(rng, TaylorModel.square, lambda x: x * x, [model]) == 0
        assert escapes(rng, lambda a: a.power(3), lambda x: x**3, [other]) == 0


def without_remainder(operation):
    """Mutant: the remainder of this one result is dropped."""

    def broken(*operands):
        rows = np.array(operation(*operands).rows)
        rows[..., -1] = 0.0
        return TaylorModel(operands[0].monomials, rows)

    return broken


def without_rounding(a, b):
    """Mutant: sum whose remainder is exactly the sum of the remainders."""
    return TaylorModel(a.monomials, a.rows + b.rows)


def forgetting_other_remainder(a, b):
    """Mutant: the difference of a published implementation."""
    rows = np.array((a - b).rows)
    rows[..., -1] = a.remainder
    return TaylorModel(a.monomials, rows)


def without_truncated_terms(a, b):
    """Mutant: a product whose remainder has only what the operands' remainders make."""
    rows = np.array((a * b).rows)
    norms = [np.abs(x.coefficients).sum() for x in (a, b)]
    rows[-1] = norms[0] * b.remainder + a.remainder * (norms[1] + b.remainder)
    return TaylorModel(a.monomials, rows)


@pytest.mark.parametrize(
    ('mutant', 'oracle'),
    [
        (without_remainder(operator.mul), operator.mul),
        (without_remainder(operator.add), operator.add),
        (without_rounding, operator.add),
        (forgetting_other_remainder, operator.sub),
        (without_truncated_terms, operator.mul),
    ],
)
def test_the_check_finds_a_broken_operation(mutant, oracle, rng):
    assert total_escapes(rng, mutant, oracle, monomials(2, 3)) > 0


def test_rounding_alone_is_found_in_a_product_of_constants(rng):
    table = monomials(0, 2)
    broken = without_remainder(operator.mul)
    pairs = [[cancelling_model(rng, table) for _ in range(2)] for _ in range(20)]
    assert sum(escapes(rng, broken, operator.mul, pair) for pair in pairs) > 0
    assert sum(escapes(rng, operator.mul, operator.mul, pair) for pair in pairs) == 0


def interval_escapes(rng, model, interval, number) -> int:
    """How often a member combined with one number of the interval leaves the enclosure."""
    pairs = [
        (lambda a: a + interval, lambda x: x + number),
        (lambda a: a - interval, lambda x: x - number),
        (lambda a: interval - a, lambda x: number - x),
        (lambda a: interval * a, lambda x: number * x),
    ]
    return sum(escapes(rng, enclose, exact, [model]) for enclose, exact in pairs)


def test_operations_with_intervals_enclose_the_exact_result(rng):
    for model, _ in operand_pairs(rng, monomials(2, 2)):
        ends = np.sort(rng.normal(size=2) * 10.0 ** rng.integers(-3, 3))
        for end in ends:
            assert interval_escapes(rng, model, Interval(*ends), Fraction(float(end))) == 0


def test_scaling_by_a_number_accounts_for_its_rounding(rng):
    for _ in range(20):
        model, number = cancelling_model(rng, monomials(1, 2)), float(rng.normal())
        assert interval_escapes(rng, model, Interval.of(number), Fraction(number)) == 0


@pytest.mark.parametrize('size', TABLES)
def test_bound_and_value_contain_the_exact_members(size, rng):
    for model, _ in operand_pairs(rng, monomials(*size)):
        bound = model.bound()
        for _ in range(5):
            k = random_box_point(rng, size[0])
            value = model.evaluate([float(x) for x in k])
            for member in members(rng, model, k):
                assert Fraction(float(bound.lower)) <= member <= Fraction(float(bound.upper))
                assert Fraction(float(value.lower)) <= member <= Fraction(float(value.upper))


def test_bound_of_a_parabola_is_its_range():
    table = monomials(1, 2)
    model = TaylorModel(table, np.array([1.0, 1.0, 1.0, 0.0]))  # 1 + k + k^2
    assert model.bound().lower == pytest.approx(0.75, abs=1e-13)
    assert model.bound().upper == pytest.approx(3.0, abs=1e-13)
    assert -(-model).bound().lower == pytest.approx(3.0, abs=1e-13)
    assert -(-model).bound().upper == pytest.approx(0.75, abs=1e-13)


def test_even_monomials_are_bounded_by_zero_and_one():
    table = monomials(2, 4)
    rows = np.zeros(table.count + 1)
    rows[table.index((2, 2))] = 2.0
    rows[table.index((0, 4))] = -1.0
    bound = TaylorModel(table, rows).bound()
    assert bound.lower == pytest.approx(-1.0, abs=1e-13)
    assert bound.upper == pytest.approx(2.0, abs=1e-13)


def test_square_is_tighter_than_product(rng):
    model = random_model(rng, monomials(3, 2), (20,))
    assert np.all(model.square().remainder <= (model * model).remainder)
    assert np.any(model.square().remainder < 0.95 * (model * model).remainder)


def exact_sine_cosine(x: Fraction) -> tuple[Decimal, Decimal]:
    """Power series to 40 digits, for |x| below 10."""
    number = Decimal(x.numerator) / Decimal(x.denominator)
    parts, term, n = [Decimal(0), Decimal(0)], Decimal(1), 0
    while n < 10 or abs(term) > Decimal(10) ** -45:
        parts[n % 2] += term if n % 4 < 2 else -term
        n += 1
        term = term * number / n
    return parts[1], parts[0]


def wave_escapes(rng, sine_cosine, model, points=6) -> int:
    """How often the sine or cosine of a member is outside the enclosure."""
    enclosures = sine_cosine(model)
    count = 0
    for _ in range(points):
        k = random_box_point(rng, model.monomials.variables)
        for member in members(rng, model, k):
            for wave, enclosure in zip(exact_sine_cosine(member), enclosures, strict=True):
                gap = abs(Fraction(wave) - exact_polynomial(enclosure, k))
                count += gap > Fraction(float(enclosure.remainder)) + Fraction(1, 10**35)
    return count


def wave_arguments(rng, table, repeats=25):
    for i in range(repeats):
        model = random_model(rng, table, (), 10.0 ** -rng.integers(0, 6) / table.count)
        yield model + float(rng.choice([0.0, np.pi / 2, rng.uniform(-6, 6)]))
        yield cancelling_model(rng, table) * (0.5**i)


@pytest.mark.parametrize(
    'size',
    [(0, 2), (2, 3), *(pytest.param(t, marks=pytest.mark.slow) for t in ((1, 4), (3, 1), (7, 2)))],
)
def test_sine_and_cosine_enclose_the_true_functions(size, rng):
    for model in wave_arguments(rng, monomials(*size)):
        assert wave_escapes(rng, TaylorModel.sine_cosine, model) == 0


def lagrange_at_the_centre(model):
    """Mutant: Lagrange remainder with the next derivative at the centre only."""
    center = model.coefficients[0]
    degree = model.monomials.degree
    p = model - float(center)
    rho = np.abs(p.coefficients).sum()
    results = []
    for wave, phase in zip(model.sine_cosine(), (0.0, np.pi / 2), strict=True):
        rows = np.array(wave.rows)
        derivatives = [abs(np.sin(center + phase + n * np.pi / 2)) for n in (1, degree + 1)]
        lagrange = derivatives[1] * rho ** (degree + 1) / np.prod(np.arange(1.0, degree + 2))
        rows[-1] = min(rows[-1], lagrange + derivatives[0] * model.remainder)
        results.append(TaylorModel(model.monomials, rows))
    return results


def test_the_check_finds_a_remainder_taken_at_the_centre(rng):
    arguments = wave_arguments(rng, monomials(1, 2))
    assert sum(wave_escapes(rng, lagrange_at_the_centre, model) for model in arguments) > 0


def test_sine_is_tight_for_small_ranges():
    table = monomials(2, 3)
    k = TaylorModel.variables(table)
    sine, cosine = (k[0] * 0.1 + k[1] * 0.1 + 0.7).sine_cosine()
    assert sine.remainder < 0.2**4 / 24 * 1.01
    assert cosine.remainder < 0.2**4 / 24 * 1.01


def test_sine_of_a_huge_range_is_the_unit_interval():
    table = monomials(1, 2)
    sine, cosine = (TaylorModel.variables(table)[0] * 50.0).sine_cosine()
    for wave in (sine, cosine):
        assert wave.bound().contains(Interval(-1.0, 1.0))
        assert wave.remainder == 1.0


def test_gradient_is_the_derivative_of_the_polynomial(rng):
    model = random_model(rng, monomials(3, 4), (5,))
    k, h = rng.uniform(-0.9, 0.9, 3), 1e-6
    steps = h * np.eye(3)
    numeric = [(model.polynomial(k + s) - model.polynomial(k - s)) / (2 * h) for s in steps]
    assert np.allclose(model.gradient(k), np.stack(numeric, axis=-1), atol=1e-8)


def test_batches_are_the_same_as_single_models(rng):
    a, b = (random_model(rng, monomials(7, 2), (30, 10)) for _ in range(2))
    product, square, (sine, _) = a * b, a.square(), (a * 0.01).sine_cosine()
    bound = a.bound()
    assert product.shape == (30, 10)
    for i, j in ((0, 0), (17, 3), (29, 9)):
        one, other = a[i, j], b[i, j]
        assert np.array_equal((one * other).rows, product.rows[i, j])
        assert np.array_equal(one.square().rows, square.rows[i, j])
        assert np.array_equal((one * 0.01).sine_cosine()[0].rows, sine.rows[i, j])
        assert one.bound().lower == bound.lower[i, j]


def test_models_broadcast_like_arrays(rng):
    a = random_model(rng, monomials(2, 2), (4, 1))
    b = random_model(rng, monomials(2, 2), (3,))
    assert (a + b).shape == (4, 3)
    assert np.array_equal((a * b)[2, 1].rows, (a[2, 0] * b[1]).rows)
    assert (np.ones((5, 1, 1)) * a).shape == (5, 4, 1)
    assert stack([a, a]).shape == (4, 1, 2)
    assert stack([a, a], axis=0).shape == (2, 4, 1)
    assert a.reshape(2, 2).shape == (2, 2)
    assert a[..., 0].shape == (4,)


def test_constant_contains_its_interval():
    interval = Interval([0.1, -3.0], [0.7, 1e6])
    model = TaylorModel.constant(monomials(2, 2), interval)
    assert model.bound().contains(interval)


def test_refuses_what_is_not_a_model():
    table = monomials(1, 1)
    with pytest.raises(BoundError, match='not finite'):
        TaylorModel(table, np.array([np.nan, 0.0, 0.0]))
    with pytest.raises(BoundError, match='negative remainder'):
        TaylorModel(table, np.array([0.0, 0.0, -1.0]))
    with pytest.raises(BoundError, match='2 coefficients and one remainder'):
        TaylorModel(table, np.zeros(4))
    with pytest.raises(BoundError, match='do not go together'):
        TaylorModel(table, np.zeros(3)) + TaylorModel(monomials(1, 2), np.zeros(4))
    with pytest.raises(BoundError, match='between -1 and 1'):
        TaylorModel(table, np.zeros(3)).evaluate([1.5])
    with pytest.raises(BoundError, match='not finite'):
        _ = TaylorModel(table, np.full(3, 1e300)) * TaylorModel(table, np.full(3, 1e300))
    with pytest.raises(BoundError, match='power 0'):
        TaylorModel(table, np.zeros(3)).power(0)
