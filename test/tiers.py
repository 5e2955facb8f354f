"""Which cases of a parametrised test run by default, and which only with `make test-slow`."""

from collections.abc import Iterable

import pytest


def slow_after(default: int, cases: Iterable[object]) -> list[object]:
    """Return the cases, of which those after the first few are slow."""
    cases = list(cases)
    return [*cases[:default], *map(_slow, cases[default:])]


def _slow(case: object) -> object:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)
