"""`safe-sysid bench identifiability`: time, scaling, and agreement with sampled regressors."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from safe_sysid.bench.experiments.identifiability import trial
from safe_sysid.bench.plots import PLOTS, LinePlot
from safe_sysid.bench.settings import BenchSettings, Progress
from safe_sysid.bench.timing import median_seconds
from safe_sysid.identifiability.exact_geometry import ExactAngle, ExactPlacement, Turn
from safe_sysid.identifiability.kinematic_tree import Joint, KinematicTree, revolute
from safe_sysid.identifiability.parameter_nullspace import (
    exact_nullspace,
    floating_nullspace,
)
from safe_sysid.identifiability.urdf_kinematics import robot_kinematics
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.figures import Axes

ROBOT = 'kinova_gen3'
TRIALS, QUICK_TRIALS = 1000, 100
SCALING = (10, 20, 40, 80, 160)
REPORT_EVERY = 100


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Milliseconds for an arm, for chains of up to 160 joints, and random mechanisms."""
    tree = robot_kinematics(RobotModel.named(ROBOT)).tree
    repeats = 11 if settings.quick else 31
    progress(f'{ROBOT}, {repeats} times each way')
    figures: dict[str, object] = {
        'robot': ROBOT,
        'base_parameters': exact_nullspace(tree).base_count,
        'float_ms': _ms(lambda: floating_nullspace(tree), repeats),
        'exact_ms': _ms(lambda: exact_nullspace(tree), repeats),
    }
    scaling = []
    for joints in SCALING:
        progress(f'chain of {joints} joints')
        scaling.append(_scaling(joints))
    figures['scaling'] = scaling
    figures.update(_agreement(settings, progress))
    plot = LinePlot(
        'identifiability_scaling.svg',
        np.array(SCALING),
        {key: np.array([row[key] for row in scaling]) for key in ('float_ms', 'exact_ms')},
        Axes('joints', 'ms', 'log', 'log'),
    )
    return {**figures, PLOTS: [plot]}


def _agreement(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    count = settings.trials or (QUICK_TRIALS if settings.quick else TRIALS)
    contradictions: list[dict[str, object]] = []
    for i in range(count):
        if i % REPORT_EVERY == 0:
            progress(f'random mechanism {i} of {count}, {len(contradictions)} disagreements')
        seed = 1_000_000 * settings.seed + i
        sentences = trial(seed)
        if sentences:
            contradictions.append({'seed': seed, 'said': '; '.join(sentences)})
    return {
        'random_trees': count,
        'disagreements': len(contradictions),
        'contradictions': contradictions,
    }


def _scaling(joints: int) -> dict[str, float]:
    """Return a chain with axes at right angles, as arms have them, however long it is."""
    tree = chain(joints)
    return {
        'joints': joints,
        'float_ms': _ms(lambda: floating_nullspace(tree), 5),
        'exact_ms': _ms(lambda: exact_nullspace(tree), 5),
    }


def chain(joints: int) -> KinematicTree:
    """Return serial chain whose axes turn by a right angle from joint to joint."""
    made = []
    for i in range(joints):
        turns = (Turn(0, ExactAngle(6 if i % 2 else -6)),)
        position = (Fraction(i % 3, 100), Fraction(0), Fraction(3, 10))
        made.append(
            Joint(
                f'joint_{i + 1}',
                f'link_{i + 1}',
                i - 1,
                ExactPlacement(turns, position),
                revolute(),
            )
        )
    return KinematicTree(tuple(made), (Turn(0, ExactAngle(12)),))


def _ms(work: Callable[[], object], repeats: int) -> float:
    return 1e3 * median_seconds(work, repeats)
