"""ControllerSwitch: ros2_control's own position controller holds an arm instead of our torque.

One strict request switches both controllers or none, so that there is never a moment without any.
A manager that does not answer leaves the effort controller on, which our torque goes on feeding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rclpy.node import Node
from rclpy.task import Future

from safe_sysid.errors import ConfigError

BEST_EFFORT, STRICT = 1, 2  # of controller_manager_msgs/srv/SwitchController


@dataclass(frozen=True)
class Switched:
    """Names of the controllers."""

    effort: str
    hold: str


class ControllerSwitch:
    """Asks the controller manager, and knows what it answered last."""

    def __init__(self, node: Node, manager: str, switched: Switched) -> None:
        self._request_class = _service()
        self._switched = switched
        self._topic = f'{manager}/switch_controller'
        self._client = node.create_client(self._request_class, self._topic)
        self._is_refused = False
        self.holds = False

    def take(self) -> None:
        """Let the position controller hold the arm, or change nothing."""
        self._ask(self._switched.hold, self._switched.effort, STRICT)

    def give(self) -> None:
        """Let the effort controller listen to us; it may do so already."""
        self.holds = False
        self._ask(self._switched.effort, self._switched.hold, BEST_EFFORT)

    def __str__(self) -> str:
        hold = self._switched.hold
        if self.holds:
            return f'{hold} holds the arm'
        if not self._client.service_is_ready():
            return f'{hold} is to hold the arm, but {self._topic} is not there'
        if self._is_refused:
            return f'{hold} is to hold the arm, but the controller manager refused; read its log'
        return f'{hold} is to hold the arm'

    def _ask(self, on: str, off: str, strictness: int) -> None:
        if not self._client.service_is_ready():
            return
        request = self._request_class.Request(
            activate_controllers=[on], deactivate_controllers=[off], strictness=strictness
        )
        request.timeout.sec = 1
        future = self._client.call_async(request)
        future.add_done_callback(lambda done: self._answered(on, done))

    def _answered(self, on: str, done: Future) -> None:
        """Take an answer; earlier requests may be answered late, but in their order."""
        answer = done.result()
        self._is_refused = answer is None or not answer.ok
        if not self._is_refused:
            self.holds = on == self._switched.hold


class Nobody:
    """Nothing holds the arm but our torque, which goes on until the bridge is told again."""

    holds = False

    def __init__(self, why: str) -> None:
        self._why = why

    def take(self) -> None:
        """There is nobody to ask."""

    def give(self) -> None:
        """There is nobody to ask."""

    def __str__(self) -> str:
        return f'nothing holds the arm without our torque, as {self._why}; use its brakes'


def _service() -> Any:
    """Type of the service, which is installed where ros2_control is."""
    try:
        from controller_manager_msgs.srv import SwitchController
    except ImportError as error:
        raise ConfigError(
            f'hold_controller is named, but controller_manager_msgs is missing ({error}); install '
            'ros2_control, or leave it empty: then nothing holds the arm without torque'
        ) from error
    return SwitchController
