"""The gripper of a cell: an action of its driver, or a topic that somebody else follows.

With `action` it is `control_msgs/GripperCommand`. What a gripper that closes has reached or
stalled at counts as closed, also where its driver calls a stall a failure (`allow_stalling: false`
of gripper_action_controller of ros2_controllers, its default); one that stalls as it opens has
not opened, also where its driver calls that a success. Without, `gripper_command`
(std_msgs/Bool, true: close) is published, and a `payload_event` or the finger (`hold.finger`) has
to tell when it has happened.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
import importlib
from typing import Any

from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import Bool

from safe_sysid.config import Finite, NotNegative, Settings
from safe_sysid.errors import ConfigError
from safe_sysid.ros.messages.qos import REQUESTS
from safe_sysid.ros.messages.request_topics import GRIPPER

SUCCEEDED, ABORTED = 4, 6  # of action_msgs/GoalStatus


@dataclass(frozen=True)
class GripperSettings(Settings):
    """How `handle` closes and opens the gripper."""

    action: str = ''  # name of a control_msgs/GripperCommand; none: the topic gripper_command
    open: Finite = 0.08  # position of an open gripper, as its driver counts [m]
    closed: Finite = 0.0  # that it closes to; it stalls before, at what it holds
    effort: NotNegative = 0.0  # that it closes with at most [N]; 0: as its driver likes
    lightest: NotNegative = 0.0  # [kg] of what it may hold; what weighs less was not picked. 0: as
    # light as the lightest of `library`, or without one as light as nothing


class CellGripper:
    """Tells it, and hears how it came out."""

    def __init__(self, node: Node, settings: GripperSettings) -> None:
        self._settings = settings
        self._publisher = node.create_publisher(Bool, GRIPPER, REQUESTS)
        self._kind = _kind(settings.action) if settings.action else None
        self._client = self._kind and ActionClient(node, self._kind, settings.action)
        self._has_reached = self._closes = False
        self._trouble = self._doubt = ''
        self._number = 0  # of what it was told last; what is said of an earlier goal is outdated
        self._goal: Any = None  # handle of the goal that goes on

    @property
    def is_done(self) -> bool:
        """Whether it says itself that it has closed or opened."""
        return self._has_reached

    @property
    def trouble(self) -> str:
        """Why it does not; empty if it does, or says nothing."""
        return self._trouble

    @property
    def doubt(self) -> str:
        """Why it may hold nothing though it has closed; empty where nothing says so."""
        return self._doubt

    def begin(self, *, closes: bool) -> None:
        """Close or open."""
        self.stop()
        self._has_reached, self._closes = False, closes
        self._trouble = self._doubt = ''
        if self._client is None or self._kind is None:
            self._publisher.publish(Bool(data=closes))
            return
        if not self._client.server_is_ready():
            self._trouble = f'no gripper answers on {self._settings.action}'
            return
        goal = self._kind.Goal()
        goal.command.position = self._settings.closed if closes else self._settings.open
        goal.command.max_effort = self._settings.effort
        accepted = self._client.send_goal_async(goal)
        accepted.add_done_callback(partial(self._on_accepted, self._number))

    def stop(self) -> None:
        """Have it stay where it is, should it not have come to an end; nobody waits for that."""
        self._number += 1
        goal, self._goal = self._goal, None
        if goal is not None:
            goal.cancel_goal_async()

    def _on_accepted(self, number: int, answer: Future[Any]) -> None:
        handle = answer.result()
        if number != self._number:
            if handle.accepted:
                handle.cancel_goal_async()
            return
        if not handle.accepted:
            self._trouble = f'the gripper on {self._settings.action} refuses'
            return
        self._goal = handle
        handle.get_result_async().add_done_callback(partial(self._on_result, number))

    def _on_result(self, number: int, answer: Future[Any]) -> None:
        if number != self._number:
            return
        said, self._goal = answer.result(), None
        has_closed = self._closes and said.result.stalled and said.status in (SUCCEEDED, ABORTED)
        self._has_reached = has_closed or (said.status == SUCCEEDED and said.result.reached_goal)
        if self._closes and self._has_reached and not said.result.stalled:
            self._doubt = 'it went to its end and did not stall, so it may hold nothing'
        if not self._has_reached:
            at = f'{said.result.position:.4g} (status {said.status})'
            stalled = f'stalled at {at} as it opened, and may hold what it held'
            is_held = said.result.stalled and not self._closes
            how = stalled if is_held else f'did not get there: it is at {at}'
            self._trouble = f'the gripper on {self._settings.action} {how}'


def _kind(action: str) -> Any:
    """Return the type of the action."""
    try:
        return importlib.import_module('control_msgs.action').GripperCommand
    except ImportError as error:
        raise ConfigError(
            f'gripper.action is {action}, and control_msgs is not installed: {error}; install it, '
            'or leave it empty and follow the topic gripper_command'
        ) from error
