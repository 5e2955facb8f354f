"""Separability: which parameters a recording tells apart, and which only together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.calibrate.compressed import Compressed
from safe_sysid.identifiability.base_parameters import BaseParameters

LEAST = 1e-3  # of the largest singular value, columns of length 1: below, noise decides
PART = 0.2  # of a direction; smaller entries do not name a parameter of it
UNDETECTABLE = 1e-6  # entry of a change that no torque shows


@dataclass(frozen=True, eq=False)
class Separability:
    """What can be said of each column."""

    alone: AnyArray  # (p,) bool: a figure of its own
    groups: tuple[tuple[str, ...], ...]  # parameters of which the data only give a combination
    condition: float  # of the base columns, each of length 1

    def sentences(self) -> list[str]:
        """One for each group."""
        return [
            f'{" and ".join(group)} can not be separated by this motion: only a combination of '
            'them is known'
            for group in self.groups
        ]


def separability(data: Compressed, base: BaseParameters, labels: tuple[str, ...]) -> Separability:
    """Directions of the base parameters that the rows hardly show, by name."""
    rows = data.R[:, base.columns]
    norms = np.linalg.norm(rows, axis=0)
    norms[norms == 0.0] = 1.0
    _, singular, directions = scipy.linalg.svd(
        rows / norms, full_matrices=False, lapack_driver='gesvd'
    )
    weak = singular < LEAST * singular[0]
    vague: AnyArray = np.abs(base.undetectable).max(axis=1, initial=0.0) > UNDETECTABLE
    groups = [_named(direction, base, labels) for direction in directions[weak]]
    for direction in directions[weak]:
        vague[base.columns[np.abs(direction) > PART]] = True
    largest, least = float(singular[0]), float(singular[-1])
    return Separability(
        ~vague, tuple(dict.fromkeys(groups)), largest / least if least > 0.0 else np.inf
    )


def _named(direction: Array, base: BaseParameters, labels: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(labels[base.columns[i]] for i in np.flatnonzero(np.abs(direction) > PART))
