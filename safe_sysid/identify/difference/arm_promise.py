"""What empty recordings say of an arm, as files beside it: what is identified later reads them.

ARM.promise.npz keeps the recordings themselves, evenly sampled: rows at any cut-off follow from
them, so a payload found with the file is the one found with the recordings. ARM.promise.yaml says
for people and programs what they are worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.config import read_yaml, yaml_text
from safe_sysid.errors import ConfigError
from safe_sysid.identify.difference.arm_evidence import ArmEvidence
from safe_sysid.identify.difference.friction_choice import FrictionChoice
from safe_sysid.identify.difference.friction_terms import FrictionTerms
from safe_sysid.identify.difference.gains_file import KnownGains
from safe_sysid.model.arm import Arm
from safe_sysid.model.promise_file import changed_urdf, check_size, written_by_us
from safe_sysid.output_file import new_file, write_text

VERSION = 1


@dataclass(frozen=True, eq=False)
class EmptyRecording:
    """A recording of the empty arm: pieces without gaps, torque in N m."""

    name: str
    sha256: str  # of the file that it is from
    logs: list[EvenLog]


@dataclass(frozen=True, eq=False)
class ArmPromise:
    """Empty recordings of an arm, and the friction that they ask for."""

    path: Path
    recordings: list[EmptyRecording]
    friction: FrictionChoice
    gains: KnownGains | None  # that a known mass has told, of the unit the arm has now


def sha256_of(path: Path) -> str:
    """Digest of a file, or of all files of a folder in their order."""
    files = sorted(x for x in path.rglob('*') if x.is_file()) if path.is_dir() else [path]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def write_promise(
    path: Path,
    arm: Arm,
    recordings: Sequence[EmptyRecording],
    evidence: ArmEvidence,
    gains: KnownGains | None = None,
) -> None:
    """Write both files beside the arm's URDF, whose digest is in them."""
    arrays: dict[str, Array] = dict(evidence.arrays())
    for i, recording in enumerate(recordings):
        for k, log in enumerate(recording.logs):
            place = f'recording_{i}_{k}'
            arrays |= {f'{place}_q': log.q, f'{place}_tau': log.tau}
            arrays[f'{place}_rate_begin'] = np.array([log.rate, log.begin])
    sensors = arm.model.sensors
    content = {
        'version': VERSION,
        'arm': {
            'urdf_sha256': sha256_of(arm.urdf),
            'joints': list(arm.model.layout.joint_names),
            'effort_sign': sensors.effort_sign.tolist(),
            'effort_scale': sensors.effort_scale.tolist(),
        },
        'gain_log_covariance': None if gains is None else gains.log_covariance.tolist(),
        'recordings': [
            {
                'name': recording.name,
                'sha256': recording.sha256,
                'pieces': len(recording.logs),
                'seconds': float(sum(log.seconds for log in recording.logs)),
                'rate_hz': float(recording.logs[0].rate),
            }
            for recording in recordings
        ],
        **evidence.as_mapping(),
    }
    with new_file(path) as part, part.open('wb') as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    content['arrays_sha256'] = sha256_of(path)
    write_text(path.with_suffix('.yaml'), yaml_text(content))


def read_promise(path: Path, arm: Arm) -> ArmPromise:
    """Read empty recordings of this arm, or say why the file is not about it."""
    with written_by_us(path.with_suffix('.yaml')):
        return _read(path, arm)


def _read(path: Path, arm: Arm) -> ArmPromise:
    content = _checked(path, arm)
    given = content['arm']
    sensors = arm.model.sensors
    now = sensors.effort_sign * sensors.effort_scale
    unit = now / (np.array(given['effort_sign'], float) * np.array(given['effort_scale'], float))
    check_size(path)
    with np.load(path, allow_pickle=False) as arrays:
        recordings = [
            EmptyRecording(
                about['name'], about['sha256'],
                [_log(arrays, f'recording_{i}_{k}', unit) for k in range(about['pieces'])],
            )
            for i, about in enumerate(content['recordings'])
        ]  # fmt: skip
    covariance = content.get('gain_log_covariance')
    gains = None  # of an effort in another unit nobody has told how far it is off
    if covariance is not None and np.allclose(unit, 1.0, rtol=1e-6):
        gains = KnownGains(arm.model.layout.joint_names, now, np.array(covariance, float))
    friction = content['friction']
    tried = tuple((name, float(error)) for name, error in friction['tried'].items())
    terms = FrictionTerms(**friction['columns'])
    return ArmPromise(
        path, recordings, FrictionChoice(terms, float(friction['held_out_error']), tried), gains
    )


def _checked(path: Path, arm: Arm) -> dict[str, Any]:
    """Return what the promise says of itself, if it is of this arm and whole."""
    about = path.with_suffix('.yaml')
    content = read_yaml(about)
    if content.get('version') != VERSION:
        raise ConfigError(f'{about}: version is {content.get("version")}, it has to be {VERSION}')
    if sha256_of(path) != content.get('arrays_sha256'):
        raise ConfigError(f'{path} is not the file that {about} was written with; calibrate again')
    given = content['arm']
    names = list(arm.model.layout.joint_names)
    if given['joints'] != names:
        raise ConfigError(f'{path} is about joints {given["joints"]}; the arm has {names}')
    if given['urdf_sha256'] != sha256_of(arm.urdf):
        raise changed_urdf(path, arm)
    return content


def _log(arrays: Any, place: str, unit: Array) -> EvenLog:
    rate, begin = arrays[f'{place}_rate_begin']
    return EvenLog(float(rate), arrays[f'{place}_q'], arrays[f'{place}_tau'] * unit, float(begin))
