"""The whole loop on an LBR behind FRI: real nodes, real messages, and a simulated arm."""

import time

import pytest
import rclpy
from ros.bridges.test_lbr_fri_bridge import START, fri_messages
from ros.fri_robot import PERIOD, FriRobot
from ros.running_loop import changed_settings, observed, running

from safe_sysid.model.facts import facts_path
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel

ARMATURE = 0.3  # [kg m^2]; the arm as it comes has none, and the loop needs one
__all__ = ['fri_messages']


@pytest.fixture
def facts(tmp_path):
    """Settings of the arm with an armature, as after a calibration."""
    text = facts_path('lbr_med7').read_text()
    path = tmp_path / 'lbr_med7.yaml'
    path.write_text(text.replace('armature: 0.0', f'armature: {ARMATURE}'))
    return path


@pytest.mark.nightly
@pytest.mark.parametrize('option', [(), ('--one-process',)], ids=''.join)
def test_the_loop_identifies_what_an_lbr_holds(tmp_path, facts, fri_messages, option):
    folder = tmp_path / 'loop'
    folder.mkdir()
    settings = changed_settings(
        folder,
        'lbr_med7',
        all__robot=str(facts),
        supervisor__autostart=True,
        supervisor__stale=5.0,
        lbr_fri_bridge__patience=0.9,
        lbr_fri_bridge__guard__max_age=0.5,
    )
    truth = RobotModel.from_config(facts).with_payload(read_payload('dumbbell_4lb'))
    line = ('lbr_fri', '--config', settings, '--once', *option)
    with observed() as observer, running(*line) as loop:
        robot = FriRobot(observer, *fri_messages, truth, START)
        due = time.monotonic()
        while (
            loop.poll() is None and robot.arm.truth.stamp < 60e9 and 'fault' not in observer.modes
        ):
            robot.send()
            waited = time.monotonic()
            while robot.command is None and time.monotonic() - waited < 2.0:
                rclpy.spin_once(observer, executor=observer._executor, timeout_sec=0.002)
            robot.move()
            due = max(due + PERIOD, time.monotonic() - PERIOD)
            time.sleep(max(0.0, due - time.monotonic()))
    assert 'identified' in observer.modes, (observer.modes, observer.conditions)
    assert 'fault' not in observer.modes, observer.conditions
