"""Arms without armature, as torque-controlled arms are described: a Franka Panda and a UR5.

Figures of the URDFs of example-robot-data (BSD 3-Clause; commit 39aa943): joints, masses, centres
of mass and inertias about them, of the Panda with its hand. Limits are those of these URDFs, and
friction is not known but to a bound.
"""

from dataclasses import replace

import numpy as np

from safe_sysid.model import inertia
from safe_sysid.model.collision.capsules import NO_PAIRS, Capsules
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.parameters import ParameterEstimate, ParameterLayout, ratio_bounds
from safe_sysid.model.tree import JointLimits, Tree
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.random_arm import random_tree
from safe_sysid.track.gains import Gains
from safe_sysid.trajectory.bezier import Bezier

# angle about x or y of the joint frame, origin [m], mass [kg], com [m], Ixx Ixy Iyy Ixz Iyz Izz
PANDA = [
    (0, [0, 0, 0.333], 4.970684, [0.003875, 0.002081, -0.04762],
     [0.70337, -0.000139, 0.70661, 0.006772, 0.019169, 0.009117]),
    (-1, [0, 0, 0], 0.646926, [-0.003141, -0.02872, 0.003495],
     [0.007962, -0.003925, 0.02811, 0.010254, 0.000704, 0.025995]),
    (1, [0, -0.316, 0], 3.228604, [0.027518, 0.039252, -0.066502],
     [0.037242, -0.004761, 0.036155, -0.011396, -0.012805, 0.01083]),
    (1, [0.0825, 0, 0], 3.587895, [-0.05317, 0.104419, 0.027454],
     [0.025853, 0.007796, 0.019552, -0.001332, 0.008641, 0.028323]),
    (-1, [-0.0825, 0.384, 0], 1.225946, [-0.011953, 0.041065, -0.038437],
     [0.035549, -0.002117, 0.029474, -0.004037, 0.000229, 0.008627]),
    (1, [0, 0, 0], 1.666555, [0.060149, -0.014117, -0.010517],
     [0.001964, 0.000109, 0.004354, -0.001158, 0.000341, 0.005433]),
    (1, [0.088, 0, 0], 1.495522, [0.00172087, 0.00136035, 0.10048528],
     [0.01652985, 0.00039489, 0.01410725, -0.0007067, -0.00105111, 0.00667696]),
]  # fmt: skip
UR5 = [
    (0, [0, 0, 0.089159], 3.7, [0, 0, 0], [0.0102675, 0, 0.0102675, 0, 0, 0.00666]),
    (1, [0, 0.13585, 0], 8.393, [0, 0, 0.28], [0.22689068, 0, 0.22689068, 0, 0, 0.0151074]),
    (0, [0, -0.1197, 0.425], 2.275, [0, 0, 0.25], [0.04944331, 0, 0.04944331, 0, 0, 0.004095]),
    (1, [0, 0, 0.39225], 1.219, [0, 0, 0], [0.11117276, 0, 0.11117276, 0, 0, 0.21942]),
    (0, [0, 0.093, 0], 1.219, [0, 0, 0], [0.11117276, 0, 0.11117276, 0, 0, 0.21942]),
    (0, [0, 0, 0.09465], 0.1879, [0, 0, 0], [0.01713647, 0, 0.01713647, 0, 0, 0.033822]),
]
X, Y, Z = np.eye(3)
UR5_AXES = [Z, Y, Y, Y, Z, Y]
PANDA_HOME = np.array([0.0, -np.pi / 4, 0.0, -3 * np.pi / 4, 0.0, np.pi / 2, np.pi / 4])
UR5_HOME = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])


def panda():
    """Franka Panda with its hand, limits of torque and velocity, no armature."""
    low = [-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973]
    high = [2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973]
    limits = (low, high, [2.175] * 4 + [2.61] * 3, [87.0] * 4 + [12.0] * 3)
    return _arm('panda', PANDA, [Z] * 7, X, limits)


def ur5():
    """UR5 without a tool, no armature."""
    turn = [2 * np.pi] * 6
    limits = ([-x for x in turn], turn, [3.15] * 3 + [3.2] * 3, [150.0] * 3 + [28.0] * 3)
    return _arm('ur5', UR5, UR5_AXES, Y, limits)


def _arm(name, rows, axes, turned_about, limits):
    n, bodies = len(rows), []
    R = np.array([_quarter_turns(turned_about, row[0]) for row in rows])
    for _, _, mass, com, (xx, xy, yy, xz, yz, zz) in rows:
        about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        bodies.append(
            inertia.from_mass_com_inertia(np.array(mass), np.array(com, dtype=float), about)
        )
    p = np.array([row[1] for row in rows], dtype=float)
    low, high, speed, torque = (np.array(x) for x in limits)
    tree = Tree(np.arange(n) - 1, R, p, np.array(axes), np.zeros(n, bool), np.array([0, 0, -9.81]))
    tool = np.array([n - 1])
    shape = Capsules(('tool',), tool, np.zeros((1, 3)), 0.1 * Z[None], np.array([0.05]), NO_PAIRS)
    return replace(
        random_tree(np.random.default_rng(0), n, serial=True),
        name=name,
        tree=tree,
        layout=ParameterLayout(tuple(f'{name}_{j + 1}' for j in range(n)), n - 1),
        theta=np.concatenate([*bodies, np.zeros(4 * n)]),
        limits=JointLimits(low, high, speed, np.full(n, np.inf), torque, np.zeros(n, bool)),
        capsules=shape,
    )


def _quarter_turns(axis, count):
    S = np.cross(np.eye(3), -axis)
    return np.eye(3) + count * S + (S @ S if count else 0.0)


def problem_of(model, home, V_M, move=0.0, ratio=0.05, friction=0.2, intervals=128):
    """One plan of 3 s that turns all joints; every entry of theta known to a share."""
    n, bounds = model.n, ratio_bounds(model.theta, ratio)
    upper = bounds.upper.copy()
    upper[model.layout.joint_entries('Fc')] = friction
    theta = Interval(bounds.lower, upper)
    estimate = ParameterEstimate(model.layout, np.clip(model.theta, theta.lower, upper), theta)
    still, k = np.zeros(n), move * np.resize([1.0, -1.0], n)
    horizon = Horizon(Bezier(home, still, still, 3.0), k, still, intervals)
    gains = Gains(np.full(n, 10.0), V_M, 1000.0, torque_error=0.05, torque_ratio=0.01)
    return Problem(model, estimate, horizon, gains, NO_OBSTACLES)
