"""PlannerNodeSettings: parameters of the planner, and what it plans for and among by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from safe_sysid.config import Count, Finite, Positive, Settings
from safe_sysid.errors import ConfigError
from safe_sysid.loop_settings import LoopArm, ManagedSettings
from safe_sysid.measure.clock import Clock
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.collision.world import EMPTY
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.early_stop import StopSettings
from safe_sysid.plan.mission import Mission, MissionSettings
from safe_sysid.plan.online import Planning, Scene
from safe_sysid.plan.path.inverse_kinematics import link_trouble
from safe_sysid.plan.purpose import Purpose, StandStill
from safe_sysid.plan.receding_horizon import PlannerSettings
from safe_sysid.plan.rest_limits import RestLimits
from safe_sysid.plan.restarting import RestartingPlanner
from safe_sysid.plan.scene_response import SceneResponse
from safe_sysid.plan.search_thread import AtOnce, Beside
from safe_sysid.plan.session import PlanningSession
from safe_sysid.plan.task_goal import GoalError, refuse_place
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.lift_off import Standing
from safe_sysid.reach.problem import Problem
from safe_sysid.reach.retreat import Retreat
from safe_sysid.ros.messages.avoided_obstacles import SceneSettings
from safe_sysid.ros.messages.placed_objects import PLACED_NAMES
from safe_sysid.sets.box import Box
from safe_sysid.track.supervisor import Mode
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan


@dataclass(frozen=True)
class PoseSettings(Settings):
    """How a pose that comes as a goal is read."""

    MAY_CHANGE: ClassVar = ('link', 'height', 'oriented')

    link: str = ''  # that is to be there; none: the one that the last joint moves
    height: Finite = 0.0  # [m] added: the 2D tools of RViz point at the ground
    oriented: bool = True  # whether its orientation counts

    def check(self, model: RobotModel) -> None:
        """Refuse a link that is none of an arm."""
        trouble = link_trouble(model, self.link) if self.link else ''
        if trouble:
            raise ConfigError(f'pose.link: {trouble}')


@dataclass(frozen=True)
class LiftSettings(Settings):
    """What the payload stands on, and may leave."""

    support: str = ''  # name of the obstacle, as `avoided` has it; none: it stands on nothing
    payload: tuple[str, ...] = ()  # capsules that may touch it
    direction: tuple[Finite, Finite, Finite] = (0.0, 0.0, 1.0)  # in the base, of length 1
    depth: Positive = 0.02  # [m] that the payload may be lower than before, by tracking errors
    slide: Positive = 0.02  # [m] that it may be beside where it stood before it is clear

    def standing(self, model: RobotModel) -> Standing | None:
        """Return the same for an arm; None where the payload stands on nothing."""
        if not self.support:
            return None
        known = model.capsules.names
        if not self.payload or not set(self.payload) <= set(known):
            raise ConfigError(
                f"the payload stands on '{self.support}' with {list(self.payload)}; one or more "
                f'of the capsules {list(known)} have to be named'
            )
        return Standing(self.support, self.payload, self.direction, self.depth, self.slide)


@dataclass(frozen=True)
class RetreatSettings(Settings):
    """How the hand leaves what it has placed: straight off, back to its last joint."""

    depth: Positive = 0.03  # [m] that it may be nearer than before, by tracking errors
    slide: Positive = 0.03  # [m] that it may be beside where it let go before it is clear

    @property
    def allowed(self) -> Retreat:
        """Return the same of what `handle` has placed."""
        return Retreat(PLACED_NAMES, self.depth, self.slide)


@dataclass(frozen=True)
class PlannerNodeSettings(ManagedSettings):
    """Parameters of the planner."""

    planner: PlannerSettings = field(default_factory=PlannerSettings)
    mission: MissionSettings = field(default_factory=MissionSettings)
    goal: tuple[Finite, ...] = ()  # [rad] where the task leads to; empty: there is no task
    world: str = EMPTY  # obstacles: of config/worlds, or a YAML file
    scene: SceneSettings = field(default_factory=SceneSettings)
    lift: LiftSettings = field(default_factory=LiftSettings)
    retreat: RetreatSettings = field(default_factory=RetreatSettings)
    stop: StopSettings = field(default_factory=StopSettings)
    pose: PoseSettings = field(default_factory=PoseSettings)
    failures: Count = 5  # searches in a row without a plan before that is a fault
    awaits_errand: bool = False  # in lockstep: time waits for every step of an errand, too

    def missions(self, model: RobotModel) -> dict[str, Mission]:
        """Return what plans are for, in each mode that has any to make."""
        if len(self.goal) not in (0, model.n):
            raise ConfigError(f'goal has {len(self.goal)} entries, not {model.n}')
        goal = np.array(self.goal) if self.goal else None
        learned = replace(self.mission, exciting=0)
        taught = learned if self.mission.on_the_way and self.goal else self.mission
        task = Mission(model, goal, learned)
        return {
            Mode.EXCITING.value: Mission(model, None, taught, task),
            Mode.TASK.value: task,
        }

    def planning(
        self,
        arm: LoopArm,
        missions: Mapping[str, Mission],
        scene: Scene,
        tell: Callable[[Plan, Clock, int], None],
    ) -> Planning:
        """Return searches among the obstacles of a scene; in real time beside whoever listens."""
        self._check_goal(arm)
        begin = RestartingPlanner if self.is_lockstep else RestartingPlanner.in_real_time
        settings = self.planner.at_period(self.period)
        planner = begin(lambda: self.problem(arm, scene.boxes), settings)
        purposes: dict[str, Purpose] = {**missions, Mode.CHANGING.value: StandStill()}
        session = PlanningSession(planner, purposes, self.failures)
        search = AtOnce() if self.is_lockstep else Beside()
        return Planning(planner, session, SceneResponse(planner, self.stop), search, tell)

    def _check_goal(self, arm: LoopArm) -> None:
        """Refuse a goal at which the arm may not stand, whatever is around it."""
        try:
            if self.goal:
                refuse_place(arm.model, np.array(self.goal), RestLimits(self.problem(arm, {})))
        except GoalError as error:
            raise ConfigError(f'goal: {error}') from error

    def problem(self, arm: LoopArm, boxes: Mapping[str, Box]) -> Problem:
        """Plans of an arm among obstacles; their curves are any."""
        rest = np.zeros(arm.model.n)
        horizon = Horizon(Bezier(rest, rest, rest, self.planner.duration), rest, rest)
        known, obstacles = (arm.model, arm.prior, horizon, arm.gains), Obstacles.of(boxes)
        standing = self.lift.standing(arm.model)
        return Problem(
            *known,
            obstacles,
            sampling=arm.sampling,
            standing=standing,
            retreat=self.retreat.allowed,
        )
