"""`safe-sysid bench reach`: does anything leave the sets, how fast and how wide are they."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import product
import os

import numpy as np

from safe_sysid.bench.experiments.chains import (
    gains_of,
    kinova_chain,
    range_of,
    start_of,
)
from safe_sysid.bench.experiments.kinova_dumbbell import kinova_prior
from safe_sysid.bench.experiments.planning import bare_estimate, boxes_beside
from safe_sysid.bench.experiments.reach import (
    DURATION,
    KINOVA_RANGE,
    MotionSamples,
    energy_errors,
    kinova_with_dumbbell,
    random_arm,
    random_curve,
    random_horizon,
    random_obstacles,
    sample_motion,
)
from safe_sysid.bench.experiments.reach_escapes import controller_torque, excess, torques
from safe_sysid.bench.plots import PLOTS, LinePlot
from safe_sysid.bench.settings import BenchSettings, Progress
from safe_sysid.bench.timing import median_spent
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.search.best_plan import SearchSettings
from safe_sysid.plan.search.ipopt import IpoptSettings
from safe_sysid.plan.search.working_rows import nearest_rows
from safe_sysid.reach.error_balls import error_set
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.report.figures import Axes
from safe_sysid.sets.box import Box
from safe_sysid.track.gains import Gains
from safe_sysid.trajectory.bezier import Bezier

CHUNK = 2000  # samples drawn from one set
START = np.array([0.0, 0.3, 0.0, 1.9, 0.0, 0.9, 0.0])  # [rad] of the plan that is timed
MOVE = 0.3  # [rad] k of its centre
OBSTACLES = 10
JOINTS = (2, 3, 4, 6, 7, 8, 10, 12)
FEW_JOINTS = (3, 7, 12)  # with which a quick run does, and those that are compared
INTERVALS = (16, 32, 64, 128, 256, 512)
OBSTACLE_COUNTS = (0, 1, 3, 10, 50, 200, 1000)
FEW_OBSTACLES = (0, 10, 50, 200)
VOXELS, VOXEL = 2000, 0.02  # cubes of half this size [m]
WIDTH_CHUNKS = 50  # of samples, for the width of the torque sets
WIDER = (1.0, 4.0)  # times the published ranges of k


@dataclass(frozen=True)
class Times:
    """Median milliseconds of building, evaluating and certifying: wall, and of the processor.

    Evaluated are all margins, and the derivatives of the hundred that a search looks at.
    """

    sets_ms: float
    evaluate_ms: float
    certify_ms: float
    sets_cpu_ms: float
    evaluate_cpu_ms: float
    certify_cpu_ms: float


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Escapes of random samples, times, width of the torque sets, scaling."""
    quick = settings.quick
    samples = settings.trials or (20_000 if quick else 1_000_000)
    load = os.getloadavg()[0]
    figures = _escapes(settings.seed, samples, progress)
    repeats = 5 if quick else 15
    rng = np.random.default_rng([settings.seed, 1])
    obstacles = random_obstacles(rng, OBSTACLES)
    times = {}
    for degree in (1, 2, 3):
        progress(f'times of a Kinova plan at degree {degree}')
        times[degree] = _times(_kinova(degree, 128, obstacles), repeats)
    figures['sets_ms'] = {degree: t.sets_ms for degree, t in times.items()}
    figures['evaluate_ms'] = times[2].evaluate_ms
    figures['evaluate_ms_by_degree'] = {degree: t.evaluate_ms for degree, t in times.items()}
    figures['certify_ms'] = times[2].certify_ms
    figures['cpu_ms'] = {
        'sets': {degree: t.sets_cpu_ms for degree, t in times.items()},
        'evaluate': times[2].evaluate_cpu_ms,
        'certify': times[2].certify_cpu_ms,
    }
    progress('times of a Kinova plan at the time steps of a search')
    coarse = _times(_kinova(2, SearchSettings().intervals, obstacles), repeats)
    figures['search_sets_ms'] = coarse.sets_ms
    figures['search_sets_cpu_ms'] = coarse.sets_cpu_ms
    figures['constraints'] = len(_kinova(2, 128, obstacles).build().evaluate(np.zeros(7)).values)
    progress('width of the torque sets')
    figures['width_ratio'] = _width_ratio(rng, _kinova(2, 128, NO_OBSTACLES))
    if not quick:
        figures['width_ratios'] = _width_ratios(rng, progress)
    figures['median_slack_torque'] = _torque_slack()
    figures['occupancy_radius_mm'] = _occupancy_radius()
    scaling = {
        'degree': [{'degree': degree, **asdict(t)} for degree, t in times.items()],
        **_scaling(settings, 3 if quick else 7, progress),
    }
    progress(f'a certificate among {VOXELS} voxels')
    problem = _kinova(2, 128, _voxels(rng)).problem
    voxels = median_spent(lambda: ReachableSet.certify_center(problem), repeats)
    figures['certify_ms_voxels'], figures['certify_cpu_ms_voxels'] = (1e3 * t for t in voxels)
    figures.update(_compared(scaling))
    return {**figures, 'scaling': scaling, 'load': load, PLOTS: list(_plots(scaling))}


