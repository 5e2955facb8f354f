"""Places of a thing that is handled: what is known of them before anything moves.

Where a thing is picked and placed the gripper moves only while the arm stands certified for
whatever may be held next (`StandingAt`). That is asked here with the bounds of then, so a place
that is refused would be refused by the same certificate once the arm is there, with something in
the hand. What moves may have left until then, and what is picked goes with the hand: neither is in
the way. Ways between the places are for the planner to find later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import SafeSysidError
from safe_sysid.model.collision.capsules_to_box import clearances
from safe_sysid.model.collision.moving_box import MovingBox
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.picked_again import PickedAgain, picked_again, placed_boxes
from safe_sysid.plan.search.candidates import gentlest
from safe_sysid.plan.task_goal import GoalError, Surroundings
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.sets.interval import Interval
from safe_sysid.trajectory.bezier import Bezier

T = TypeVar('T')
PICK, LIFT, PLACE = 'pick', 'lift', 'place'
MASS = 0  # entry of theta_e


@dataclass(frozen=True, eq=False)
class Place:
    """Configurations of one place, the nearest first; a GoalError says why there is none."""

    name: str
    choices: Callable[[Surroundings], tuple[Array, ...]]

    @property
    def changes(self) -> bool:
        """Whether what is held changes there."""
        return self.name != LIFT


@dataclass(frozen=True, eq=False)
class StandingAt:
    """Certificates of standing with whatever may be held after a change of what is held."""

    problem: Problem  # with what is known now; its curves, bounds of theta_e and obstacles are not
    seconds: float  # that a plan lasts which stands still
    held: Interval  # (10,) of theta_e after the change
    nominal: Array  # (10,)

    def trouble(self, q: Array, obstacles: Obstacles) -> str:
        """Why standing at q is not certified; empty if it is."""
        still = np.zeros_like(q)
        curve = Bezier(q, still, still, self.seconds)
        horizon = replace(self.problem.horizon, curve=curve, k_center=gentlest(curve))
        horizon = replace(horizon, k_range=still)
        try:
            problem = replace(
                self.problem,
                bounds=with_hand(self.problem.bounds, self.held, self.nominal),
                horizon=horizon,
                obstacles=obstacles,
                error_at_start=None,
                lift=None,
            )
            found = ReachableSet.certify_center(problem.lifting(q))
        except SafeSysidError as error:  # its tracking error has no bound
            return self._said(str(error))
        return '' if found.holds else self._said(str(found.smallest))

    def _said(self, reason: str) -> str:
        low, high = float(self.held.lower[MASS]), float(self.held.upper[MASS])
        return (
            'standing there is not certified for the hand with whatever may be held then, '
            f'{low:.3g} to {high:.3g} kg: {reason}'
        )


@dataclass(frozen=True, eq=False)
class Reached:
    """Where the hand stands at each place, by name, of several configurations the first.

    Where it picks what was placed before, that is told with the way there.
    """

    by_name: dict[str, Array]
    again: PickedAgain | None = None


def reached_places(
    places: Sequence[Place], around: Surroundings, standing: StandingAt, hand: Sequence[str]
) -> Reached:
    """Return where the arm may stand at each place, one after the other; `hand` names shapes held.

    A GoalError says which place is refused, and why.
    """
    model, q = around.model, around.start
    obstacles = standing_still(around.obstacles)
    found: dict[str, Array] = {}
    again: PickedAgain | None = None
    for place in places:
        if place.name != PICK and PICK not in found:
            obstacles = without_held(model, q, obstacles, standing, hand)
            found[PICK] = q  # where the arm is
        there = replace(around, obstacles=obstacles, start=q)
        if place.name == PICK:
            q, again = _picked_at(place, there, standing, hand)
        else:
            look = partial(_standing, place, around=there, standing=standing)
            q, _ = _stood_at(place, there, look)
        found[place.name] = q
        if place.name == PICK:
            obstacles = without_held(model, q, obstacles, standing, hand)
    return Reached(found, again)


def _picked_at(
    place: Place, around: Surroundings, standing: StandingAt, hand: Sequence[str]
) -> tuple[Array, PickedAgain | None]:
    """Return where the hand closes, and what was placed before that it picks there.

    That is not in its way, as it is in contact with nothing else but what the hand may leave.
    """
    retreat, obstacles = standing.problem.retreat, around.obstacles
    placed = list(placed_boxes(obstacles, retreat))
    free = replace(around, obstacles=_without(obstacles, placed))

    def picked(q: Array) -> PickedAgain | None:
        again = None
        if retreat is not None:
            again = picked_again(around.model, q, obstacles, retreat, hand)
        _refuse(standing.trouble(q, obstacles))
        return again

    return _stood_at(place, free, picked)


def _standing(place: Place, q: Array, around: Surroundings, standing: StandingAt) -> None:
    """Refuse where standing is needed and not certified."""
    if place.changes:
        _refuse(standing.trouble(q, around.obstacles))


def _stood_at(place: Place, around: Surroundings, look: Callable[[Array], T]) -> tuple[Array, T]:
    """Return the first configuration in which nothing is refused, and what a look finds there."""
    try:
        choices = place.choices(around)
    except SafeSysidError as error:
        raise GoalError(f'{place.name}: {error}') from error
    first = ''
    for q in choices:
        try:
            return q, look(q)
        except GoalError as error:
            first = first or str(error)
    tried = '' if len(choices) == 1 else f'in none of {len(choices)} configurations; in the first '
    raise GoalError(f'{place.name}: {tried}{first}')


def _refuse(trouble: str) -> None:
    if trouble:
        raise GoalError(trouble)


def standing_still(obstacles: Obstacles) -> Obstacles:
    """Return those that do not move."""
    moving = [
        name
        for name, shape in zip(obstacles.names, obstacles.shapes, strict=True)
        if isinstance(shape, MovingBox)
    ]
    return _without(obstacles, moving)


def without_held(
    model: RobotModel, q: Array, obstacles: Obstacles, standing: StandingAt, hand: Sequence[str]
) -> Obstacles:
    """Return obstacles without what was placed and is in a hand that closes at q."""
    held = np.flatnonzero([name in hand for name in model.capsules.names])
    if not len(held):
        return obstacles
    placed = placed_boxes(obstacles, standing.problem.retreat)
    picked = [n for n, box in placed.items() if clearances(model, q, held, box).min() <= 0.0]
    return _without(obstacles, picked)


def with_hand(estimate: ParameterEstimate, held: Interval, nominal: Array) -> ParameterEstimate:
    """Return what is known of the arm, with other bounds on what its last joint moves."""
    place = estimate.layout.end_effector
    theta = estimate.theta.copy()
    lower, upper = estimate.bounds.lower.copy(), estimate.bounds.upper.copy()
    lower[place], theta[place], upper[place] = held.lower, nominal, held.upper
    return ParameterEstimate(estimate.layout, theta, Interval(lower, upper))


def _without(obstacles: Obstacles, names: Sequence[str]) -> Obstacles:
    for name in names:
        obstacles = obstacles.without(name)
    return obstacles
