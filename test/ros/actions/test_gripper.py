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
    gripper._on_result(gripper._number, SimpleNamespace(result=lambda: said))
    return gripper


@pytest.mark.parametrize('closes', [True, False])
def test_what_has_reached_its_goal_is_done(closes):
    gripper = answered(closes, SUCCEEDED, True, False)
    assert gripper.is_done
    assert not gripper.trouble
    assert ('may hold nothing' in gripper.doubt) is closes  # nothing has stopped it


@pytest.mark.parametrize('status', [SUCCEEDED, ABORTED])
def test_a_gripper_that_stalls_at_what_it_grasps_has_closed(status):
    gripper = answered(True, status, False, True)
    assert gripper.is_done
    assert not gripper.trouble + gripper.doubt


@pytest.mark.parametrize('status', [SUCCEEDED, ABORTED])
def test_a_gripper_that_stalls_while_it_opens_has_not_opened(status):
    """With `allow_stalling: true` its driver says that it has; what it held may hang on it."""
    gripper = answered(False, status, False, True)
    assert not gripper.is_done
    said = f'stalled at 0.03 (status {status}) as it opened, and may hold what it held'
    assert gripper.trouble.endswith(said)


@pytest.mark.parametrize('closes', [True, False])
@pytest.mark.parametrize(('status', 'stalled'), [(CANCELED, True), (ABORTED, False)])
def test_a_gripper_that_was_stopped_has_done_neither(closes, status, stalled):
    gripper = answered(closes, status, False, stalled)
    assert not gripper.is_done
    assert gripper.trouble


class Server:
    """Takes goals and answers when the test says so."""

    def __init__(self):
        self.goals = []

    def server_is_ready(self):
        return True

    def send_goal_async(self, goal):
        del goal
        self.goals.append(Goal())
        return self.goals[-1].accepted


class Promise:
    """A future."""

    def __init__(self):
        self._calls = []

    def add_done_callback(self, call):
        self._calls.append(call)

    def tell(self, value):
        for call in self._calls:
            call(SimpleNamespace(result=lambda: value))


class Goal:
    """What a client sees of it."""

    def __init__(self):
        self.accepted, self.result, self.is_canceled = Promise(), Promise(), False

    def accept(self):
        self.accepted.tell(
            SimpleNamespace(
                accepted=True,
                get_result_async=lambda: self.result,
                cancel_goal_async=lambda: setattr(self, 'is_canceled', True),
            )
        )

    def reach(self):
        result = SimpleNamespace(position=0.0, effort=0.0, reached_goal=True, stalled=False)
        self.result.tell(SimpleNamespace(status=SUCCEEDED, result=result))


@pytest.fixture
def served():
    node = SimpleNamespace(create_publisher=lambda *_: None)
    gripper, server = CellGripper(node, GripperSettings()), Server()
    command = SimpleNamespace(position=0.0, max_effort=0.0)
    gripper._kind = SimpleNamespace(Goal=lambda: SimpleNamespace(command=command))
    gripper._client = server
    return gripper, server


def test_what_is_said_of_an_earlier_goal_does_not_count(served):
    gripper, server = served
    gripper.begin(closes=True)
    server.goals[0].accept()
    gripper.stop()
    gripper.begin(closes=True)
    server.goals[1].accept()
    server.goals[0].reach()
    assert not gripper.is_done
    assert server.goals[0].is_canceled
    server.goals[1].reach()
    assert gripper.is_done
    assert not server.goals[1].is_canceled


def test_a_goal_that_is_accepted_after_it_was_called_off_is_canceled(served):
    gripper, server = served
    gripper.begin(closes=True)
    gripper.stop()
    server.goals[0].accept()
    assert server.goals[0].is_canceled
    server.goals[0].reach()
    assert not gripper.is_done