@dataclass(frozen=True, eq=False)
class _Case:
    """A problem to compute sets of."""

    model: RobotModel
    bounds: ParameterEstimate
    horizon: Horizon
    gains: Gains
    obstacles: Obstacles

    @property
    def problem(self) -> Problem:
        """All that sets depend on."""
        return Problem(self.model, self.bounds, self.horizon, self.gains, self.obstacles)

    def build(self) -> ReachableSet:
        """Return the sets."""
        return ReachableSet.of(self.problem)


def _kinova(degree: int, intervals: int, obstacles: Obstacles, wider: float = 1.0) -> _Case:
    """Return the published ranges about a motion from rest; Table I and 5 % on everything else."""
    model = kinova_with_dumbbell()
    curve = Bezier(START, np.zeros(7), np.zeros(7), DURATION)
    horizon = Horizon(curve, np.full(7, MOVE), wider * KINOVA_RANGE, intervals, degree)
    return _Case(model, kinova_prior(model), horizon, gains_of(7), obstacles)


def _random(rng: np.random.Generator, n: int, degree: int, intervals: int) -> _Case:
    """Any arm, 5 % on everything."""
    model = random_arm(rng, n)
    bounds = ParameterEstimate(model.layout, model.theta, ratio_bounds(model.theta, 0.05))
    horizon = random_horizon(rng, n, 0.2, degree, intervals)
    return _Case(model, bounds, horizon, gains_of(n), NO_OBSTACLES)


def _chain(n: int) -> _Case:
    """Return the published ranges of an arm of n joints about a motion from rest."""
    model = kinova_chain(n)
    curve = Bezier(start_of(n), np.zeros(n), np.zeros(n), DURATION)
    horizon = Horizon(curve, np.full(n, MOVE), range_of(n), 128, 2)
    return _Case(model, bare_estimate(model), horizon, gains_of(n), NO_OBSTACLES)


