"""How wrong the positions and velocities of a recording may be, and who says so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.momentum_observation import per_joint
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.measure.reading_errors import departures, difference_errors, smallest_steps
from safe_sysid.measure.recording import Recording
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import (
    ReadingErrors,
    backlash,
    reading_errors,
    stamp_error,
    stated_stamp_way,
    zero_error,
)

DOUBTED = 2.0  # times what shows, where nobody stated the error of a velocity


@dataclass(frozen=True, eq=False)
class RecordedReadings:
    """Errors of the readings of a recording, and in words who says that of its velocities."""

    errors: ReadingErrors
    velocity_source: str


def recorded_readings(
    settings: RecordingSettings, model: RobotModel, recording: Recording, log: JointLog
) -> RecordedReadings:
    """Errors of positions and velocities: given, else of the arm's settings, else what shows."""
    sentences: list[str] = []
    dq = _positions(settings, model, log, sentences)
    away, zero = np.zeros(model.n), np.zeros(model.n)
    if settings.position_error is None:  # which would be of all causes
        dq, away = dq + 0.5 * backlash(model), stated_stamp_way(model)
        zero = zero_error(model, sentences)
    dv, source = _velocities(settings, model, recording, log, dq, sentences)
    return RecordedReadings(ReadingErrors(dq + away, dv, tuple(sentences), zero), source)


def _positions(
    settings: RecordingSettings, model: RobotModel, log: JointLog, sentences: list[str]
) -> Array:
    position = settings.position_error
    if position is None:
        position = model.sensors.sensing.position_error
    if position is not None:
        return per_joint('position_error', position, model.n)
    resolution = model.sensors.encoder_resolution
    if (resolution == 0.0).any():
        sentences.append(
            'assumed, as nobody stated it: positions have no steps larger than the smallest '
            'that is seen, and no other errors'
        )
    return np.asarray(
        0.5 * np.where(resolution > 0.0, resolution, smallest_steps(log.position)), dtype=float
    )


def _velocities(
    settings: RecordingSettings,
    model: RobotModel,
    recording: Recording,
    log: JointLog,
    dq: Array,
    sentences: list[str],
) -> tuple[Array, str]:
    """Errors of velocities [rad/s], and who says so."""
    if settings.velocity_error is not None:
        given = per_joint('velocity_error', settings.velocity_error, model.n)
        return given, 'as --velocity-error says'
    stated = _stated(settings, model)
    if recording.velocity is not None and stated is not None:
        return stated
    slope = difference_errors(log, recording.stride) + dq * recording.difference_gain
    if recording.velocity is None:
        return slope, 'central differences of the positions'
    far = departures(log, recording.stride)
    sentences.append(
        f'assumed, as {_why_not_stated(model)}: velocities are off by at most what they depart '
        'from differences of the positions and what these are off, or '
        f'{DOUBTED:g} times as far as they depart; --velocity-error, or sensing: in the '
        'settings of the arm, says it better'
    )
    return np.maximum(DOUBTED * far, far + slope), 'assumed of what shows'


def _stated(settings: RecordingSettings, model: RobotModel) -> tuple[Array, str] | None:
    """Return what the settings of the arm say of the velocities of its driver, if they do.

    Of differences they say the error by how far apart two positions are, in periods of the driver.
    A recording may have been thinned, and its period then is another one.
    """
    sensing = model.sensors.sensing
    facts = sensing.velocity
    if sensing.velocity_error is None and (facts is None or facts.source == 'difference'):
        return None
    # no period is in either
    velocity = reading_errors(model, np.inf, settings.position_error).velocity
    if sensing.velocity_error is not None:
        return velocity, "as sensing.velocity_error of the arm's settings says"
    source = "by the causes that sensing.velocity of the arm's settings states"
    if sensing.stamp_error is None:
        source += f', and stamps assumed within {1e3 * stamp_error(model, []):g} ms'
    return velocity, source


def _why_not_stated(model: RobotModel) -> str:
    if model.sensors.sensing.velocity is None:
        return 'nobody stated it'
    return 'a recording does not tell how far apart the positions are that its driver compares'
