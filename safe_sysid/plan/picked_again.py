"""PickedAgain: which placed object a hand that closes at q picks, and the way straight in.

The way is the one on which the hand would leave it (`plan.path.leaving`), the other way round: it
begins where the hand is clear. Which object it is has to be certain: the arm touches no other
placed one there, only parts that the last joint moves touch this one, and its middle is within the
cuboid about what may be held. That it is still what was placed there, nobody knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.model.collision.capsules_to_box import box_about, clearances
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.path.leaving import leaving_route
from safe_sysid.plan.task_goal import GoalError, Surroundings, standing_trouble
from safe_sysid.reach.retreat import Retreat
from safe_sysid.sets.box import Box


@dataclass(frozen=True, eq=False)
class PickedAgain:
    """What is picked, and waypoints from where the hand is clear of it to where it closes."""

    name: str
    way: Array  # (W, n) [rad]


def placed_boxes(obstacles: Obstacles, retreat: Retreat | None) -> dict[str, Box]:
    """Return what was placed, by name."""
    return {
        name: shape
        for name, shape in zip(obstacles.names, obstacles.shapes, strict=True)
        if retreat is not None and name.startswith(retreat.prefix) and type(shape) is Box
    }


def picked_again(
    model: RobotModel, q: Array, obstacles: Obstacles, retreat: Retreat, hand: Sequence[str]
) -> PickedAgain | None:
    """Return what was placed and is picked at q; None: the arm touches nothing of that.

    `hand` names the shapes of what may be held. A GoalError says why nothing is certain.
    """
    moved = np.flatnonzero(model.capsules.joint >= 0)
    boxes = placed_boxes(obstacles, retreat)
    gaps = {name: clearances(model, q, moved, box) for name, box in boxes.items()}
    touched = [name for name, gap in gaps.items() if gap.min() <= 0.0]
    if not touched:
        return None
    if len(touched) > 1:
        raise GoalError(
            f'the arm is inside {" and ".join(touched)} there; which of them is picked is not '
            'known, so all but one have to be taken away, or left'
        )
    (name,) = touched
    _refuse_unless_held(model, q, (name, boxes[name]), moved[gaps[name] <= 0.0], hand)
    lift = retreat.at(model, q, q, Obstacles.of({name: boxes[name]}))
    route = None if lift is None else leaving_route(model, lift, q)
    if route is None:
        raise GoalError(f'no joints lead the hand straight into {name}, and out again')
    way = route.waypoints[::-1].copy()
    trouble = standing_trouble(way[0], Surroundings(model, obstacles, q))
    if trouble:
        raise GoalError(f'where the way straight into {name} begins, {trouble}')
    return PickedAgain(name, way)


def _refuse_unless_held(
    model: RobotModel, q: Array, told: tuple[str, Box], touching: IntArray, hand: Sequence[str]
) -> None:
    """Raise a GoalError unless the hand alone is about an object, and its middle in its grasp."""
    name, box = told
    others = touching[model.capsules.joint[touching] != model.layout.tip]
    if len(others):
        deep = -1000.0 * float(clearances(model, q, others[:1], box)[0])
        raise GoalError(f'{model.capsules.names[others[0]]} is {deep:.3g} mm inside {name}')
    grasp = box_about(model, hand, q)
    away = np.inf if grasp is None else float(grasp.distance(box.center[None])[0][0])
    if away > 0.0:
        deep = -1000.0 * float(clearances(model, q, touching[:1], box)[0])
        raise GoalError(
            f'{model.capsules.names[touching[0]]} is {deep:.3g} mm inside {name}, whose middle is '
            f'{1000.0 * away:.3g} mm beside what the hand may hold there, so that it is picked is '
            'not certain'
        )
