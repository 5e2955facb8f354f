"""How much torques can tell about a single parameter: its class."""

from __future__ import annotations

from enum import Enum

import numpy as np

from safe_sysid.identifiability.base_parameters import BaseParameters

NEGLIGIBLE = (
    1e-10  # of a coefficient of K_reg, in SI units: a micrometre of a metre, squared, is 1e-12
)


class ParameterClass(Enum):
    """How much torques can tell about one parameter."""

    ALONE = 'alone'
    COMBINED = 'combined'  # in a combination that it stands for
    NOT_SELECTED = 'not_selected'  # in combinations that others stand for
    NONE = 'none'
    KNOWN = 'known'  # not asked for

    @property
    def symbol(self) -> str:
        """Sign of this class in a table."""
        return SYMBOLS[self]


SYMBOLS = {
    ParameterClass.ALONE: '★',
    ParameterClass.COMBINED: '●',
    ParameterClass.NOT_SELECTED: '○',
    ParameterClass.NONE: '×',
    ParameterClass.KNOWN: '=',
}
MEANINGS = {
    ParameterClass.ALONE: 'identifiable alone',
    ParameterClass.COMBINED: 'in a combination it stands for',
    ParameterClass.NOT_SELECTED: 'in combinations of others',
    ParameterClass.NONE: 'no effect on any torque',
    ParameterClass.KNOWN: 'known from elsewhere',
}


def classes_of(base: BaseParameters) -> tuple[ParameterClass, ...]:
    """Class of every parameter; coefficients are compared with NEGLIGIBLE."""
    shared = np.abs(base.regrouping) > NEGLIGIBLE
    mixed = shared.sum(axis=1) > 1
    found = []
    row_of = {int(column): row for row, column in enumerate(base.columns)}
    for k in range(shared.shape[1]):
        if not shared[:, k].any():
            found.append(ParameterClass.NONE)
        elif k not in row_of:
            found.append(ParameterClass.NOT_SELECTED)
        else:
            found.append(ParameterClass.COMBINED if mixed[row_of[k]] else ParameterClass.ALONE)
    return tuple(found)
