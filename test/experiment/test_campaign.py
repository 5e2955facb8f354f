"""What is killed while a campaign runs costs no trial, and none counts twice."""

from contextlib import nullcontext
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

from experiment import counted_trials
import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.experiment import campaign
from safe_sysid.experiment.campaign import Workers, _refuse_other_versions, carry_out
from safe_sysid.experiment.store import CampaignError, Store, read_rows
from safe_sysid.experiment.trial import Trial, package_version, result_of

pytest.importorskip('distributed')
pytest.importorskip('pyarrow')
TEST = Path(__file__).parent.parent
COUNT = 120


def started(folder, workers, **more):
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
        command, env={**os.environ, 'PYTHONPATH': path}, stdout=subprocess.DEVNULL, **more
    )


def lines_of(folder):
    journal = folder / 'journal.jsonl'
    return journal.read_bytes().count(b'\n') if journal.exists() else 0


@pytest.mark.parametrize(
    ('kills', 'workers'),
    [
        pytest.param(1, 1, marks=pytest.mark.slow),
        pytest.param(20, 2, marks=pytest.mark.nightly),
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


@pytest.mark.slow
def test_whatever_a_trial_does_is_a_row_and_costs_no_other(tmp_path):
    first = counted_trials.trials(6)
    later = [Trial('counted', {'number': 10 + i}, i, needs=each) for i, each in enumerate(first)]
    workers = Workers(count=2, longest=0.5)
    with Store(tmp_path) as store:
        rows = carry_out(
            store, counted_trials.does_everything_wrong, [*first, *later], workers, lambda _: None
        )
    failed = ['ok', 'killed', 'timeout', 'error', 'error', 'ok']
    assert [row['status'] for row in rows[:6]] == failed
    assert [row['status'] == 'ok' for row in rows[6:]] == [each == 'ok' for each in failed]
    assert 'ZeroDivisionError' in rows[10]['reason'] and rows[10]['status'] == 'refused'


@pytest.mark.slow
def test_rows_are_the_same_bits_from_one_worker_and_from_two_and_memory_stays(tmp_path):
    first = [Trial('bits', {'number': i}, i) for i in range(100)]
    every = [*first, *(Trial('bits', {'number': 100 + t.seed}, t.seed, t) for t in first)]
    results = []
    for count in (1, 2):
        with Store(tmp_path / str(count)) as store:
            rows = carry_out(
                store, counted_trials.bits, every, Workers(count=count), lambda _: None
            )
        results.append([result_of(row) for row in rows])
        if count == 1:
            memory = [row['memory_mb'] for row in rows]
            assert len({row['pid'] for row in rows}) == 1
            assert max(memory) - memory[0] < 20.0
    assert results[0] == results[1]


def test_a_scheduler_that_does_not_answer_is_named():
    def client(_, timeout):
        raise OSError(f'nobody for {timeout} s')

    with pytest.raises(ConfigError, match='no scheduler answers at tcp://there:1 .nobody for 30'):
        campaign._connected(client, 'tcp://there:1')


@pytest.mark.slow
def test_ctrl_c_ends_a_campaign_and_its_workers_without_a_traceback(tmp_path):
    process = started(tmp_path, 2, stderr=subprocess.PIPE, start_new_session=True)
    while process.poll() is None and lines_of(tmp_path) < 3:
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate()[1].decode()
    assert process.returncode == 130
    assert 'Traceback' not in said
    assert 'asyncio' not in said
    assert started(tmp_path, 1).wait() == 0
    assert sorted(row['number'] for row in read_rows(tmp_path)) == list(range(COUNT))


def test_ctrl_c_waits_until_dask_is_left_alone(tmp_path, monkeypatch):
    """In the middle of a request it would print a traceback of Dask."""
    went_on, said = [], []

    class Client:
        def run(self, _):
            signal.raise_signal(signal.SIGINT)
            went_on.append(True)
            return {}

        def scheduler_info(self, **_):
            return {'workers': {}}

    monkeypatch.setattr(campaign, '_client', lambda *_: nullcontext(Client()))
    some = counted_trials.trials(2)
    monkeypatch.setattr(campaign, '_carried_out', lambda *given: campaign._ended(Busy(), given[2]))
    with Store(tmp_path) as store, pytest.raises(KeyboardInterrupt):
        carry_out(store, counted_trials.square, some, Workers(count=1), said.append)
    assert went_on == [True]
    assert 'rows so far are safe' in said[-1]


class Busy:
    """Trials that never end."""

    def count(self):
        return 1

    def has_ready(self):
        return False


def test_progress_is_a_bar_with_what_failed_and_the_time_left(monkeypatch):
    said, clock = [], iter([0.0, 1.0, 6.0, 7.0])
    monkeypatch.setattr(campaign.time, 'monotonic', lambda: next(clock))
    progress = campaign._Said(4, 1, said.append)
    for status in ('ok', 'error', 'ok'):
        progress.one_more({'status': status})
    half, full = 3 * campaign.BAR // 4, campaign.BAR
    assert said[0] == '1 of 4 trials were done before'
    assert said[1].startswith(f'[{"#" * half}{"." * (full - half)}] 3 of 4 trials (1 ok, 1 error)')
    assert said[1].endswith('3 s left')
    assert said[2].startswith(f'[{"#" * full}] 4 of 4')


def test_workers_of_another_version_are_refused():
    class Client:
        def run(self, _):
            return {'tcp://here:1': package_version(), 'tcp://there:1': '9.9.9'}

    with pytest.raises(CampaignError, match='tcp://there:1 has safe_sysid 9.9.9'):
        _refuse_other_versions(Client())
