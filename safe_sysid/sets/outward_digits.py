"""Bounds as text: rounded outward, as a bound that is rounded to the nearest digit may be none."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context
import math


def at_least(value: float, digits: int = 6) -> str:
    """Return a lower bound in so many digits, which is not above it."""
    return _rounded(value, digits, ROUND_FLOOR)


def at_most(value: float, digits: int = 6) -> str:
    """Return an upper bound in so many digits, which is not below it."""
    return _rounded(value, digits, ROUND_CEILING)


def _rounded(value: float, digits: int, way: str) -> str:
    if not math.isfinite(value):
        return f'{value:g}'
    return (
        f'{Context(prec=digits, rounding=way).create_decimal_from_float(float(value)):.{digits}g}'
    )
