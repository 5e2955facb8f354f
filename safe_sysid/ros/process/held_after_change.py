"""What may be held after a change of what is held, as settings of the loop say."""

from __future__ import annotations

from safe_sysid.identify.change.held_next import HeldNext, from_library, of_prior, within
from safe_sysid.loop_settings import LoopArm, LoopSettings


def held_after_change(settings: LoopSettings, arm: LoopArm) -> HeldNext:
    """Return what may be held then: anything, or one of the library, or nothing."""
    payloads = settings.payloads()
    if not payloads:
        return of_prior(arm.prior)
    empty, own = settings.with_empty_hand()
    return within(from_library(empty, payloads, settings.grasp, own), arm.prior)
