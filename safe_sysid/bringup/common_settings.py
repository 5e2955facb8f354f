"""What the parameters of a node say of the settings that all nodes have to agree on."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from typing import Any

from safe_sysid.config import from_mapping, nested
from safe_sysid.loop_settings import LoopSettings
from safe_sysid.parameter_files import by_full_name

COMMON = tuple(field.name for field in dataclasses.fields(LoopSettings))


def common_settings(node: str, parameters: Mapping[str, object]) -> LoopSettings:
    """Return them as the node will read them, or say what is wrong with them."""
    values = by_full_name(parameters)
    ours: dict[str, Any] = {
        name: value for name, value in values.items() if name.partition('.')[0] in COMMON
    }
    return from_mapping(LoopSettings, nested(ours), f"parameters of node '{node}'")
