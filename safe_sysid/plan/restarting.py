"""RestartingPlanner: a RecedingHorizonPlanner, and a new one where that is of no use any more.

It begins again where it is told to, for another mission, after a jump of the clock or among other
obstacles, and where the arm does not follow what it takes for the plan in force. It always begins
with an arm at rest: at the end of the plan that the arm rests on, if it is followed still, else
where it was measured. Where what is held may be another thing by then, or the arm may have been
stopped elsewhere, it begins there only with V <= V_M for all that may be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
import math
from threading import Event

from safe_sysid.arrays import Array
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.agreement import Agreement, Followed
from safe_sysid.plan.message import SECOND
from safe_sysid.plan.purpose import Purpose
from safe_sysid.plan.receding_horizon import PlannerSettings, RecedingHorizonPlanner, RestsOn
from safe_sysid.plan.result import PlanResult, SearchOutcome
from safe_sysid.reach.problem import Problem
from safe_sysid.trajectory.plan import Plan

LATE = 0.5  # [s] after the start of a plan up to which this may notice that it was taken over
SOON = 0.6  # [s] at rest until a first plan that moves; any will do, as better ones follow
PATIENCE = 0.5  # [s] until whoever follows plans has said that it follows one


class RestartingPlanner:
    """Gives what a planner gives; all of its planners count on one clock.

    `problem` is asked for at every beginning, as obstacles may be others than before.
    """

    def __init__(
        self,
        problem: Callable[[], Problem],
        settings: PlannerSettings,
        patience: float = math.inf,
    ) -> None:
        self._problem, self._settings, self._patience = problem, settings, patience
        self._planner: RecedingHorizonPlanner | None = None
        self._agreement = Agreement(patience)
        self._followed: Followed | None = None
        self._rests: tuple[Array, ...] = ()  # of the planner before
        self._kept: Plan | None = None  # the newest one that was known to be followed
        self._is_sure = False  # that the arm is on it, with what it was certified for
        self._prefers_measured = False  # as a plan that stood at the end of that was not followed
        self._cancelled = Event()
        self.clock = Clock(0)  # until the warm-up
        self.is_warm = False
        self.result: PlanResult | None = None  # the last one
        self.unfollowed = 0  # plans in a row that were not followed, nor any other one

    @staticmethod
    def in_real_time(
        problem: Callable[[], Problem], settings: PlannerSettings
    ) -> RestartingPlanner:
        """Beside an arm that takes its plans over on time, however late the planner notices.

        Which plan is in force is not for the planner to say then: it goes by what is followed.
        """
        settings = settings.noticing_until(LATE)
        return RestartingPlanner(problem, settings, PATIENCE)

    def warm_up(
        self,
        missions: Iterable[Purpose],
        measurement: JointMeasurement,
        estimate: ParameterEstimate,
    ) -> None:
        """Have everything compiled while the arm does not move; time begins here."""
        self.clock = Clock(measurement.stamp)
        for mission in missions:
            self._new_planner(mission).warm_up(measurement.position, estimate)
        self.is_warm = True

    def note_followed(self, followed: Followed | None) -> None:
        """Take what the arm follows, as whoever follows plans says; None where that is no plan.

        Where the planner is late, one that it has given up is followed.
        """
        before, self._followed = self._followed, followed
        if followed is not None and followed != before:
            self.unfollowed = 0

    def note_rest(self, q: Array) -> None:
        """Where the hand may have touched what it has yet to leave; see `Retreat.rests_at`."""
        self._rests = (*self._rests, q)
        if self._planner is not None:
            self._planner.rests = (*self._planner.rests, q)

    def avoid(self, obstacles: Obstacles) -> None:
        """Search among these obstacles from now on."""
        if self._planner is not None:
            self._planner.avoid(obstacles)

    def withdraw(self, reason: SearchOutcome) -> PlanResult | None:
        """Forget a successor that nobody was told of."""
        if self._planner is not None:
            self.result = self._planner.withdraw(reason)
        return self.result

    def cancel(self) -> None:
        """End the search that goes on in another thread, if there is one; what comes is void."""
        self._cancelled.set()

    def begin_again(self) -> None:
        """Go on with a new planner, once the arm is at rest."""
        self._drop_planner()
        self._kept = None

    def forget(self) -> None:
        """Begin again, and what was found before counts no more."""
        self._keep()
        self._drop_planner()
        self.result = None

    def doubt(self) -> None:
        """Ask for V <= V_M where the arm begins again: it may hold something else, or be lost."""
        self._keep()
        self._is_sure = False

    def _drop_planner(self) -> None:
        if self._planner is not None:
            self._rests = self._planner.rests
        self._planner = None

    def _keep(self) -> None:
        """Remember the plan that is followed, if it is a new one."""
        if self.result is not None:
            for plan in (self.result.plan, self.result.successor):
                if self._follows(plan) and plan is not self._kept:
                    self._kept, self._is_sure = plan, True

    def step(
        self,
        mission: Purpose,
        measurement: JointMeasurement,
        estimate: ParameterEstimate,
    ) -> PlanResult | None:
        """Return the result, if it is a new one."""
        self._keep()
        if self._planner is not None and (
            not self._is_followed(measurement.stamp) or self._rests_elsewhere(measurement.stamp)
        ):
            self._prefers_measured = self._planner.is_at_end_of_other
            self.forget()
            self.unfollowed += 1
        if self._planner is None:
            if self._followed is not None and measurement.stamp < self._followed.end:
                return None  # the arm is still in motion
            self._planner = self._new_planner(mission)
            self._planner.rests = self._rests
            if self._kept is not None and self._follows(self._kept):
                order = self._is_sure, self._prefers_measured
                self._planner.rests_on = RestsOn(self._kept, *order)
            self._prefers_measured = False
        result = self._planner.step(measurement, estimate)
        if result is self.result:
            return None
        self.result = result
        return result

    @property
    def follows_result(self) -> bool:
        """Whether the arm is known to follow the plan of the last result, if it has one."""
        plan = None if self.result is None else self.result.plan
        return plan is None or self._follows(plan)

    def _follows(self, plan: Plan | None) -> bool:
        """Whether the arm is known to follow a plan."""
        if plan is None or self._followed is None:
            return False
        return self._followed.start == self.clock.stamp(plan.start_time)

    def has_ended(self, stamp: int) -> bool:
        """Whether a plan is followed that is over at a stamp [ns]."""
        return self._followed is not None and stamp >= self._followed.end

    def _is_followed(self, stamp: int) -> bool:
        """Whether the arm follows what this takes for the plan in force."""
        plan = None if self.result is None else self.result.plan
        if plan is None:
            return True
        now, ours = self.clock.seconds(stamp), self.clock.stamp(plan.start_time)
        return self._agreement.holds(ours, self._followed, now)

    def _rests_elsewhere(self, stamp: int) -> bool:
        """Whether the arm rests at the end of a plan that is none of those that this knows.

        One that was asked for before somebody braked, and came after they went on; or, as nobody
        has said otherwise for long, one from before that a controller which was started again
        has begun anew.
        """
        followed, result = self._followed, self.result
        if followed is None or result is None or stamp < followed.end:
            return False
        known = [plan for plan in (result.plan, result.successor) if plan is not None]
        starts = [self.clock.stamp(plan.start_time) for plan in known]
        if not starts or followed.start in starts:
            return False
        return followed.start > max(starts) or stamp - min(starts) > PATIENCE * SECOND

    def _new_planner(self, mission: Purpose) -> RecedingHorizonPlanner:
        self._agreement, self._cancelled = Agreement(self._patience), Event()
        planner = RecedingHorizonPlanner(
            self._problem(), mission, self.clock, self._settings, self._cancelled
        )
        if math.isfinite(self._patience):  # time passes while it searches
            planner.first_wait = min(SOON, planner.first_wait)
        return planner
