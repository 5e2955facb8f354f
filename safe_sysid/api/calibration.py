"""calibrate_arm: from recordings of an empty arm to its parameters, friction and offsets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from safe_sysid.api.arguments import path_from, settings_or_default, tell_or_silent
from safe_sysid.api.arms import ArmLike, load_arm
from safe_sysid.api.recordings import Recording, recording_choices, some_choices
from safe_sysid.api.shown_as_text import ShownAsText
from safe_sysid.calibrate.calibration import Calibration, calibrate
from safe_sysid.calibrate.effort_check import EffortError
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.recorded_motion import recorded
from safe_sysid.calibrate.settings import CalibrationSettings, calibration_settings
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.difference.arm_promise import EmptyRecording, sha256_of
from safe_sysid.identify.difference.gains_file import KnownGains, read_gains
from safe_sysid.model.arm import Arm
from safe_sysid.output_file import write_text
from safe_sysid.report.calibrate_page import as_mapping, as_page, html_page, late_torque


@dataclass(frozen=True, eq=False)
class CalibrationResult(ShownAsText):
    """Fitted parameters of an arm, and how well they predict what was held out."""

    arm: Arm  # as it was described before
    found: Calibration
    judged: EvenLog  # recording, or its end, that judged the fit
    remarks: tuple[str, ...]  # about the recordings
    recordings: tuple[EmptyRecording, ...]  # of the empty arm, for what is identified with it
    gains: KnownGains | None = None  # of its drives, that a known mass has told

    @property
    def refused(self) -> str | None:
        """Why these figures must not be used; None where they may."""
        return self.found.refused

    @property
    def relative_error(self) -> float:
        """Error of the predicted held-out torque (low-pass filtered) as a share of that torque."""
        return float(self.found.validation.relative)

    def as_dict(self) -> dict[str, Any]:
        """Return everything in the types of JSON."""
        return as_mapping(self.arm.model, self.found)

    def export(self, folder: str | PathLike[str]) -> str | None:
        """Write settings (YAML), URDF and MJCF of the calibrated arm, unless it is refused.

        Beside them stand the recordings with what they are worth (`.promise.npz`, `.yaml`), from
        which `identify` compares a payload with the empty arm. Returns which terms of friction
        the recordings ask for and whether torques come late, or why these are missing. A URDF
        in the folder that the arm is not read from and that was not written here is not replaced.
        """
        from safe_sysid.export.calibrated_arm import write_calibrated_arm
        from safe_sysid.export.replaced_urdf import check_calibration_may_replace

        check_calibration_may_replace(path_from(folder), self.arm)
        path_from(folder).mkdir(parents=True, exist_ok=True)
        write_calibrated_arm(path_from(folder), self.arm, self.found)
        return None if self.found.refused is not None else self._write_promise(path_from(folder))

    def _write_promise(self, folder: Path) -> str:
        from safe_sysid.identify.difference.arm_evidence import arm_evidence
        from safe_sysid.identify.difference.arm_promise import write_promise
        from safe_sysid.model.promise_file import promise_file, promise_path

        urdf = folder / f'{self.arm.model.name}.urdf'
        path = promise_path(urdf)
        for old in (path, promise_file(urdf)):
            old.unlink(missing_ok=True)
        try:
            evidence = arm_evidence(self.arm.model, [each.logs for each in self.recordings])
        except MeasurementError as error:
            return f'{path} is not written: {error}'
        arm = replace(self.arm, urdf=urdf)
        write_promise(path, arm, self.recordings, evidence, self.gains)
        friction, delay = str(evidence.empty.friction), evidence.empty.delay
        stated = self.found.settings.torque_delay
        if not delay.contradicts(stated):
            return friction
        return f'{friction}\n\n{late_torque(delay.seconds, delay.deviation, stated)}'

    def report(self, folder: str | PathLike[str], friction: str | None = None) -> str:
        """Write the report (Markdown and HTML) and plots of held-out torques; return its text.

        Args:
            folder: where to.
            friction: what `export` returned, as evidence for terms of friction.

        """
        from safe_sysid.report.html_page import write_page
        from safe_sysid.report.torque_plots import draw_torques, torque_plots

        place = path_from(folder)
        place.mkdir(parents=True, exist_ok=True)
        text = str(self)
        if friction is not None:
            text += f'\n## Terms of friction beside these, for payloads\n\n{friction}\n'
        write_text(place / 'report.md', text)
        plots = torque_plots(self.arm.model, self.found, self.judged)
        write_page(place / 'report.html', html_page(text, self.found, plots))
        draw_torques(place, plots)
        return text

    def __str__(self) -> str:
        return as_page(self.arm.model, self.found, self.remarks)


def calibrate_arm(
    recordings: Recording | Iterable[Recording],
    arm: ArmLike,
    validate: Recording | Iterable[Recording] = (),
    settings: CalibrationSettings | None = None,
    progress: Callable[[float, str], None] | None = None,
    gains: str | PathLike[str] | None = None,
) -> CalibrationResult:
    """Identify inertias, friction, rotor inertias and torque offsets of a whole arm.

    Args:
        recordings: motions of the arm with nothing in its hand, see `identify_payload`.
        arm: what `load_arm` returns or takes; its kinematics count as known.
        validate: recordings that judge the fit; without any, the end of each is held out.
        settings: choices of the fit; default: `config/calibration.yaml`.
        progress: called with the share done (0 to 1) and a sentence.
        gains: file of calibrate-gains, in place of sign and scale of the arm's settings. Payloads
            that are found with the calibrated arm count its deviations.

    Returns:
        Parameters with their uncertainty, physically consistent; print it for a report.

    Raises:
        EffortError: signs, order or scale of the torques contradict the arm's description.
        MeasurementError, ConfigError: a recording cannot be read or does not fit the arm.

    """
    chosen = settings_or_default(settings, CalibrationSettings, calibration_settings)
    loaded, tell = load_arm(arm), tell_or_silent('progress', progress)
    known = (
        None if gains is None else read_gains(path_from(gains), loaded.model.layout.joint_names)
    )
    loaded = loaded if known is None else known.of(loaded)
    tell(0.1, 'reading')
    choices = some_choices('recordings', recordings)
    judging = recording_choices('validate', validate)
    fitted, judged = recorded(choices, loaded), recorded(judging, loaded)
    remarks = fitted.remarks + judged.remarks
    tell(0.3, f'{fitted.seconds:.0f} s')
    try:
        found = calibrate(loaded.model, fitted.logs, judged.logs, chosen)
    except EffortError as error:
        raise error.about(remarks) from error
    empty = tuple(
        EmptyRecording(choice.path.name, sha256_of(choice.path), logs)
        for choice, logs in zip(
            choices + judging, fitted.recordings + judged.recordings, strict=True
        )
    )
    judge = (judged.logs or fitted.logs)[-1].in_time(chosen.torque_delay)
    return CalibrationResult(loaded, found, judge, remarks, empty, known)
