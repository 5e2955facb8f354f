"""Two arms side by side on one base, as one tree of joints: each is in the way of the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.chains import gains_of
from safe_sysid.bench.experiments.planning import at_rest, bare_estimate
from safe_sysid.bench.experiments.reach import KINOVA_RANGE, kinova_with_dumbbell
from safe_sysid.model.actuation import Actuation
from safe_sysid.model.collision.capsules import Capsules
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.parameters import ParameterLayout
from safe_sysid.model.robot_model import RobotModel, SensorFacts
from safe_sysid.model.signal_facts import EffortSignal
from safe_sysid.model.tree import JointLimits, Tree
from safe_sysid.reach.problem import Problem

APART = 0.8  # [m] between the bases
BENT = np.array([1.57, 0.35, 0.0, 1.2, 0.0, 0.6, 0.0])  # [rad] of each arm, where plans begin
SIDES = (('left', -0.5), ('right', 0.5))  # along x


def kinova_pair(apart: float = APART) -> RobotModel:
    """Return two Kinovas, each with a dumbbell; every two bodies of different arms may touch."""
    arm = kinova_with_dumbbell()
    n, friction = arm.n, arm.layout.friction(arm.theta)
    names = tuple(f'{side}_{name}' for side, _ in SIDES for name in arm.layout.joint_names)
    bodies = arm.theta[: 10 * n]
    twice = [bodies, bodies, *(np.tile(row, 2) for row in friction)]
    return replace(
        arm,
        name='kinova_pair',
        tree=_both(arm.tree, apart),
        layout=ParameterLayout(names, 2 * n - 1),
        theta=np.concatenate(twice),
        limits=JointLimits(*(np.tile(each, 2) for each in vars(arm.limits).values())),
        sensors=SensorFacts(
            np.zeros(2 * n), EffortSignal('torque', True), np.ones(2 * n), np.ones(2 * n)
        ),
        actuation=Actuation.exact(2 * n),
        capsules=_capsules(arm.capsules, n, apart),
        frames={},
        reference=None,
        payload=None,
    )


def of_both(values: Array) -> Array:
    """Return the same for both arms."""
    return np.tile(values, 2)


PAIR_RANGE = of_both(KINOVA_RANGE)


def _both(tree: Tree, apart: float) -> Tree:
    n = len(tree.parent)
    places = []
    for _, side in SIDES:
        place = tree.p_parent_joint.copy()
        place[tree.parent < 0, 0] += side * apart
        places.append(place)
    return Tree(
        np.concatenate([tree.parent, np.where(tree.parent < 0, -1, tree.parent + n)]),
        np.tile(tree.R_parent_joint, (2, 1, 1)),
        np.concatenate(places),
        np.tile(tree.axis, (2, 1)),
        np.tile(tree.is_prismatic, 2),
        tree.gravity,
    )


def _capsules(one: Capsules, n: int, apart: float) -> Capsules:
    """Return those of both; pairs of one arm as its own, and all of one with all of the other."""
    m = len(one.joint)
    ends = []
    for _, side in SIDES:
        shift = np.where(one.joint < 0, side * apart, 0.0)[:, None] * np.array([1.0, 0.0, 0.0])
        ends.append((one.a + shift, one.b + shift))
    still = one.joint < 0
    across = [(i, m + j) for i in range(m) for j in range(m) if not (still[i] and still[j])]
    return Capsules(
        tuple(f'{side}_{name}' for side, _ in SIDES for name in one.names),
        np.concatenate([one.joint, np.where(still, -1, one.joint + n)]),
        np.concatenate([a for a, _ in ends]),
        np.concatenate([b for _, b in ends]),
        np.tile(one.radius, 2),
        np.concatenate([one.pairs, one.pairs + m, np.array(across, dtype=np.int64)]),
    )


def at_rest_side_by_side() -> Problem:
    """Plans of both arms, which begin at rest beside each other; 5 % unknown of everything."""
    model = kinova_pair()
    problem = at_rest(model, bare_estimate(model), of_both(BENT), NO_OBSTACLES)
    horizon = replace(problem.horizon, k_range=PAIR_RANGE)
    return replace(problem, gains=gains_of(model.n), horizon=horizon)
