"""The gripper of a cell: an action of its driver, or a topic that somebody else follows.

With `action` it is `control_msgs/GripperCommand`. What a gripper that closes has reached or
stalled at counts as closed, also where its driver calls a stall a failure (`allow_stalling: false`
of gripper_action_controller of ros2_controllers, its default). Without, `gripper_command`
(std_msgs/Bool, true: close) is published, and a `payload_event` or the finger in joint_states has
to tell when it has happened.
"""

from __future__ import annotations

from dataclasses import dataclass
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


class CellGripper:
    """Tells it, and hears how it came out."""

    def __init__(self, node: Node, settings: GripperSettings) -> None:
        self._settings = settings
        self._publisher = node.create_publisher(Bool, GRIPPER, REQUESTS)
        self._kind = _kind(settings.action) if settings.action else None
        self._client = self._kind and ActionClient(node, self._kind, settings.action)
        self._has_reached = self._closes = False
        self._trouble = ''

    @property
    def is_done(self) -> bool:
        """Whether it says itself that it has closed or opened."""
        return self._has_reached

    @property
    def trouble(self) -> str:
        """Why it does not; empty if it does, or says nothing."""
        return self._trouble

    def begin(self, *, closes: bool) -> None:
        """Close or open."""
        self._has_reached, self._trouble, self._closes = False, '', closes
        if self._client is None or self._kind is None:
            self._publisher.publish(Bool(data=closes))
            return
        if not self._client.server_is_ready():
            self._trouble = f'no gripper answers on {self._settings.action}'
            return
        goal = self._kind.Goal()
        goal.command.position = self._settings.closed if closes else self._settings.open
        goal.command.max_effort = self._settings.effort
        self._client.send_goal_async(goal).add_done_callback(self._on_accepted)

    def _on_accepted(self, answer: Future[Any]) -> None:
        handle = answer.result()
        if not handle.accepted:
            self._trouble = f'the gripper on {self._settings.action} refuses'
            return
        handle.get_result_async().add_done_callback(self._on_result)

    def _on_result(self, answer: Future[Any]) -> None:
        said = answer.result()
        moved = said.result.reached_goal or said.result.stalled
        holds = self._closes and said.status == ABORTED and said.result.stalled
        self._has_reached = holds or (said.status == SUCCEEDED and moved)
        if not self._has_reached:
            self._trouble = (
                f'the gripper on {self._settings.action} did not get there: it is at '
                f'{said.result.position:.4g} (status {said.status})'
            )


def _kind(action: str) -> Any:
    """Return the type of the action."""
    try:
        return importlib.import_module('control_msgs.action').GripperCommand
    except ImportError as error:
        raise ConfigError(
            f'gripper.action is {action}, and control_msgs is not installed: {error}; install it, '
            'or leave it empty and follow the topic gripper_command'
        ) from error
