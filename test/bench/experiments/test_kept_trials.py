"""Trials that are kept in a folder: whole ones alone, and none is run twice."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from full_disk import files_of_at_most
import pytest

from safe_sysid.bench.experiments import kept_trials
from safe_sysid.bench.experiments.kept_trials import trials_done


@dataclass(frozen=True)
class Counted:
    """What one trial gives."""

    number: int
    text: str = 1000 * 'x'


def counted(seed, number) -> Counted:
    return Counted(seed + number)


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Trials without processes for them."""
    monkeypatch.setattr(kept_trials, 'trial_processes', lambda: ThreadPoolExecutor(1))


def test_what_was_run_once_is_read(tmp_path):
    first = trials_done(counted, 3, range(2), tmp_path, lambda _: None)
    said = []
    assert trials_done(counted, 3, range(3), tmp_path, said.append)[:2] == first
    assert said == ['2 of 3 trials were there', 'trial 2: 1 of 1 done']


def test_a_trial_of_another_version_is_run_again(tmp_path):
    whole = trials_done(counted, 3, range(1), tmp_path, lambda _: None)
    (kept,) = tmp_path.iterdir()
    kept.write_text('{"number": 7}')
    assert trials_done(counted, 3, range(1), tmp_path, lambda _: None) == whole


def test_of_a_trial_that_a_full_disk_does_not_take_nothing_stays(tmp_path):
    with files_of_at_most(100), pytest.raises(OSError, match='too large'):
        trials_done(counted, 3, range(1), tmp_path, lambda _: None)
    assert not [*tmp_path.iterdir()]
