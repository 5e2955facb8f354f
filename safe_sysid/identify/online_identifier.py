"""OnlineIdentifier.step: measurement in, ParameterEstimate out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from safe_sysid.errors import ConfigError, SafeSysidError
from safe_sysid.identify.momentum_observation import (
    BackwardStampError,
    MomentumObserver,
    ObservationSettings,
)
from safe_sysid.identify.observation import Observation
from safe_sysid.identify.payload_estimator import Solution, SolveSettings
from safe_sysid.identify.solves import SolverProcessError, Solves
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

SolvesFactory = Callable[[RobotModel, ParameterEstimate, SolveSettings], Solves]


@dataclass(frozen=True)
class IdentifierSettings:
    """Choices of the identifier."""

    observation: ObservationSettings = field(default_factory=ObservationSettings)
    solve: SolveSettings = field(default_factory=SolveSettings)
    solve_period: float = 0.5  # [s] of measurements between two solves

    def __post_init__(self) -> None:
        if not 0.0 < self.solve_period < np.inf:
            raise ConfigError(f'solve_period is {self.solve_period} s, it has to be above 0')


class IdentificationFault(SafeSysidError):  # noqa: N818 - a fault is what it is
    """No bounds can be given; raised by every `step` until `new_payload`.

    `estimate` is the prior, which is all that is known then.
    """

    def __init__(self, cause: str, estimate: ParameterEstimate) -> None:
        super().__init__(f'{cause}. Bounds fall back to the prior until new_payload is called')
        self.estimate = estimate


class OnlineIdentifier:
    """Learns what the arm holds from one measurement after the other.

    `step` returns the same object until the estimate improves. Between two calls of
    `new_payload` bounds only shrink.
    """

    def __init__(
        self,
        model: RobotModel,
        prior: ParameterEstimate,
        settings: IdentifierSettings,
        solves: SolvesFactory,
    ) -> None:
        self._model = model
        self._settings = settings
        self._prior = prior
        self._estimate = prior
        self._fault: IdentificationFault | None = None
        self._solves = solves(
            model,
            prior,
            settings.solve,
        )
        self._start_episode()

    def step(self, measurement: JointMeasurement) -> ParameterEstimate:
        """Take a measurement; the best estimate so far, or the fault that ended it."""
        if self._fault is not None:
            raise self._fault
        try:
            self._take(self._observer.add(measurement))
            solution = self._solves.poll()
        except (BackwardStampError, SolverProcessError) as error:
            raise self._faulted(str(error)) from error
        if solution is not None:
            self._learn(solution)
        return self._estimate

    def finish(self) -> ParameterEstimate:
        """The estimate from everything taken so far, however long its computation takes."""
        if self._fault is not None:
            raise self._fault
        if self._waiting:
            self._learn(self._solves.wait())
        rows = self._observer.finish()
        if rows is not None:
            self._add(rows)
        if self._unsolved:
            self._request()
            self._learn(self._solves.wait())
        return self._estimate

    def new_payload(self) -> None:
        """Forget everything about the payload; the way back from a fault as well."""
        self._fault = None
        self._estimate = self._prior
        self._solves.reset()
        self._start_episode()

    def close(self) -> None:
        """End what runs in the background."""
        self._solves.close()

    def _start_episode(self) -> None:
        self._observer = MomentumObserver(
            self._model, self._prior.bounds, self._settings.observation
        )
        self._next_solve = self._settings.solve_period
        self._unsolved = 0  # rows that no solve has seen
        self._waiting = False  # for a solution

    def _take(self, rows: Observation | None) -> None:
        if rows is None:
            return
        self._add(rows)
        if float(rows.end[0]) >= self._next_solve and not self._waiting:
            self._next_solve = float(rows.end[0]) + self._settings.solve_period
            self._request()

    def _add(self, rows: Observation) -> None:
        self._solves.add(rows)
        self._unsolved += len(rows)

    def _request(self) -> None:
        self._waiting = True
        self._unsolved = 0
        self._solves.request()

    def _learn(self, solution: Solution) -> None:
        self._waiting = False
        cause = solution.refusal or solution.contradiction
        if cause is not None:
            raise self._faulted(str(cause))
        place = self._model.layout.end_effector
        last = self._estimate
        theta, lower, upper = last.theta.copy(), last.bounds.lower.copy(), last.bounds.upper.copy()
        theta[place] = solution.theta_e
        lower[place], upper[place] = solution.bounds.lower, solution.bounds.upper
        if not (
            np.array_equal(theta, last.theta)
            and np.array_equal(lower, last.bounds.lower)
            and np.array_equal(upper, last.bounds.upper)
        ):
            self._estimate = ParameterEstimate(last.layout, theta, Interval(lower, upper))

    def _faulted(self, cause: str) -> IdentificationFault:
        self._estimate = self._prior
        self._fault = IdentificationFault(cause, self._prior)
        return self._fault
