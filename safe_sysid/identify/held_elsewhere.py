"""Joints that the settings keep still, and that a recording shows elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.measure.recording_choice import RecordingChoice, positions_of_others
from safe_sysid.model.arm import Arm
from safe_sysid.model.arm_knowledge import ArmKnowledge
from safe_sysid.model.urdf_tree import build

FARTHEST = 1e-3  # [m], or of a direction: so far a joint may be from where it is described


def recorded_elsewhere(
    arm: Arm, choice: RecordingChoice, settings: RecordingSettings, known: ArmKnowledge
) -> tuple[str, ...]:
    """Sentences about held joints that were elsewhere in the part of the recording used."""
    end = np.inf if settings.end is None else settings.end
    parts = {}
    for name, each in positions_of_others(choice, arm.facts.held).items():
        with suppress(MeasurementError):  # nothing was recorded of it then
            parts[name] = each.between(settings.begin, end).position
    return held_elsewhere(arm, parts, known)


def held_elsewhere(
    arm: Arm, positions: Mapping[str, Array], known: ArmKnowledge
) -> tuple[str, ...]:
    """Sentences about held joints with which the arm is not the one described.

    Fingers of a gripper move and weigh little: what counts is whether bodies change by more than
    they are known to, or joints are elsewhere.
    """
    return tuple(
        f"joint '{name}' is held at {arm.facts.held[name]:g} in the settings, and the recording "
        f'has it from {q.min():.4g} to {q.max():.4g}: the bodies of the arm are elsewhere than '
        'the bounds assume. Put where it was under `held`, or among the joints'
        for name, q in positions.items()
        if any(_is_another_arm(arm, {name: float(x)}, known) for x in (q.min(), q.max()))
    )


def _is_another_arm(arm: Arm, held: Mapping[str, float], known: ArmKnowledge) -> bool:
    """Whether joints or bodies are elsewhere with a joint held there."""
    described, bodies = _joints_and_bodies(arm, {})
    there, moved = _joints_and_bodies(arm, held)
    widths = np.maximum(known.body_widths(bodies), 1e-9)
    farthest = float(np.abs(there - described).max())
    return farthest > FARTHEST or bool((np.abs(moved - bodies) > widths).any())


def _joints_and_bodies(arm: Arm, held: Mapping[str, float]) -> tuple[Array, Array]:
    """Placements of the joints, and ten parameters of every body (n, 10)."""
    facts = arm.facts
    massless = () if facts.closed_chain is None else facts.closed_chain.massless
    model = build(arm.urdf, tuple(facts.joints), {**facts.held, **held}, massless)
    placements = [np.asarray(x.homogeneous) for x in model.jointPlacements]
    bodies = [x.toDynamicParameters() for x in list(model.inertias)[1:]]
    return np.array(placements), np.array(bodies)
