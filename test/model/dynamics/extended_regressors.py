"""Oracle: momentum regressors in extended precision, as slopes of energies in the base frame.

Nothing of it is shared with the recursion that is tested: poses and velocities are those of the
base frame, the columns are derivatives of kinetic and potential energy by complex steps, and the
rotations are made orthonormal to the last digit, as those of an arm that exists are.
"""

import numpy as np

EXTENDED = np.finfo(np.longdouble).eps < 2e-19  # x87; elsewhere long double may be no longer
ROUNDING = 1e-18  # 18 units of extended precision, of the largest entry
STEP = np.longdouble(10) ** -40  # its square vanishes


def reference_regressors(tree, q, qd):
    """Inertial columns (n, 10 n) of W_m and W_c in extended precision."""
    n = len(tree.parent)
    steps = np.zeros((2 * n, 2, n), dtype=np.clongdouble)
    for k in range(n):
        steps[k, 0, k] = steps[n + k, 1, k] = 1j * STEP
    state = np.array([q, qd], dtype=np.longdouble) + steps
    kinetic, potential = energies(tree, state[:, 0], state[:, 1])
    slope_kinetic = (kinetic.imag / STEP).reshape(2 * n, 10 * n)
    slope_potential = (potential.imag / STEP).reshape(2 * n, 10 * n)
    return slope_kinetic[n:], slope_kinetic[:n] - slope_potential[:n]


def energies(tree, q, qd):
    """Kinetic and potential energy (K, n, 10) of every body with one unit parameter each."""
    K, n = q.shape
    kinetic = np.zeros((K, n, 10), dtype=np.clongdouble)
    potential = np.zeros_like(kinetic)
    gravity = tree.gravity.astype(np.longdouble)
    poses = []
    still = np.zeros((K, 3), dtype=np.clongdouble)
    ground = (np.broadcast_to(np.eye(3, dtype=np.clongdouble), (K, 3, 3)), still, still, still)
    for i in range(n):
        R_up, p_up, v_up, w_up = poses[tree.parent[i]] if tree.parent[i] >= 0 else ground
        axis = tree.axis[i].astype(np.longdouble)
        axis = axis / np.sqrt((axis**2).sum())
        R = R_up @ orthonormal(tree.R_parent_joint[i])
        p = p_up + R_up @ tree.p_parent_joint[i].astype(np.longdouble)
        direction = R @ axis
        w, slide = w_up, still
        if tree.is_prismatic[i]:
            p = p + direction * q[:, i, None]
            slide = direction * qd[:, i, None]
        else:
            R = R @ turned(axis, q[:, i])
            w = w_up + direction * qd[:, i, None]
        v = v_up + np.cross(w_up, p - p_up) + slide
        poses.append((R, p, v, w))
        kinetic[:, i] = kinetic_energy(R, v, w)
        potential[:, i, 0] = -(p @ gravity)
        potential[:, i, 1:4] = -np.einsum('krc,r->kc', R, gravity)
    return kinetic, potential


def kinetic_energy(R, v, w):
    """1/2 m v.v + v.(w x R mc) + 1/2 (R'w)' I (R'w), one unit parameter at a time."""
    T = np.zeros((len(v), 10), dtype=np.clongdouble)
    T[:, 0] = (v * v).sum(axis=1) / 2
    T[:, 1:4] = np.einsum('kr,krc->kc', np.cross(v, w), R)
    local = np.einsum('krc,kr->kc', R, w)
    x, y, z = local.T
    T[:, 4:] = np.stack([x * x / 2, x * y, y * y / 2, x * z, y * z, z * z / 2], axis=1)
    return T


def turned(axis, angle):
    """Rotation about a unit vector, by Rodrigues' formula."""
    x, y, z = axis
    S = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    sine, versine = np.sin(angle)[:, None, None], 2 * np.sin(angle / 2)[:, None, None] ** 2
    return np.eye(3) + sine * S + versine * (S @ S)


def orthonormal(R):
    """The rotation nearest to a rounded one."""
    R = R.astype(np.longdouble)
    for _ in range(3):
        R = R @ (3 * np.eye(3) - R.T @ R) / 2
    return R
