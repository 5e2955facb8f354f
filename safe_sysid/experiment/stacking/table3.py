"""Table III: three tasks, eleven methods, five loads; who succeeds, and who breaks what.

Loads of a stack are done each for itself, as independent cells tell more than the first failure of
a stack; the first load at which a method fails follows from them. All methods of a cell have the
same arm, truth, sensor errors and motion. What an excitation teaches is a trial of its own, with
which those of all methods that need it begin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
import json

import numpy as np

from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.stacking.course import (
    PLANTS,
    figures_of,
    follow,
    gap_figures,
    histories_of,
    robot_at,
)
from safe_sysid.experiment.stacking.excitation_row import excitation_row
from safe_sysid.experiment.stacking.learning import Phase, arm_of
from safe_sysid.experiment.stacking.methods import (
    EVERY,
    EXCITATIONS,
    TUNINGS,
    Adapting,
    Tuning,
    controller_of,
    estimate_of,
)
from safe_sysid.experiment.stacking.promise import proof_of
from safe_sysid.experiment.stacking.scene import HEAVIEST, Scene, scene_names, scene_of
from safe_sysid.experiment.stacking.taught import Taught
from safe_sysid.experiment.trial import Row, Trial, seed_of
from safe_sysid.measure.clock import Clock

NAME = 'table3'
LOADS = tuple(f'dumbbell_{pounds}lb' for pounds in (4, 5, 6, 7, 8))
QUICK_LOADS = (LOADS[0], LOADS[-1])
TRIALS = 5  # a cell, as published
TOLERANCES = (10.0, 15.0, 20.0)  # [mm] of the place; the second decides
TILT = 5.0  # [degrees] of the bar
TUNED, TUNED_ON = ('feedback', 'rates'), 'noisy'  # columns of other gains, and their plant


def trials(settings: ExperimentSettings) -> list[Trial]:
    """All excitations, then all cells, each with the excitation that its method learns from."""
    count = settings.trials or (1 if settings.quick else TRIALS)
    loads = QUICK_LOADS if settings.quick else LOADS
    effort = 'quick' if settings.quick else 'full'
    seeds = {
        (load, number): seed_of(settings.seed, (NAME, load), number)
        for number in range(count)
        for load in loads
    }
    taught = {
        (kind, *cell): Trial(
            NAME, {'excitation': kind, 'load': cell[0], 'number': cell[1], 'effort': effort}, seed
        )
        for cell, seed in seeds.items()
        for kind in EXCITATIONS
    }
    tasks = [
        Trial(
            NAME,
            {
                'task': task,
                'method': name,
                'load': cell[0],
                'plant': plant,
                'number': cell[1],
                'effort': effort,
            },
            seed,
            taught.get((method.excitation, *cell)),
        )
        for cell, seed in seeds.items()
        for name, method in EVERY.items()
        for task in scene_names()
        for plant in PLANTS
        if cell[0] == HEAVIEST or (task != 'c' and plant != 'drives')
    ]
    return [*taught.values(), *tasks, *_with_other_gains(tasks, settings)]


def _with_other_gains(tasks: Sequence[Trial], settings: ExperimentSettings) -> list[Trial]:
    """Return the heaviest load on the noisy plant, with other gains; quick: task b."""
    return [
        replace(each, settings={**each.settings, **asdict(tuning)})
        for each in tasks
        for tuning in TUNINGS.get(str(each.settings['method']), ())
        if (each.settings['load'], each.settings['plant']) == (HEAVIEST, TUNED_ON)
        and (each.settings['task'] == 'b' or not settings.quick)
    ]


def trial(spec: Trial) -> Row:
    """Excite an arm, or carry the load along the motion of a task with what that has taught."""
    load = str(spec.settings['load'])
    if 'excitation' in spec.settings:
        kind, effort = str(spec.settings['excitation']), str(spec.settings['effort'])
        return excitation_row(Phase(kind, load, spec.seed, effort))
    task, name, plant = (str(spec.settings[key]) for key in ('task', 'method', 'plant'))
    method, scene, arm = EVERY[name], scene_of(task), arm_of(load, spec.seed)
    taught = None if spec.given is None else Taught.of_row(arm.nominal, spec.given)
    estimate = estimate_of(method, load, spec.seed, taught)
    controller = controller_of(method, arm.nominal, Clock(0), taught, _tuning(spec))
    proof = None
    if method.is_certified:
        proof = proof_of(method, PLANTS[plant], scene, arm.nominal, estimate)
        controller = proof.controller or controller
    robot = robot_at(
        arm.truth,
        PLANTS[plant],
        scene.motion.pieces[0].curve.q0,
        np.random.default_rng([spec.seed, 4]),
    )
    course = follow(controller, estimate, scene, robot, () if proof is None else proof.laws)
    row = {**({} if taught is None else taught.figures), **figures_of(course, arm.nominal, scene)}
    if spec.settings['number'] == 0 and 'feedback' not in spec.settings:
        row |= histories_of(course, arm.nominal)
        if isinstance(controller, Adapting):
            row['adapted_mass'] = json.dumps(controller.way)
            row['true_mass'] = float(arm.truth.theta[arm.truth.layout.end_effector][0])
    if scene.is_path:
        row |= gap_figures(course, arm.nominal)
    row |= _success(row, scene, is_excited_safely=taught is None or taught.is_safe)
    return row if proof is None else row | proof.promise(row)


def _tuning(spec: Trial) -> Tuning:
    """Return gains of a trial that has others than those of the rule."""
    chosen = {x: float(str(spec.settings[x])) for x in TUNED if x in spec.settings}
    return Tuning(**chosen)


def of_excitations(rows: Sequence[Row]) -> list[Row]:
    """Rows of excitations, without those of tasks."""
    return [row for row in rows if row.get('excitation') is not None]


def of_tasks(rows: Sequence[Row]) -> list[Row]:
    """Rows of tasks by the gains of the rule, without those of excitations."""
    return [row for row in rows if row.get('task') is not None and row.get('feedback') is None]


def of_tunings(rows: Sequence[Row]) -> list[Row]:
    """Rows of baselines with other gains."""
    return [row for row in rows if row.get('feedback') is not None]


def _success(row: Mapping[str, object], scene: Scene, *, is_excited_safely: bool) -> Row:
    """Return whether the load arrived, for each tolerance, and in which phase it went wrong."""
    number = {key: float(str(x)) for key, x in row.items() if isinstance(x, float)}
    touched = number['clearance_mm'] <= 0.0
    broken = (
        number['clipped_share'] > 0.0
        or number['velocity_share'] > 1.0
        or number['outside_position'] > 0.0
    )
    placed = {
        tolerance: scene.is_path
        or (number['final_error_mm'] <= tolerance and number['tilt_deg'] <= TILT)
        for tolerance in TOLERANCES
    }
    fine = is_excited_safely and not touched and not broken
    found: Row = {f'success_{tolerance:.0f}mm': fine and at for tolerance, at in placed.items()}
    failed = 'excite' if not is_excited_safely else '' if fine and placed[15.0] else 'task'
    return {**found, 'touched': touched, 'limit_broken': broken, 'failed_in': failed}


def count_of(rows: Sequence[Row], column: str) -> int:
    """How many rows have a column that is true."""
    return sum(bool(row.get(column)) for row in rows)
