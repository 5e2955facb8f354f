"""What empty recordings of an arm tell of its links: rows over all of theta, each with its error.

Torques tell combinations of masses, so no link has an interval of its own. `calibrate` keeps the
rows that bind most, and `promise: guaranteed` gives them to the identifier:

    |Y theta - tau| <= delta

for theta with the last body as it was then, if no block's spectrum of model error is so many times
larger than the largest seen. `promise: statistical` takes friction only: deviations are no bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.errors import ConfigError
from safe_sysid.model.arm import Arm
from safe_sysid.model.promise_file import (
    check_size,
    left_out,
    promise_file,
    promised_arm,
    read_promise_file,
    recording_names,
    written_by_us,
)
from safe_sysid.sets.interval import Interval

MOST = 1e9  # of any entry: masses, lengths and speeds of no arm make more of it
PER_JOINT = 14  # entries of theta
ARRAYS = ('Y', 'tau', 'delta', 'rounding', 'joint')  # names in ARM.promise.npz, behind `link_`


@dataclass(frozen=True, eq=False)
class LinkRows:
    """Rows of empty recordings, those that bind most first; impulses over a block."""

    Y: Array  # (m, 14 n) columns of theta
    tau: Array  # (m,) [N m s]
    delta: Array  # (m,) [N m s] bound on the error of the model
    rounding: Array  # (m, 2) error by rounding, per unit of theta and [N m s] of the torque
    joint: IntArray  # (m,) whose torque the row is about
    seconds: float  # of a block

    def __post_init__(self) -> None:
        m = len(self.tau)
        shapes = [self.Y.shape[:1], self.delta.shape, self.rounding.shape, self.joint.shape]
        if shapes != [(m,), (m,), (m, 2), (m,)] or self.Y.ndim != 2:
            raise ValueError(f'rows of links have shapes {shapes}')
        numbers = [self.Y, self.tau, self.delta, self.rounding, np.array(self.seconds)]
        if not all(x.dtype == np.float64 and np.abs(x).max(initial=0.0) < MOST for x in numbers):
            raise ValueError('rows of links have entries that are no float64 of a usual size')
        joints = self.joint.astype(np.int64) if self.joint.dtype.kind == 'i' else np.array([-1])
        if joints.min(initial=0) < 0 or joints.max(initial=0) >= self.Y.shape[1] // PER_JOINT:
            raise ValueError('rows of links are not about joints of the arm')
        if min(self.delta.min(initial=1.0), self.rounding.min(initial=0.0)) < 0.0:
            raise ValueError('rows of links have errors below 0')
        if not self.seconds > 0.0:
            raise ValueError(f'blocks of {self.seconds} s')

    def __len__(self) -> int:
        return len(self.tau)

    def first(self, count: int) -> LinkRows:
        """Return the rows that bind most."""
        return replace(self, **{name: getattr(self, name)[:count] for name in ARRAYS})


@dataclass(frozen=True, eq=False)
class CalibratedArm:
    """What is known of an arm from its calibration, for who identifies a payload."""

    rows: LinkRows
    hand: Interval  # (10,) the last body of then


@dataclass(frozen=True, eq=False)
class PromisedLinks:
    """Rows that a loop takes, or the reason why it takes none, in a sentence."""

    rows: LinkRows | None
    sentence: str

    def with_hand(self, hand: Interval) -> CalibratedArm | None:
        """Return the arm whose last body was within bounds then."""
        return None if self.rows is None else CalibratedArm(self.rows, hand)


def links_of_loop(robot: str, kind: str) -> PromisedLinks | None:
    """Read what a loop takes of the promise beside the arm that its file names, if anything."""
    arm = promised_arm(robot) if kind == 'guaranteed' else None
    return None if arm is None else promised_links(arm, kind)


def promised_links(arm: Arm, kind: str) -> PromisedLinks | None:
    """Read the rows beside the URDF of an arm; only guaranteed ones bind a loop."""
    path = promise_file(arm.urdf)
    if kind != 'guaranteed' or not path.exists():
        return None
    content = read_promise_file(arm)
    with written_by_us(path):
        return _read(content, path, arm)


def _read(content: dict[str, Any], path: Path, arm: Arm) -> PromisedLinks:
    given, arrays = content.get('links'), path.with_suffix('.npz')
    reason = left_out(content)
    if reason is None and given is None:
        reason = 'it has no rows of them (written before there were any, or of too little motion)'
    if reason is None and not arrays.exists():
        reason = f'{arrays.name} is not beside it'
    if reason is not None or given is None:
        return PromisedLinks(
            None, f'no links are taken from {path.name}: {reason} (promise: guaranteed)'
        )
    if hashlib.sha256(arrays.read_bytes()).hexdigest() != content['arrays_sha256']:
        raise ConfigError(
            f'{arrays} is not the file that {path} was written with; calibrate again'
        )
    check_size(arrays)
    with np.load(arrays, allow_pickle=False) as found:
        kept: dict[str, Any] = {name: found[f'link_{name}'] for name in ARRAYS}
    rows = LinkRows(seconds=float(given['block_s']), **kept)
    if rows.Y.shape[1] != arm.model.layout.size:
        raise ValueError(f'rows of links have {rows.Y.shape[1]} columns')
    return PromisedLinks(
        rows,
        'what is known of links is narrowed by rows of '
        f"{path.name}, if no block's spectrum of model error is above {given['factor']:g} times "
        f'the largest seen in {given["blocks"]} blocks of {recording_names(content)}, links, '
        'friction and offsets are still those of then, and the unit and the zero of the effort '
        'were as right then as torques are promised to be now (promise: guaranteed; with '
        'remembered_payloads: 0 no rows are taken)',
    )
