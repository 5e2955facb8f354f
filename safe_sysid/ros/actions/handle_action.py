"""The messages of `handle`: its steps from a goal, and what it tells of the thing alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import math
from typing import Any

from trajectory_msgs.msg import JointTrajectory

from safe_sysid.arrays import Array
from safe_sysid.errors import MessageError, SafeSysidError
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.handled_places import LIFT as LIFTED
from safe_sysid.plan.handled_places import PICK, PLACE
from safe_sysid.plan.message import name_of
from safe_sysid.plan.task_goal import joint_goal, refuse_place
from safe_sysid.ros.actions.asked import Asked, Loop, Outcome
from safe_sysid.ros.actions.carrying import Carrying
from safe_sysid.ros.actions.checking import Checking
from safe_sysid.ros.actions.going import Going
from safe_sysid.ros.actions.grasping import Grasping, Gripper
from safe_sysid.ros.actions.handling import (
    APPROACH,
    CARRY,
    CHECK,
    GRASP,
    LIFT,
    RELEASE,
    WEIGH,
    Handling,
    Step,
)
from safe_sysid.ros.actions.identifying import Bounds, Identifying
from safe_sysid.ros.actions.picking_again import PickingAgain, Ways
from safe_sysid.ros.actions.placing import Placed, Placing
from safe_sysid.ros.actions.weighing import Weighing
from safe_sysid.ros.messages.codec import goal_positions
from safe_sysid.ros.messages.handled_places_text import NamedPlace
from safe_sysid.ros.messages.recognised_objects import RECOGNISED, object_sentence
from safe_sysid.ros.messages.request_topics import ON_THE_WAY
from safe_sysid.sets.interval import Interval


@dataclass(frozen=True, eq=False)
class Hand:
    """The gripper, and what the last joint moves without anything in it."""

    gripper: Gripper
    bounds: Interval  # (10,) of theta_e
    arm: RobotModel  # with the shapes of all that it may hold
    placed: Placed
    lightest: float = 0.0  # [kg] of what it may hold; 0: nobody knows

    def missed(self, known: ParameterEstimate | None) -> str:
        """Why nothing can be in it, as a sentence; empty if something may."""
        most = math.inf if known is None else float(self.thing(known).upper[0])
        if most >= self.lightest:
            return ''
        return (
            f'what is held weighs {most:.3g} kg at most, and the lightest that it may be '
            f'{self.lightest:.3g} kg; nothing was picked'
        )

    def thing(self, known: ParameterEstimate) -> Interval:
        """Bounds on what it holds, (10,)."""
        return known.end_effector_bounds - self.bounds


@dataclass(frozen=True, eq=False)
class Asking:
    """How the steps ask the loop for motions, and hear what is known."""

    loop: Loop
    go: Callable[[Any, Any], Going]  # to a configuration, or to a pose
    known: Callable[[], ParameterEstimate | None]
    bounds: Callable[[], Bounds]
    tell_wanted: Callable[[Sequence[float]], None]
    check: Callable[[Sequence[NamedPlace]], Checking]  # whether the arm may stand at places
    along: Callable[[JointTrajectory], Going]


def knows_change(asking: Asking) -> Callable[[], bool]:
    """Return what tells whether bounds for the change that is announced were heard of."""

    def knows() -> bool:
        known = asking.known()
        return known is not None and name_of(known) == asking.loop.bounds_for_change

    return knows


class HandleAction:
    """One goal of `handle`."""

    def __init__(self, kind: Any, goal: Any, asking: Asking, hand: Hand) -> None:
        self._kind, self._goal, self._asking, self._hand = kind, goal, asking, hand
        self._learnt: Interval | None = None  # before it was released
        self._recognised = ''  # then
        self._picked_at: Array | None = None
        self._checked: Checking | None = None
        steps = [(name, self._noting(begin)) for name, begin in self._steps()]
        self.asked = Handling(steps, lambda: hand.missed(asking.known()))

    def feedback(self) -> Any:
        """Return how far it is."""
        lower, upper = self._thing()
        return self._kind.Feedback(
            step=self.asked.name,
            phase=self._asking.loop.mode.value,
            lower=lower,
            upper=upper,
            distance=self.asked.distance,
        )

    def result(self, outcome: Outcome) -> Any:
        """Return how it came out."""
        self._note_picked()
        lower, upper = self._thing()
        middle = [0.5 * (a + b) for a, b in zip(lower, upper, strict=True)]
        known = self._asking.known()
        is_held = self._learnt is None and known is not None and GRASP in self.asked.done
        if is_held and known is not None:
            middle = (known.end_effector - self._hand.bounds.center).tolist()
        recognised = self._recognised
        if GRASP in self.asked.done and self._learnt is None:
            recognised = self._object
        return self._kind.Result(
            success=outcome.success,
            message='; '.join(each for each in (outcome.message, recognised) if each),
            lower=lower,
            nominal=middle,
            upper=upper,
        )

    @property
    def _object(self) -> str:
        """Which of the known objects is held, in a sentence; empty where there are none."""
        return object_sentence(self._asking.loop.figure(RECOGNISED, 'identifier'))

    def _thing(self) -> Bounds:
        """Bounds on the thing alone, once it was picked."""
        known = self._asking.known()
        if GRASP not in self.asked.done or known is None:
            return [], []
        bounds = self._hand.thing(known) if self._learnt is None else self._learnt
        return bounds.lower.tolist(), bounds.upper.tolist()

    def _steps(self) -> list[Step]:
        goal, asking, loop = self._goal, self._asking, self._asking.loop
        gripper, time_limit = self._hand.gripper, goal.time_limit
        steps: list[Step] = []
        knows = knows_change(asking)

        def learn() -> Asked:
            return Identifying(
                loop, goal.half_widths, time_limit, asking.bounds, asking.tell_wanted
            )

        def weigh() -> Asked:
            return Weighing(loop, goal.heaviest, time_limit, self._mass)

        _check(learn, weigh)
        _check_places(goal, self._hand.arm)
        places = dict(_places(goal))
        if places:
            steps.append((CHECK, lambda: self._check(list(places.items()))))
        if PICK in places:
            steps.append((APPROACH, self._approach))
        steps.append((GRASP, lambda: Grasping(loop, gripper, knows, closes=True)))
        if LIFTED in places:
            steps.append((LIFT, lambda: asking.go(goal.lift_joints, None)))
        if self._learns_before():
            steps.append((WEIGH, learn))
        if goal.heaviest:
            steps.append((WEIGH, weigh))
        if PLACE in places:
            steps += [(CARRY, self._carry), (RELEASE, self._release)]
        return steps

    def _check(self, places: Sequence[NamedPlace]) -> Checking:
        """Ask about places, before anything moves."""
        self._checked = self._asking.check(places)
        return self._checked

    def _approach(self) -> Going | PickingAgain:
        """Go to where the gripper closes; straight in where that is about what was placed."""
        goal, asking = self._goal, self._asking
        picks = None if self._checked is None else self._checked.picks
        if picks is None:
            return asking.go(goal.pick_joints, goal.pick)
        ways = Ways(self._hand.arm.layout.joint_names, asking.go, asking.along)
        return PickingAgain(asking.loop, picks, ways, self._hand.placed)

    def _carry(self) -> Carrying:
        """Go to where the gripper opens, or until something is touched just before."""
        going = self._asking.go(self._goal.place_joints, self._goal.place)
        return Carrying(self._asking.loop, going, self._hand.placed.touched_within)

    def _noting(self, begin: Callable[[], Asked]) -> Callable[[], Asked]:
        """Return the begin of a step, before which is noted what the last one has picked."""

        def noted() -> Asked:
            self._note_picked()
            return begin()

        return noted

    def _note_picked(self) -> None:
        """Take what was placed before, and is in the hand for certain, out of the obstacles.

        A gripper that has closed may have missed it; that bounds on the mass are above 0 says
        that it has not.
        """
        measured = self._asking.loop.measured
        if GRASP not in self.asked.done or self._learnt is not None or measured is None:
            return
        if self._picked_at is None:
            self._picked_at = measured.position
        if self._mass()[0] > 0.0:
            self._hand.placed.take(self._picked_at)

    def _mass(self) -> tuple[float, float]:
        lower, upper = self._thing()
        return (lower[0], upper[0]) if lower else (float('-inf'), float('inf'))

    def _learns_before(self) -> bool:
        """Whether it is learnt as the settings or half widths say, before it is carried.

        Not where `heaviest` says what there is to know, nor where a planner that learns on the way
        is left to learn what carrying it needs.
        """
        goal = self._goal
        if goal.half_widths:
            return True
        is_carried = bool(goal.place_joints.name or goal.place.header.frame_id)
        on_the_way = self._asking.loop.figure(ON_THE_WAY) == 'True'
        return not goal.heaviest and not (is_carried and on_the_way and not goal.time_limit)

    def _release(self) -> Asked:
        """Open the gripper; what is known of the thing is kept for the result."""
        known = self._asking.known()
        self._learnt = None if known is None else self._hand.thing(known)
        self._recognised = self._object
        loop, knows = self._asking.loop, knows_change(self._asking)
        opening = Grasping(loop, self._hand.gripper, knows, closes=False)
        return Placing(loop, opening, self._hand.placed)


def _check(*steps: Callable[[], Asked]) -> None:
    """Refuse what no step would begin with, before the arm moves."""
    for begin in steps:
        begin()


def _places(goal: Any) -> list[NamedPlace]:
    """Return where the arm is to stand, in order; where it stands anyway is left out."""
    places: list[NamedPlace] = []
    for name, joints, pose in (
        (PICK, goal.pick_joints, goal.pick),
        (LIFTED, goal.lift_joints, None),
        (PLACE, goal.place_joints, goal.place),
    ):
        if joints.name:
            places.append((name, joints))
        elif pose is not None and pose.header.frame_id:
            places.append((name, pose))
    return places


def _check_places(goal: Any, arm: RobotModel) -> None:
    """Refuse what leads nowhere, and where the arm cannot stand, before anything is picked."""
    for name in ('pick_joints', 'lift_joints', 'place_joints'):
        positions = goal_positions(getattr(goal, name))
        for joint, position in positions.items():
            if not math.isfinite(position):
                raise MessageError(f'{name}: {joint} is {position}; it has to be finite')
        if positions:
            try:
                refuse_place(arm, joint_goal(arm, positions))
            except SafeSysidError as error:
                raise MessageError(f'{name}: {error}') from error
    for name in ('pick', 'place'):
        pose = getattr(goal, name).pose
        p, o = pose.position, pose.orientation
        numbers = [p.x, p.y, p.z, o.x, o.y, o.z, o.w]
        if not all(map(math.isfinite, numbers)):
            raise MessageError(f'{name}: its pose is {numbers}; all have to be finite')
