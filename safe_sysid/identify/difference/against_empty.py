"""From a loaded recording and empty ones to the payload, with the arm as shared unknowns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.calibrate.effort_check import EffortCheck, EffortError, effort_check
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.torque_rows import TorqueRows
from safe_sysid.identify.difference.answer import PayloadDifference
from safe_sysid.identify.difference.friction_choice import (
    FrictionChoice,
    chosen_friction,
    rows_at_estimate,
)
from safe_sysid.identify.difference.intervals import (
    GUARANTEED_THRESHOLD,
    Assumed,
    Evidence,
    blocks_of_motion,
    difference_of,
    too_brief,
)
from safe_sysid.identify.difference.motion_band import cutoff_of, motion_band
from safe_sysid.identify.difference.rows import (
    STANDING,
    DifferenceRows,
    Stretch,
    moving,
    stretch_of,
)
from safe_sysid.identify.difference.shared_fit import SharedFit, shared_fit
from safe_sysid.identify.difference.torque_delay import (
    TorqueDelay,
    torque_delay,
)
from safe_sysid.identify.payload_in_frame import nearest_body
from safe_sysid.identify.two_at_a_time import two_at_a_time
from safe_sysid.model.robot_model import RobotModel


@dataclass(frozen=True, eq=False)
class DifferenceProblem:
    """Recordings without gaps, and what is assumed of payload and effort."""

    model: RobotModel
    loaded: list[EvenLog]
    empty: list[list[EvenLog]]  # recording by recording
    frame: tuple[str, Array, float]  # name; its parameters of those of the joint; distance [m]
    payload_mass: float  # [kg] at most
    reach: float  # [m] from the origin of the last joint
    gain_error: Array  # (n,) share by which the unit of the effort may be off
    inertia_prior: float  # [kg m^2] about the centre, 0 to so much, for statistics, or inf
    confidence: float
    gain_covariance: Array | None = None  # (n, n) of ln gain, where a known mass has told it
    unit_is_stated: bool = False  # whether anybody said how well the unit of the effort is known
    cutoff: float | None = None  # [Hz]
    friction: FrictionChoice | None = None  # chosen before, by other recordings
    known: EmptyArm | None = None  # of these empty recordings, so that it is not found twice

    @property
    def assumed(self) -> Assumed:
        """What is assumed of payload and effort, about the frame of the payload."""
        return Assumed(
            self.payload_mass, self.reach + self.frame[2], self.gain_error, self.inertia_prior,
            self.confidence, self.gain_covariance,
        )  # fmt: skip

    @property
    def prior(self) -> Array:
        """Deviations of the payload's parameters before anything is recorded, (10,)."""
        return self.assumed.prior


@dataclass(frozen=True, eq=False)
class EmptyArm:
    """What empty recordings say of an arm that any payload is compared with."""

    cutoff: float  # [Hz]
    stretches: list[Stretch]
    friction: FrictionChoice
    rows: DifferenceRows
    fit: SharedFit  # with all directions that rows show
    delay: TorqueDelay


def payload_difference(problem: DifferenceProblem) -> PayloadDifference:
    """Identify what the loaded arm holds beyond the empty one."""
    model = problem.model
    band = motion_band([log for logs in problem.empty for log in logs])
    loaded_band = motion_band(problem.loaded)
    cutoff = cutoff_of_problem(problem)
    empty, held = _both_stretched(problem, cutoff)
    rows = moving(rows_at_estimate(model, [*empty.stretches, *held], empty.friction.terms))
    seconds = float(np.count_nonzero(rows.loaded)) / rows.rate
    left = f'of motion with the payload are left behind the filter of {cutoff:g} Hz'
    brief = too_brief(seconds, left)
    beyond = loaded_band.beyond(band)
    viscous = model.layout.joint_entries('Fv')
    velocity = rows.Y[:, np.arange(model.n), np.arange(model.n) + viscous.start]
    strange = _strange_effort(problem, empty.rows)
    evidence = Evidence(
        rows, empty.rows, empty.fit, empty.delay, len(problem.empty), velocity,
        model.layout.joint_names, strange.doubt(problem.unit_is_stated), beyond,
        np.concatenate([np.arange(10 * model.n), np.arange(12 * model.n, 13 * model.n)]),
        brief,
    )  # fmt: skip
    found = difference_of(
        evidence, problem.assumed, (problem.frame[0], empty.friction, cutoff), blocks_of_motion
    )
    if found.refused is not None and strange.error is None:
        wrong = _strange_effort(problem, rows.part(rows.loaded)).error
        if wrong is not None:
            why = f'with the payload {wrong.removesuffix(". Nothing was fitted")}'
            found = replace(found, withheld=why, not_guaranteed=why)
    stated = strange.caution if problem.unit_is_stated else None
    found = _with_a_mass(replace(found, strange_unit=stated), problem.payload_mass)
    return with_proven_nominal(found)


