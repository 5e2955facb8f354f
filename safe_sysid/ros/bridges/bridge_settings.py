"""BridgeSettings: what every bridge is told, whatever it bridges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from safe_sysid.errors import ConfigError
from safe_sysid.loop_settings import ManagedSettings
from safe_sysid.ros.process.real_time import RealTimeSettings
from safe_sysid.track.hand_over import HandOverSettings
from safe_sysid.track.torque_guard import GuardSettings


@dataclass(frozen=True)
class BridgeSettings(ManagedSettings):
    """Parameters of every bridge."""

    OF_SIMULATOR: ClassVar[bool] = False  # whether there is no arm behind it

    has_controller: bool = False  # in its own process, with no middleware between the two
    guard: GuardSettings = field(default_factory=GuardSettings)
    hand_over: HandOverSettings = field(default_factory=HandOverSettings)
    real_time: RealTimeSettings = field(default_factory=RealTimeSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.simulated and not self.OF_SIMULATOR:
            raise ConfigError(
                'simulated is true, and this bridge commands a driver: nothing may be assumed of '
                'its arm; enter what a calibration found in the file of the arm'
            )
        if self.is_lockstep and not self.OF_SIMULATOR:
            raise ConfigError(
                'timing is lockstep, and this bridge commands a driver, whose time waits for '
                'nobody: it has to be real_time'
            )
