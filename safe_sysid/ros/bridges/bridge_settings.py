"""BridgeSettings: what every bridge is told, whatever it bridges."""

from __future__ import annotations

from dataclasses import dataclass, field

from safe_sysid.loop_settings import ManagedSettings
from safe_sysid.ros.process.real_time import RealTimeSettings
from safe_sysid.track.hand_over import HandOverSettings
from safe_sysid.track.torque_guard import GuardSettings


@dataclass(frozen=True)
class BridgeSettings(ManagedSettings):
    """Parameters of every bridge."""

    has_controller: bool = False  # in its own process, with no middleware between the two
    guard: GuardSettings = field(default_factory=GuardSettings)
    hand_over: HandOverSettings = field(default_factory=HandOverSettings)
    real_time: RealTimeSettings = field(default_factory=RealTimeSettings)
