"""Friction of an arm as its empty recordings tell it: the promise that calibration leaves.

ARM.promise.yaml has two kinds of intervals of Coulomb and viscous friction. Statistical: so many
of 1000 repetitions of such recordings give intervals that contain what the arm has. Guaranteed:
they contain it if no block's spectrum of model error is so many times larger than the largest
seen. The loop takes those by itself where they are, the statistical ones by name only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from safe_sysid.errors import ConfigError
from safe_sysid.model.arm import Arm, arm_of
from safe_sysid.model.promise_file import (
    friction_left_out,
    not_written_by_us,
    promise_file,
    promised_arm,
    read_promise_file,
    recording_names,
)
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.uncertainty import Uncertainty, Width

KINDS = {'coulomb': 'Fc', 'viscous': 'Fv'}


@dataclass(frozen=True)
class PromisedFriction:
    """Widths about the figures of an arm's settings, and what they rest on."""

    widths: Uncertainty  # of the kinds that every joint has an interval of
    sentence: str

    def of(self, model: RobotModel) -> RobotModel:
        """Return the arm with these widths in place of those of its file."""
        return replace(model, uncertainty=self.widths.over(model.uncertainty))


def friction_of_loop(robot: str, kind: str) -> PromisedFriction | None:
    """Read what a loop takes of the promise beside the arm that its file names, if anything."""
    if kind == 'none':
        return None
    arm = arm_of(robot, None) if kind == 'statistical' else promised_arm(robot)
    return None if arm is None else promised_friction(arm, kind)


def promised_friction(arm: Arm, kind: str) -> PromisedFriction | None:
    """Read the promise beside the URDF of an arm, or say why there is none to rely on.

    What is not asked for by name may be missing, and is left out where it is not for the loop.
    """
    path = promise_file(arm.urdf)
    if kind == 'none' or (kind == 'guaranteed' and not path.exists()):
        return None
    if not path.exists():
        raise ConfigError(
            f'there is no {path}: safe-sysid calibrate writes it beside the arm; without it give '
            '`promise: none` and state widths of friction'
        )
    content = read_promise_file(arm)
    try:
        return (_guaranteed if kind == 'guaranteed' else _statistical)(content, path, arm)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise not_written_by_us(path, error) from error


def _guaranteed(content: dict[str, Any], path: Path, arm: Arm) -> PromisedFriction:
    """Return what holds for the largest errors seen, or only the reason why it is left out."""
    given = content['friction'].get('guaranteed')
    reason = friction_left_out(content, arm)
    if given is None:
        reason = 'it was written before it had guaranteed intervals'
    if reason is not None or given is None:
        return PromisedFriction(
            Uncertainty(), f'friction is not that of {path.name}: {reason} (promise: guaranteed)'
        )
    widths = _widths(given['intervals'], arm)
    return PromisedFriction(
        widths,
        f'{_kinds(widths)} is within the guaranteed intervals of {path.name}, for each joint, if '
        f"no block's spectrum of model error is above {given['factor']:g} times the largest seen "
        f'in {given["blocks"]} blocks of {recording_names(content)}, friction is Coulomb and '
        'viscous, and the unit of the effort is right (promise: guaranteed)',
    )


def _statistical(content: dict[str, Any], path: Path, arm: Arm) -> PromisedFriction:
    friction = content['friction']
    reason = friction_left_out(content, arm)
    if reason is not None:
        raise ConfigError(f'{path}: {reason}; give `promise: none` and state widths that cover it')
    widths = _widths(friction['intervals'], arm)
    return PromisedFriction(
        widths,
        f'{_kinds(widths)} is within the intervals of {path.name}, for each joint, in '
        f'{100 * friction["confidence"]:g} % of repetitions of its recordings '
        f'({recording_names(content)}), if the unit of their effort is right: no bound (promise: '
        'statistical)',
    )


def _widths(intervals: dict[str, Any], arm: Arm) -> Uncertainty:
    """Widths about the figures of the arm, of kinds of which every joint has an interval."""
    layout, widths = arm.model.layout, {}
    for kind, label in KINDS.items():
        ends = [intervals[name][label] for name in layout.joint_names]
        if None not in ends:
            figure = arm.model.theta[layout.joint_entries(label)][:, None]
            widths[kind] = Width((0.0,), tuple(np.abs(np.array(ends) - figure).max(axis=1)))
    return Uncertainty(**widths)


def _kinds(widths: Uncertainty) -> str:
    found = [kind for kind in KINDS if getattr(widths, kind) is not None]
    return ' and '.join(f'{kind} friction' for kind in found) or 'no friction'
