"""Which friction terms an arm has, judged by parts of its empty recordings that are held out.

A term enters one at a time, and only where the held-out error falls by 2 % of itself, in nearly
all folds. The loaded recording has no part in it. Springs, gravity compensators and coupled wrists
are those of few arms, tried where friction leaves much, and taken where they explain a third.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
import itertools
from typing import Any, TypeVar

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.identify.difference.friction_terms import FrictionTerms
from safe_sysid.identify.difference.row_products import AddedColumns, JointTables
from safe_sysid.identify.difference.rows import (
    DifferenceRows,
    Stretch,
    friction_columns,
    friction_places,
    load_columns,
    rows_without_friction,
    with_friction,
)
from safe_sysid.identify.difference.shared_fit import joint_fit, payload_prior
from safe_sysid.identify.two_at_a_time import two_at_a_time
from safe_sysid.model.robot_model import RobotModel

_Name = TypeVar('_Name', str, float)

CREEPS = (0.005, 0.01, 0.02, 0.05)  # [rad/s]
FOLDS = 5
GAP = 0.5  # [s] beside a held-out part that has no part in the fit
PAYS = 0.02  # of the held-out error
IN_FOLDS = 4
PRIOR = payload_prior(100.0, 1.0, 1.0)  # of what the friction is evaluated with
ROUNDS = 3  # of evaluating friction under load at the estimate


CANDIDATES = {
    'load-dependent': FrictionTerms(load=True),
    'quadratic': FrictionTerms(quadratic=True),
    'Stribeck': FrictionTerms(stribeck=0.1),
    'direction-dependent': FrictionTerms(directed=True),
}
OF_FEW_ARMS = {  # tried where more than LARGE of the torque is left
    'spring': FrictionTerms(spring=True),
    'coupled wrist': FrictionTerms(coupled=True),
}
LARGE = 0.05
PAYS_OF_FEW = 1.0 / 3.0  # of the held-out error: a spring that is there takes most of it away, and
# angles and their sines, which weight has too, take 20 % of an arm without one by chance


@dataclass(frozen=True)
class FrictionChoice:
    """The terms, and what each would have done to the held-out error."""

    terms: FrictionTerms
    error: float  # held-out, share of the torque
    table: tuple[tuple[str, float], ...]  # every term tried, alone, with its held-out error

    def __str__(self) -> str:
        taken = ', '.join(self.terms.names) or 'none'
        errors = ', '.join(f'{name} {100 * error:.1f} %' for name, error in self.table[1:])
        return (
            f'Held-out error of the empty arm with {self.table[0][0]} friction: '
            f'{100 * self.table[0][1]:.1f} %; with one term more: {errors}. Taken: {taken} '
            f'({100 * self.error:.1f} %).'
        )


def chosen_friction(model: RobotModel, empty: Sequence[Stretch]) -> FrictionChoice:
    """Choose terms greedily by five-fold prediction of empty recordings."""
    terms = FrictionTerms()
    rows = rows_without_friction(model, empty)
    folds = _Folds(rows)

    def errors(tried: FrictionTerms) -> Array:
        return folds.errors(_at_estimate(model, empty, tried, folds.tables))

    by_creep = _each(errors, {creep: replace(terms, creep=creep) for creep in CREEPS})
    creep = min(by_creep, key=lambda value: float(np.mean(by_creep[value])))
    terms, best = replace(terms, creep=creep), by_creep[creep]
    table = [('Coulomb and viscous', float(np.mean(best)))]
    candidates = dict(CANDIDATES)
    if table[0][1] > LARGE and model.n > 1:
        candidates |= OF_FEW_ARMS
    while candidates:
        tried = _each(errors, {x: terms.with_term(more) for x, more in candidates.items()})
        if len(table) == 1:
            table += [(name, float(np.mean(found))) for name, found in tried.items()]
            least = (1.0 - PAYS_OF_FEW) * np.mean(best)
            useless = [x for x in OF_FEW_ARMS if x in tried and np.mean(tried[x]) > least]
            tried, candidates = _without(tried, useless), _without(candidates, useless)
        name = min(tried, key=lambda key: float(np.mean(tried[key])))
        falls = np.mean(tried[name]) < (1.0 - PAYS) * np.mean(best)
        if not falls or np.count_nonzero(tried[name] < best) < min(IN_FOLDS, len(best)):
            break
        terms, best = terms.with_term(candidates.pop(name)), tried[name]
    return FrictionChoice(terms, float(np.mean(best)), tuple(table))


def _each(
    errors: Callable[[FrictionTerms], Array], tried: Mapping[_Name, FrictionTerms]
) -> dict[_Name, Array]:
    """Errors of several terms, two at the same time."""
    with two_at_a_time() as both:
        return dict(zip(tried, both.map(errors, tried.values()), strict=True))


def _without(named: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: x for name, x in named.items() if name not in names}


def rows_at_estimate(
    model: RobotModel, stretches: Sequence[Stretch], terms: FrictionTerms
) -> DifferenceRows:
    """Rows with friction under load at the estimate of these rows."""
    rows = rows_without_friction(model, stretches)
    if not terms.load:
        return with_friction(model, rows, friction_columns(model, stretches, terms))
    added = _at_estimate(model, stretches, terms, JointTables(rows))
    return with_friction(model, rows, added.columns)


def _at_estimate(
    model: RobotModel, stretches: Sequence[Stretch], terms: FrictionTerms, tables: JointTables
) -> AddedColumns:
    """Columns of friction, under load at the estimate of the first part of these tables."""
    columns = friction_columns(model, stretches, terms)
    places = friction_places(model, columns.shape[2])
    added = AddedColumns(columns, places, model.n * (13 + columns.shape[2]))
    if terms.load:
        fit = None
        for _ in range(ROUNDS):
            fit = joint_fit(tables.grams(added), tables.freedom, PRIOR, near=fit)
            columns[:, :, 1] = load_columns(model, stretches, terms, fit.x, fit.phi)
    return added


class _Folds:
    """Rows fitted and rows held out: contiguous fifths of what there is, with gaps."""

    def __init__(self, rows: DifferenceRows) -> None:
        self._rows = rows
        sizes = [len(part) for part in np.array_split(rows.t, FOLDS)]
        ends = np.cumsum([0, *sizes])
        self._held_out = [slice(first, last) for first, last in itertools.pairwise(ends)]
        self._left_out = [_beside(rows, out) for out in self._held_out]
        self.tables = JointTables(rows, [slice(None), *self._left_out])

    def residuals(self, added: AddedColumns | None = None) -> list[Array]:
        """Residuals of the rows held out, fold by fold, 0 where a joint stands [N m]."""
        every = self.tables.grams(added)
        whole = joint_fit(every, self.tables.freedom, PRIOR)
        found = []
        for number, (out, left_out) in enumerate(zip(self._held_out, self._left_out, strict=True)):
            fitted = every - self.tables.grams(added, 1 + number)
            freedom = self._rows.counts[~left_out].sum(axis=0)
            fit = joint_fit(fitted, freedom, PRIOR, near=whole)
            found.append(self.tables.residuals(fit.x, out, added))
        return found

    def errors(self, added: AddedColumns) -> Array:
        """Error of each fold as share of its torque, joints by their own size."""
        size = np.sqrt(np.mean(self._rows.tau**2, axis=0)) + 1e-12
        found = []
        for out, errors in zip(self._held_out, self.residuals(added), strict=True):
            weight = np.sum(self._rows.tau[out] ** 2, axis=0) / size
            found.append(
                np.sqrt(np.sum(np.sum(errors**2, axis=0) / size) / max(weight.sum(), 1e-300))
            )
        return np.array(found)


def _beside(rows: DifferenceRows, out: slice) -> AnyArray:
    """Rows of a part, and those of the same stretch that are near it, (N,) bool."""
    near = np.zeros(len(rows), dtype=bool)
    near[out] = True
    for number in np.unique(rows.stretch[out]):
        here = rows.stretch == number
        times = rows.t[here & near]
        near |= here & (rows.t > times[0] - GAP) & (rows.t < times[-1] + GAP)
    return near


def held_out_residuals(rows: DifferenceRows) -> Array:
    """Residuals of fifths that had no part in their fit, 0 where a joint stands, (N, n) [N m]."""
    return np.concatenate(_Folds(rows).residuals())
