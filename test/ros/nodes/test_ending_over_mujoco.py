"""The end of a run over the arm of `tools/mujoco_sim`, which has habits of real drivers."""

import signal

import pytest
from ros.ending_loop import ending_loop, of_mujoco

pytest.importorskip('mujoco', reason='MuJoCo is an extra')
HABITS = {
    'clock a tick late': {'clock': 'late'},
    'held at the end': {'end': 'holds'},
}
MORE_HABITS = {
    'clock before the states': {'clock': 'before'},
    'clock after the states': {'clock': 'after'},
    'clock every tenth tick': {'clock': 'tenth'},
    'coarse encoders': {'encoder': 1e-4},
}


@pytest.mark.slow
def test_with_the_controller_in_its_process_a_bridge_ends_at_rest_as_well(tmp_path):
    with ending_loop(tmp_path, '--one-process', driver=of_mujoco(tmp_path)) as loop:
        loop.wait_for_motion(0.7)
        loop.signal(signal.SIGINT)
        loop.expect_rest()
        assert loop.process.returncode == 130


@pytest.mark.slow
@pytest.mark.parametrize(
    'habit', [*HABITS, *(pytest.param(name, marks=pytest.mark.nightly) for name in MORE_HABITS)]
)
def test_ctrl_c_in_motion_ends_at_rest_whatever_the_driver_is_used_to(tmp_path, habit):
    driver = of_mujoco(tmp_path, **(HABITS | MORE_HABITS)[habit])
    with ending_loop(tmp_path, driver=driver) as loop:
        loop.wait_for_motion(0.7)
        loop.signal(signal.SIGINT)
        loop.expect_rest()
        assert loop.process.returncode == 130
