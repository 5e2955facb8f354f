"""Gains of drives from files without and with a body whose mass is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.calibrate.effort_check import DRIVING, EffortError
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.even_recording import even_recording
from safe_sysid.calibrate.unit_findings import remarks_on_units
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.difference.against_empty import effort_of_rows
from safe_sysid.identify.difference.drive_gains import DriveGains, gains_of_stretches, pooled
from safe_sysid.identify.difference.friction_choice import rows_at_estimate
from safe_sysid.identify.difference.friction_terms import FrictionTerms
from safe_sysid.identify.difference.motion_band import cutoff_of, motion_band
from safe_sysid.identify.difference.rows import Stretch, moving, stretch_of
from safe_sysid.identify.difference.torque_delay import torque_delay
from safe_sysid.measure.dead_channels import check_efforts
from safe_sysid.measure.recording_choice import RecordingChoice, recording_of_choice
from safe_sysid.model.arm import Arm
from safe_sysid.model.payload import Payload
from safe_sysid.model.robot_model import RobotModel


@dataclass(frozen=True)
class GainRecordings:
    """Files without and with the body, and the part of the latter [s] that counts."""

    empty: Sequence[RecordingChoice]
    loaded: Sequence[RecordingChoice]
    part: tuple[float, float | None] = (0.0, None)


def calibrated_gains(
    arm: Arm, recordings: GainRecordings, body: float | Payload, cutoff: float | None = None
) -> tuple[DriveGains, str | None]:
    """Gains, and a caution if pairs disagree; the body is its mass [kg] or all of it.

    Signs and scales of the arm's settings have no part in it.
    """
    model, names = arm.model, arm.model.layout.joint_names
    one = np.ones(model.n)
    is_continuous = model.limits.is_continuous
    read = [recording_of_choice(choice, names) for choice in recordings.empty]
    empty = [even_recording(recording, one, one, is_continuous) for recording in read]
    begin, end = recordings.part
    loaded = []
    for choice in recordings.loaded:
        recording = recording_of_choice(choice, names)
        read.append(recording)
        if begin > 0.0 or end is not None:
            recording = recording.between(begin, end or np.inf)
        loaded.append(even_recording(recording, one, one, is_continuous))
    for recording in read:
        check_efforts(recording.source, recording.effort, recording.position)
        remarks_on_units(recording, model.limits)
    every = [log for logs in (*empty, *loaded) for log in logs]
    cutoff = cutoff or cutoff_of(motion_band(every))
    described = _described(arm, body)
    mass = body if not isinstance(body, Payload) else body.mass
    pairs = []
    for logs in loaded:
        found = gains_of_pair(model, empty, logs, cutoff, mass)
        refuted = None if described is None else found.refutes(described)
        if refuted is not None:
            raise MeasurementError(refuted)
        pairs.append(found)
    gains, disagreement = pooled(pairs)
    without, _ = _stretches(model, empty, [], cutoff)
    strange = _strange_gains(model, without, gains)
    return gains, '; '.join(x for x in (disagreement, strange) if x is not None) or None


def _strange_gains(model: RobotModel, without: list[Stretch], gains: DriveGains) -> str | None:
    """Return a caution about torques of the empty arm; refuse friction that would drive it."""
    torques = [stretch.with_gains(gains.gain) for stretch in without]
    try:
        check = effort_of_rows(model, moving(rows_at_estimate(model, torques, FrictionTerms())))
    except EffortError as error:
        check = error.check
    driving = np.flatnonzero(~gains.uncalibrated & (check.friction <= DRIVING))
    if driving.size:
        raise MeasurementError(
            'with the gains that this mass asks for friction would drive the joints, '
            f'{check.listed(driving)}: empty and loaded recordings are exchanged, or the body was '
            'not held'
        )
    cautions = check.cautions()
    return f'with the gains that this mass asks for, {cautions[0]}' if cautions else None


def gains_of_pair(
    model: RobotModel,
    empty: list[list[EvenLog]],
    loaded: list[EvenLog],
    cutoff: float,
    mass: float,
) -> DriveGains:
    """Gains of one pair; where efforts come late beyond doubt, once more with them in time."""
    without, held = _stretches(model, empty, loaded, cutoff)
    found = gains_of_stretches(model, [*without, *held], mass)
    torques = [stretch.with_gains(found.gain) for stretch in without]
    delay = torque_delay(moving(rows_at_estimate(model, torques, found.terms)))
    if delay.is_corrected:
        moved = delay.moved([log for logs in (*empty, loaded) for log in logs])
        late = zip([*without, *held], moved, strict=True)
        found = gains_of_stretches(model, [s.with_torque_of(log) for s, log in late], mass)
    return replace(found, delay=delay)


def _stretches(
    model: RobotModel, empty: list[list[EvenLog]], loaded: list[EvenLog], cutoff: float
) -> tuple[list[Stretch], list[Stretch]]:
    """Return those without the body, and those with it."""
    without = [
        stretch_of(model, log, cutoff, i, loaded=False)
        for i, logs in enumerate(empty)
        for log in logs
    ]
    held = [stretch_of(model, log, cutoff, len(empty), loaded=True) for log in loaded]
    return without, held


def _described(arm: Arm, body: float | Payload) -> Array | None:
    """Ten parameters of a described body in the frame of the last joint."""
    if not isinstance(body, Payload):
        return None
    place = arm.model.layout.end_effector
    phi: Array = (arm.model.with_payload(body).theta - arm.model.theta)[place]
    return phi
