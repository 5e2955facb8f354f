"""A described loop over real processes: readings in steps, certificates for late readings."""

import numpy as np
import pytest
from ros.running_loop import observed, running

from safe_sysid.share import share_directory

LOOP = share_directory() / 'config' / 'described' / 'two_link.yaml'
GOAL = np.array([-1.0, 0.5])  # [rad] in that file


def is_at_goal(observer):
    """Whether the last sample is there, but for the error that plans allow."""
    samples = observer.samples
    return bool(samples) and np.allclose(samples[-1].position, GOAL, atol=0.05)


@pytest.mark.nightly
def test_it_reaches_its_goal_and_nobody_contradicts():
    how = ('--config', LOOP, '--lockstep', '--once')
    with observed() as observer, running('builtin_sim', *how) as run:
        observer.wait(lambda: run.poll() is not None, 'the run ends', 600.0)
        said = run.stdout.read()
        assert run.returncode == 0, said
        assert 'contradict' not in said
        assert 'started again' not in said
        observer.wait(lambda: is_at_goal(observer), 'the last samples have come', 30.0)
