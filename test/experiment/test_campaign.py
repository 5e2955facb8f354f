"""What is killed while a campaign runs costs no trial, and none counts twice."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from experiment import counted_trials
import pytest

from safe_sysid.experiment.campaign import Workers, carry_out
from safe_sysid.experiment.store import Store, read_rows

pytest.importorskip('distributed')
pytest.importorskip('pyarrow')
TEST = Path(__file__).parent.parent
COUNT = 60


def started(folder, workers):
    path = os.pathsep.join([str(TEST.parent), str(TEST), os.environ.get('PYTHONPATH', '')])
    command = [
        sys.executable,
        '-m',
        'experiment.counted_trials',
        str(folder),
        str(COUNT),
        str(workers),
    ]
    return subprocess.Popen(
        command, env={**os.environ, 'PYTHONPATH': path}, stdout=subprocess.DEVNULL
    )


def lines_of(folder):
    journal = folder / 'journal.jsonl'
    return journal.read_bytes().count(b'\n') if journal.exists() else 0


@pytest.mark.parametrize(
    ('kills', 'workers'),
    [
        pytest.param(1, 1, marks=pytest.mark.slow),
        pytest.param(8, 2, marks=pytest.mark.nightly),
    ],
)
def test_a_campaign_that_is_killed_and_resumed_loses_no_trial_and_counts_none_twice(
    tmp_path, rng, kills, workers
):
    left = 0
    for _ in range(kills):
        until = left + int(rng.integers(1, COUNT // (kills + 2)))
        process = started(tmp_path, workers)
        while process.poll() is None and lines_of(tmp_path) < until:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        before, left = left, len(read_rows(tmp_path))
        assert before < left < COUNT
    assert started(tmp_path, workers).wait() == 0
    rows = read_rows(tmp_path)
    assert sorted(row['number'] for row in rows) == list(range(COUNT))
    assert all(row['square'] == row['number'] ** 2 and row['status'] == 'ok' for row in rows)


@pytest.mark.slow
def test_trials_of_a_worker_that_ends_run_again_and_one_that_ends_them_all_is_a_row(tmp_path):
    some = counted_trials.trials(12, folder=str(tmp_path))
    with Store(tmp_path) as store:
        rows = carry_out(
            store, counted_trials.ends_workers, some, Workers(count=2), lambda _: None
        )
    assert sorted(row['number'] for row in rows) == list(range(12))
    assert [row['number'] for row in rows if row['status'] != 'ok'] == [7]  # not its neighbours
    assert [row['number'] for row in rows if row['status'] == 'killed'] == [7]
    assert (tmp_path / 'has_ended_one').exists()
