"""What 200 boxes cost a planner, in processor time, which the load of a machine hardly changes.

Prints one JSON object, for `safe-sysid bench ros`: a message of boxes that have all changed, from
its bytes to its comparison with the plan in force, and a search for a plan among one box and among
all of them. A planner that hears ten messages a second has time for a plan in every horizon if
both together fit into it on one core.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
import json
from statistics import median
import sys
import time

import numpy as np
from rclpy.serialization import serialize_message
from visualization_msgs.msg import Marker, MarkerArray

from safe_sysid.arrays import Array
from safe_sysid.measure.clock import Clock
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.collision.shown_scene import ShownScene
from safe_sysid.model.frame_tree import FrameTree
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.aims import Excite
from safe_sysid.plan.early_stop import StopSettings
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.purpose import Ahead
from safe_sysid.plan.receding_horizon import PlannerSettings
from safe_sysid.plan.scene_guard import SceneGuard
from safe_sysid.plan.search.best_plan import Budget, SearchSettings, search
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.ros.messages.heard_markers import heard_markers
from safe_sysid.ros.messages.marker_changes import changes_in
from safe_sysid.ros.messages.waiting_markers import merged
from safe_sysid.ros.probes.perception import box_marker, boxes_around
from safe_sysid.track.gains import Gains
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

START = np.array([0.0, 0.3, 0.0, 1.2, 0.0, 0.9, 0.0])  # [rad]
GAINS = Gains(np.full(7, 5.0), V_M=0.02, alpha=25.0)
RATIO = 0.05  # of every parameter that is not the payload's
PAYLOAD = np.array([0.5, *(0.1,) * 3, *(0.05,) * 6])  # half widths of what the arm holds
FRAME, BOXES, RATE, MOVED = 'base_link', 200, 10.0, 0.005  # [Hz], [m] as in `perception`
MESSAGES, SEARCHES = 15, 5


def figures(seed: int) -> dict[str, float]:
    """Return medians [s of processor time]."""
    rng, settings = np.random.default_rng(seed), PlannerSettings()
    scene, problem = ShownScene(FrameTree(FRAME, {}, 0.5), 0.2), _problem()
    guard, places = _guard(problem), boxes_around(rng, BOXES)

    def hear(data: bytes) -> None:
        scene.apply(changes_in(merged([heard_markers(data)])), 0)
        guard.look(scene.boxes, 0.3)

    told = [_message(rng, places) for _ in range(MESSAGES)]
    hear(told[0])
    message = median(_used(partial(hear, data)) for data in told)
    names = list(scene.boxes)[:1]
    few = Obstacles.of({name: scene.boxes[name] for name in names})
    one, many = (_search(problem, among) for among in (few, Obstacles.of(scene.boxes)))
    per_plan = many + settings.switch * RATE * message
    return {
        'message_cpu_s': message,
        'search_cpu_s_one_box': one,
        'search_cpu_s': many,
        'cpu_s_per_plan': per_plan,
        'horizon_s': settings.switch,
    }


def _problem() -> Problem:
    """Plans from rest, with a payload that is not known."""
    model = RobotModel.named('kinova_gen3')
    bounds = ratio_bounds(model.theta, RATIO)
    radius = bounds.radius.copy()
    radius[model.layout.end_effector] = PAYLOAD
    wide = type(bounds).from_center_radius(model.theta, radius)
    rest = np.zeros(model.n)
    horizon = Horizon(Bezier(START, rest, rest, PlannerSettings().duration), rest, rest)
    estimate = ParameterEstimate(model.layout, model.theta, wide)
    return Problem(model, estimate, horizon, GAINS, Obstacles.of({}))


def _guard(problem: Problem) -> SceneGuard:
    """Return one that watches over a plan which stands still."""
    certificate = ReachableSet.certify_center(problem)
    guard = SceneGuard(StopSettings(), Clock(0).stamp)
    guard.watch(Plan(0.0, 1.5, problem.horizon.curve, certificate.k, None, certificate), 0.0)
    return guard


def _search(problem: Problem, among: Obstacles) -> float:
    """Median of searches, the first of which compiles."""
    problem = replace(problem, obstacles=among)
    mission = Mission(problem.model, None, MissionSettings())
    ahead = Ahead(problem, START, PlannerSettings().switch, Budget.of(np.inf))
    aim = mission.due(ahead)
    assert isinstance(aim, Excite)  # what every mission begins with

    def look(seed: int) -> None:
        search(problem, aim, Budget.of(np.inf), SearchSettings(), seed)

    look(0)
    return median(_used(partial(look, seed)) for seed in range(1, SEARCHES + 1))


def _message(rng: np.random.Generator, places: Array) -> bytes:
    moved = places + rng.uniform(-MOVED, MOVED, places.shape)
    markers: list[Marker] = [box_marker(FRAME, i, place) for i, place in enumerate(moved)]
    return bytes(serialize_message(MarkerArray(markers=markers)))


def _used(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def main() -> int:
    """Print the figures; the only argument is the seed."""
    sys.stdout.write(f'{json.dumps(figures(int(sys.argv[1])))}\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
