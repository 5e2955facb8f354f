"""Newton-Euler and regressors of a tree, in SX with theta free.

The recursions of `dynamics/regressors.py`, in the frames of the bodies; gravity counts as an
acceleration of the base.
"""

from __future__ import annotations

from safe_sysid.model.symbolic.library import SX
from safe_sysid.model.symbolic.library import casadi as cs
from safe_sysid.model.symbolic.rotation import Rotation, constant, without_rounding
from safe_sysid.model.symbolic.spatial import (
    field,
    force,
    force_matrix,
    momentum_matrix,
    motion_cross,
    to_child,
    to_parent,
)
from safe_sysid.model.tree import Tree


class SymbolicTree:
    """A tree of joints at one symbolic position."""

    def __init__(self, tree: Tree, q: SX) -> None:
        self.n = len(tree.parent)
        self.parent = [int(up) for up in tree.parent]
        self.is_prismatic = [bool(slides) for slides in tree.is_prismatic]
        self.axis = [constant(axis) for axis in tree.axis]
        self.gravity = cs.vertcat(constant(tree.gravity), cs.SX.zeros(3))
        poses = [_joint_pose(tree, i, q[i]) for i in range(self.n)]
        self.R = [R for R, _ in poses]  # of joint frame i in the frame of the joint below
        self.p = [p for _, p in poses]

    def along(self, i: int, rate: SX) -> SX:
        """Return the motion of body i that joint i makes, s_i times a rate, in the frame of i."""
        moving, still = self.axis[i] * rate, cs.SX.zeros(3)
        return cs.vertcat(moving, still) if self.is_prismatic[i] else cs.vertcat(still, moving)

    def work(self, i: int, force: SX) -> SX:
        """Return s_i . f, the torque [N m] or force [N] of joint i."""
        return cs.dot(self.axis[i], force[:3] if self.is_prismatic[i] else force[3:])

    def moved_on(self, i: int, motions: list[SX], base: SX) -> SX:
        """Return what body i would move like if joint i was fixed."""
        up = self.parent[i]
        return to_child(self.R[i], self.p[i], base if up < 0 else motions[up])

    def path(self, body: int) -> list[int]:
        """Return the joints that move a body, from the base."""
        path: list[int] = []
        while body >= 0:
            path.insert(0, body)
            body = self.parent[body]
        return path

    def frames(self) -> list[tuple[SX, SX]]:
        """Return rotation and origin of every joint frame in the base frame."""
        placed: list[tuple[SX, SX]] = []
        for i, up in enumerate(self.parent):
            if up < 0:
                placed.append((self.R[i].matrix(), self.p[i]))
                continue
            R, p = placed[up]
            placed.append((cs.mtimes(R, self.R[i].matrix()), p + cs.mtimes(R, self.p[i])))
        return placed

    def accelerations(self, qd: SX, qd_a: SX, qdd_a: SX) -> list[tuple[SX, SX, SX]]:
        """Return d, alpha and products of velocities of every body; see `field`.

        Everything is bilinear and symmetric in the velocities qd and qd_a; gravity counts as an
        acceleration of the base.
        """
        still = cs.SX.zeros(3)
        base = (-self.gravity[:3], still, still, still, cs.SX.zeros(3, 3))
        moving: list[tuple[SX, SX, SX, SX, SX]] = []
        for i, up in enumerate(self.parent):
            d, alpha, omega, omega_a, products = base if up < 0 else moving[up]
            R, axis = self.R[i], self.axis[i]
            d = R.down(d + cs.mtimes(field(alpha, products), self.p[i]))
            alpha, omega, omega_a = R.down(alpha), R.down(omega), R.down(omega_a)
            mixed = 0.5 * (cs.cross(omega, axis * qd_a[i]) + cs.cross(omega_a, axis * qd[i]))
            if self.is_prismatic[i]:
                d += axis * qdd_a[i] + 2.0 * mixed
            else:
                alpha += axis * qdd_a[i] + mixed
                omega, omega_a = omega + axis * qd[i], omega_a + axis * qd_a[i]
            products = _symmetric(omega, omega_a)
            moving.append((d, alpha, omega, omega_a, products))
        return [(d, alpha, products) for d, alpha, _, _, products in moving]

    def velocities(self, rates: SX) -> list[SX]:
        """Return the motion of every body for rates of the joints."""
        v: list[SX] = []
        for i in range(self.n):
            v.append(self.moved_on(i, v, cs.SX.zeros(6)) + self.along(i, rates[i]))
        return v


def bodies_of(theta: SX, n: int) -> list[SX]:
    """Return ten parameters of every body."""
    return [theta[10 * i : 10 * i + 10] for i in range(n)]


