"""Rational oracle for Taylor models: exact polynomials, and a search for functions that escape."""

from fractions import Fraction

import numpy as np

from safe_sysid.sets.monomials import Monomials
from safe_sysid.sets.taylor_model import TaylorModel

MAGNITUDES = (1.0, 1.0, 1e-3, 1e6, 1e-12)


def random_model(rng, monomials: Monomials, shape=(), magnitude=1.0) -> TaylorModel:
    """Model with coefficients of one magnitude, some of them zero, and a small remainder."""
    rows = rng.normal(size=(*shape, monomials.count + 1)) * magnitude
    rows[..., :-1] *= rng.random((*shape, monomials.count)) < 0.8
    rows[..., -1] = np.abs(rows[..., -1]) * rng.choice([0.0, 1e-15, 1e-3, 0.3])
    return TaylorModel(monomials, rows)


def cancelling_model(rng, monomials: Monomials) -> TaylorModel:
    """Model of integers times 0.1, which products and sums cancel almost but not quite.

    Only of half the degree: products drop nothing, so what is left to hide an error is rounding.
    """
    rows = rng.integers(-3, 4, monomials.count + 1) * 0.1
    rows[:-1] *= monomials.exponents.sum(axis=1) <= monomials.degree // 2
    rows[-1] = 0.0
    return TaylorModel(monomials, rows)


def random_box_point(rng, count) -> list[Fraction]:
    """Rational k in the box; a corner, the centre or a point in between."""
    kind = rng.integers(3)
    if kind == 0:
        return [Fraction(int(s)) for s in rng.choice([-1, 1], count)]
    if kind == 1:
        return [Fraction(0)] * count
    return [Fraction(int(n), 64) for n in rng.integers(-64, 65, count)]


def exact_polynomial(model: TaylorModel, k: list[Fraction]) -> Fraction:
    """Value of the polynomial of one model (shape ()) in rational arithmetic."""
    total = Fraction(0)
    for c, exponents in zip(model.coefficients, model.monomials.exponents, strict=True):
        term = Fraction(float(c))
        for x, e in zip(k, exponents.tolist(), strict=True):
            term *= x**e
        total += term
    return total


def members(rng, model: TaylorModel, k: list[Fraction]) -> list[Fraction]:
    """Values at k of extreme functions in the model: polynomial plus -1, 0, 1 times remainder."""
    value, radius = exact_polynomial(model, k), Fraction(float(model.remainder))
    return [value - radius, value, value + radius, value + int(rng.choice([-1, 1])) * radius]


def escapes(rng, operation, oracle, operands, points=4) -> int:
    """How often `oracle` of functions in the operands leaves `operation` of the operands."""
    result = operation(*operands)
    count = 0
    for _ in range(points):
        k = random_box_point(rng, result.monomials.variables)
        allowed = Fraction(float(result.remainder))
        value = exact_polynomial(result, k)
        choices = [members(rng, operand, k) for operand in operands]
        for picked in zip(*choices, strict=True):
            count += abs(oracle(*picked) - value) > allowed
        mixed = [rng.choice(np.array(choice, dtype=object)) for choice in choices]
        count += abs(oracle(*mixed) - value) > allowed
    return count
