"""Searches find what they are for: hangs, memory, and the same inputs again by their seed."""

import os

from fuzz.limits import soon
from fuzz.searched import VARIABLE, Search, searched, seed_of_the_night
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from safe_sysid.errors import ConfigError

NIGHTLY = Search(20, is_nightly=True)


@pytest.fixture
def night(monkeypatch):
    """Sets the seed of the night, and forgets it afterwards."""

    def begin(seed):
        monkeypatch.setenv(VARIABLE, seed)
        seed_of_the_night.cache_clear()

    yield begin
    seed_of_the_night.cache_clear()


def seen(search):
    """Inputs that a search looks at."""
    found = []

    @searched(search)
    @given(st.integers())
    def look(number):
        found.append(number)

    look()
    return found


def test_by_default_inputs_are_the_same_in_every_run(night):
    night('1')
    first = seen(Search(20))
    night('2')
    assert seen(Search(20)) == first and len(first) == 20


def test_a_night_has_inputs_of_its_own_which_its_seed_gives_again(night):
    night('1')
    first = seen(NIGHTLY)
    night('2')
    assert seen(NIGHTLY) != first
    night('1')
    assert seen(NIGHTLY) == first


def test_without_a_stated_seed_each_night_has_another_one(night):
    seeds = set()
    for _ in range(3):
        night('')
        seeds.add(seed_of_the_night())
    assert len(seeds) == 3


def test_what_a_night_finds_is_told_with_its_seed(night):
    night('12345')

    @searched(NIGHTLY)
    @given(st.integers(0, 9))
    def look(number):
        assert number < 3

    with pytest.raises(AssertionError, match=f'{VARIABLE}=12345 looks at the same'):
        look()


def endless():
    while True:
        pass


def test_what_computes_for_ever_is_ended():
    with pytest.raises(AssertionError, match=r'SIGPROF: .* 0\.05 s of the processor'), soon(0.05):
        endless()


def test_what_waits_for_ever_is_ended(tmp_path):
    path = tmp_path / 'pipe'
    os.mkfifo(path)
    with pytest.raises(AssertionError, match=r'SIGALRM: .* 0\.05 s in all'), soon(real=0.05):
        path.read_bytes()


def test_memory_is_looked_at_after_a_refusal_too():
    def refused():
        assert np.ones(20_000_000).all()
        raise ConfigError('no')

    with pytest.raises(AssertionError), soon(memory=1):
        refused()
    with pytest.raises(ConfigError), soon():
        raise ConfigError('no')
