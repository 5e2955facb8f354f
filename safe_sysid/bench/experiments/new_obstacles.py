"""How long it takes to certify a plan again among new obstacles, and to find an early stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
import time

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.planning import at_rest, bare_estimate
from safe_sysid.model.collision.obstacles import NO_OBSTACLES, Obstacles
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.early_stop import find_stop
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.reach.swept_arm import SweptArm
from safe_sysid.sets.box import Box
from safe_sysid.simulate.random_arm import random_rotation
from safe_sysid.trajectory.plan import Plan

START = np.array([0.0, 0.3, 0.0, 1.2, 0.0, 0.9, 0.0])  # [rad]
K = 0.3 * np.eye(7)[0]  # the arm turns about the vertical
COUNTS = (1, 10, 50, 200)
REPEATS = 7


@dataclass(frozen=True)
class Milliseconds:
    """Medians: by the clock, and of processors."""

    wall: float
    cpu: float


def times_among_new_obstacles(rng: np.random.Generator) -> dict[str, object]:
    """Of a plan of a bare Kinova, all boxes being new; whether it is hit makes no difference."""
    certificate, plan = _plan()
    swept, again = SweptArm.of(certificate), {}
    for count in COUNTS:
        again[count] = _timed(partial(_nearest, swept, _boxes(rng, count)))
    sets = _timed(lambda: SweptArm.of(certificate))
    stop = _timed(lambda: find_stop(plan, 0.5, NO_OBSTACLES, np.inf))
    return {
        'recertify_ms': {count: each.wall for count, each in again.items()},
        'recertify_cpu_ms': {count: each.cpu for count, each in again.items()},
        'sets_to_recertify_cpu_ms': sets.cpu,
        'early_stop_ms': stop.wall,
        'early_stop_cpu_ms': stop.cpu,
    }


def _nearest(swept: SweptArm, boxes: dict[str, Box]) -> None:
    swept.nearest(Obstacles.of(boxes), 0.3)


def _plan() -> tuple[PlanCertificate, Plan]:
    model = RobotModel.named('kinova_gen3')
    problem = at_rest(model, bare_estimate(model), START, NO_OBSTACLES)
    problem = replace(problem, horizon=replace(problem.horizon, k_center=K))
    certificate = ReachableSet.certify_center(problem)
    curve, bounds = problem.horizon.curve, problem.bounds
    return certificate, Plan(0.0, 0.0, curve, K, bounds.bounds, certificate, bounds.theta)


def _boxes(rng: np.random.Generator, count: int) -> dict[str, Box]:
    """All around the arm, in its reach."""
    boxes = {}
    for i in range(count):
        direction: Array = rng.normal(size=3)
        center = direction / np.linalg.norm(direction) * rng.uniform(0.5, 1.3)
        boxes[str(i)] = Box(center, rng.uniform(0.02, 0.1, 3), random_rotation(rng))
    return boxes


def _timed(work: Callable[[], object]) -> Milliseconds:
    work()
    walls, cpus = [], []
    for _ in range(REPEATS):
        begin, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(1e3 * (time.perf_counter() - begin))
        cpus.append(1e3 * (time.process_time() - cpu))
    return Milliseconds(float(np.median(walls)), float(np.median(cpus)))
