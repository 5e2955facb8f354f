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
SILENT = 1e-6  # of the size of a column at random states: below, it is rounding
UNDETECTABLE = 1e-6  # entry of a change that no torque shows


@dataclass(frozen=True, eq=False)
class Separability:
    """What can be said of each column."""

    alone: AnyArray  # (p,) bool: a figure of its own
    groups: tuple[tuple[str, ...], ...]  # parameters of which the data only give a combination
    condition: float  # of the base columns, each of length 1
    silent: tuple[str, ...] = ()  # parameters that have no part in any torque of this motion

    def sentences(self) -> list[str]:
        """One for each group, and one for what is silent."""
        said = [
            f'{" and ".join(group)} can not be separated by this motion: only a combination of '
            'them is known'
            for group in self.groups
        ]
        if self.silent:
            said.append(f'nothing of this motion depends on {", ".join(self.silent)}')
        return said


def silent_columns(Y: Array, usual: Array) -> AnyArray:
    """Columns (p,) of rows (N, n, p) that are rounding beside what they are in rows as usual."""
    size = np.sqrt(np.mean(Y**2, axis=(0, 1)))
    silent: AnyArray = size <= SILENT * np.sqrt(np.mean(usual**2, axis=(0, 1)))
    return silent


def separability(
    data: Compressed, base: BaseParameters, labels: tuple[str, ...], silent: AnyArray
) -> Separability:
    """Directions of the base parameters that the rows hardly show, by name.

    Columns that are `silent` (p,) are 0 in the rows: none of their parameters is known.
    """
    shown = base.columns[~silent[base.columns]]
    unseen = tuple(labels[i] for i in base.columns[silent[base.columns]])
    vague: AnyArray = np.abs(base.undetectable).max(axis=1, initial=0.0) > UNDETECTABLE
    vague |= silent
    if not shown.size:
        return Separability(~vague, (), np.inf, unseen)
    rows = data.R[:, shown]
    norms = np.linalg.norm(rows, axis=0)
    norms[norms == 0.0] = 1.0
    _, singular, directions = scipy.linalg.svd(
        rows / norms, full_matrices=False, lapack_driver='gesvd'
    )
    weak = singular < LEAST * singular[0]
    parts = [shown[np.abs(direction) > PART] for direction in directions[weak]]
    for part in parts:
        vague[part] = True
    groups = dict.fromkeys(tuple(labels[i] for i in part) for part in parts)
    largest, least = float(singular[0]), float(singular[-1])
    return Separability(~vague, tuple(groups), largest / least if least > 0.0 else np.inf, unseen)