def with_proven_nominal(found: PayloadDifference) -> PayloadDifference:
    """Where nothing is said of the fit, have the nominal payload within what is guaranteed."""
    bounds = found.guaranteed_bounds
    if found.statistical is not None or bounds is None:
        return found
    within = np.clip(found.nominal, bounds.lower, bounds.upper)
    return replace(found, nominal=nearest_body(within, bounds))


def _both_stretched(problem: DifferenceProblem, cutoff: float) -> tuple[EmptyArm, list[Stretch]]:
    """Return the empty arm, and the loaded recording with torques as late as those of it."""
    known, number = problem.known, len(problem.empty)
    with two_at_a_time() as beside:
        stretches = beside.map(
            lambda log: _stretch(problem, log, cutoff, number, loaded=True), problem.loaded
        )
        empty = empty_arm(problem, cutoff) if known is None or known.cutoff != cutoff else known
        held = list(stretches)
    if empty.delay.is_corrected:
        moved = empty.delay.moved(problem.loaded)
        held = [s.with_torque_of(log) for s, log in zip(held, moved, strict=True)]
    return empty, held


def _with_a_mass(found: PayloadDifference, most: float) -> PayloadDifference:
    """Withhold intervals of what is no body, or none as light as was said."""
    bounds = found.statistical_bounds
    if bounds is None:
        return found
    lower, upper = bounds.lower[0], bounds.upper[0]
    if lower <= most and upper >= 0.0:
        return found
    limit = '0 kg or more' if upper < 0.0 else f'{most:g} kg or less (--payload-mass)'
    why = (
        f'the payload would weigh {lower:.3g} to {upper:.3g} kg, and it weighs {limit}: loaded '
        'and empty recordings are exchanged, or the effort has another unit than in the settings'
    )
    return replace(
        found, statistical=None, withheld=why, guaranteed=None, not_guaranteed=why,
        next_recording=None,
    )  # fmt: skip


def empty_arm(problem: DifferenceProblem, cutoff: float) -> EmptyArm:
    """Rows of empty recordings with the friction that they need."""
    model = problem.model

    logs = [(i, log) for i, logs in enumerate(problem.empty) for log in logs]
    stretches = [_stretch(problem, log, cutoff, i, loaded=False) for i, log in logs]
    friction = problem.friction or chosen_friction(model, stretches)
    rows = moving(rows_at_estimate(model, stretches, friction.terms))
    delay = torque_delay(rows)
    if delay.is_corrected:
        moved = delay.moved([log for _, log in logs])
        stretches = [s.with_torque_of(log) for s, log in zip(stretches, moved, strict=True)]
        rows = moving(rows_at_estimate(model, stretches, friction.terms))
    fit = shared_fit(rows, problem.prior, GUARANTEED_THRESHOLD)
    return EmptyArm(cutoff, stretches, friction, rows, fit, delay)


def with_empty_evidence(problem: DifferenceProblem) -> DifferenceProblem:
    """Return the problem with what its empty recordings say, for several payloads."""
    return replace(problem, known=empty_arm(problem, cutoff_of_problem(problem)))


def cutoff_of_problem(problem: DifferenceProblem) -> float:
    """Cut-off as stated, or as suits all of the motions [Hz]."""
    logs = [log for logs in (*problem.empty, problem.loaded) for log in logs]
    return problem.cutoff or cutoff_of(motion_band(logs))


def _stretch(
    problem: DifferenceProblem, log: EvenLog, cutoff: float, recording: int, *, loaded: bool
) -> Stretch:
    return stretch_of(problem.model, log, cutoff, recording, loaded=loaded, frame=problem.frame[1])


@dataclass(frozen=True)
class _StrangeEffort:
    """What speaks against sign and order of the effort, or only against its unit."""

    error: str | None
    caution: str | None

    def doubt(self, unit_is_stated: bool) -> str | None:
        """Return what forbids every interval."""
        return self.error or (None if unit_is_stated else self.caution)


def _strange_effort(problem: DifferenceProblem, rows: DifferenceRows) -> _StrangeEffort:
    """Compare the effort of the empty arm with the description."""
    try:
        cautions = effort_of_rows(problem.model, rows).cautions()
    except EffortError as error:
        return _StrangeEffort(str(error), None)
    return _StrangeEffort(None, cautions[0] if cautions else None)


def effort_of_rows(model: RobotModel, rows: DifferenceRows) -> EffortCheck:
    """Figures of every joint of an empty arm; sign or order that can't be right raise them."""
    layout = model.layout
    plain = rows.part(np.asarray(rows.counts.all(axis=1)))
    check_rows = TorqueRows(
        plain.Y[:, :, : layout.size], plain.tau, plain.tau, rows.rate, np.ones(1), 1
    )
    return effort_check(model, FitColumns(layout, STANDING), [check_rows])
