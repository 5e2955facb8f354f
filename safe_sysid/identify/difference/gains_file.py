"""A file of drive gains: what calibrate-gains writes and identify reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import read_yaml, yaml_text
from safe_sysid.errors import ConfigError
from safe_sysid.model.arm import Arm
from safe_sysid.output_file import write_text

VERSION = 1


@dataclass(frozen=True, eq=False)
class KnownGains:
    """Torque per unit of effort [N m], sign included, and the covariance of its logarithm."""

    joints: tuple[str, ...]
    gain: Array  # (n,)
    log_covariance: Array  # (n, n)

    def of(self, arm: Arm) -> Arm:
        """Return the arm with these in place of sign and scale of its settings."""
        sensors = replace(
            arm.model.sensors, effort_sign=np.sign(self.gain), effort_scale=np.abs(self.gain)
        )
        return replace(arm, model=replace(arm.model, sensors=sensors))

    def write(self, path: Path, origin: dict[str, Any]) -> None:
        """Write the file, with where the gains are from."""
        deviation = np.abs(self.gain) * np.sqrt(np.diag(self.log_covariance))
        joints = {
            name: {
                'effort_sign': int(np.sign(g)),
                'effort_scale': float(abs(g)),
                'deviation': float(d),
            }
            for name, g, d in zip(self.joints, self.gain, deviation, strict=True)
        }
        content = {
            'version': VERSION,
            **origin,
            'joints': joints,
            'log_covariance': self.log_covariance.tolist(),
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, yaml_text(content))


def read_gains(path: Path, joints: tuple[str, ...]) -> KnownGains:
    """Read gains of these joints, or say why the file is not about them."""
    content = read_yaml(path)
    if content.get('version') != VERSION:
        raise ConfigError(f'{path}: version is {content.get("version")}, it has to be {VERSION}')
    given = content.get('joints')
    if not isinstance(given, dict) or set(given) != set(joints):
        raise ConfigError(f'{path} has gains of {list(given or ())}; the arm has {list(joints)}')
    try:
        gain = np.array(
            [given[j]['effort_sign'] * given[j]['effort_scale'] for j in joints], float
        )
        order = [list(given).index(j) for j in joints]
        covariance = np.array(content['log_covariance'], float)[np.ix_(order, order)]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ConfigError(f'{path} is not a file of calibrate-gains ({error!r})') from error
    sound = np.isfinite(gain).all() and np.isfinite(covariance).all() and np.all(gain != 0.0)
    if not sound or np.any(np.linalg.eigvalsh(covariance) < -1e-12):
        raise ConfigError(f'{path}: a gain is 0 or not finite, or the covariance is none')
    return KnownGains(joints, gain, covariance)
