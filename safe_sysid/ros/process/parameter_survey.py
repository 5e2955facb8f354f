"""ParameterSurvey: asks every node that appears for its parameters, for who records them.

A question is asked again until it is answered: an answer can be lost while the other node is not
yet connected to ours, and a node that is busy starting answers late.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
import time
from typing import Any

from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from rclpy.task import Future

AGAIN = 1.0  # [s] without an answer, after which a question is asked again


class ParameterSurvey:
    """Hands over the parameters of each node once, as the text of a parameter file."""

    def __init__(self, node: Node, found: Callable[[str], None]) -> None:
        self._node = node
        self._found = found
        self._known: set[str] = set()
        self._open: dict[str, _Inquiry] = {}

    def step(self) -> None:
        """Ask the nodes that are new, back after they were gone, or have not answered."""
        present = {
            f'{namespace.rstrip("/")}/{name}'
            for name, namespace in self._node.get_node_names_and_namespaces()
        }
        self._known &= present
        for name in self._open.keys() - present:
            self._open.pop(name).close()
        for name in present - self._known - self._open.keys():
            self._open[name] = _Inquiry(self._node, name, self._answered)
        for inquiry in list(self._open.values()):
            inquiry.step()

    def _answered(self, name: str, values: dict[str, Any]) -> None:
        if name in self._open:
            self._open.pop(name).close()
            self._known.add(name)
            self._found(parameter_file(name, values))


class _Inquiry:
    """The names of the parameters of one node, then their values."""

    def __init__(
        self, node: Node, name: str, answered: Callable[[str, dict[str, Any]], None]
    ) -> None:
        self._node, self._name, self._answered = node, name, answered
        self._list = node.create_client(ListParameters, f'{name}/list_parameters')
        self._get = node.create_client(GetParameters, f'{name}/get_parameters')
        self._names: list[str] | None = None  # None until they are known
        self._asked_for: list[str] = []  # values of these
        self._left: list[list[str]] = []  # to be asked for after them
        self._told: dict[str, Any] = {}
        self._question: Future | None = None
        self._asked = -math.inf

    def step(self) -> None:
        """Ask, where no question waits for its answer."""
        client = self._list if self._names is None else self._get
        now = time.monotonic()
        if now - self._asked < AGAIN or not client.service_is_ready():
            return
        if self._question is not None:
            self._question.cancel()
        self._asked = now
        if self._names is None:
            self._question = client.call_async(ListParameters.Request())
            self._question.add_done_callback(self._listed)
        else:
            self._question = client.call_async(GetParameters.Request(names=self._asked_for))
            self._question.add_done_callback(self._got)

    def close(self) -> None:
        """Ask no more."""
        for client in (self._list, self._get):
            self._node.destroy_client(client)

    def _listed(self, done: Future) -> None:
        if not done.cancelled():
            self._names, self._question = sorted(done.result().result.names), None
            self._asked_for = self._names
            self._asked = -math.inf
            self.step()

    def _got(self, done: Future) -> None:
        if not done.cancelled():
            self._take(done.result().values)

    def _take(self, values: Sequence[ParameterValue]) -> None:
        """Take the answer; rclcpp leaves out all values where one of them was never set."""
        told = [parameter_value_to_python(value) for value in values]
        if len(told) == len(self._asked_for):
            self._told.update(zip(self._asked_for, told, strict=True))
        elif len(self._asked_for) > 1:
            self._left = [[name] for name in self._asked_for] + self._left
        self._question, self._asked = None, -math.inf
        if self._left:
            self._asked_for = self._left.pop(0)
            self.step()
        else:
            self._answered(self._name, self._told)


def parameter_file(node: str, values: dict[str, Any]) -> str:
    """Text of a file that gives a node these parameters (ros2 run ... --params-file)."""
    lines = [f'  {name}: {_yaml(value)}' for name, value in values.items() if _has_type(value)]
    return '\n'.join([f'{node}:', ' ros__parameters:', *lines, ''])


def _has_type(value: Any) -> bool:
    """Whether ROS can tell of which type a value is; of an empty list it cannot."""
    return value is not None and (
        isinstance(value, str) or not hasattr(value, '__len__') or len(value) > 0
    )


def _yaml(value: Any) -> str:
    if isinstance(value, str):
        escaped = value.replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n')
        return f'"{escaped}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f'{"-" if value < 0 else ""}.inf'
    if isinstance(value, int):
        return str(value)
    return f'[{", ".join(_yaml(x) for x in value)}]'
