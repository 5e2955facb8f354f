"""The whole loop on an LBR behind FRI: real nodes, real messages, and a simulated arm."""

import time

import numpy as np
import pytest
import rclpy
from ros.bridges.test_lbr_fri_bridge import START, fri_messages
from ros.fri_robot import PERIOD, FriRobot
from ros.running_loop import changed_settings, observed, running

from safe_sysid.model.facts import facts_path
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel

ARMATURE = 0.3  # [kg m^2]; the arm as it comes has none, and the loop needs one
WIDTHS = """
uncertainty:
  mass: {ratio: [0.02]}
  first_moment: {ratio: [0.02]}
  inertia: {ratio: [0.02]}
  coulomb: {ratio: [0.02], absolute: [0.2]}
  viscous: {ratio: [0.02]}
  armature: {ratio: [0.02]}
  offset: {absolute: [0.2]}
"""
GAINS = {'K_r': [10.0], 'V_M': 0.02, 'alpha': 25.0}  # as so much armature bears
LONG = 90.0  # [s] for a refusal on a machine that is busy
__all__ = ['fri_messages']


@pytest.fixture
def facts(tmp_path):
    """Settings of the arm with an armature and all widths, as after a calibration."""
    text = facts_path('lbr_med7').read_text()
    path = tmp_path / 'lbr_med7.yaml'
    path.write_text(text.replace('armature: 0.0', f'armature: {ARMATURE}') + WIDTHS)
    return path


def settings_in(folder, **changes):
    """Settings of a loop that begins by itself, on a machine that is late."""
    folder.mkdir()
    return changed_settings(
        folder,
        'lbr_med7',
        supervisor__autostart=True,
        supervisor__stale=5.0,
        lbr_fri_bridge__patience=0.9,
        lbr_fri_bridge__guard__max_age=0.5,
        **changes,
    )


def drive(observer, robot, goes_on):
    """Have the robot send its state and move, in real time, for as long as it may."""
    due = time.monotonic()
    while goes_on():
        robot.send()
        waited = time.monotonic()
        while robot.command is None and time.monotonic() - waited < 2.0 and goes_on():
            rclpy.spin_once(observer, executor=observer._executor, timeout_sec=0.002)
        robot.move()
        due = max(due + PERIOD, time.monotonic() - PERIOD)
        time.sleep(max(0.0, due - time.monotonic()))


@pytest.mark.nightly
@pytest.mark.parametrize('option', [(), ('--one-process',)], ids=''.join)
def test_the_loop_identifies_what_an_lbr_holds(tmp_path, facts, fri_messages, option):
    settings = settings_in(tmp_path / 'loop', all__robot=str(facts), all__gains=GAINS)
    truth = RobotModel.from_config(facts).with_payload(read_payload('dumbbell_4lb'))
    line = ('lbr_fri', '--config', settings, '--once', *option)
    with observed() as observer, running(*line) as loop:
        robot = FriRobot(observer, *fri_messages, truth, START)
        drive(
            observer,
            robot,
            lambda: (
                loop.poll() is None
                and robot.arm.truth.stamp < 60e9
                and 'fault' not in observer.modes
            ),
        )
    assert 'identified' in observer.modes, (observer.modes, observer.conditions)
    assert 'fault' not in observer.modes, observer.conditions


@pytest.mark.slow
def test_an_lbr_as_it_comes_gets_no_torque(tmp_path, fri_messages):
    """In front of a driver nothing is assumed in place of the armature that its file has not."""
    settings = settings_in(tmp_path / 'loop')
    truth = RobotModel.named('lbr_med7')  # bare, so that the robot holds it by itself
    with observed() as observer, running('lbr_fri', '--config', settings, '--once') as loop:
        robot = FriRobot(observer, *fri_messages, truth, START)
        end = time.monotonic() + LONG
        drive(observer, robot, lambda: loop.poll() is None and time.monotonic() < end)
        said = loop.communicate(timeout=30.0)[0]
    assert loop.returncode == 2, (said, observer.conditions)
    assert 'the armature of A2 is 0 kg m^2 at least' in said
    assert 'assumed of the simulated' not in said
    assert not observer.torques
    np.testing.assert_allclose(robot.arm.truth.position, START, atol=1e-3)
