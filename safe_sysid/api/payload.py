"""identify_payload: from a recording to guaranteed bounds on what the arm holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, overload

from safe_sysid.api.arguments import path_from, settings_or_default, tell_or_silent
from safe_sysid.api.arms import ArmLike, load_arm
from safe_sysid.api.recordings import Recording, recording_choice, some_choices
from safe_sysid.api.shown_as_text import ShownAsText
from safe_sysid.arrays import Array
from safe_sysid.identify.from_recording import IdentifiedRecording, identify_recording
from safe_sysid.identify.identification import as_mapping, as_table
from safe_sysid.identify.payload_in_frame import Body
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.identify.replay import Progress
from safe_sysid.identify.unused_settings import (
    refuse_unused_against_empty,
    refuse_unused_alone,
)
from safe_sysid.measure.recording_choice import RecordingChoice
from safe_sysid.model.arm import Arm, check_open
from safe_sysid.model.promise_file import check_promise_beside

if TYPE_CHECKING:
    from safe_sysid.api.payload_difference import DifferenceResult
    from safe_sysid.report.html_page import Page

__all__ = ['PayloadResult', 'RecordingSettings', 'identify_payload']


@dataclass(frozen=True, eq=False)
class PayloadResult(ShownAsText):
    """Inertial parameters with guaranteed bounds, or the reason why there are none.

    Order and units of the ten parameters: m [kg], m c_x, m c_y, m c_z [kg m], Ixx, Ixy, Iyy, Ixz,
    Iyz, Izz [kg m²] about the origin of the frame of the last joint, end effector included.
    """

    recorded: IdentifiedRecording

    @property
    def nominal(self) -> Array | None:
        """Best estimate, (10,); None if `refused`."""
        return None if self.refused is not None else self.recorded.found.nominal

    @property
    def lower(self) -> Array | None:
        """Guaranteed lower bounds under `assumptions`, (10,); None if `refused`."""
        return None if self.refused is not None else self.recorded.found.bounds.lower

    @property
    def upper(self) -> Array | None:
        """Guaranteed upper bounds under `assumptions`, (10,); None if `refused`."""
        return None if self.refused is not None else self.recorded.found.bounds.upper

    @property
    def payload(self) -> Body | None:
        """The same without the arm's own last link, in the frame of the flange."""
        return self.recorded.found.payload

    @property
    def refused(self) -> str | None:
        """Why no bounds can be given; None where they are given."""
        return self.recorded.found.refused

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Everything the bounds rest on, in sentences with figures."""
        return self.recorded.found.assumptions

    def as_dict(self) -> dict[str, Any]:
        """Return everything in the types of JSON."""
        return as_mapping(self.recorded.found)

    def export(
        self,
        form: str,
        path: str | PathLike[str],
        undetermined: Literal['refuse', 'compact'] = 'refuse',
    ) -> None:
        """Write the payload for a controller or simulator.

        Args:
            form: urdf, mjcf, ur, franka, kuka or abb.
            path: of the file.
            undetermined: what becomes of values that the motion has not determined: `refuse`
                leaves the inertia out where the format can do without (ur) and raises elsewhere;
                `compact` writes those of a compact body, and marks them.

        Raises:
            ConfigError: there are no bounds, or the format needs what is not determined.

        """
        from safe_sysid.export.payload import written

        found, arm = self.recorded.found, self.recorded.problem.arm
        written(form, path_from(path), found, arm, undetermined)

    def undetermined(self, form: str) -> list[str]:
        """Names of what a file of this format would say although the motion does not tell."""
        from safe_sysid.export.payload import undetermined

        return undetermined(form, self.recorded.found)

    def report(self, path: str | PathLike[str]) -> None:
        """Write a page (HTML) with bounds over time, held-out torque and assumptions."""
        from safe_sysid.report.html_page import write_page

        write_page(path_from(path), self._page())

    def figures(self, folder: str | PathLike[str]) -> None:
        """Write the plots of that page as PNG and SVG."""
        from safe_sysid.report.page_figures import write_figures

        write_figures(path_from(folder), self._page())

    def _page(self) -> Page:
        from safe_sysid.report.identification_page import evidence_of, identification_page

        return identification_page(self.recorded.found, evidence_of(self.recorded))

    def __str__(self) -> str:
        return as_table(self.recorded.found)


@overload
def identify_payload(
    recording: Recording,
    arm: ArmLike,
    settings: RecordingSettings | None = None,
    progress: Progress | None = None,
) -> PayloadResult: ...


@overload
def identify_payload(
    recording: Recording,
    arm: ArmLike,
    settings: RecordingSettings | None = None,
    progress: Progress | None = None,
    *,
    empty: Recording | Iterable[Recording],
) -> DifferenceResult: ...


def identify_payload(
    recording: Recording,
    arm: ArmLike,
    settings: RecordingSettings | None = None,
    progress: Progress | None = None,
    *,
    empty: Recording | Iterable[Recording] | None = None,
) -> PayloadResult | DifferenceResult:
    """Identify what an arm holds from a recording of its motion.

    Args:
        recording: folder of a bag, a `.db3`, `.mcap` or `.csv` file; a `RecordingChoice` says
            how joints, topics and columns are called where their names differ from the URDF's.
        arm: what `load_arm` returns or takes.
        settings: what is known before and how wrong measurements may be; what is left open has
            defaults that the result prints among its assumptions.
        progress: called with the share done (0 to 1) and a sentence.
        empty: recordings of the same arm without the payload. The arm is then unknown, and the
            payload is what differs; nothing need be known of links and friction.

    Returns:
        Nominal values and guaranteed bounds, or why they are refused; print it for a table. With
        empty recordings a `DifferenceResult`, with a statistical interval beside it.

    Raises:
        MeasurementError, ConfigError: the recording cannot be read or does not fit the arm,
            `settings` state what counts only with empty recordings, or only without, or the URDF
            of the arm has changed since it was calibrated.

    """
    known = settings_or_default(settings, RecordingSettings)
    tell = tell_or_silent('progress', progress)
    choice = recording_choice(recording)
    without = None if empty is None else some_choices('empty', empty)
    loaded = load_arm(arm)
    check_open(loaded, 'identify')
    if without is not None:
        return _against_empty(choice, loaded, known, tell, without)
    refuse_unused_alone(known)
    check_promise_beside(loaded)
    return PayloadResult(identify_recording(loaded, choice, known, tell))


def _against_empty(
    choice: RecordingChoice,
    arm: Arm,
    settings: RecordingSettings,
    progress: Progress,
    empty: Sequence[RecordingChoice],
) -> DifferenceResult:
    """Identify from what differs from recordings without the payload."""
    from safe_sysid.api.payload_difference import DifferenceResult
    from safe_sysid.identify.difference.from_other_files import (
        identify_from_poses,
        identify_from_sensor,
    )
    from safe_sysid.identify.difference.from_recordings import identify_difference

    refuse_unused_against_empty(settings, choice)
    identify = identify_difference if settings.sensor is None else identify_from_sensor
    if settings.poses:
        identify = identify_from_poses
    return DifferenceResult(identify(arm, choice, list(empty), settings, progress))
