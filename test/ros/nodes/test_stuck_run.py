"""`safe-sysid run --once` ends where a node falls silent, names it, and leaves no process."""

from contextlib import contextmanager, suppress
import os
from pathlib import Path
import signal

import pytest
from ros.nodes.test_faults_of_a_run import pid
from ros.running_loop import LONG, changed_settings, observed, running

SILENCE = 20.0  # [s], in place of a minute; nodes that compile may be silent for some of it
STARTING = 300.0  # [s] on a machine that has compiled nothing yet


@pytest.mark.slow
def test_a_run_whose_identifier_is_stopped_ends_and_says_so(tmp_path):
    """In lockstep, where time stands still without it: nothing else can end the run before."""
    settings = changed_settings(tmp_path, 'two_link', monitor__silence=SILENCE)
    arguments = 'builtin_sim', '--config', settings, '--once', '--lockstep'
    with observed() as loop, running(*arguments) as run:
        loop.wait(lambda: loop.mode == 'exciting', 'it learns', STARTING)
        processes = descendants(run.pid)
        with stopped(pid(run, 'identifier')):
            said, _ = run.communicate(timeout=SILENCE + LONG)
            left = [each for each in processes if Path(f'/proc/{each}').exists()]
    assert run.returncode == 1
    assert 'the task is not done: identifier not heard for 20 s' in said
    assert 'time stands still, as identifier does not answer' in said
    assert left == []


@contextmanager
def stopped(process):
    """It gets no processor, and is gone in the end, whoever has left it behind."""
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def descendants(parent):
    """Process ids of all that a process has started, and of what those have."""
    path = Path(f'/proc/{parent}/task/{parent}/children')
    children = path.read_text().split() if path.exists() else []
    return [*children, *(each for child in children for each in descendants(child))]
