"""track -> robot: the built-in simulator behind the topics of a robot."""

from __future__ import annotations

from dataclasses import dataclass
import sys

from safe_sysid.ros.bridges.simulation_bridge import SimulationBridge, SimulationSettings
from safe_sysid.ros.process.main import main_of
from safe_sysid.simulate.rigid_body import RigidBody


@dataclass(frozen=True)
class BuiltinSimSettings(SimulationSettings):
    """Parameters of the built-in simulator."""


class BuiltinSimBridge(SimulationBridge):
    """An arm of rigid bodies with friction."""

    def __init__(self) -> None:
        super().__init__('builtin_sim_bridge', BuiltinSimSettings, RigidBody)


def main() -> int:
    """Run the node."""
    return main_of(BuiltinSimBridge)


if __name__ == '__main__':
    sys.exit(main())
