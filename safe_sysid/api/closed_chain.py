"""calibrate_closed_chain: from recordings of a robot with loops to friction, rotors and bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from os import PathLike
from typing import Any

from safe_sysid.api.arguments import path_from, settings_or_default, tell_or_silent
from safe_sysid.api.arms import ArmLike, load_arm
from safe_sysid.api.recordings import Recording, recording_choices, some_choices
from safe_sysid.api.shown_as_text import ShownAsText
from safe_sysid.calibrate.closed_chain_calibration import ClosedChainCalibration, calibrated
from safe_sysid.calibrate.recorded_motion import recorded
from safe_sysid.calibrate.settings import ClosedChainSettings
from safe_sysid.errors import ConfigError
from safe_sysid.model.arm import Arm
from safe_sysid.model.closed_chain.chain import ClosedChain
from safe_sysid.output_file import write_text
from safe_sysid.report.closed_chain_page import as_mapping, as_page, html_page


@dataclass(frozen=True, eq=False)
class ClosedChainResult(ShownAsText):
    """Fitted parameters of a robot with loops, and how well they predict what was held out."""

    arm: Arm  # as it was described before
    chain: ClosedChain
    found: ClosedChainCalibration

    @property
    def relative_error(self) -> float:
        """Error of the predicted held-out torque (low-pass filtered) as a share of that torque."""
        return float(self.found.identified.relative)

    def as_dict(self) -> dict[str, Any]:
        """Return everything in the types of JSON."""
        return as_mapping(self.chain, self.found)

    def export(self, folder: str | PathLike[str]) -> None:
        """Write settings (YAML) and URDF of the calibrated robot."""
        from safe_sysid.export.calibrated_arm import write_closed_chain_arm
        from safe_sysid.export.replaced_urdf import check_calibration_may_replace

        check_calibration_may_replace(path_from(folder), self.arm)
        path_from(folder).mkdir(parents=True, exist_ok=True)
        write_closed_chain_arm(path_from(folder), self.arm, self.found.fit)

    def report(self, folder: str | PathLike[str]) -> None:
        """Write the report (Markdown and HTML)."""
        from safe_sysid.report.html_page import write_page

        place = path_from(folder)
        place.mkdir(parents=True, exist_ok=True)
        write_text(place / 'report.md', str(self))
        write_page(place / 'report.html', html_page(str(self), self.found))

    def __str__(self) -> str:
        return as_page(self.chain, self.found)


def calibrate_closed_chain(
    recordings: Recording | Iterable[Recording],
    arm: ArmLike,
    validate: Recording | Iterable[Recording] = (),
    settings: ClosedChainSettings | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> ClosedChainResult:
    """Identify friction, rotor inertias and, on request, bodies of a robot with closed loops.

    Args:
        recordings: motions of the robot, see `identify_payload`.
        arm: what `load_arm` returns or takes; its settings describe the loops.
        validate: recordings that judge the fit; without any, the end of each is held out.
        settings: choices of the fit, such as whose parameters are identified.
        progress: called with the share done (0 to 1) and a sentence.

    Returns:
        Parameters with their uncertainty, physically consistent; print it for a report.

    Raises:
        ConfigError: the robot has no loops.
        MeasurementError, ConfigError: a recording cannot be read or does not fit the robot.

    """
    chosen = settings_or_default(settings, ClosedChainSettings)
    loaded, tell = load_arm(arm), tell_or_silent('progress', progress)
    if loaded.facts.closed_chain is None:
        raise ConfigError(
            f'{loaded.model.name} has no loops; its settings would say so under closed_chain'
        )
    if loaded.model.sensors.sensing.torque.sensor == 'link':
        raise ConfigError(
            f'{loaded.model.name}: its torques are measured behind the gears '
            '(sensing.torque.sensor is link) and show neither friction nor rotor inertia of '
            'motors, which is what --loops identifies; it has to be motor or command'
        )
    tell(0.1, 'reading')
    judging = recording_choices('validate', validate)
    fitted = recorded(some_choices('recordings', recordings), loaded)
    judged = recorded(judging, loaded)
    tell(0.3, f'{fitted.seconds:.0f} s')
    chain = ClosedChain(loaded.model, loaded.facts.closed_chain)
    found = calibrated(chain, fitted, judged, chosen)
    return ClosedChainResult(loaded, chain, found)
