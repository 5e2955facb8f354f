"""`safe-sysid run` starts every process again that is killed, and the loop comes back."""

from contextlib import suppress
import os
from pathlib import Path
import signal

import pytest
from ros.running_loop import changed_settings, observed, running

CALM = {
    'builtin_sim_bridge__start': [1.3, 0.3],
    'builtin_sim_bridge__guard__max_age': 0.4,
    'planner__mission__exciting': 10_000,
    'planner__mission__shrinking': 0.0,
    'supervisor__task_follows': False,
}
KILLED = ('recorder', 'identifier', 'planner', 'controller', 'supervisor', 'builtin_sim_bridge')
FAULTS = ('controller', 'supervisor', 'builtin_sim_bridge')  # without them nothing goes on
WAYS = {'fault': 'reset_fault', 'holding': 'start', 'identified': 'new_payload', 'idle': 'start'}


@pytest.mark.nightly
def test_every_process_may_be_killed_in_turn(tmp_path):
    settings = changed_settings(tmp_path, 'two_link', **CALM)
    bag = tmp_path / 'bag'
    with observed() as loop, running('builtin_sim', '--config', settings, '--record', bag) as run:
        for node in KILLED:
            loop.wait(lambda: moves(loop), 'a plan is followed')
            before = pid(run, node)
            loop.modes[:] = loop.modes[-1:]
            os.kill(before, signal.SIGKILL)
            loop.wait(lambda n=node, b=before: pid(run, n) not in (None, b), f'{node} again')
            if node in FAULTS:
                loop.wait(lambda: 'fault' in loop.modes, f'{node} was missed')
        loop.wait(lambda: moves(loop), 'a plan is followed after all that')
        assert run.poll() is None
    assert run.returncode == 130
    assert (bag.with_name('bag_2') / 'metadata.yaml').exists()


def moves(loop):
    """Whether a plan is followed; an operator asks for it."""
    if loop.mode in WAYS:
        loop.call(f'supervisor/{WAYS[loop.mode]}')
    return loop.mode == 'exciting' and bool(loop.plans) and bool(loop.plans[-1].points)


def pid(run, node):
    """Process id of a node that a run has started; None while there is none."""
    for child in Path(f'/proc/{run.pid}/task/{run.pid}/children').read_text().split():
        with suppress(OSError):  # it may have ended
            if f'.{node}' in Path(f'/proc/{child}/cmdline').read_text():
                return int(child)
    return None
