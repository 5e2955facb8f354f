"""Regrouping: the same torques from fewer numbers, so that expressions are smaller.

Two things that torques do not show are used. The origin of a body's frame may be anywhere on
the axis of its joint: slid along it, an offset between two joints has fewer components. And mass
on that axis moves alike whether it is part of the body or of the one below: a body keeps
neither mass nor first moment along the axis, nor one of the two moments of inertia across it.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.model.symbolic.library import SX
from safe_sysid.model.symbolic.library import casadi as cs
from safe_sysid.model.symbolic.recursions import bodies_of
from safe_sysid.model.symbolic.rotation import Rotation, constant, without_rounding
from safe_sysid.model.symbolic.spatial import moved
from safe_sysid.model.tree import Tree

_DIAGONAL = (4, 6, 9)  # of the inertia, among the ten parameters of a body


class Regrouping:
    """What is regrouped of an arm, where a joint turns about a coordinate axis."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self._slides = _slid(tree)

    def theta(self, theta: SX) -> SX:
        """Return theta of `tree`, of which torques and mass matrix are those of the arm."""
        n = len(self._slides)
        bodies = [
            moved(_UNTURNED, constant(-by), phi) if by.any() else phi
            for by, phi in zip(self._slides, bodies_of(theta, n), strict=True)
        ]
        for i, up in reversed(list(enumerate(self.tree.parent))):
            R0, axis = without_rounding(self.tree.R_parent_joint[i]), self.tree.axis[i]
            is_plain = np.count_nonzero(R0) == 3 and np.abs(axis).max() == 1.0
            if up >= 0 and is_plain and not self.tree.is_prismatic[i]:
                on_axis = _on_axis(bodies[i], int(np.argmax(np.abs(axis))))
                below = constant(self.tree.p_parent_joint[i])
                bodies[up] += moved(Rotation(R0, axis, None), below, on_axis)
                bodies[i] = bodies[i] - on_axis
        return cs.vertcat(*bodies, theta[10 * n :])


def _slid(tree: Tree) -> tuple[Tree, Array]:
    """Return the tree with origins slid, and by how much in the frame of each body, (n, 3) [m]."""
    offset, slides = tree.p_parent_joint.copy(), np.zeros_like(tree.p_parent_joint)
    for i, up in enumerate(tree.parent):
        if up < 0:
            continue
        offset[i] -= slides[up]
        along = without_rounding(tree.R_parent_joint[i]) @ tree.axis[i]
        spared = np.count_nonzero(along) == 1 and along @ offset[i] != 0.0
        if spared and not tree.is_prismatic[i] and np.count_nonzero(offset[i]) > 1:
            slides[i] = -(along @ offset[i]) * tree.axis[i]
            offset[i] = np.where(along == 0.0, offset[i], 0.0)
    return tree._replace(p_parent_joint=offset), slides


def _on_axis(phi: SX, k: int) -> SX:
    """Return what of a body lies on coordinate axis k, ten parameters."""
    on_axis, across, other = cs.SX.zeros(10), _DIAGONAL[(k + 1) % 3], _DIAGONAL[(k + 2) % 3]
    on_axis[0], on_axis[1 + k] = phi[0], phi[1 + k]
    on_axis[across] = on_axis[other] = phi[other]
    return on_axis


_UNTURNED = Rotation(np.eye(3), np.zeros(3), None)
