"""Structure against sampling: random mechanisms, their nullspace and their regressor."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.random_mechanisms import random_mechanism
from safe_sysid.identifiability.base_parameters import (
    BaseParameters,
    base_parameters_in_order,
)
from safe_sysid.identifiability.joint_conditions import Torques
from safe_sysid.identifiability.kinematic_tree import KinematicTree
from safe_sysid.identifiability.mechanism_regressor import stacked_regressor
from safe_sysid.identifiability.parameter_classes import classes_of
from safe_sysid.identifiability.parameter_nullspace import (
    ParameterNullspace,
    exact_nullspace,
    floating_nullspace,
)
from safe_sysid.identifiability.undetectable_changes import base_parameters_of, preference

LARGEST = 8  # joints
STATIC = 0.2  # share of trials that measure at rest
RANK_TOLERANCE = 1e-9  # of sampled regressors, whose smallest singular values are far above it
RESIDUAL = 1e-9  # of what should be zero, relative to the largest column


def mechanism(rng: np.random.Generator) -> tuple[KinematicTree, Torques]:
    """Return a random mechanism, and what is measured of it."""
    tree = random_mechanism(rng, int(rng.integers(1, LARGEST + 1)))
    at_rest = tree.gravity is not None and rng.random() < STATIC
    return tree, Torques.OF_GRAVITY if at_rest else Torques.OF_MOTION


def trial(seed: int) -> list[str]:
    """List in sentences where the two sides disagree on a random mechanism."""
    rng = np.random.default_rng(seed)
    tree, torques = mechanism(rng)
    exact, floating = exact_nullspace(tree, torques), floating_nullspace(tree, torques)
    rows = sum(len(joint.screws) for joint in tree.joints)
    Y = stacked_regressor(tree, torques, 3 + 2 * exact.size // rows, rng)
    return [*_disagreements(exact, Y), *_differences(exact, floating)]


def _disagreements(nullspace: ParameterNullspace, Y: Array) -> Iterator[str]:
    """Yield what the rows of a regressor contradict."""
    structure = base_parameters_of(nullspace)
    sampled = base_parameters_in_order(Y, preference(nullspace), RANK_TOLERANCE)
    if structure.count != sampled.count:
        yield f'{structure.count} base parameters, rank {sampled.count} ({sampled.decision})'
    if not np.array_equal(structure.columns, sampled.columns):
        yield f'columns {structure.columns} and {sampled.columns} stand for combinations'
    size = max(float(np.linalg.norm(Y, axis=0).max()), 1e-9)
    yield from _residuals(structure, Y / size)
    classes = tuple(kind for joint in nullspace.joints for kind in joint.classes)
    if classes != classes_of(structure):
        yield 'classes are not those of the regrouping matrix'


def _residuals(structure: BaseParameters, Y: Array) -> Iterator[str]:
    unseen = float(np.abs(Y @ structure.undetectable).max(initial=0.0))
    if unseen > RESIDUAL:
        yield f'an undetectable change shows: {unseen:.1e}'
    lost = float(np.abs(Y - Y[:, structure.columns] @ structure.regrouping).max(initial=0.0))
    if lost > RESIDUAL:
        yield f'regrouping loses {lost:.1e}'


def _differences(exact: ParameterNullspace, floating: ParameterNullspace) -> Iterator[str]:
    """Where decisions in floats differ from exact ones."""
    for i, (a, b) in enumerate(zip(exact.joints, floating.joints, strict=True)):
        if a.classes != b.classes or not np.array_equal(a.selected, b.selected):
            yield f'joint {i + 1} in floats: {floating.decision}'
