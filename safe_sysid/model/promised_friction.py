"""Friction of an arm as its empty recordings tell it: the promise that calibration leaves.

ARM.promise.yaml has two kinds of intervals of Coulomb and viscous friction. Statistical: so many
of 1000 repetitions of such recordings give intervals that contain what the arm has. Guaranteed:
they contain it if no block's spectrum of model error is so many times larger than the largest
seen. The loop takes those by itself where they are, the statistical ones by name only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from safe_sysid.config import read_yaml
from safe_sysid.errors import ConfigError
from safe_sysid.model.arm import Arm, arm_of
from safe_sysid.model.facts import facts_path, read_facts, urdf_path
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.uncertainty import Uncertainty, Width

VERSION = 1
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
    config = Path(robot) if Path(robot).suffix in ('.yaml', '.yml') else facts_path(robot)
    is_asked = kind == 'statistical'
    if kind == 'none' or not (is_asked or _beside(urdf_path(config, read_facts(config))).exists()):
        return None
    return promised_friction(arm_of(robot, None), kind)


def promised_friction(arm: Arm, kind: str) -> PromisedFriction | None:
    """Read the promise beside the URDF of an arm, or say why there is none to rely on.

    What is not asked for by name may be missing, and is left out where it is not for the loop.
    """
    path = _beside(arm.urdf)
    if kind == 'none' or (kind == 'guaranteed' and not path.exists()):
        return None
    if not path.exists():
        raise ConfigError(
            f'there is no {path}: safe-sysid calibrate writes it beside the arm; without it give '
            '`promise: none` and state widths of friction'
        )
    content = read_yaml(path)
    try:
        _check(content, path, arm)
        return (_guaranteed if kind == 'guaranteed' else _statistical)(content, path, arm)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(f'{path} is not what calibrate has written ({error!r})') from error


def _beside(urdf: Path) -> Path:
    return urdf.with_name(f'{urdf.stem}.promise.yaml')


def _guaranteed(content: dict[str, Any], path: Path, arm: Arm) -> PromisedFriction:
    """Return what holds for the largest errors seen, or only the reason why it is left out."""
    given = content['friction'].get('guaranteed')
    reason = _left_out(content)
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
        f'in {given["blocks"]} blocks of {_names(content)}, friction is Coulomb and viscous, '
        'and the unit of the effort is right (promise: guaranteed)',
    )


def _statistical(content: dict[str, Any], path: Path, arm: Arm) -> PromisedFriction:
    friction = content['friction']
    reason = _left_out(content)
    if reason is not None:
        raise ConfigError(f'{path}: {reason}; give `promise: none` and state widths that cover it')
    widths = _widths(friction['intervals'], arm)
    return PromisedFriction(
        widths,
        f'{_kinds(widths)} is within the intervals of {path.name}, for each joint, in '
        f'{100 * friction["confidence"]:g} % of repetitions of its recordings '
        f'({_names(content)}), if the unit of their effort is right: no bound (promise: '
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


def _names(content: dict[str, Any]) -> str:
    return ', '.join(about['name'] for about in content['recordings'])


def _left_out(content: dict[str, Any]) -> str | None:
    """Return what of the recordings a loop cannot take: friction or a unit that it has not."""
    terms = ', '.join(content['friction']['terms'])
    if terms:
        return f'the recordings ask for {terms} friction, which the loop does not have'
    if content.get('gain_log_covariance') is not None:
        return 'the unit of the effort is known with a deviation, which its intervals leave out'
    return None


def _check(content: dict[str, Any], path: Path, arm: Arm) -> None:
    """Refuse the promise of another arm."""
    given, sensors = content.get('arm', {}), arm.model.sensors
    if content.get('version') != VERSION or 'confidence' not in content.get('friction', {}):
        raise ConfigError(f'{path} was written by another version: calibrate again')
    names = list(arm.model.layout.joint_names)
    if given['joints'] != names:
        raise ConfigError(f'{path} is about joints {given["joints"]}; the arm has {names}')
    if given['urdf_sha256'] != hashlib.sha256(arm.urdf.read_bytes()).hexdigest():
        raise ConfigError(f'{arm.urdf} has changed since {path} was written: calibrate again')
    now = np.array([sensors.effort_sign, sensors.effort_scale])
    if not np.allclose(now, [given['effort_sign'], given['effort_scale']]):
        raise ConfigError(f'{path} is about another sign or scale of the effort: calibrate again')
