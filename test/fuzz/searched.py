"""How many inputs a search looks at: some by default, a hundred thousand in the nightly tests."""

from hypothesis import HealthCheck, settings
import pytest


def some_or(few, many):
    """Parametrise a test with a number of inputs, the larger one of the nightly tests."""
    cases = [few, pytest.param(many, marks=pytest.mark.nightly)]
    return pytest.mark.parametrize('examples', cases, ids=['few', 'many'])


def searched(examples):
    """Look at so many inputs, the same ones in every run, however long each takes."""
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
