"""ParameterSurvey: asks every node that appears for its parameters, for who records them."""

from __future__ import annotations

from collections.abc import Callable
import math
from typing import Any

from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.client import Client
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from rclpy.task import Future


class ParameterSurvey:
    """Hands over the parameters of each node once, as the text of a parameter file."""

    def __init__(self, node: Node, found: Callable[[str], None]) -> None:
        self._node = node
        self._found = found
        self._asked: set[str] = set()
        self._listing: dict[str, Client] = {}  # clients of nodes that have not answered
        self._getting: dict[str, Client] = {}

    def step(self) -> None:
        """Ask the nodes that are new, or back after they were gone."""
        present = {
            f'{namespace.rstrip("/")}/{name}'
            for name, namespace in self._node.get_node_names_and_namespaces()
        }
        self._asked &= present
        for name in present - self._asked - self._listing.keys():
            self._listing[name] = self._node.create_client(
                ListParameters, f'{name}/list_parameters'
            )
        for name, client in list(self._listing.items()):
            if name not in present:
                self._node.destroy_client(self._listing.pop(name))
            elif name not in self._asked and client.service_is_ready():
                self._asked.add(name)
                future = client.call_async(ListParameters.Request())
                future.add_done_callback(lambda done, name=name: self._listed(name, done))

    def _listed(self, name: str, done: Future) -> None:
        self._node.destroy_client(self._listing.pop(name))
        names = sorted(done.result().result.names)
        client = self._node.create_client(GetParameters, f'{name}/get_parameters')
        self._getting[name] = client
        future = client.call_async(GetParameters.Request(names=names))
        future.add_done_callback(lambda done: self._got(name, names, done))

    def _got(self, name: str, names: list[str], done: Future) -> None:
        self._node.destroy_client(self._getting.pop(name))
        values = [parameter_value_to_python(value) for value in done.result().values]
        self._found(parameter_file(name, dict(zip(names, values, strict=True))))


def parameter_file(node: str, values: dict[str, Any]) -> str:
    """Text of a file that gives a node these parameters (ros2 run ... --params-file)."""
    lines = [f'  {name}: {_yaml(value)}' for name, value in values.items() if value is not None]
    return '\n'.join([f'{node}:', ' ros__parameters:', *lines, ''])


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
