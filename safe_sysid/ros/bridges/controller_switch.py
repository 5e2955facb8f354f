"""ControllerSwitch: ros2_control's own position controller holds an arm instead of our torque.

One strict request switches both controllers or none, so that there is never a moment without any.
A manager that does not answer leaves the effort controller on, which our torque goes on feeding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rclpy.node import Node

from safe_sysid.errors import ConfigError

BEST_EFFORT, STRICT = 1, 2  # of controller_manager_msgs/srv/SwitchController


@dataclass(frozen=True)
class Switched:
    """Names of the controllers."""

    effort: str
    hold: str


class ControllerSwitch:
    """Asks the controller manager, and knows what it answered last.

    A strict request is refused where a controller is on already. So after each answer the manager
    is asked which of them are active; where it does not tell, its answers are believed.
    """

    can_tell = True

    def __init__(self, node: Node, manager: str, switched: Switched) -> None:
        self._switch, self._list = _services()
        self._switched = switched
        self._topic = f'{manager}/switch_controller'
        self._client = node.create_client(self._switch, self._topic)
        self._listing = node.create_client(self._list, f'{manager}/list_controllers')
        self._wanted = switched.hold
        self._asked = 0  # number of the last request; what answers an earlier one is outdated
        self._is_refused, self._said = False, ''
        self.holds = self.listens = False
        self.has_torque: bool | None = None

    def look(self) -> None:
        """See which controllers are active; while the effort controller is, a torque acts."""
        self.has_torque = None
        self._see(self._asked)

    def take(self) -> None:
        """Let the position controller hold the arm, or change nothing."""
        self._ask(self._switched.hold, self._switched.effort, STRICT)

    def give(self) -> None:
        """Let the effort controller listen to us; it may do so already."""
        self._ask(self._switched.effort, self._switched.hold, BEST_EFFORT)

    def __str__(self) -> str:
        hold, effort = self._switched.hold, self._switched.effort
        if self.holds:
            return f'{hold} holds the arm'
        if self._wanted == effort and self.listens:
            return f'{effort} takes our torque'
        wish = f'{hold} is to hold the arm' if self._wanted == hold else f'{effort} is to be on'
        if not self._client.service_is_ready():
            return f'{wish}, but {self._topic} is not there'
        if self._is_refused:
            return f'{wish}, but the controller manager refused{self._said}; read its log'
        return wish

    def _ask(self, on: str, off: str, strictness: int) -> None:
        self._wanted, self.holds, self.listens = on, False, False
        self._asked += 1
        if not self._client.service_is_ready():
            return
        request = self._switch.Request(
            activate_controllers=[on], deactivate_controllers=[off], strictness=strictness
        )
        request.timeout.sec = 1
        future, number = self._client.call_async(request), self._asked
        future.add_done_callback(lambda done: self._answered(number, done.result()))

    def _answered(self, number: int, answer: Any) -> None:
        """Take an answer to the last request, and ask what came of it."""
        if number != self._asked:
            return
        self._is_refused = answer is None or not answer.ok
        said = str(getattr(answer, 'message', ''))  # since Jazzy
        self._said = f" ('{said}')" if said else ''
        if not self._is_refused:
            self.holds = self._wanted == self._switched.hold
            self.listens = not self.holds
        self._see(number)

    def _see(self, number: int) -> None:
        """Ask which controllers are active, as long as no other request was made meanwhile."""
        if self._listing.service_is_ready():
            future = self._listing.call_async(self._list.Request())
            future.add_done_callback(lambda done: self._listed(number, done.result()))

    def _listed(self, number: int, answer: Any) -> None:
        """Take which controllers are active."""
        if number != self._asked or answer is None:
            return
        active = {each.name for each in answer.controller if each.state == 'active'}
        self.has_torque = self.listens = self._switched.effort in active
        self.holds = self._switched.hold in active and not self.listens


class Nobody:
    """Nothing holds the arm but our torque, which goes on until the bridge is told again."""

    holds = False
    listens = True  # as far as anybody here can tell
    has_torque, can_tell = None, False

    def __init__(self, why: str) -> None:
        self._why = why

    def look(self) -> None:
        """There is nobody to ask."""

    def take(self) -> None:
        """There is nobody to ask."""

    def give(self) -> None:
        """There is nobody to ask."""

    def __str__(self) -> str:
        return f'nothing holds the arm without our torque, as {self._why}; use its brakes'


def _services() -> tuple[Any, Any]:
    """Types of the services, which are installed where ros2_control is."""
    try:
        from controller_manager_msgs.srv import ListControllers, SwitchController
    except ImportError as error:
        raise ConfigError(
            f'hold_controller is named, but controller_manager_msgs is missing ({error}); install '
            'ros2_control, or leave it empty: then nothing holds the arm without torque'
        ) from error
    return SwitchController, ListControllers
