"""What a gripper's driver answers, as gripper_action_controller of ros2_controllers does.

It succeeds within `goal_tolerance`. Where the finger stands still for `stall_timeout` before, it
succeeds with `allow_stalling: true` and aborts with `false`, its default; `stalled` is true then.
"""

from types import SimpleNamespace

import pytest

from safe_sysid.ros.actions.gripper import CellGripper, GripperSettings

SUCCEEDED, CANCELED, ABORTED = 4, 5, 6


def answered(closes, status, reached, stalled):
    node = SimpleNamespace(create_publisher=lambda *_: SimpleNamespace(publish=lambda _: None))
    gripper = CellGripper(node, GripperSettings())
    gripper.begin(closes=closes)
    result = SimpleNamespace(position=0.03, effort=9.0, reached_goal=reached, stalled=stalled)
    said = SimpleNamespace(status=status, result=result)
    gripper._on_result(SimpleNamespace(result=lambda: said))
    return gripper


@pytest.mark.parametrize('closes', [True, False])
def test_what_has_reached_its_goal_is_done(closes):
    gripper = answered(closes, SUCCEEDED, True, False)
    assert gripper.is_done
    assert not gripper.trouble


@pytest.mark.parametrize('status', [SUCCEEDED, ABORTED])
def test_a_gripper_that_stalls_at_what_it_grasps_has_closed(status):
    gripper = answered(True, status, False, True)
    assert gripper.is_done
    assert not gripper.trouble


def test_a_gripper_that_stalls_while_it_opens_has_not_opened():
    gripper = answered(False, ABORTED, False, True)
    assert not gripper.is_done
    assert 'status 6' in gripper.trouble


@pytest.mark.parametrize('closes', [True, False])
@pytest.mark.parametrize(('status', 'stalled'), [(CANCELED, True), (ABORTED, False)])
def test_a_gripper_that_was_stopped_has_done_neither(closes, status, stalled):
    gripper = answered(closes, status, False, stalled)
    assert not gripper.is_done
    assert gripper.trouble
