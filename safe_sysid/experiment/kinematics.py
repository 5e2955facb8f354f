"""Geometry of an arm from measured poses with noise: how many, which ones, how good they are.

The arm is built 1 mm and 0.1 degrees off its description in every joint and at the marker. Poses
are random ones, or the most informative of many (D-optimal). What counts is how far the tip is
from where the fitted geometry says, at poses that were not measured; only combinations of the
numbers of the geometry can be known, so single ones are not compared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.calibrate import misbuilt, random_positions
from safe_sysid.calibrate.informative_poses import informative_poses
from safe_sysid.calibrate.kinematic_fit import (
    Marker,
    TipPoses,
    exponential,
    kinematic_fit,
    seen_poses,
    tip_poses,
)
from safe_sysid.calibrate.settings import PoseNoise
from safe_sysid.experiment.result_table import ResultTable
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.trial import Row, Trial, seed_of
from safe_sysid.model.robot_model import RobotModel

NAME = 'kinematics'
ROBOTS = ('lbr_med7', 'kinova_gen3')
NOISE = {'0.1 mm': (1e-4, 0.05), '0.5 mm': (5e-4, 0.2), '1 mm': (1e-3, 0.5)}  # [m], [degrees]
POSES = (20, 50, 100)
QUICK_POSES = (20, 50)
CHOICES = ('random', 'D-optimal')
CANDIDATES = 400  # of which D-optimal poses are chosen
TESTED = 500  # poses that were not measured
TRIALS = 10


def trials(settings: ExperimentSettings) -> list[Trial]:
    """Each arm, noise, number and choice of poses; both choices have the same arm."""
    count = settings.trials or (1 if settings.quick else TRIALS)
    return [
        Trial(
            NAME,
            {'robot': robot, 'noise': noise, 'poses': poses, 'choice': choice, 'number': number},
            seed_of(settings.seed, (NAME, robot, noise, poses), number),
        )
        for number in range(count)
        for robot in (ROBOTS[:1] if settings.quick else ROBOTS)
        for noise in NOISE
        for poses in (QUICK_POSES if settings.quick else POSES)
        for choice in CHOICES
    ]


def trial(spec: Trial) -> Row:
    """Measure an arm that is built a little wrong, fit it, and compare tips."""
    rng = np.random.default_rng(spec.seed)
    model = RobotModel.named(str(spec.settings['robot']))
    truth, marker = misbuilt(model, rng)
    metres, degrees = NOISE[str(spec.settings['noise'])]
    noise = PoseNoise(metres, float(np.radians(degrees)))
    start = Marker(np.eye(3), np.array([0.05, 0.02, 0.1]))
    q = random_positions(model, rng, CANDIDATES)
    tested = random_positions(model, rng, TESTED)
    count = int(str(spec.settings['poses']))
    chosen = (
        informative_poses(model, q, count, start, noise)
        if spec.settings['choice'] == 'D-optimal'
        else np.arange(count)
    )
    R, p = tip_poses(truth, q[chosen], marker)
    measured = TipPoses(q[chosen], p + metres * rng.normal(size=p.shape), _turned(R, noise, rng))
    fit = kinematic_fit(model, measured, noise, start)
    true_p = tip_poses(truth, tested, marker)[1]
    before, after = (
        1e3 * np.linalg.norm(tested_p - true_p, axis=1)
        for tested_p in (tip_poses(model, tested, start)[1], seen_poses(fit, tested)[1])
    )
    return {
        'rank': fit.rank,
        'unknowns': fit.unknowns,
        'before_rms_mm': _rms(before),
        'after_rms_mm': _rms(after),
        'after_largest_mm': float(after.max()),
        'residual_mm': 1e3 * fit.position_rms,
    }


def _turned(R: Array, noise: PoseNoise, rng: np.random.Generator) -> Array:
    """Rotations (N, 3, 3) as they are measured."""
    return np.array([r @ exponential(noise.rotation * rng.normal(size=3)) for r in R])


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def tables(rows: Sequence[Row]) -> list[ResultTable]:
    """Errors of the tip, by noise and by number and choice of poses."""
    found = []
    for robot in dict.fromkeys(str(row['robot']) for row in rows):
        of_robot = [row for row in rows if row['robot'] == robot]
        lines = []
        for noise in dict.fromkeys(row['noise'] for row in of_robot):
            for poses in dict.fromkeys(row['poses'] for row in of_robot):
                some = [r for r in of_robot if r['noise'] == noise and r['poses'] == poses]
                lines.append((f'{noise}, {NOISE[str(noise)][1]} deg', str(poses), *_cells(some)))
        columns = (
            *('noise', 'poses', 'described', 'random poses', 'D-optimal poses'),
            *('largest, random', 'largest, D-optimal', 'rank of unknowns'),
        )
        found.append(
            ResultTable(
                f'Error of the tip of {robot} [mm]',
                columns,
                tuple(lines),
                (
                    f'RMS over {TESTED} poses that were not measured, median over '
                    f'{len({row["number"] for row in of_robot})} arms; noise is a standard '
                    'deviation. Four numbers a joint and six of the marker can be known.',
                ),
            )
        )
    return found


def _cells(rows: Sequence[Row]) -> tuple[str, ...]:
    def median(column: str, choice: str) -> str:
        values = [float(str(row[column])) for row in rows if row['choice'] == choice]
        return f'{np.median(values):.3f}' if values else '–'

    return (
        median('before_rms_mm', 'random'),
        *(median('after_rms_mm', choice) for choice in CHOICES),
        *(median('after_largest_mm', choice) for choice in CHOICES),
        f'{rows[0]["rank"]} of {rows[0]["unknowns"]}',
    )
