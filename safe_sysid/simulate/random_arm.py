"""Random arms for tests and benchmarks: chains and trees, revolute and prismatic joints."""

import numpy as np
from scipy.spatial.transform import Rotation

from safe_sysid.arrays import Array
from safe_sysid.model import inertia
from safe_sysid.model.actuation import Actuation
from safe_sysid.model.collision.capsules import Capsules
from safe_sysid.model.parameters import ParameterLayout
from safe_sysid.model.robot_model import RobotModel, SensorFacts
from safe_sysid.model.signal_facts import EffortSignal
from safe_sysid.model.tree import JointLimits, Tree


def random_body(rng: np.random.Generator) -> Array:
    """Ten parameters of a body that can exist: a cloud of point masses."""
    points, masses = rng.normal(scale=0.1, size=(6, 3)), rng.uniform(0.05, 1.0, size=6)
    bodies = inertia.from_mass_com_inertia(masses, points, np.zeros((6, 3, 3)))
    total: Array = bodies.sum(axis=0)
    return total


def random_tree(
    rng: np.random.Generator, n: int, serial: bool, armature: float = 0.0
) -> RobotModel:
    """Arm of n joints: a chain if `serial`, otherwise branches in depth-first order."""
    parent = [-1]
    for i in range(1, n):
        below = [i - 1]  # Pinocchio's algorithms want depth-first order
        while not serial and below[-1] >= 0:
            below.append(parent[below[-1]])
        parent.append(int(rng.choice(below)))
    axis = rng.normal(size=(n, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    tree = Tree(
        np.array(parent, dtype=np.int64),
        np.array([random_rotation(rng) for _ in range(n)]),
        rng.normal(scale=0.3, size=(n, 3)),
        axis,
        rng.random(n) < 0.3,
        rng.normal(scale=6.0, size=3),
    )
    friction = rng.uniform(0.1, 2.0, size=(4, n))
    friction[2] = armature
    bodies = [random_body(rng) for _ in range(n)]
    far = np.full(n, np.inf)
    return RobotModel(
        name='random',
        tree=tree,
        layout=ParameterLayout(tuple(f'j{i}' for i in range(n)), n - 1),
        theta=np.concatenate([np.concatenate(bodies), friction.ravel()]),
        limits=JointLimits(
            -far, far, np.full(n, 3.0), np.full(n, 9.0), np.full(n, 100.0), np.zeros(n, dtype=bool)
        ),
        sensors=SensorFacts(np.zeros(n), EffortSignal('torque', True), np.ones(n), np.ones(n)),
        actuation=Actuation.exact(n),
        capsules=Capsules(
            (),
            np.zeros(0, dtype=np.int64),
            np.zeros((0, 3)),
            np.zeros((0, 3)),
            np.zeros(0),
            np.zeros((0, 2), dtype=np.int64),
        ),
        frames={},
    )


def random_rotation(rng: np.random.Generator) -> Array:
    """Rotation matrix, uniform over all rotations."""
    R: Array = Rotation.from_quat(rng.normal(size=4)).as_matrix()
    return R
