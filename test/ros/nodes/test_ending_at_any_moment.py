"""Whatever ends at whatever moment over the arm of `tools/mujoco_sim`, it comes to rest in time.

    python -m pytest -m nightly test/ros/nodes/test_ending_at_any_moment.py

Signals, a disk that takes nothing any more, and the death of each process but the bridge, after
which nothing is in our power. Each ends at a moment of a plan that is drawn once.

Each is a process of its own, which leaves without taking its node down: Fast DDS can stand still
for ever if it looks at a lease, or announces itself, just as a writer of somebody else goes
(eProsima/Fast-DDS#6502), and so many ends meet that.
"""

import os
from pathlib import Path
import resource
import signal
import subprocess
import sys
import traceback

import numpy as np
import pytest
from ros.ending_loop import NAMESPACE, SOON, ending_loop, of_mujoco
from ros.faulty_loop import ROOMY

from safe_sysid.measure.bag.messages import bag_messages
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.worker import die_with_parent

pytest.importorskip('mujoco', reason='MuJoCo is an extra')
LENGTH = ROOMY['planner__planner__duration']  # [s] of a plan, whose second half brakes
SIGNALS = {'Ctrl-C': signal.SIGINT, 'SIGTERM': signal.SIGTERM}
KILLED = ('identifier', 'planner', 'controller', 'supervisor', 'monitor', 'recorder')
ENDS = (*SIGNALS, 'full disk', *KILLED, 'the run')
CLOCKS = ('before', 'after', 'late', 'tenth')
COUNT = 50
PATIENCE = 1000.0  # [s] for one of them
RNG = np.random.default_rng(18)
MOMENTS = [round(float(x), 2) for x in RNG.uniform(0.05, 0.95 * LENGTH, size=COUNT)]


@pytest.mark.nightly
@pytest.mark.parametrize('number', range(COUNT))
def test_the_arm_is_at_rest_within_its_braking_and_its_bag_can_be_read(tmp_path, number):
    line = [sys.executable, __file__, str(tmp_path), str(number)]
    env = {**os.environ, 'PYTHONPATH': str(Path(__file__).parents[2])}
    with (tmp_path / 'seen').open('w') as seen:
        status = subprocess.run(
            line,
            env=env,
            stdout=seen,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE,
            preexec_fn=die_with_parent,
        ).returncode
    assert status == 0, (tmp_path / 'seen').read_text()


def look_at(folder, number):
    """One end, and what the arm does then; this process ends with it."""
    end, moment = ENDS[number % len(ENDS)], MOMENTS[number]
    driver = of_mujoco(folder, clock=CLOCKS[number // len(ENDS) % len(CLOCKS)])
    bag = folder / 'bag'
    # a successor takes over where a plan ends: no plan would get so old otherwise
    settings = {'planner__planner__switch': LENGTH, **(SOON if end == 'controller' else {})}
    with ending_loop(folder, '--record', str(bag), driver=driver, **settings) as loop:
        try:
            loop.wait_for_motion(moment)
            processes = loop.pids()
            ended(loop, end)
            loop.expect_none_of(processes)
            loop.expect_rest()
            if end in SIGNALS:
                assert loop.process.returncode == (130 if end == 'Ctrl-C' else 0)
            refuse_crossed_limits(loop.log)
            samples = list(bag_messages(bag, (f'/{NAMESPACE}/joint_states',)))
            assert len(samples) > 10
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            signal.alarm(10)  # the node may not go down
            raise
        os._exit(0)


def ended(loop, end):
    """Make the end of it begin."""
    if end in SIGNALS:
        loop.signal(SIGNALS[end])
    elif end == 'the run':
        loop.process.kill()
    elif end == 'full disk':
        recorder = loop.pid('recorder')
        resource.prlimit(recorder, resource.RLIMIT_FSIZE, (1, 1))
        loop.wait_to_read('recording stopped', 1)
        loop.signal()
    else:  # nobody waits until the dead one is back
        os.kill(loop.pid(end), signal.SIGKILL)
        loop.signal()


def refuse_crossed_limits(log):
    """Compare every state of the true arm with the limits that it has."""
    limits = RobotModel.named('two_link').limits
    states = [line for line in log if 'q' in line]
    q, qd = (np.array([line[key] for line in states]) for key in ('q', 'qd'))
    turns = limits.is_continuous
    assert np.all((limits.position_lower < q) | turns)
    assert np.all((q < limits.position_upper) | turns)
    assert np.all(np.abs(qd) < limits.velocity)


if __name__ == '__main__':
    look_at(Path(sys.argv[1]), int(sys.argv[2]))
