"""design_excitation: a motion that makes the parameters of an arm identifiable, within limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from safe_sysid.api.arguments import (
    cost_from,
    path_from,
    payload_from,
    settings_or_default,
    tell_or_silent,
)
from safe_sysid.api.arms import ArmLike, load_arm
from safe_sysid.api.shown_as_text import ShownAsText
from safe_sysid.arrays import Array
from safe_sysid.excite.contact_model import ContactModel
from safe_sysid.excite.excitation_trajectory import (
    ExcitationTrajectory,
    design_trajectory,
)
from safe_sysid.excite.multi_start import Progress as SearchProgress
from safe_sysid.excite.settings import (
    Effort,
    ExcitationAim,
    ExcitationSettings,
    settings_of,
)
from safe_sysid.model.motion_objective import MotionObjective
from safe_sysid.model.payload import Payload
from safe_sysid.report.figures_text import as_table

Watcher = Callable[[SearchProgress | ContactModel], None]


@dataclass(frozen=True, eq=False)
class ExcitationResult(ShownAsText):
    """A periodic motion at the rate at which it is commanded, and what is proven of it."""

    motion: ExcitationTrajectory

    @property
    def time(self) -> Array:
        """Times of the samples [s], (N,)."""
        return self.motion.t

    @property
    def position(self) -> Array:
        """Joint positions [rad], (N, n)."""
        return np.asarray(self.motion.states[0])

    @property
    def velocity(self) -> Array:
        """Joint velocities [rad/s], (N, n)."""
        return np.asarray(self.motion.states[1])

    @property
    def acceleration(self) -> Array:
        """Joint accelerations [rad/s²], (N, n)."""
        return np.asarray(self.motion.states[2])

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user should not overlook."""
        return self.motion.warnings

    def as_dict(self) -> dict[str, Any]:
        """Return what the motion is worth, what is proven of it, and how it was found."""
        return dict(self.motion.figures)

    def export(self, folder: str | PathLike[str]) -> list[Path]:
        """Write the motion as CSV, as JointTrajectory (YAML) and as a plot (SVG).

        Raises:
            BoundError: the motion is not proven free of contact.

        """
        from safe_sysid.export.motion import refuse_unproven

        refuse_unproven(self.motion.contact_doubts)
        return self.export_unproven(folder)

    def export_unproven(self, folder: str | PathLike[str]) -> list[Path]:
        """Write the same without that proof; the files then begin with a warning."""
        from safe_sysid.export.motion import MotionSamples, write_motion

        motion = self.motion
        doubts = motion.contact_doubts
        sampled = MotionSamples(motion.joint_names, motion.t, motion.states, doubts)
        return write_motion(path_from(folder), sampled, motion.about, unproven_contact=True)

    def report(self, path: str | PathLike[str]) -> None:
        """Write a page (HTML) with the moving arm, its limits, and what is proven."""
        from safe_sysid.report.excitation_page import excitation_page
        from safe_sysid.report.html_page import write_page

        write_page(path_from(path), excitation_page(self.motion))

    def __str__(self) -> str:
        return as_table({**self.motion.figures, 'warnings': self.motion.warnings})


def design_excitation(
    arm: ArmLike,
    payload: Payload | str | PathLike[str] | None = None,
    seconds: float = 20.0,
    aim: ExcitationAim | None = None,
    settings: ExcitationSettings | None = None,
    effort: Effort | None = None,
    watch: Watcher | None = None,
    cost: MotionObjective | None = None,
) -> ExcitationResult:
    """Design an excitation trajectory: informative, within limits, collision-free.

    Args:
        arm: what `load_arm` returns or takes.
        payload: what it holds meanwhile: a name such as `rod_tool` or a YAML file; default: what
            the settings say, such as the gripper that `new-arm --tool` was told of.
        seconds: of search [s]; the motion's own length is in `settings`.
        aim: criterion (default: condition number), and whether only the last body counts.
        settings: duration, harmonics, clearance and so on; default: `ARM_excitation.yaml` beside
            the URDF, as `new-arm` writes it, else `config/excitation.yaml`.
        effort: starts, processes and seed of the search, in place of `seconds`.
        watch: called with what is known of the shape of the arm before the search, which it may
            refuse, and with the progress of the search.
        cost: of your own, from `own_cost`, beside the criterion.

    Returns:
        The motion with its condition number and what is proven of it; print it for a table.

    Raises:
        NoMotionError: no start led to a motion that keeps every limit.

    """
    loaded = load_arm(arm)
    chosen = settings_or_default(settings, ExcitationSettings, lambda: settings_of(loaded))
    wanted = settings_or_default(aim, ExcitationAim, name='aim')
    spent = settings_or_default(effort, Effort, lambda: Effort(seconds), 'effort')
    tell = tell_or_silent('watch', watch)
    held = payload_from((chosen.payload or None) if payload is None else payload)
    found = design_trajectory(
        loaded,
        held,
        wanted,
        spent,
        chosen,
        tell,
        tell,
        cost_from(cost),
    )
    return ExcitationResult(found)
