"""A described loop over real processes: readings in steps, certificates for late readings."""

import numpy as np
import pytest
from ros.running_loop import observed, running
import yaml

from safe_sysid.share import share_directory

LOOPS = share_directory() / 'config' / 'described'


@pytest.mark.nightly
@pytest.mark.parametrize('arm', ['two_link', 'kinova_gen3', 'lbr_med7', 'iiwa14', 'xarm7'])
def test_it_reaches_its_goal_and_nobody_contradicts(arm):
    path = LOOPS / f'{arm}.yaml'
    goal = yaml.safe_load(path.read_text())['/**/planner']['ros__parameters']['goal']
    how = ('--robot', arm, '--config', path, '--lockstep', '--once')

    def is_at_goal(observer):
        """Whether the last sample is there, but for the error that plans allow."""
        samples = observer.samples
        return bool(samples) and np.allclose(samples[-1].position, goal, atol=0.05)

    with observed() as observer, running('builtin_sim', *how) as run:
        observer.wait(lambda: run.poll() is not None, 'the run ends', 600.0)
        said = run.stdout.read()
        assert run.returncode == 0, said
        assert 'contradict' not in said
        assert 'started again' not in said
        observer.wait(lambda: is_at_goal(observer), 'the last samples have come', 30.0)
