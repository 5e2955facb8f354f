"""track -> robot: MuJoCo behind the topics of a robot."""

from __future__ import annotations

from dataclasses import dataclass
import sys

from safe_sysid.ros.bridges.simulation_bridge import SimulationBridge, SimulationSettings
from safe_sysid.ros.process.main import main_of
from safe_sysid.simulate.mujoco import MujocoBody


@dataclass(frozen=True)
class MujocoSettings(SimulationSettings):
    """Parameters of the simulator in MuJoCo."""


class MujocoBridge(SimulationBridge):
    """The same arm as MuJoCo moves it."""

    def __init__(self) -> None:
        super().__init__('mujoco_bridge', MujocoSettings, MujocoBody)


def main() -> int:
    """Run the node."""
    return main_of(MujocoBridge)


if __name__ == '__main__':
    sys.exit(main())
