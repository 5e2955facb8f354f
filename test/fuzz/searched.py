"""How many inputs a search looks at, and which.

By default some, the same ones in every run. In the nightly tests a hundred thousand, others every
night: what they find is told with a seed, and that in `FUZZ_SEED` looks at the same ones again.
"""

from dataclasses import dataclass, replace
import functools
import os
import random

from hypothesis import HealthCheck, seed, settings
import pytest

VARIABLE = 'FUZZ_SEED'
SEEDS = 2**32


@functools.cache
def seed_of_the_night():
    """What this process searches with; the one that is stated, if any is."""
    stated = os.environ.get(VARIABLE)
    return int(stated) if stated else random.SystemRandom().randrange(SEEDS)


@dataclass(frozen=True)
class Search:
    """So many inputs; the same ones in every run, or others every night."""

    examples: int
    is_nightly: bool = False

    @property
    def seed(self):
        """Of the random inputs; None: they are the same in every run."""
        return seed_of_the_night() if self.is_nightly else None

    def shared(self, number, least=5):
        """Search of which several kinds have a part each."""
        return replace(self, examples=max(self.examples // number, least))


def some_or(few, many):
    """Parametrise a test with a search, the larger one of the nightly tests."""
    cases = [Search(few), pytest.param(Search(many, is_nightly=True), marks=pytest.mark.nightly)]
    return pytest.mark.parametrize('search', cases, ids=['few', 'many'])


def searched(search):
    """Look at the inputs of a search, however long each takes."""
    chosen = settings(
        max_examples=search.examples,
        deadline=None,
        database=None,
        derandomize=search.seed is None,
        suppress_health_check=list(HealthCheck),
    )

    def decorate(check):
        if search.seed is None:
            return chosen(check)
        return _telling(search.seed, seed(search.seed)(chosen(check)))

    return decorate


def _telling(number, check):
    """Check that says in the end with which seed it failed."""

    @functools.wraps(check)
    def told():
        try:
            check()
        except Exception as error:
            raise AssertionError(f'{VARIABLE}={number} looks at the same inputs again') from error

    return told
