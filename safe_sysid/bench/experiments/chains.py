"""Chains of any number of joints that move like arms: a Kinova on the first joints of others.

Figures against the number of joints should not depend on what else differs. Random arms are no
measure of it: what joints have between them adds up until nothing is bounded any more.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.bench.experiments.reach import KINOVA_RANGE, kinova_with_dumbbell
from safe_sysid.model.actuation import Actuation
from safe_sysid.model.collision.capsules import Capsules
from safe_sysid.model.parameters import ParameterLayout
from safe_sysid.model.robot_model import RobotModel, SensorFacts
from safe_sysid.model.signal_facts import EffortSignal
from safe_sysid.model.tree import JointLimits
from safe_sysid.track.gains import Gains

START = np.array([0.0, 0.0, 0.0, 1.2, 0.0, 0.6, 0.0])  # [rad] of the Kinova
APART = 4  # joints between capsules that are looked at
STRONGER = 4.0  # times, joints that carry a whole arm


def joints_of(n: int) -> IntArray:
    """Joints of a Kinova in a chain of n: its last ones, or all after the first of others."""
    before = np.arange(max(0, n - 7)) % 7
    return np.concatenate([before, np.arange(max(0, 7 - n), 7)])


def kinova_chain(n: int) -> RobotModel:
    """Return a chain of n joints that carries a dumbbell."""
    arm, which = kinova_with_dumbbell(), joints_of(n)
    place = np.where(np.arange(n) == n - 7, (n - 7) % 7, which)  # of the next of the others
    tree, limits = arm.tree, arm.limits
    friction = arm.layout.friction(arm.theta)[:, which]
    bodies = arm.theta[: 10 * arm.n].reshape(arm.n, 10)[which]
    return replace(
        arm,
        name=f'kinova_of_{n}',
        tree=tree._replace(
            parent=np.arange(-1, n - 1),
            R_parent_joint=tree.R_parent_joint[place],
            p_parent_joint=tree.p_parent_joint[place],
            axis=tree.axis[which],
            is_prismatic=tree.is_prismatic[which],
        ),
        layout=ParameterLayout(tuple(f'j{i}' for i in range(n)), n - 1),
        theta=np.concatenate([bodies.ravel(), friction.ravel()]),
        limits=JointLimits(
            limits.position_lower[which],
            limits.position_upper[which],
            limits.velocity[which],
            limits.acceleration[which],
            limits.torque[which] * np.where(np.arange(n) < n - 7, STRONGER, 1.0),
            limits.is_continuous[which],
        ),
        sensors=SensorFacts(np.zeros(n), EffortSignal('torque', True), np.ones(n), np.ones(n)),
        actuation=Actuation.exact(n),
        capsules=_capsules(arm.capsules, which),
        frames={},
        reference=None,
        payload=None,
    )


def range_of(n: int) -> Array:
    """Return published ranges of k of the joints."""
    return np.asarray(KINOVA_RANGE[joints_of(n)])


def start_of(n: int) -> Array:
    """Return where plans begin: the Kinova bent, the joints below it upright."""
    return np.where(np.arange(n) < n - 7, 0.0, START[joints_of(n)])


def gains_of(n: int) -> Gains:
    """Return the published ones."""
    return Gains(np.full(n, 5.0), V_M=0.02, alpha=25.0)


def _capsules(of_arm: Capsules, which: IntArray) -> Capsules:
    """Capsules of every joint; those of a Kinova are looked at as its own, others if far apart."""
    n = len(which)
    places = [(i, c) for i, j in enumerate(which) for c in np.flatnonzero(of_arm.joint == j)]
    own = {tuple(sorted(pair)) for pair in of_arm.pairs.tolist()}
    pairs = [
        (x, y)
        for (x, (i, c)), (y, (j, d)) in combinations(enumerate(places), 2)
        if (tuple(sorted((c, d))) in own if (i < n - 7) == (j < n - 7) else j - i >= APART)
    ]
    shape = np.array([c for _, c in places], dtype=np.int64)
    return Capsules(
        tuple(f'{of_arm.names[c]}_{i}' for i, c in places),
        np.array([i for i, _ in places], dtype=np.int64),
        of_arm.a[shape],
        of_arm.b[shape],
        of_arm.radius[shape],
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
    )
