"""Mass matrix by composite bodies, and accelerations from it, in SX with theta free."""

from __future__ import annotations

from safe_sysid.model.symbolic.library import SX
from safe_sysid.model.symbolic.library import casadi as cs
from safe_sysid.model.symbolic.recursions import SymbolicTree, bodies_of, friction_rows
from safe_sysid.model.symbolic.spatial import momentum, moved, to_parent


def mass_matrix(tree: SymbolicTree, theta: SX) -> SX:
    """Return M = H + diag(Ia); the joints that two joints have to do with are on one path."""
    composite, rotors = bodies_of(theta, tree.n), friction_rows(theta, tree.n)[2]
    M = cs.SX(tree.n, tree.n)
    for i in reversed(range(tree.n)):
        f, j = momentum(composite[i], tree.along(i, cs.SX(1.0))), i
        M[i, i] = tree.work(i, f) + rotors[i]
        while tree.parent[j] >= 0:
            f, j = to_parent(tree.R[j], tree.p[j], f), tree.parent[j]
            M[i, j] = M[j, i] = tree.work(j, f)
        if tree.parent[i] >= 0:
            composite[tree.parent[i]] += moved(tree.R[i], tree.p[i], composite[i])
    return M


def accelerations(tree: SymbolicTree, M: SX, torque: SX) -> SX:
    """Return qdd with M qdd = torque.

    M = L' D L from the tips to the base leaves entries zero that belong to two branches, and of
    arms of up to a dozen joints takes fewer operations than articulated bodies.
    """
    left, x, L = cs.SX(M), cs.SX(torque), cs.SX(tree.n, tree.n)
    for k in reversed(range(tree.n)):
        for i in reversed(tree.path(tree.parent[k])):
            L[k, i] = left[k, i] / left[k, k]
            x[i] -= L[k, i] * x[k]
            for j in tree.path(i):
                left[i, j] -= L[k, i] * left[k, j]
    for k in range(tree.n):
        x[k] /= left[k, k]
        for i in tree.path(tree.parent[k]):
            x[k] -= L[k, i] * x[i]
    return x
