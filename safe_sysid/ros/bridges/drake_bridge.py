"""track -> robot: Drake behind the topics of a robot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
import sys

from safe_sysid.ros.bridges.simulation_bridge import SimulationBridge, SimulationSettings
from safe_sysid.ros.process.main import main_of
from safe_sysid.simulate.drake import DrakeBody

CREEP = (
    1e-4  # [rad/s]; the identifier has to be told that velocities below 5 times that are unsure
)


@dataclass(frozen=True)
class DrakeSettings(SimulationSettings):
    """Parameters of the simulator in Drake."""


class DrakeBridge(SimulationBridge):
    """The same arm as Drake moves it."""

    def __init__(self) -> None:
        super().__init__('drake_bridge', DrakeSettings, partial(DrakeBody, creep=CREEP))


def main() -> int:
    """Run the node."""
    return main_of(DrakeBridge)


if __name__ == '__main__':
    sys.exit(main())
