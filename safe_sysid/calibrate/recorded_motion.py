"""Recordings as even pieces of motion in joint torque, which is what a fit takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.even_recording import even_recording
from safe_sysid.calibrate.unit_findings import remarks_on_units
from safe_sysid.errors import ConfigError
from safe_sysid.measure.dead_channels import check_efforts
from safe_sysid.measure.recording_choice import RecordingChoice, recording_of_choice
from safe_sysid.model.arm import Arm
from safe_sysid.model.tree import JointLimits


@dataclass(frozen=True, eq=False)
class Recorded:
    """Even pieces of some recordings, and what their readers remarked."""

    recordings: list[list[EvenLog]]
    remarks: tuple[str, ...]

    @property
    def logs(self) -> list[EvenLog]:
        """Pieces of all of them."""
        return [log for logs in self.recordings for log in logs]

    @property
    def seconds(self) -> float:
        """Length of all pieces [s]."""
        return sum(log.seconds for log in self.logs)


def recorded(choices: Sequence[RecordingChoice], arm: Arm) -> Recorded:
    """Return logs of several recordings in joint torque [N m], joints in the order of the arm.

    Joints without a motor need not be in a recording, and are left out of the logs.
    """
    if not arm.facts.effort.gravity_included:
        raise ConfigError(
            f'{arm.model.name}: its effort signal does not contain gravity; a calibration needs '
            'the whole torque'
        )
    driven = np.flatnonzero(arm.model.limits.torque > 0.0)
    names = tuple(arm.model.layout.joint_names[i] for i in driven)
    sensors = arm.model.sensors
    limits = JointLimits(*(each[driven] for each in vars(arm.model.limits).values()))
    recordings: list[list[EvenLog]] = []
    remarks = []
    for choice in choices:
        recording = recording_of_choice(choice, names, sensors.torque_per_unit[driven])
        check_efforts(str(choice.path), recording.effort, recording.position)
        units = remarks_on_units(recording, limits)
        logs = even_recording(
            recording,
            sensors.effort_sign[driven],
            sensors.effort_scale[driven],
            limits.is_continuous,
        )
        recordings.append(logs)
        remarks += [
            f'{choice.path.name}: {x}'
            for x in (*recording.timing.sentences(), *recording.remarks, *units)
        ]
    return Recorded(recordings, tuple(remarks))
