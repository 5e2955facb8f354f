"""Session: plans for one mission after the other, as the mode says, and an account of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.purpose import Purpose
from safe_sysid.plan.restarting import RestartingPlanner
from safe_sysid.plan.result import PlanResult, SearchOutcome, failed_in_a_row
from safe_sysid.plan.told_search import SENTENCE, ToldSearch
from safe_sysid.track.plan_succession import SURE
from safe_sysid.track.supervisor import Mode

UNFOLLOWED = 3  # plans in a row, from which on somebody has to know
# Modes after which the arm may hold something else, or have been stopped anywhere.
UNSURE = ('', *(mode.value for mode in Mode if mode not in SURE))


class PlanningSession:
    """Has a mission for some modes; `patience` is for searches in a row that fail."""

    def __init__(
        self, planner: RestartingPlanner, missions: Mapping[str, Purpose], patience: int
    ) -> None:
        self._planner, self._missions, self._patience = planner, missions, patience
        self._failures = self._failures_before = 0  # searches in a row
        self._standing = 0  # plans in a row that stand still
        self.mode = ''  # empty: not known

    def turn_to(self, mode: str) -> None:
        """Go on in a mode; what was found in another one counts no more."""
        if mode != self.mode:
            self._planner.forget()
            if mode in UNSURE:
                self._planner.doubt()
            self._failures = self._standing = self._planner.unfollowed = 0
        self.mode = mode

    def warm_up(self, measurement: JointMeasurement, estimate: ParameterEstimate) -> None:
        """Have everything compiled that any mode needs."""
        self._planner.warm_up(self._missions.values(), measurement, estimate)

    def step(
        self, measurement: JointMeasurement, estimate: ParameterEstimate
    ) -> PlanResult | None:
        """Return the result, if it is a new one."""
        mission = self._missions.get(self.mode)
        if mission is None:
            return None
        result = self._planner.step(mission, measurement, estimate)
        if result is not None:
            self._failures_before = self._failures
            self._failures = failed_in_a_row(self._failures, result.outcome)
            self._standing = self._standing + 1 if result.finding.stands_still else 0
        return result

    def ask(self, change: Callable[[], None]) -> None:
        """Have missions want something else.

        That nothing was left to do counts no more where the mission of this mode wants another
        thing. What is asked of other modes, or was asked before, lets it stand.
        """
        before = self._wish()
        change()
        if self._wish() != before:
            self._planner.forget()

    def _wish(self) -> object:
        """Return what is asked for in this mode, where nothing was left to do; else None."""
        mission, result = self._missions.get(self.mode), self._planner.result
        if mission is None or result is None or result.plan is None:
            return None
        is_over = result.outcome is SearchOutcome.NOTHING_DUE
        return mission.wish(result.plan.end_position) if is_over else None

    def withdraw(self, reason: SearchOutcome) -> None:
        """Withdraw what the last search found, before anybody was told of it."""
        result = self._planner.withdraw(reason)
        if result is not None:
            self._failures = failed_in_a_row(self._failures_before, result.outcome)

    @property
    def has_failed(self) -> bool:
        """Whether so many searches failed that somebody has to know."""
        return self._failures >= self._patience

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do in this mode, and the arm follows its last plan."""
        result = self._planner.result
        is_over = result is not None and result.outcome is SearchOutcome.NOTHING_DUE
        return is_over and self._planner.follows_result  # else it did not happen

    def rests(self, stamp: int) -> bool:
        """Whether nothing happens in this mode from a stamp [ns] on: its last plan is over."""
        is_done = self.is_done or self.mode not in self._missions
        return is_done and self._planner.has_ended(stamp)

    def complaint(self) -> str:
        """Return what the last search came to, if too many failed, or that its plans are lost."""
        result = self._planner.result
        if self.has_failed and result is not None:
            return str(result)
        if self._planner.unfollowed < UNFOLLOWED:
            return ''
        return (
            f'{self._planner.unfollowed} plans in a row were not followed: they do not reach the '
            'controller, or it says why under "last plan not taken over"'
        )

    def figures(self) -> dict[str, object]:
        """How planning goes, for the operator."""
        return {
            'is warm': self._planner.is_warm,
            **self._search_figures(),
            'nothing left to do in': self.mode if self.is_done else '',
            'failed searches in a row': self._failures,
            'plans in a row that stand still': self._standing,
            'plans in a row that were not followed': self._planner.unfollowed,
        }

    def _search_figures(self) -> dict[str, object]:
        """Return what the last search came to, when the planner said so, and how long it took."""
        result = self._planner.result
        if result is None:
            return {SENTENCE: 'nothing yet'}
        return ToldSearch.of(result, self._planner.clock).figures()
