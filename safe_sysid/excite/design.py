"""One search for a motion: from a random start through the stages of its criterion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError, ConfigError
from safe_sysid.excite.barrier_descent import Descent
from safe_sysid.excite.certificate import proven_distance
from safe_sysid.excite.criteria import GOALS, stages_of
from safe_sysid.excite.design_problem import DesignProblem, Room
from safe_sysid.excite.information import Information
from safe_sysid.excite.observed_columns import (
    ObservedColumns,
    observed_columns,
    payload_columns,
    random_states,
)
from safe_sysid.excite.settings import ExcitationSettings
from safe_sysid.model.collision.arm_distances import POSES, contacts_of
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.trajectory.bspline import SplineBasis
from safe_sysid.trajectory.fourier import FourierBasis
from safe_sysid.trajectory.motion_basis import MotionBasis

STEPS = (100, 40, 40, 60, 100)  # of each stage; a criterion of one stage gets all of them
LOOK_EVERY = 20  # steps, for motions that could be used already
POSE_SHARE = 0.7  # of the way from the middle of the position limits, for the pose of a start
POSE_TRIES = 2000
FILL = 0.5  # share of the room that a start fills, before it shrinks away from contact
SHRINK = 0.7
SEED_OF_POSES = 7
BASES: dict[str, Callable[[float, int], MotionBasis]] = {
    'fourier': FourierBasis,
    'bspline': SplineBasis,
}


@dataclass(frozen=True, eq=False)
class MotionCandidate:
    """A motion that keeps its linear limits at all times and its distances, proven."""

    x: Array  # coefficients
    goal: float  # what is minimised, smaller is better
    condition: float
    start: int  # number of the start it is from


def motion_basis(settings: ExcitationSettings) -> MotionBasis:
    """Return the functions that motions are made of."""
    return BASES[settings.basis](settings.duration, settings.order)


def design_problem(
    bare: RobotModel, model: RobotModel, settings: ExcitationSettings
) -> DesignProblem:
    """Return the search for a motion of `model`, which is `bare` with what it holds."""
    columns = observed_columns(model, settings.friction, settings.smooth)
    return problem_with(bare, model, settings, columns)


def payload_problem(
    bare: RobotModel, model: RobotModel, settings: ExcitationSettings
) -> DesignProblem:
    """Return the same for the ten parameters of the body at the tip alone."""
    return problem_with(bare, model, settings, payload_columns(model, settings.smooth))


def problem_with(
    bare: RobotModel, model: RobotModel, settings: ExcitationSettings, columns: ObservedColumns
) -> DesignProblem:
    """Return the search for a motion that is judged by given columns."""
    noise = np.array(settings.torque_noise or [1.0] * model.n)
    if len(noise) != model.n:
        raise ConfigError(
            f'torque_noise has {len(noise)} entries, {model.name} has {model.n} joints'
        )
    poses = random_states(model.limits, np.random.default_rng(SEED_OF_POSES), POSES)[0]
    room = Room(settings.clearance + settings.extra_clearance, settings.extra_torque)
    return DesignProblem(
        Information(model, columns, noise),
        contacts_of(bare, model, settings.floor, poses).sharing(room.distance, poses),
        motion_basis(settings),
        _times(settings.duration, settings.sample_rate),
        _times(settings.duration, settings.check_rate),
        room,
        settings.clearance,
    )


def search(
    problem: DesignProblem, criterion: str, seed: int, start: int
) -> Iterator[MotionCandidate | None]:
    """Every step of one search; a candidate whenever the motion so far can be used, else None.

    What comes is decided by seed and start alone.
    """
    stages = stages_of(criterion)
    steps = STEPS if len(stages) == len(STEPS) else (sum(STEPS),)
    x = random_start(problem, np.random.default_rng([seed, start]))
    descent = Descent(problem, x)
    number = 0
    for stage, count in zip(stages, steps, strict=True):
        for _ in descent.steps(stage, count):
            number += 1
            if number % LOOK_EVERY == 0:
                yield _candidate(problem, descent, criterion, start)
            else:
                yield None
        yield _candidate(problem, descent, criterion, start)


def warm_up(problem: DesignProblem) -> None:
    """Compile everything a search needs; other processes then read it from disk."""
    x = random_start(problem, np.random.default_rng(0))
    rows = problem.rows(x)
    problem.row_gradients(rows, np.array([len(rows.values) - 1]))
    problem.criterion(stages_of('rho')[0], x)
    proven_distance(problem.contacts, problem.motion(x), problem.required)


def random_start(problem: DesignProblem, rng: np.random.Generator) -> Array:
    """Coefficients strictly inside all limits: a pose that is clear, and some motion about it."""
    x = np.zeros(problem.shape)
    x[:, 0] = _clear_pose(problem, rng)
    move = rng.normal(size=problem.shape)
    move[:, 0] = 0.0
    A, lower, upper = problem.limits
    at, turn = x @ A.T, move @ A.T
    with np.errstate(divide='ignore'):
        room = np.where(turn > 0.0, upper - at, at - lower) / np.abs(turn)
    move *= FILL * room.min(axis=1)[:, None]
    while problem.rows(x + move).values.min(initial=1.0) < 0.0:
        move *= SHRINK
    return x + move


def _clear_pose(problem: DesignProblem, rng: np.random.Generator) -> Array:
    """Return a pose at rest that keeps all distances and torques."""
    limits = problem.model.limits
    ends = limits.position_lower, limits.position_upper
    has_ends = np.isfinite(ends).all(axis=0)
    middle = np.where(has_ends, 0.5 * np.sum(np.where(has_ends, ends, 0.0), axis=0), 0.0)
    tried = []
    for _ in range(POSE_TRIES):
        x = np.zeros(problem.shape)
        drawn = random_states(limits, rng, 1)[0, 0]
        x[:, 0] = middle + POSE_SHARE * (drawn - middle)
        rows = problem.rows(x).values
        if rows.min(initial=1.0) > 0.0:
            return x[:, 0]
        tried.append(rows)
    raise BoundError(_without_pose(problem, np.array(tried)))


def _without_pose(problem: DesignProblem, rows: Array) -> str:
    """Say what stands in the way at poses whose rows (poses, rows) are not all above 0."""
    model, names = problem.model, problem.contacts.names
    gaps, torques = np.split(rows, [len(problem.checks) * len(names)], axis=1)
    by_name = gaps.reshape(len(rows), len(problem.checks), len(names)).min(axis=1)
    by_joint = torques.reshape(len(rows), -1, model.n).min(axis=1)
    worst = int(np.argmin(np.mean(np.hstack([by_name, by_joint]) > 0.0, axis=0)))
    if worst < len(names):
        asked = problem.room.distance * problem.contacts.share[worst]
        at_best = 1e3 * (by_name[:, worst].max() + asked)
        reason = f'{names[worst]} are {at_best:.3g} mm apart at most'
        if worst >= len(problem.contacts.bodies.pairs):
            reason += f' (floor: {problem.contacts.bodies.floor:g} m in the base frame)'
    else:
        reason = f'{model.layout.joint_names[worst - len(names)]} holds the arm least often'
    return (
        f'no pose of {model.name} in {len(rows)} random ones keeps '
        f'{1e3 * problem.room.distance:.3g} mm (clearance and extra_clearance) between its '
        f'capsules and above the floor, and its torque limits: {reason}; check floor, clearance '
        'and extra_clearance in the settings (--settings), and what it holds'
    )


def _candidate(
    problem: DesignProblem, descent: Descent, criterion: str, start: int
) -> MotionCandidate | None:
    x = descent.x.copy()
    if proven_distance(problem.contacts, problem.motion(x), problem.required)[0] < (
        problem.required
    ):
        return None
    goal = problem.goal(GOALS[criterion], x)
    if not np.isfinite(goal):
        return None
    return MotionCandidate(x, goal, problem.information.condition(problem.states(x)), start)


def _times(duration: float, rate: float) -> Array:
    """Sample times of one period, without its end."""
    return np.arange(round(duration * rate)) / rate
