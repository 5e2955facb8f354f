"""Described loops in one process: read in steps, moved late, an arm does its task."""

import re

import numpy as np
import pytest

import safe_sysid as ss
from safe_sysid.api.loop_blocks import read_blocks
from safe_sysid.share import share_directory

LOOPS = share_directory() / 'config' / 'described'
PATIENT = 'pace: 200.0'  # searches end by what they try, however busy the machine is
SECONDS = 30.0


@pytest.mark.slow
@pytest.mark.parametrize('arm', ['lbr_med7', 'iiwa14', 'xarm7'])
def test_an_arm_at_1_khz_reaches_its_goal_as_its_file_describes_it(arm, tmp_path):
    path = tmp_path / 'loop.yaml'
    path.write_text(re.sub(r'pace: [\d.]+', PATIENT, (LOOPS / f'{arm}.yaml').read_text()))
    blocks, task = read_blocks(path), read_blocks(LOOPS.parent / 'loop' / f'{arm}.yaml')
    goal = np.array(blocks.nodes['planner']['goal'])
    assert blocks.everybody['period'] == 0.001
    assert goal.tolist() == task.nodes['planner']['goal']
    ran = ss.simulate(arm, goal=goal, loop=path, seconds=SECONDS)
    assert not ran.fault and ran.is_complete, str(ran)
    assert 'the goal is reached' in ran.task
    assert len(ran.plans) > 1
    error = ran.plans[0].certificate.error.position
    assert np.all(np.abs(ran.measurements.position[-1] - goal) <= error)
    assert 'every joint is read in steps of 6e-06 rad' in ' '.join(ran.loop.sentences)
