"""Accelerations of an arm with Coulomb friction, exact also where joints stand still.

With the torque `load` that is left after gravity, velocity terms, viscous friction and offset,

    H qdd + dry = load,    dry_j = Fc_j sign(qd_j) where a joint moves, and where it stands still
    dry_j in [-Fc_j, Fc_j],  dry_j = Fc_j if qdd_j > 0,  dry_j = -Fc_j if qdd_j < 0.

H is positive definite, so there is exactly one solution: the least of 1/2 qdd'H qdd - load'qdd +
sum Fc_j |qdd_j| over the joints that stand still. It is found by principal pivoting: one joint at
a time goes from standing to sliding or back, the last one that contradicts (Murty's rule, which
cannot cycle for such an H).
"""

from __future__ import annotations

import math

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.sets.compiled import jit, part_jit

OK, NOT_POSITIVE_DEFINITE, NOT_FINITE, UNDECIDED = 0, 1, 2, 3
BREAKAWAY = 1e-10  # [N m], and share of Fc: by so much dry friction may exceed Fc before it slides
PIVOTS = 1000  # per decision; one per joint is usual


@jit
def accelerate(H: Array, load: Array, coulomb: Array, mode: Array, qdd: Array, dry: Array) -> int:
    """Write qdd and dry for joints that slide (mode 1 or -1) or stand still (mode 0)."""
    n = len(load)
    L = np.empty((n, n))
    status = factorise(H, mode, L)
    if status != OK:
        return status  # type: ignore[no-any-return]
    for j in range(n):
        dry[j] = coulomb[j] * mode[j]
    _substitute(L, load, dry, mode, qdd)
    for j in range(n):
        if mode[j] == 0.0:
            dry[j] = load[j]
            for k in range(n):
                dry[j] -= H[j, k] * qdd[k]
    return OK


@jit
def _substitute(L: Array, load: Array, dry: Array, mode: Array, qdd: Array) -> None:
    """Solve L L' qdd = load - dry for the joints whose mode is not 0; the others get 0."""
    n = len(load)
    for i in range(n):
        qdd[i] = 0.0
        if mode[i] != 0.0:
            total = load[i] - dry[i]
            for k in range(i):
                total -= L[i, k] * qdd[k]
            qdd[i] = total / L[i, i]
    for i in range(n - 1, -1, -1):
        if mode[i] != 0.0:
            total = qdd[i]
            for k in range(i + 1, n):
                total -= L[k, i] * qdd[k]
            qdd[i] = total / L[i, i]


@jit
def factorise(H: Array, mode: Array, L: Array) -> int:
    """Cholesky factor of the rows and columns of H whose mode is not 0; the others stay zero."""
    for i in range(len(mode)):
        for j in range(i + 1):
            L[i, j] = 0.0
            if mode[i] == 0.0 or mode[j] == 0.0:
                continue
            total = H[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            if i > j:
                L[i, j] = total / L[j, j]
            elif total > 0.0:
                L[i, i] = math.sqrt(total)
            else:
                return NOT_POSITIVE_DEFINITE if math.isfinite(total) else NOT_FINITE
    return OK


@part_jit
def decide(
    H: Array, load: Array, coulomb: Array, qd: Array, mode: Array, qdd: Array, dry: Array
) -> int:
    """Like `accelerate`, with the mode of every joint found and written into `mode`.

    A joint without dry friction never stands still: its mode is 1, which adds no torque.
    """
    for j in range(len(qd)):
        mode[j] = np.sign(qd[j]) if coulomb[j] > 0.0 else 1.0
    for _ in range(PIVOTS):
        status = accelerate(H, load, coulomb, mode, qdd, dry)
        if status != OK:
            return status  # type: ignore[no-any-return]
        j = len(qd) - 1
        while j >= 0 and not (qd[j] == 0.0 and _contradicts(j, coulomb, mode, qdd, dry)):
            j -= 1
        if j < 0:
            return OK
        mode[j] = np.sign(dry[j]) if mode[j] == 0.0 else 0.0
    return UNDECIDED


@part_jit
def _contradicts(j: int, coulomb: Array, mode: Array, qdd: Array, dry: Array) -> bool:
    """Whether a joint at rest would need more friction than there is, or slides backwards."""
    if coulomb[j] == 0.0:
        return False
    if mode[j] == 0.0:
        return spare_friction(j, coulomb, dry) < 0.0  # type: ignore[no-any-return]
    return mode[j] * qdd[j] <= 0.0  # type: ignore[no-any-return]


@jit
def spare_friction(j: int, coulomb: Array, dry: Array) -> float:
    """How much more dry friction a joint could bear before it begins to slide [N m]."""
    return coulomb[j] * (1.0 + BREAKAWAY) + BREAKAWAY - abs(dry[j])  # type: ignore[no-any-return]
