"""RequestedGoals: what somebody asks the planner for while it runs, and what came of it.

A request is known by a name, see `RequestNames`: the stamp of its message, as a rule. The same
message again changes nothing; what takes a goal or path away is never refused. What came of a
request is among the figures of the planner. Of requests that wait, the newest one counts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
import math
from typing import TypeAlias

from geometry_msgs.msg import PoseStamped
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from safe_sysid.arrays import Array
from safe_sysid.errors import MessageError, SafeSysidError
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.frame_tree import NEWEST
from safe_sysid.model.placement import Placement
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.mission import Mission
from safe_sysid.plan.online import Planning
from safe_sysid.plan.path.inverse_kinematics import LinkPose
from safe_sysid.plan.path.joint_path import PathError, joint_path
from safe_sysid.plan.rest_limits import RestLimits
from safe_sysid.plan.search.best_plan import Budget
from safe_sysid.plan.search.traverse import looked_at
from safe_sysid.plan.task_goal import (
    GoalError,
    Surroundings,
    choices_of_joints,
    choices_of_pose,
    joint_goal,
)
from safe_sysid.reach.problem import Problem
from safe_sysid.ros.messages.avoided_obstacles import AvoidedObstacles
from safe_sysid.ros.messages.codec import goal_positions, path_points
from safe_sysid.ros.messages.drawings import frame_of_tip
from safe_sysid.ros.messages.path_times import PathTimeError, check_begin
from safe_sysid.ros.messages.qos import REQUESTS
from safe_sysid.ros.messages.request_names import RequestNames
from safe_sysid.ros.messages.request_topics import (
    ANSWERED,
    AWAY,
    AWAY_AT,
    GIVEN_UP,
    GOAL,
    GOAL_POSE,
    LATELY,
    LEARNS_TO,
    ON_THE_WAY,
    PATH,
    PATH_PIECES,
    PIECES,
    REFUSED,
    TAKEN,
    WAITING,
    WANTED,
)
from safe_sysid.ros.messages.subscriptions import Subscriptions
from safe_sysid.ros.process.planner_settings import PoseSettings
from safe_sysid.track.supervisor import Mode

Choices = Callable[[Surroundings], tuple[Array, ...]]  # configurations, or an error
Request: TypeAlias = JointState | PoseStamped | JointTrajectory
Find = Callable[[Surroundings], Callable[[], None]]  # what leads the task there, or an error
REMEMBERED = 20  # answers, of which some come between two looks of whoever waits for one
LOOKED_AT = 5.0  # [s] at most, for a path before it is taken
FREE = [0.0, 0.0, 0.0, 0.0]  # quaternion of any orientation


class RequestedGoals:
    """Leads the task where it is asked to, unless the arm may not stand there."""

    def __init__(
        self,
        model: RobotModel,
        missions: Mapping[str, Mission],
        settings: PoseSettings,
        scene: AvoidedObstacles,
        problem: Callable[[], Problem],
    ) -> None:
        self._model, self._scene = model, scene
        self.read_poses_by(settings)
        self._problem = problem  # as it is now
        self._task, self._learning = (missions[m.value] for m in (Mode.TASK, Mode.EXCITING))
        self._names = RequestNames()
        self._waiting: list[int] = []  # names of requests that are not answered yet
        self._lately: deque[int] = deque(maxlen=REMEMBERED)
        self._wanted = ''  # what is to be learnt, as was asked last
        self._taken = ''  # name of the goal that the task leads to; empty: that of the settings
        self._said = {ANSWERED: '', REFUSED: '', LEARNS_TO: ''}
        self._pieces = 0  # plans told since
        self._position: Array | None = None
        self._stamp = 0  # of the sample with this position [ns]

    def listen(
        self,
        node: Node,
        planning: Planning,
        complain: Callable[[str], None],
        announce: Callable[[], None],
    ) -> None:
        """Hear requests from now on."""
        self._node, self._planning = node, planning
        self._announce = announce
        subscribe = Subscriptions(node, complain).add
        subscribe(JointState, GOAL, self._on_joints, REQUESTS)
        subscribe(PoseStamped, GOAL_POSE, self._on_pose, REQUESTS)
        subscribe(JointTrajectory, PATH, self._on_path, REQUESTS)
        subscribe(Float64MultiArray, WANTED, self._on_wanted, REQUESTS)

    def read_poses_by(self, settings: PoseSettings) -> None:
        """Read poses that come from now on so; refuses a link that the arm has not."""
        settings.check(self._model)
        self._settings = settings

    def take_away(self) -> None:
        """Lead nowhere any more."""
        self._on_joints(JointState())

    def note_position(self, q: Array, stamp: int = 0) -> None:
        """Take where the arm is, at a stamp [ns]."""
        self._position, self._stamp = q, stamp

    def note_plan(self) -> None:
        """Count a plan that was told."""
        self._pieces += 1

    def surroundings(self) -> Surroundings:
        """Return where the arm is, and what is around it now."""
        if self._position is None:
            raise MessageError('no joint state was heard yet')
        obstacles = Obstacles.of(self._scene.boxes)
        return Surroundings(self._model, obstacles, self._position, RestLimits(self._problem()))

    def choices(self, where: JointState | PoseStamped) -> Choices:
        """Return what finds configurations; frames of a pose count as they are known now."""
        if isinstance(where, PoseStamped):
            return partial(choices_of_pose, self._link_pose(where))
        return partial(choices_of_joints, joint_goal(self._model, goal_positions(where)))

    def figures(self) -> dict[str, object]:
        """Return what was asked for, and what came of it."""
        away = None if self._position is None else self._task.distance(self._position)
        reason = self._task.given_up
        certified, pieces = self._task.path_progress
        return {
            TAKEN: self._taken,
            AWAY: '' if away is None else f'{away:.4g}',
            AWAY_AT: self._stamp,
            WAITING: ' '.join(map(str, self._waiting)),
            LATELY: ' '.join(map(str, self._lately)),
            PIECES: certified if pieces else self._pieces,
            PATH_PIECES: pieces,
            GIVEN_UP: f'{self._taken} {reason}' if reason else '',
            ON_THE_WAY: self._task.learns_on_the_way,
            **self._said,
        }

    def _on_joints(self, msg: JointState) -> None:
        if not (msg.name or msg.position):
            self._take_away(GOAL, msg)
            return

        def find(around: Surroundings) -> Callable[[], None]:
            goals = self.choices(msg)(around)
            return lambda: self._task.lead_to(goals)

        self._ask(GOAL, msg, find)

    def _on_pose(self, msg: PoseStamped) -> None:
        try:
            choices = self.choices(msg)
        except SafeSysidError as error:  # known only once it is asked for
            self._ask(GOAL_POSE, msg, partial(_refused, str(error)))
            return

        def find(around: Surroundings) -> Callable[[], None]:
            goals = choices(around)
            return lambda: self._task.lead_to(goals)

        self._ask(GOAL_POSE, msg, find)

    def _on_path(self, msg: JointTrajectory) -> None:
        """Take a path of which every piece is certified as far as is known now."""
        if not msg.points:
            self._take_away(PATH, msg)
            return
        try:
            check_begin(msg, self._stamp)
        except PathTimeError as error:
            self._ask(PATH, msg, partial(_refused, f'the path: {error}'))
            return

        def find(around: Surroundings) -> Callable[[], None]:
            if self._planning.session.mode == Mode.TASK.value:
                raise PathError('a path begins at rest; a task goes on')
            points = path_points(msg, self._model.layout.joint_names)
            told, is_timed = joint_path(self._model, points, around.start)
            path = looked_at(
                self._problem(), told.beginning_at(around.start), is_timed, Budget.of(LOOKED_AT)
            )
            return lambda: self._task.follow(path)

        self._ask(PATH, msg, find)

    def _leads_nowhere(self) -> None:
        self._task.lead_to(())

    def _link_pose(self, msg: PoseStamped) -> LinkPose:
        """Return a pose in the frame of the base; frames count as they are known now."""
        p, q, settings = msg.pose.position, msg.pose.orientation, self._settings
        given = [q.w, q.x, q.y, q.z]
        is_free = given == FREE or not settings.oriented
        told = Placement.of(
            [p.x, p.y, p.z + settings.height], [1.0, 0.0, 0.0, 0.0] if given == FREE else given
        )
        frames, now = self._scene.frames, self._scene.now()
        placed = frames.placement(msg.header.frame_id, NEWEST, now).of_frame(told)
        return LinkPose(settings.link or frame_of_tip(self._model), placed, is_free)

    def _ask(self, topic: str, msg: Request, find: Find) -> None:
        """Look for configurations beside whoever listens, then lead there or say why not."""
        name = self._new_name(topic, msg)
        if name is None:
            return

        def ask() -> Callable[[], None]:
            if self._waiting[-1] != name:
                return partial(self._answer, name, 'another request took its place')
            try:
                lead = find(self.surroundings())
            except SafeSysidError as error:
                return partial(self._refuse, name, str(error))
            return partial(self._take, name, lead)

        self._planning.turn_missions(ask, self._announce)
        if 0 < len(self._waiting) <= REMEMBERED:  # so that who asks for rest knows of it
            self._announce()

    def _take_away(self, topic: str, msg: Request) -> None:
        """Lead nowhere any more, wherever the arm is and whatever is around it."""
        name = self._new_name(topic, msg)
        if name is not None:
            turn = partial(self._take, name, self._leads_nowhere)
            self._planning.turn_missions(lambda: turn, self._announce)

    def _new_name(self, topic: str, msg: Request) -> int | None:
        now = int(self._node.get_clock().now().nanoseconds)
        name = self._names.new(topic, msg, now)
        if name is not None:
            self._waiting.append(name)
        return name

    def _take(self, name: int, lead: Callable[[], None]) -> None:
        lead()
        self._taken, self._pieces = str(name) if self._task.has_goal else '', 0
        self._answer(name)

    def _refuse(self, name: int, reason: str) -> None:
        self._answer(name, reason)
        self._node.get_logger().warning(f'goal refused: {reason}')

    def _answer(self, name: int, refused: str = '') -> None:
        self._waiting.remove(name)
        self._lately.append(name)
        self._said |= {REFUSED: f'{name} {refused}' if refused else '', ANSWERED: str(name)}

    def _on_wanted(self, msg: Float64MultiArray) -> None:
        wanted = [float(x) for x in msg.data]
        if len(wanted) > 10 or not all(math.isfinite(x) and x >= 0.0 for x in wanted):
            raise MessageError(
                f'{WANTED} is {wanted}; at most 10 numbers are allowed, 0 or larger'
            )
        said = str(wanted) if wanted else ''
        if said == self._wanted:  # as it will be, once it is its turn
            return
        self._wanted = said

        def turn() -> None:
            padded = np.array(wanted + [0.0] * (10 - len(wanted)))
            self._learning.learn_to(padded if wanted else None)
            self._said[LEARNS_TO] = said

        self._planning.turn_missions(lambda: turn, self._announce)


def _refused(trouble: str, around: Surroundings) -> Callable[[], None]:
    del around
    raise GoalError(trouble)
