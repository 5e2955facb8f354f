"""From recordings of a force/torque sensor, or tables of poses, to a payload and its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
import time

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.calibrate.unit_findings import position_finding
from safe_sysid.errors import ConfigError, MeasurementError, ModelError
from safe_sysid.identify.difference.answer import PayloadDifference
from safe_sysid.identify.difference.from_recordings import (
    UNVERIFIED,
    IdentifiedDifference,
    gains_of,
    interval_assumptions,
    of_inertia,
    part_of,
    payload_frame,
    remarks_on,
    unit_of,
)
from safe_sysid.identify.difference.intervals import Assumed
from safe_sysid.identify.difference.other_sources import (
    PoseProblem,
    WrenchProblem,
    pose_difference,
    wrench_difference,
)
from safe_sysid.identify.difference.resting_poses import read_poses, weight_in_poses
from safe_sysid.identify.difference.sensor_wrench import CHANNELS, weight_at_sensor, wrench_logs
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.identify.replay import Progress
from safe_sysid.measure.dead_channels import check_alive
from safe_sysid.measure.recording_choice import RecordingChoice
from safe_sysid.measure.wrench_recording import read_wrench
from safe_sysid.model.arm import Arm


def identify_from_sensor(
    arm: Arm,
    loaded: RecordingChoice,
    empty: Sequence[RecordingChoice],
    settings: RecordingSettings,
    progress: Progress,
) -> IdentifiedDifference:
    """Identify what hangs behind a wrist's sensor beyond its tool."""
    begin = time.monotonic()
    if settings.gains is not None:
        raise ConfigError('--gains are of joint torques; a sensor at the wrist does without')
    model, link = arm.model, str(settings.sensor)
    tip = model.layout.tip
    if link not in model.frames or model.frames[link].joint != tip:
        fixed = [name for name, frame in model.frames.items() if frame.joint == tip]
        raise ModelError(f"'{link}' is not fixed to the last joint; these links are: {fixed}")
    names = model.layout.joint_names
    progress(0.0, 'reading')
    held = part_of(read_wrench(loaded, names, settings.sensor_topic), settings)
    without = [read_wrench(choice, names, settings.sensor_topic) for choice in empty]
    recordings = [(loaded, held), *zip(empty, without, strict=True)]
    for choice, recording in recordings:
        weight = weight_at_sensor(model, recording.position, model.frames[link])
        check_alive(str(choice.path), CHANNELS, recording.effort, weight)
    remarks = tuple(f'{c.path.name}: {x}' for c, r in recordings for x in remarks_on(r, arm))
    frame, into, distance = payload_frame(arm, settings.flange or arm.facts.tip)
    share = UNVERIFIED if settings.gain_error is None else settings.gain_error
    problem = WrenchProblem(
        model, wrench_logs(held), [wrench_logs(x) for x in without], model.frames[link],
        (frame, into), _assumed(settings, distance, np.full(len(CHANNELS), share)),
        settings.filter_hz,
    )  # fmt: skip
    progress(0.2, 'comparing')
    found, sentences = wrench_difference(problem)
    progress(1.0, 'done')
    stated = 'as stated' if settings.gain_error is not None else 'assumed (--gain-error)'
    return IdentifiedDifference(
        found,
        model.name,
        str(loaded.path),
        tuple(str(choice.path) for choice in empty),
        CHANNELS,
        remarks,
        (
            f'each force and moment of the sensor at {link} is within {100 * share:g} % of what '
            f'it reports, {stated}',
            *sentences,
            'positions of joints and the kinematics of the URDF are right; the arm, its drives '
            'and friction have no part in this; nothing touches what hangs behind the sensor',
            *interval_assumptions(found, settings, len(empty)),
        ),
        time.monotonic() - begin,
        None,
        arm,
    )


def identify_from_poses(
    arm: Arm,
    loaded: RecordingChoice,
    empty: Sequence[RecordingChoice],
    settings: RecordingSettings,
    progress: Progress,
) -> IdentifiedDifference:
    """Identify what an arm holds at rest in poses beyond what it held in others."""
    begin = time.monotonic()
    progress(0.0, 'reading')
    names = arm.model.layout.joint_names
    gains = gains_of(arm, settings)
    arm = arm if gains is None else gains.of(arm)
    gain_error, unit = unit_of(arm, settings, gains)
    covariance = None if gains is None else gains.log_covariance
    scale = arm.model.sensors.effort_sign * arm.model.sensors.effort_scale
    read = [read_poses(choice, names) for choice in (*empty, loaded)]
    for choice, (q, effort) in zip((*empty, loaded), read, strict=True):
        found_unit = position_finding(q, names, arm.model.limits)
        if found_unit is not None:
            raise MeasurementError(f'{choice.path}: {found_unit.sentence}')
        check_alive(str(choice.path), names, effort, weight_in_poses(arm.model, q))
    tables = [(q, effort * scale) for q, effort in read]
    frame, into, distance = payload_frame(arm, settings.flange or arm.facts.tip)
    assumed = replace(_assumed(settings, distance, gain_error), gain_covariance=covariance)
    stated = settings.gain_error is not None or gains is not None
    found = pose_difference(
        PoseProblem(arm.model, tables[-1], tables[:-1], (frame, into), assumed, stated)
    )
    progress(1.0, 'done')
    return IdentifiedDifference(
        found,
        arm.model.name,
        str(loaded.path),
        tuple(str(choice.path) for choice in empty),
        names,
        tuple(
            f'{choice.path.name}: {len(table[0])} poses'
            for choice, table in zip((*empty, loaded), read, strict=True)
        ),
        (
            unit,
            'the arm rests in every pose and nothing touches it; its masses and offsets are '
            'unknown and the same in all poses',
            *_of_poses(found, settings, len(empty)),
        ),
        time.monotonic() - begin,
        None,
        arm,
    )


def _assumed(settings: RecordingSettings, distance: float, gain_error: Array) -> Assumed:
    return Assumed(
        settings.payload_mass,
        settings.payload_reach + distance,
        gain_error,
        settings.inertia_prior,
        settings.confidence,
    )


def _of_poses(found: PayloadDifference, settings: RecordingSettings, tables: int) -> list[str]:
    """Return what intervals of poses rest on: a second of a recording is a pose here."""
    sentences = []
    given, promise = found.statistical, found.guaranteed
    if given is not None:
        sentences.append(
            f'statistical: in {100 * given.confidence:g} % of repetitions of such poses the '
            'interval contains the payload, if what friction holds at rest is independent from '
            f'pose to pose; enlarged {given.kappa[0]:.2f} times, as {tables} tables of empty '
            'poses ask for. It is no bound'
        )
        sentences += of_inertia(settings)
    if promise is not None and promise.bounds is not None:
        sentences.append(
            f'guaranteed: no pose has an error above {promise.factor:.2f} times the largest seen '
            f'in {promise.promise.blocks} empty poses{promise.promise.of_growth} (at '
            f'{promise.least:.2f} times they begin to contradict each other); the payload '
            f'weighs at most {settings.payload_mass:g} kg '
            f'(--payload-mass), no part of it farther than {settings.payload_reach:g} m from the '
            'last joint (--payload-reach)'
        )
    return sentences
