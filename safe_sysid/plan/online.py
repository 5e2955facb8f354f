"""Online planning: one search after the other for whoever brings samples; obstacles may change.

Samples, modes and what is followed change the state of the planner, so they wait for the end of a
search. Obstacles do not: what changes is compared at once with the plans that were told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.measure.sample_order import JUMP
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.agreement import Followed
from safe_sysid.plan.announced import Announced
from safe_sysid.plan.restarting import RestartingPlanner
from safe_sysid.plan.result import PlanResult, SearchOutcome
from safe_sysid.plan.scene_response import SceneResponse
from safe_sysid.plan.search_thread import SearchThread
from safe_sysid.plan.session import PlanningSession
from safe_sysid.reach.problem import Problem
from safe_sysid.sets.box import Box
from safe_sysid.trajectory.plan import Plan

T = TypeVar('T')


class Scene(Protocol):
    """What is in the way, and whether all of it is known."""

    @property
    def boxes(self) -> Mapping[str, Box]:
        """Obstacles by name; another mapping when they are others."""

    @property
    def is_known(self) -> bool:
        """Whether plans may be made."""


class Planning:
    """Plans among the obstacles of a scene; `tell` is given every plan that may be followed."""

    def __init__(
        self,
        planner: RestartingPlanner,
        session: PlanningSession,
        response: SceneResponse,
        search: SearchThread,
        tell: Callable[[Plan, Clock, int], None],
    ) -> None:
        self.session, self.announced, self._planner = session, Announced(), planner
        self.response, self.search, self._tell = response, search, tell
        self._newest = 0  # stamp of a sample [ns]
        self._turns = False  # to another mode, once the search is over

    @property
    def is_warm(self) -> bool:
        """Whether all is compiled, so that plans can be made."""
        return self._planner.is_warm

    def warm_up(
        self,
        measurement: JointMeasurement,
        estimate: ParameterEstimate,
        problem: Problem,
        then: Callable[[str], None],
    ) -> None:
        """Have everything compiled, before the first search.

        `then` is told why no plan can be, or nothing.
        """

        def compile_all() -> str:
            try:
                self.response.rehearse(problem, measurement.position)
            except BoundError as error:  # not even standing still where the arm is has bounds
                return str(error)
            self.session.warm_up(measurement, estimate)
            return ''

        self.search.begin(compile_all, then)

    def step(
        self,
        measurement: JointMeasurement,
        estimate: ParameterEstimate,
        scene: Scene,
        then: Callable[[PlanResult | None], None],
    ) -> None:
        """Look at a sample; `then` gets a result that is new, once all plans of it are told."""
        if self.search.is_busy:  # compiling
            return

        def work() -> PlanResult | None:
            if not scene.is_known:
                return None
            self.response.begin_search(scene.boxes)
            return self.session.step(measurement, estimate)

        def use(result: PlanResult | None) -> None:
            if result is not None and self._turns:  # what is found is for the mode before
                self.session.withdraw(SearchOutcome.CANCELLED)
            elif result is not None and not (scene.is_known and self.response.admits(result)):
                self.session.withdraw(SearchOutcome.OBSTRUCTED)
            elif result is not None and self._comes_late(result):
                self.session.withdraw(SearchOutcome.MISSED)
            elif result is not None:
                self._tell_all(result)
                if result.outcome is SearchOutcome.FOUND:
                    self.response.forget_obstruction()
            then(result)

        self.search.begin(work, use)

    def note_sample(self, stamp: int) -> None:
        """Note that a sample has come, also while a search goes on.

        Where its clock has gone back, plans that were told are of times that mean nothing.
        """
        if stamp < self._newest - JUMP:
            self.response.forget_plans()
        self._newest = stamp

    def look(self, scene: Scene, stamp: int) -> bool:
        """Compare plans with obstacles that changed, at a stamp [ns]; whether any is hit."""
        obstructed, stop = self.response.look(scene.boxes, stamp)
        if stop is not None:
            self.announced.take_back(stop, self._planner.clock)
            self._tell_all(stop)
        if obstructed:
            self.search.after(self._planner.begin_again)
        return obstructed

    def begin_again(self) -> None:
        """Go on with a new planner, once the arm is at rest."""
        self.search.after(self._planner.begin_again)

    def turn_to(self, mode: str) -> None:
        """Go on in a mode."""
        if mode != self.session.mode:
            self.response.forget_obstruction()
            self._turns = True
            self.search.after(lambda: self._turn_to(mode))

    def _turn_to(self, mode: str) -> None:
        self.session.turn_to(mode)
        self._turns = False

    def turn_missions(
        self, ask: Callable[[], Callable[[], None]], then: Callable[[], None]
    ) -> None:
        """Have missions want something else: `ask` takes its time and returns what does it.

        Asked beside whoever listens, between two searches; `then` is for when all is done.
        """

        def use(turn: Callable[[], None]) -> None:
            self.session.ask(turn)
            then()

        self.search.after(lambda: self.search.begin(ask, use))

    def beside(self, work: Callable[[], T], then: Callable[[T], None]) -> None:
        """Do something between two searches, which changes nothing of them, and use its result."""
        self.search.after(lambda: self.search.begin(work, then))

    def note_rest(self, q: Array) -> None:
        """Have the hand leave what it may touch on its way to q, where it comes to rest on it."""
        self.search.after(lambda: self._planner.note_rest(q))

    def note_followed(self, followed: Followed | None) -> None:
        """Take what the arm follows, as whoever follows plans says; None where that is no plan."""
        self.response.note_followed(followed)
        self.search.after(lambda: self._planner.note_followed(followed))

    def close(self) -> None:
        """End the search that goes on."""
        self._planner.cancel()
        self.search.close()

    def _comes_late(self, result: PlanResult) -> bool:
        """Whether the arm has gone on along its plan before the next one could be told."""
        plan = result.successor
        return plan is not None and self._newest > self._planner.clock.stamp(plan.start_time)

    def _tell_all(self, result: PlanResult) -> None:
        clock = self._planner.clock
        for plan in self.announced.new(result, clock):
            self._tell(plan, clock, clock.stamp(result.time))
            self.response.watch(plan, result.time)
