"""Purpose: says what the next plan is for, when the planner asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from safe_sysid.arrays import Array
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.plan.aims import Aim
from safe_sysid.plan.path.joint_path import Traverse
from safe_sysid.plan.path.route import Follow
from safe_sysid.plan.result import SearchFinding
from safe_sysid.plan.search.best_plan import Budget
from safe_sysid.reach.problem import Problem
from safe_sysid.trajectory.plan import Plan


@dataclass(frozen=True, eq=False)
class Ahead:
    """What lies ahead of the arm when the next plan is asked for."""

    problem: Problem  # bounds and obstacles as they are known; its curves begin the next plan
    end: Array  # (n,) where the plan in force comes to rest [rad]
    until: float  # [s] after its start at which the next plan hands over
    budget: Budget  # for this question and the search that follows


class Purpose(Protocol):
    """Says what plans are for, one after the other."""

    def due(self, ahead: Ahead) -> Aim | Follow | Traverse | None:
        """Return what to plan for next; None when all is done.

        A SafeSysidError says why there is nothing to plan for although not all is done.
        """

    def planned(self, aim: Aim | Follow, plan: Plan, estimate: ParameterEstimate) -> None:
        """Take note of a plan that is going to be followed."""

    def traversed(self, finding: SearchFinding) -> None:
        """Take note of what was found along a path, which may be nothing."""

    def wish(self, end: Array) -> object:
        """Return what is asked for that counts for an arm that rests at `end`.

        Where nothing was due from there, nothing is as long as this is equal.
        """

    def rehearsal(self, ahead: Ahead) -> Iterator[Aim | Follow]:
        """One aim of every kind that may ever be due, to have everything compiled beforehand."""


class StandStill:
    """Nothing is ever due: a planner with this purpose stands where the arm is, certified."""

    def due(self, _: Ahead) -> None:
        """Nothing."""

    def planned(self, *_: object) -> None:
        """There is no plan but the one that stands still."""

    def traversed(self, _: SearchFinding) -> None:
        """There is no path."""

    def wish(self, _: Array) -> None:
        """Nothing."""

    def rehearsal(self, _: Ahead) -> Iterator[Aim | Follow]:
        """Return nothing: standing still is what every planner begins with."""
        return iter(())
