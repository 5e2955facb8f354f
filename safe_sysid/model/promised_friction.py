"""Friction of an arm as its empty recordings tell it: the promise that calibration leaves.

ARM.promise.yaml has intervals of Coulomb and viscous friction. They are statistical: so many of
100 or 1000 repetitions of such recordings give intervals that contain what the arm has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from safe_sysid.config import read_yaml
from safe_sysid.errors import ConfigError
from safe_sysid.model.arm import Arm
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


def promised_friction(arm: Arm) -> PromisedFriction:
    """Read the promise beside the URDF of an arm, or say why there is none to rely on."""
    path = arm.urdf.with_name(f'{arm.urdf.stem}.promise.yaml')
    if not path.exists():
        raise ConfigError(
            f'there is no {path}: safe-sysid calibrate writes it beside the arm; without it give '
            '`promise: none` and state widths of friction'
        )
    content = read_yaml(path)
    try:
        return _read(content, path, arm)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(f'{path} is not what calibrate has written ({error!r})') from error


def _read(content: dict[str, Any], path: Path, arm: Arm) -> PromisedFriction:
    _check(content, path, arm)
    friction, layout = content['friction'], arm.model.layout
    widths = {}
    for kind, label in KINDS.items():
        ends = [friction['intervals'][name][label] for name in layout.joint_names]
        if None not in ends:
            figure = arm.model.theta[layout.joint_entries(label)][:, None]
            widths[kind] = Width((0.0,), tuple(np.abs(np.array(ends) - figure).max(axis=1)))
    told = ' and '.join(f'{kind} friction' for kind in widths) or 'no friction'
    recordings = ', '.join(about['name'] for about in content['recordings'])
    return PromisedFriction(
        Uncertainty(**widths),
        f'{told} is within the intervals of {path.name}, for each joint, in '
        f'{100 * friction["confidence"]:g} % of repetitions of its recordings ({recordings}), if '
        'the unit of their effort is right: no bound (promise: statistical)',
    )


def _check(content: dict[str, Any], path: Path, arm: Arm) -> None:
    """Refuse the promise of another arm, and one of friction that the loop does not know."""
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
    if content['friction']['terms']:
        terms = ', '.join(content['friction']['terms'])
        raise ConfigError(
            f'{path}: the recordings ask for {terms} friction, which the loop does not have; '
            'give `promise: none` and state widths that cover it'
        )
