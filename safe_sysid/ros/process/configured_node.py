"""ConfiguredNode: a node whose settings are the parameters that it was given.

A list without entries has no type in ROS, which reads it as a parameter without a value and ends
a node that declares it with a riddle. Here it is left to `read_config`, which reads the arguments
of the process and knows what the setting is: `goal: []` says that there is no task.
"""

from __future__ import annotations

from collections.abc import Sequence
import time
from typing import Any

from rclpy.node import Node
from rclpy.parameter import Parameter


class ConfiguredNode(Node):
    """Declares what files and options say; `read_config` makes settings of it."""

    def __init__(self, name: str) -> None:
        super().__init__(name, automatically_declare_parameters_from_overrides=True)
        self.made = time.monotonic()  # [s]; the middleware looks for others from here on

    def declare_parameters(
        self,
        namespace: str,
        parameters: Sequence[Any],
        *others: Any,
        **more: Any,
    ) -> list[Parameter[Any]]:
        """Declare those that have a value, or that are said to be of any type."""
        typed = [each for each in parameters if not _is_unset(*each)]
        declared: list[Parameter[Any]]
        declared = super().declare_parameters(namespace, typed, *others, **more)
        return declared


def _is_unset(name: str, value: Any = None, descriptor: Any = None) -> bool:
    """Whether a parameter came without a value, and so without a type."""
    del name
    return value is None and descriptor is not None and not descriptor.dynamic_typing
