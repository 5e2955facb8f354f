"""Every arm of config/loop learns what it holds and does its task, out of the package."""

import subprocess
import sys

import pytest
from ros.nodes.test_shipped_loops import LOOPS, loop_file
from ros.reference_loop import settings_of

from safe_sysid.audit.ledger import ledger_of
from safe_sysid.audit.loop_of_bag import loop_of_bag
from safe_sysid.audit.true_load import TrueLoad
from safe_sysid.ros.bridges.builtin_sim_bridge import BuiltinSimSettings

LONG = 1800.0  # [s] that only end what hangs
OTHERS = [('drake_sim', 'ur5e'), ('mujoco_sim', 'lbr_med7')]


@pytest.mark.nightly
@pytest.mark.parametrize(('way', 'robot'), [*(('builtin_sim', robot) for robot in LOOPS), *OTHERS])
def test_a_shipped_arm_learns_and_does_its_task(way, robot, tmp_path):
    line = [sys.executable, '-m', 'safe_sysid.cli.main', 'run', way, '--robot', robot]
    line += ['--lockstep', '--once', '--record', str(tmp_path / 'bag')]
    done = subprocess.run(
        line,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    settings = settings_of(loop_file(robot), 'builtin_sim_bridge', BuiltinSimSettings)
    truth = settings.described().theta[settings.described().layout.end_effector]
    loop = loop_of_bag(tmp_path / 'bag')
    ledger = ledger_of(loop, TrueLoad.always(truth))
    broken = {entry.promise: entry.finding for entry in ledger.entries if not entry.is_kept}
    assert not broken
    last = loop.record.estimates
    assert last.upper[-1][0] - last.lower[-1][0] < 0.5 * (last.upper[0][0] - last.lower[0][0])
    is_assumed = bool(settings.assumed.uncertainty.stated())
    assert ('assumed of the simulated' in done.stdout) == is_assumed