def friction_rows(theta: SX, n: int) -> list[SX]:
    """Return Fc, Fv, Ia, beta of all joints."""
    return [theta[(10 + k) * n : (11 + k) * n] for k in range(4)]


def friction(theta: SX, sign: SX, qd: SX) -> SX:
    """Return Fc sign(qd) + Fv qd + beta, without the rotors; `sign` may be a smooth one."""
    Fc, Fv, _, beta = friction_rows(theta, qd.shape[0])
    return Fc * sign + Fv * qd + beta


def rigid_torque(tree: SymbolicTree, qd: SX, qdd: SX, theta: SX) -> SX:
    """Return H qdd + C qd + g by Newton and Euler; neither rotors nor friction."""
    moving = tree.accelerations(qd, qd, qdd)
    f = [force(phi, *motion) for phi, motion in zip(bodies_of(theta, tree.n), moving, strict=True)]
    tau = [cs.SX(0.0)] * tree.n
    for i in reversed(range(tree.n)):
        tau[i] = tree.work(i, f[i])
        if tree.parent[i] >= 0:
            f[tree.parent[i]] += to_parent(tree.R[i], tree.p[i], f[i])
    return cs.vertcat(*tau)


def slotine_li_regressor(tree: SymbolicTree, qd: SX, qd_a: SX, qdd_a: SX, sign: SX) -> SX:
    """Return W_s with W_s theta = H qdd_a + C(q, qd) qd_a + g + F, C of Christoffel.

    With qd_a = qd it is the standard regressor W, eq. (10).
    """
    moving = tree.accelerations(qd, qd_a, qdd_a)
    forces = [force_matrix(*motion) for motion in moving]
    return _regressor(tree, forces, (sign, qd, qdd_a, cs.SX.ones(tree.n)))


def momentum_regressors(tree: SymbolicTree, qd: SX, sign: SX) -> tuple[SX, SX]:
    """Return W_m with W_m theta = H qd, eq. (11), and W_c, eq. (12)."""
    n, v, zero = tree.n, tree.velocities(qd), cs.SX.zeros(tree.n)
    gravity: list[SX] = []
    for i in range(n):
        gravity.append(tree.moved_on(i, gravity, tree.gravity))
    A = [momentum_matrix(v[i]) for i in range(n)]
    W_m = _regressor(tree, A, (zero,) * 4)
    W_c = _regressor(
        tree, [momentum_matrix(gravity[i]) for i in range(n)], (-sign, -qd, zero, -cs.SX.ones(n))
    )
    turned = _carried(tree, [motion_cross(v[i], _unit(tree, i)) for i in range(n)])
    for i in range(n):
        for k, dv in turned[i]:  # dv / dq_k
            W_c[k, 10 * i : 10 * i + 10] += cs.mtimes(dv.T, A[i])
    return cs.sparsify(W_m), cs.sparsify(W_c)


def _symmetric(a: SX, b: SX) -> SX:
    """Return (a b' + b a') / 2, of which only one triangle is computed."""
    return cs.triu2symm(cs.triu(0.5 * (cs.mtimes(a, b.T) + cs.mtimes(b, a.T))))


def _unit(tree: SymbolicTree, i: int) -> SX:
    return tree.along(i, cs.SX(1.0))


def _carried(tree: SymbolicTree, motions: list[SX]) -> list[list[tuple[int, SX]]]:
    """Return for every body the motions of the joints that move it, in the frame of the body.

    `motions` has each of them in the frame of the joint itself.
    """
    carried: list[list[tuple[int, SX]]] = []
    for i, up in enumerate(tree.parent):
        below = [] if up < 0 else carried[up]
        carried.append([(k, to_child(tree.R[i], tree.p[i], s)) for k, s in below])
        carried[i].append((i, motions[i]))
    return carried


def _regressor(tree: SymbolicTree, forces: list[SX], joints: tuple[SX, ...]) -> SX:
    """Return s_k . A_i of every body i and joint k below it, and the columns of friction."""
    n = tree.n
    W = cs.SX(n, 14 * n)
    s = _carried(tree, [_unit(tree, i) for i in range(n)])
    for i in range(n):
        for k, motion in s[i]:
            W[k, 10 * i : 10 * i + 10] = cs.mtimes(motion.T, forces[i])
        for kind, column in enumerate(joints):
            W[i, (10 + kind) * n + i] = column[i]
    return cs.sparsify(W)


def _joint_pose(tree: Tree, i: int, q: SX) -> tuple[Rotation, SX]:
    """Return the pose of joint frame i in the frame of the joint below: R0 exp(q [axis])."""
    R0, p, axis = tree.R_parent_joint[i], constant(tree.p_parent_joint[i]), tree.axis[i]
    if tree.is_prismatic[i]:
        return Rotation(R0, axis, None), p + constant(without_rounding(R0) @ axis) * q
    return Rotation(R0, axis, q), p