def _escapes(seed: int, samples: int, progress: Progress) -> dict[str, object]:
    """Return samples that leave a set: random arms and the Kinova in turn, degrees 1 to 3."""
    escapes, largest = 0, -np.inf
    chunks = -(-samples // CHUNK)
    for number in range(chunks):
        if number % 50 == 0:
            progress(f'samples {number * CHUNK} of {samples}')
        rng = np.random.default_rng([seed, 0, number])
        if number % 2:
            case = _random(rng, int(rng.integers(1, 8)), 1 + number // 2 % 3, 32)
        else:
            case = _kinova(1 + number // 2 % 3, 128, NO_OBSTACLES)
            center = rng.uniform(-1.0, 1.0, size=7)
            horizon = replace(case.horizon, curve=random_curve(rng, 7), k_center=center)
            case = replace(case, horizon=horizon)
        sets = case.build()
        found = excess(rng, sets, _motion(rng, sets, CHUNK))
        escapes += found.escapes()
        largest = max(largest, float(found.worst.max()))
    return {'samples': chunks * CHUNK, 'escapes': escapes, 'largest_excess': largest}


def _motion(rng: np.random.Generator, sets: ReachableSet, count: int) -> MotionSamples:
    """States within the tracking error of plans of the horizon."""
    bounds, gains = sets.problem.bounds, sets.problem.gains
    armature = bounds.bounds.lower[bounds.layout.joint_entries('Ia')]
    errors = energy_errors(rng, sets.error, error_set(sets.error, armature, gains.V_M), count)
    return sample_motion(rng, sets.problem.horizon, sets.error.K_r, errors)


def _times(case: _Case, repeats: int) -> Times:
    sets = case.build()
    x = np.full(sets.problem.horizon.n, 0.3)
    k, all_rows = sets.k(x), sets.evaluate(x)
    rows = nearest_rows(all_rows.values, all_rows.jacobian, IpoptSettings().rows)
    single = replace(sets.problem, horizon=replace(sets.problem.horizon, k_center=k))
    work = (
        case.build,
        lambda: sets.evaluate(x).slopes(rows),
        lambda: ReachableSet.certify_center(single),
    )
    spent = [median_spent(each, repeats) for each in work]
    return Times(*(1e3 * each.wall for each in spent), *(1e3 * each.cpu for each in spent))


def _width_ratios(rng: np.random.Generator, progress: Progress) -> list[dict[str, float]]:
    """Width ratios at the published ranges of k and at wider ones, by degree and intervals."""
    rows = []
    for wider, degree, intervals in product(WIDER, (2, 3), (64, 128, 256)):
        progress(f'width: {wider} times the range, degree {degree}, {intervals} intervals')
        case = _kinova(degree, intervals, NO_OBSTACLES, wider)
        setting = {'range': wider, 'degree': degree, 'intervals': intervals}
        rows.append({**setting, **_width_ratio(rng, case)})
    return rows


def _width_ratio(rng: np.random.Generator, case: _Case) -> dict[str, float]:
    """Width of the torque set over that of what is sampled in it, median over times."""
    sets = case.build()
    lowest = np.full((case.horizon.intervals, case.model.n), np.inf)
    highest = -lowest
    for _ in range(WIDTH_CHUNKS):
        samples = _motion(rng, sets, CHUNK)
        nominal, disturbance, _ = torques(rng, sets.problem, samples)
        torque = controller_torque(sets.problem, samples, nominal, disturbance)
        np.minimum.at(lowest, samples.interval, torque)
        np.maximum.at(highest, samples.interval, torque)
    bound = sets.torque.bound()
    ratio = np.median((bound.upper - bound.lower) / (highest - lowest), axis=0)
    return dict(zip(case.model.layout.joint_names, ratio.tolist(), strict=True))


def _torque_slack() -> dict[str, float]:
    """Median over times of |torque| beyond that of the desired motion at theta_0 [N m].

    It holds what the tracking error, the bounds of theta and the enclosures add.
    """
    sets = _kinova(2, 128, NO_OBSTACLES).build()
    plan = sets.of_plan(sets.problem.horizon.k_center)
    joints = plan.problem.model.layout.joint_names
    bound, curve, k = plan.torque.bound(), plan.problem.horizon.curve, plan.k(np.zeros(7))
    time = plan.problem.horizon.time
    states = [curve.derivative(order, time.center, k) for order in range(3)]
    nominal = standard_regressor(plan.problem.model, *states) @ plan.problem.bounds.theta
    slack = np.median(bound.magnitude - np.abs(nominal), axis=0)
    return dict(zip(joints, slack.tolist(), strict=True))


def _occupancy_radius() -> dict[str, float]:
    """Largest ball about the far end of the payload, for the range of plans and for one plan."""
    sets = _kinova(2, 128, NO_OBSTACLES).build()
    plan = sets.of_plan(sets.problem.horizon.k_center)
    return {
        'range': 1e3 * float(sets.occupancy.rho[:, -1].max()),
        'plan': 1e3 * float(plan.occupancy.rho[:, -1].max()),
        'tracking': 1e3 * float(plan.occupancy.tracking[:, -1].max()),
    }


def _scaling(
    settings: BenchSettings, repeats: int, progress: Progress
) -> dict[str, list[dict[str, float]]]:
    """Return times against joints, time intervals and obstacles, of a Kinova.

    Obstacles are anywhere, also where the arm is; `boxes_apart` are a scene that it can stand in.
    """
    quick = settings.quick
    rng = np.random.default_rng([settings.seed, 2])
    counts = FEW_OBSTACLES if quick else OBSTACLE_COUNTS
    model, beside = kinova_with_dumbbell(), np.random.default_rng([settings.seed, 3])
    cases = {
        'joints': {n: _chain(n) for n in (FEW_JOINTS if quick else JOINTS)},
        'intervals': {T: _kinova(2, T, random_obstacles(rng, OBSTACLES)) for T in INTERVALS},
        'obstacles': {o: _kinova(2, 128, random_obstacles(rng, o)) for o in counts},
        'boxes_apart': {o: _kinova(2, 128, boxes_beside(beside, model, START, o)) for o in counts},
    }
    rows: dict[str, list[dict[str, float]]] = {}
    for name, by_size in cases.items():
        rows[name] = []
        for size, case in by_size.items():
            progress(f'scaling: {size} {name}')
            rows[name].append({name: size, **asdict(_times(case, repeats))})
    return rows


def _compared(scaling: dict[str, list[dict[str, float]]]) -> dict[str, object]:
    """Return times by joints and obstacles, and how many times as long more of them take."""
    joints, boxes, apart = (
        {int(row[name]): row for row in scaling[name]}
        for name in ('joints', 'obstacles', 'boxes_apart')
    )
    what = ('sets', 'evaluate', 'certify')
    found: dict[str, object] = {
        'certify_ms_by_joints': {n: row['certify_ms'] for n, row in joints.items()},
        'certify_ms_by_boxes': {o: row['certify_ms'] for o, row in boxes.items()},
        'evaluate_ms_by_boxes': {o: row['evaluate_ms'] for o, row in boxes.items()},
    }
    compared = (
        ('joints', joints, (7, 12)),
        ('boxes', boxes, (10, 200)),
        ('boxes_apart', apart, (10, 200)),
    )
    for name, rows, (few, many) in compared:
        if few in rows and many in rows:
            found[f'cpu_of_{many}_to_{few}_{name}'] = {
                each: rows[many][f'{each}_cpu_ms'] / rows[few][f'{each}_cpu_ms'] for each in what
            }
    return found


def _voxels(rng: np.random.Generator) -> Obstacles:
    """Cubes all around the base."""
    direction = rng.normal(size=(VOXELS, 3))
    distance = rng.uniform(0.4, 1.2, size=(VOXELS, 1))
    centers = direction / np.linalg.norm(direction, axis=1, keepdims=True) * distance
    size = np.full(3, VOXEL)
    return Obstacles.of({f'voxel_{i}': Box(c, size, np.eye(3)) for i, c in enumerate(centers)})


def _plots(scaling: dict[str, list[dict[str, float]]]) -> Iterator[LinePlot]:
    for name, rows in scaling.items():
        series = {
            what: np.array([row[f'{what}_cpu_ms'] for row in rows])
            for what in ('sets', 'evaluate', 'certify')
        }
        sizes = np.array([row[name] for row in rows])
        axes = Axes(name, 'milliseconds of processor time', 'linear', 'log')
        yield LinePlot(f'reach_{name}.svg', sizes, series, axes)
