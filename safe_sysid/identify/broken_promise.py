"""Which promise would have to grow for measurements and model to agree again.

A proof that no parameters explain the rows is a vector y with a gap: y . (b - Y theta) exceeds
what errors and bounds allow by that gap. A promise that is relaxed by s, in its unit, gives way by
s times its leverage: |Y' y| for a parameter, |y| times the length of the window for the torque
error of a joint, |y' change of torque| for a delay. So it has to grow by gap / leverage at least.

Promises are ranked by the torque that this means on the average row, and linear programs say of
the first ones by how much they would have to grow when all others are kept. A guess where to
look, then, with figures that are proven from below: several promises may be broken at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.linear_programs import Basis, Budget, LinearPrograms
from safe_sysid.identify.observation import Observation
from safe_sysid.identify.parameter_polytope import ParameterPolytope

SHOWN = 3  # promises that are named
ROUGHNESS = 0.3  # of a delay, whose effect is seen through differences between windows
TRIED = 6  # promises that linear programs look at
WORDS = {
    'Fc': 'Coulomb friction of {joint}',
    'Fv': 'viscous friction of {joint}',
    'Ia': 'armature of {joint}',
    'beta': 'torque offset of {joint}',
    'm': 'mass of the link of {joint}',
    'mc': 'first moments of the link of {joint}, or gravity,',
}
UNITS = {'Fc': 'N m', 'Fv': 'N m s/rad', 'Ia': 'kg m^2', 'beta': 'N m', 'm': 'kg', 'mc': 'kg m'}


@dataclass(frozen=True, eq=False)
class Promise:
    """Something that was promised: what rows gain where it is given up by one unit."""

    name: str
    unit: str
    columns: Array  # (m, k) [N m s per unit]
    roughness: float = 0.0  # share of the contradiction that may stay, as columns are not exact

    def torque(self, window: Array) -> float:
        """Of one unit on the average row [N m]."""
        return float(np.sqrt(np.square(self.columns / window[:, None]).mean(axis=0).sum()))


def explanations(
    polytope: ParameterPolytope, elastic_dual: Array, labels: Sequence[str], deadline: float
) -> tuple[str, ...]:
    """Promises that would explain the rows if they were weaker, the likeliest first."""
    rows = polytope.observation
    y, gap = polytope.proof(elastic_dual)
    excess = gap / float((np.abs(y) * rows.delta).sum())  # of errors over what is promised
    window = rows.end - rows.start
    ranked = []
    for promise in _promises(rows, labels):
        leverage = float(np.abs(y @ promise.columns).sum())
        if leverage > 0.0:
            ranked.append((gap / leverage * promise.torque(window), promise))
    ranked.sort(key=lambda entry: entry[0])
    sizes = []
    for _, promise in ranked[:TRIED]:
        growth = _growth(polytope, promise, excess, deadline)
        if growth is not None:
            sizes.append((growth * promise.torque(window), growth, promise))
    sizes.sort(key=lambda entry: entry[0])
    return tuple(
        f'{promise.name} {growth:.3g} {promise.unit} beyond what is promised'
        for _, growth, promise in sizes[:SHOWN]
    )


def _promises(rows: Observation, labels: Sequence[str]) -> Iterator[Promise]:
    """Yield what theta_r and the clocks were promised to be."""
    for kind in WORDS:
        for joint in dict.fromkeys(label.rpartition('.')[0] for label in labels):
            wanted = (f'{joint}.mcx', f'{joint}.mcy', f'{joint}.mcz')
            names = wanted if kind == 'mc' else (f'{joint}.{kind}',)
            places = [labels.index(name) for name in names if name in labels]
            if places:
                name = WORDS[kind].format(joint=joint)
                yield Promise(name, UNITS[kind], rows.Y_r[:, places])
    read = np.zeros((len(rows), int(rows.joint.max()) + 1))
    read[np.arange(len(rows)), rows.joint] = rows.b
    yield Promise('a gain error of torques', 'of what is read', read)
    late = _change_of_torque(rows)[:, None]
    yield Promise('a delay of the torque of all joints', 's', late, ROUGHNESS)


def _change_of_torque(rows: Observation) -> Array:
    """How much the mean torque of a joint changes over a window, by the windows around it.

    Rows of one time are of a calibration, in which a delay of now has no part.
    """
    change, window = np.zeros(len(rows)), rows.end - rows.start
    middle, mean = 0.5 * (rows.start + rows.end), rows.b / window
    for joint in np.unique(rows.joint):
        mine = np.flatnonzero(rows.joint == joint)
        _, first, count = np.unique(middle[mine], return_index=True, return_counts=True)
        mine = mine[first[count == 1]]
        if len(mine) > 1:
            change[mine] = np.gradient(mean[mine], middle[mine]) * window[mine]
    return change


def _growth(
    polytope: ParameterPolytope, promise: Promise, excess: float, deadline: float
) -> float | None:
    """By how much it has to grow while all others are kept; None if that does not help."""
    relaxed = polytope.relaxed(promise.columns, 1.0 + promise.roughness * excess)
    budget = Budget(float(sum(relaxed.A.shape)), deadline)
    programs = LinearPrograms(relaxed, np.arange(len(relaxed.A)), budget)
    least = np.zeros(relaxed.A.shape[1])
    least[-1] = -1.0
    optimum = programs.maximum(least, Basis())
    if optimum is None or not optimum.feasible:
        return None
    return float(optimum.x[-1]) * polytope.unit_of(promise.columns)
