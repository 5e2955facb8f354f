"""A recording through the same identifier that runs online."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.estimate_series import EstimateSeries
from safe_sysid.identify.online_identifier import (
    IdentificationFault,
    IdentifierSettings,
    OnlineIdentifier,
)
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel

REPORTED = 1000  # samples between two reports of progress

Progress = Callable[[float, str], None]


@dataclass(frozen=True, eq=False)
class Replay:
    """What the identifier knew, when, and whether it gave up."""

    estimate: ParameterEstimate  # at the end; the prior after a fault
    at_split: ParameterEstimate  # what was known before the part that was held out
    series: EstimateSeries
    refused: str | None
    solves_cut_short: int = 0  # by the clock
    doubts: tuple[str, ...] = ()  # what readings say against the errors promised of them


def replay(
    model: RobotModel,
    prior: ParameterEstimate,
    settings: IdentifierSettings,
    log: JointLog,
    split: float,
    progress: Progress,
) -> Replay:
    """Every sample in its turn; `split` [s] is where the held-out part begins."""
    identifier = OnlineIdentifier(model, prior, settings, SolvesAtOnce)
    history = [(0.0, prior)]
    at_split, refusal, reported = prior, None, -REPORTED
    seconds = (log.stamp - log.stamp[0]) * 1e-9
    try:
        for i in _steps(identifier, log):
            estimate = identifier.step(log[i])
            if estimate is not history[-1][1]:
                history.append((float(seconds[i]), estimate))
            if seconds[i] <= split:
                at_split = estimate
            if i >= reported + REPORTED:
                reported = i
                progress(i / len(log), _mass(estimate))
        estimate = identifier.finish()
        if estimate is not history[-1][1]:
            history.append((float(seconds[-1]), estimate))
    except IdentificationFault as fault:
        refusal, estimate = f'assumption A1, A2 or A3 does not hold: {fault.cause}', prior
    finally:
        identifier.close()
    cut_short, doubts = identifier.solves_cut_short, identifier.doubts
    return Replay(estimate, at_split, _series(history), refusal, cut_short, doubts)


def _steps(identifier: OnlineIdentifier, log: JointLog) -> Iterator[int]:
    """Numbers of samples that may change the estimate; the identifier takes those in between."""
    i = 0
    while i < len(log):
        i += identifier.take_regular(log, i)
        if i < len(log):
            yield i
            i += 1


def refused(prior: ParameterEstimate, reason: str) -> Replay:
    """Nothing was learned, because the recording was not even looked at."""
    return Replay(prior, prior, _series([(0.0, prior)]), reason)


def _mass(estimate: ParameterEstimate) -> str:
    bounds = estimate.end_effector_bounds
    return f'{bounds.lower[0]:.2f} to {bounds.upper[0]:.2f} kg'


def _series(history: list[tuple[float, ParameterEstimate]]) -> EstimateSeries:
    def column(part: Callable[[ParameterEstimate], Array]) -> Array:
        return np.array([part(estimate) for _, estimate in history])

    return EstimateSeries(
        np.array([time for time, _ in history]),
        column(lambda x: x.end_effector),
        column(lambda x: x.end_effector_bounds.lower),
        column(lambda x: x.end_effector_bounds.upper),
    )
