"""Recordings and choices that a calibration command names, as the values a fit takes."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from safe_sysid.calibrate.calibration import CalibrationSettings
from safe_sysid.calibrate.even_log import EvenLog, even_logs, unwrapped
from safe_sysid.config import from_mapping, read_yaml
from safe_sysid.errors import ConfigError
from safe_sysid.measure.csv_log import Columns
from safe_sysid.measure.recording_choice import RecordingChoice, recording_of_choice
from safe_sysid.model.arm import Arm, arm_of
from safe_sysid.share import share_directory


@dataclass(frozen=True, eq=False)
class Recorded:
    """Even pieces of some recordings, and what their readers remarked."""

    logs: list[EvenLog]
    remarks: tuple[str, ...]

    @property
    def seconds(self) -> float:
        """Length of all pieces [s]."""
        return sum(log.seconds for log in self.logs)


def arm_of_options(options: argparse.Namespace) -> Arm:
    """The arm, with the sign of its effort signal as the command line says."""
    arm = arm_of(options.robot, options.config)
    if not arm.facts.effort.gravity_included:
        raise ConfigError(
            f'{arm.model.name}: its effort signal does not contain gravity; a calibration needs '
            'the whole torque'
        )
    sign = options.torque_sign
    if sign is None:
        return arm
    n = arm.model.n
    if len(sign) not in (1, n):
        raise ConfigError(f'--torque-sign has {len(sign)} entries; 1 or {n} are needed')
    sensors = replace(arm.model.sensors, effort_sign=np.broadcast_to(np.array(sign), n).copy())
    return replace(arm, model=replace(arm.model, sensors=sensors))


def recorded(options: argparse.Namespace, paths: list[Path], arm: Arm) -> Recorded:
    """Logs of several recordings in joint torque [N m], joints in the order of the arm.

    Joints without a motor need not be in a recording, and are left out of the logs.
    """
    driven = np.flatnonzero(arm.model.limits.torque > 0.0)
    names = tuple(arm.model.layout.joint_names[i] for i in driven)
    columns = Columns(rate=options.rate, **dict(options.columns or ()))
    sensors = arm.model.sensors
    logs: list[EvenLog] = []
    remarks = []
    for path in paths:
        choice = RecordingChoice(path, options.topic, options.joint_names, columns)
        recording = recording_of_choice(choice, names)
        log = recording.log(sensors.effort_sign[driven], sensors.effort_scale[driven])
        logs += even_logs(unwrapped(log, arm.model.limits.is_continuous[driven]))
        remarks += [
            f'{path.name}: {x}' for x in (*recording.timing.sentences(), *recording.remarks)
        ]
    return Recorded(logs, tuple(remarks))


def settings_of(options: argparse.Namespace) -> CalibrationSettings:
    """Choices of the fit: a file, and what the command line says over it."""
    path = options.settings or share_directory() / 'config' / 'calibration.yaml'
    settings = from_mapping(CalibrationSettings, read_yaml(path), str(path))
    return replace(settings, cutoff=options.cutoff) if options.cutoff else settings
