"""A robot that was told of the load and a loop that carries it exclude each other."""

from types import SimpleNamespace

import pytest

from safe_sysid.ros.watch.handed_over import ALREADY, HandedOver
from safe_sysid.ros.watch.health import NodeStatus
from safe_sysid.ros.watch.heartbeats import Heartbeats
from safe_sysid.track.supervisor import Mode, Signal

TORQUE = (Signal.PROBE, Signal.EXCITE, Signal.DO_TASK, Signal.RESET_FAULT)


def handed_over(mode=Mode.IDLE, gives_torque='False'):
    """In a loop of that mode, whose bridge says whether it gives torque; None: it is silent."""
    beats = Heartbeats('/', 1.0)
    if gives_torque is not None:
        figures = {'gives_torque': gives_torque}
        beats.hear(NodeStatus('/bridge', '1', '', frozenset(), figures), 0.0)
    return HandedOver(SimpleNamespace(create_service=lambda *_: None), beats, lambda: mode)


@pytest.mark.parametrize('mode', [mode for mode in Mode if mode is not Mode.IDLE])
def test_nobody_tells_the_robot_while_the_loop_may_hold_the_arm(mode):
    here = handed_over(mode)
    granted, why = here.asked(True)
    assert not granted and not here.robot_adds_load
    assert 'supervisor/stop first' in why


def test_what_the_bridge_says_counts_beside_the_mode():
    assert not handed_over(gives_torque='True').asked(True)[0]
    granted, why = handed_over(gives_torque=None).asked(True)
    assert not granted and 'no bridge' in why


def test_no_torque_follows_once_the_robot_was_told():
    here = handed_over()
    assert [here.refusal(signal) for signal in TORQUE] == [''] * len(TORQUE)
    assert here.asked(True) == (True, '')
    for signal in TORQUE:
        assert here.refusal(signal).startswith(f'{signal.value} has to wait: the robot was told')
    assert here.refusal(Signal.END) == here.refusal(Signal.STOP) == ''
    assert here.asked(True) == (True, ALREADY)
    assert here.asked(False) == (True, '')
    assert here.refusal(Signal.EXCITE) == ''
