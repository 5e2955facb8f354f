"""Whole-arm matrices of a `ParameterNullspace`: undetectable changes, regrouping, combinations.

The recursion speaks of one joint at a time; here its pieces become matrices on theta, which stacks
the groups of all joints, and `BaseParameters` of the same kind as the numerical route gives.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.identifiability.base_parameters import BaseParameters, from_dependence
from safe_sysid.identifiability.kinematic_tree import WORLD
from safe_sysid.identifiability.parameter_nullspace import (
    ParameterNullspace,
    preferred_in_group,
)


def labels(nullspace: ParameterNullspace) -> tuple[str, ...]:
    """Name of every entry of theta, such as `joint_3.Ixx`."""
    return tuple(
        f'{joint.name}.{label}'
        for joint, group in zip(nullspace.tree.joints, nullspace.joints, strict=True)
        for label in group.labels
    )


def transfers(nullspace: ParameterNullspace) -> Array:
    """R: basis of the undetectable changes of theta, one block of columns per joint."""
    starts, joints = nullspace.starts, nullspace.joints
    R = np.zeros((nullspace.size, nullspace.size - nullspace.base_count))
    column = 0
    for i, joint in enumerate(joints):
        change = np.zeros((len(joint.labels), len(joint.others)))
        change[joint.selected], change[joint.others] = -joint.W, np.eye(len(joint.others))
        block = slice(column, column + len(joint.others))
        R[starts[i] : starts[i] + len(joint.labels), block] = change
        parent = nullspace.tree.joints[i].parent
        if parent != WORLD:
            R[starts[parent] : starts[parent] + 10, block] -= joint.image @ change
        column += len(joint.others)
    return R


def regrouping(nullspace: ParameterNullspace) -> Array:
    """K_reg: base parameters of theta, one block of rows per joint; one pass inward."""
    starts, joints = nullspace.starts, nullspace.joints
    composite = np.eye(nullspace.size)  # row k: what stands for theta_k after children were added
    blocks: list[Array] = []
    for i in reversed(range(len(joints))):
        joint = joints[i]
        own = composite[starts[i] : starts[i] + len(joint.labels)]
        blocks.append(own[joint.selected] + joint.W @ own[joint.others])
        parent = nullspace.tree.joints[i].parent
        if parent != WORLD:
            carried = joint.image[:, joint.others] - joint.image[:, joint.selected] @ joint.W
            composite[starts[parent] : starts[parent] + 10] += carried @ own[joint.others]
    return np.vstack(blocks[::-1])


def identifiable_combinations(nullspace: ParameterNullspace) -> Array:
    """Orthonormal rows that span what torques can tell; no row is about one joint alone."""
    Q, _ = np.linalg.qr(regrouping(nullspace).T)
    rows: Array = Q.T
    return rows


def base_columns(nullspace: ParameterNullspace) -> IntArray:
    """Entries of theta that stand for a combination, in the order of the rows of K_reg."""
    pairs = zip(nullspace.starts, nullspace.joints, strict=True)
    return np.concatenate([start + joint.selected for start, joint in pairs])


def base_parameters_of(nullspace: ParameterNullspace) -> BaseParameters:
    """Return base parameters that hold for every motion."""
    chosen = base_columns(nullspace)
    others = np.delete(np.arange(nullspace.size), chosen)
    W = regrouping(nullspace)[:, others]
    return from_dependence(chosen, others, W, nullspace.decision, np.zeros(0))


def preference(nullspace: ParameterNullspace) -> IntArray:
    """All entries of theta, those first that shall stand for a combination."""
    pairs = zip(nullspace.starts, nullspace.joints, strict=True)
    return np.concatenate(
        [start + preferred_in_group(len(joint.labels)) for start, joint in pairs]
    )
