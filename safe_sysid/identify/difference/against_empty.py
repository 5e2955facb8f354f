"""From a loaded recording and empty ones to the payload, with the arm as shared unknowns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import t as student

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.calibrate.effort_check import EffortError, effort_check
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.torque_rows import TorqueRows
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.difference.answer import PayloadDifference, Residuals, Statistical
from safe_sysid.identify.difference.block_errors import BlockErrors, block_errors
from safe_sysid.identify.difference.distribution_free import (
    DistributionFree,
    distribution_free,
    sign_perturbed,
)
from safe_sysid.identify.difference.friction_choice import (
    FrictionChoice,
    chosen_friction,
    rows_at_estimate,
)
from safe_sysid.identify.difference.guaranteed import Guarantee, guarantee, promise_of
from safe_sysid.identify.difference.held_out_pieces import Pieces, held_out_pieces
from safe_sysid.identify.difference.motion_band import cutoff_of, motion_band
from safe_sysid.identify.difference.noise_and_bias import half_width
from safe_sysid.identify.difference.rows import (
    STANDING,
    DifferenceRows,
    Stretch,
    moving,
    stretch_of,
)
from safe_sysid.identify.difference.shared_fit import SharedFit, payload_prior, shared_fit
from safe_sysid.identify.difference.spectral_blocks import (
    SHORTEST,
    block_seconds,
    spectral_blocks,
)
from safe_sysid.identify.difference.torque_delay import (
    TorqueDelay,
    rate_of_change,
    torque_delay,
)
from safe_sysid.identify.difference.what_limits import (
    Shares,
    variance_shares,
    what_to_record,
)
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

WIDENED = 1.3  # residuals with the payload over those without, in which intervals get wider
WITHHELD = 2.5  # the same, where a term is missing or a unit is wrong
GUARANTEED_THRESHOLD = 1e-6  # directions of the arm that rows show less are left out
GAIN_RANGE = 3.0  # deviations of a calibrated gain that the guaranteed form allows for
LEAST_LOADED = 4.0  # [s] of motion with the payload


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
    inertia_prior: float  # [kg m^2] inertias are 0 to so much, for statistics; may be infinite
    confidence: float
    gain_covariance: Array | None = None  # (n, n) of ln gain, where a known mass has told it
    unit_is_stated: bool = False  # whether anybody said how well the unit of the effort is known
    cutoff: float | None = None  # [Hz]
    friction: FrictionChoice | None = None  # chosen before, by other recordings
    known: EmptyArm | None = None  # of these empty recordings, so that it is not found twice

    @property
    def gain_range(self) -> Array:
        """Share by which gains may be off in the guaranteed form, (n,)."""
        if self.gain_covariance is None:
            return self.gain_error
        calibrated: Array = GAIN_RANGE * np.sqrt(np.diag(self.gain_covariance))
        return self.gain_error + calibrated

    @property
    def prior(self) -> Array:
        """Deviations of the payload's parameters before anything is recorded, (10,)."""
        reach = self.reach + self.frame[2]
        return payload_prior(self.payload_mass, reach, self.inertia_prior)


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
    known = problem.known
    empty = empty_arm(problem, cutoff) if known is None or known.cutoff != cutoff else known
    number = len(problem.empty)
    late = empty.delay.moved(problem.loaded)
    held = [_stretch(problem, log, cutoff, number, loaded=True) for log in late]
    rows = moving(rows_at_estimate(model, [*empty.stretches, *held], empty.friction.terms))
    seconds = float(np.count_nonzero(rows.loaded)) / rows.rate
    if seconds < LEAST_LOADED:
        raise MeasurementError(
            f'{seconds:.2g} s of motion with the payload are left behind the filter of '
            f'{cutoff:g} Hz; {LEAST_LOADED:g} s or more are needed'
        )
    fit = shared_fit(rows, problem.prior)
    ratio = _load_ratio(rows, fit)
    unit = _unit_doubt(problem, empty.rows)
    statistical, withheld = None, unit or _load_doubt(model, ratio)
    if withheld is None:
        pieces = held_out_pieces(empty.rows, seconds, problem.prior)
        widened = max(1.0, float(ratio.max()) / WIDENED)
        delay = empty.delay.left * rate_of_change(rows, rows.tau - fit.residual)
        statistical = _statistical(problem, rows, fit, pieces, (widened, delay))
    beyond = loaded_band.beyond(band)
    guaranteed = None
    refused = unit
    if isinstance(beyond, str):
        refused = unit or f'{beyond}: errors of the empty motions say nothing of those'
    elif refused is None:
        guaranteed = _guaranteed(problem, rows, empty, beyond)
        refused = guaranteed.refused
    if empty.delay.is_seen:
        withheld, refused = (x and f'{x}; {empty.delay}' for x in (withheld, refused))
    errors = [_relative(rows, fit, rows.loaded == held) for held in (False, True)]
    viscous = model.layout.joint_entries('Fv')
    velocity = rows.Y[:, np.arange(model.n), np.arange(model.n) + viscous.start]
    following = None
    if statistical is not None:
        kappa = float(statistical.kappa[0])
        following = what_to_record(statistical.shares, kappa, len(problem.empty), seconds)
    return PayloadDifference(
        problem.frame[0], fit.phi, statistical, withheld, guaranteed, refused,
        empty.friction, cutoff, ratio, (errors[0], errors[1]), empty.delay,
        Residuals(velocity, fit.residual * rows.counts, rows.loaded), following,
    )  # fmt: skip


def empty_arm(problem: DifferenceProblem, cutoff: float) -> EmptyArm:
    """Rows of empty recordings with the friction that they need."""
    model = problem.model

    def stretches_of(recordings: list[list[EvenLog]]) -> list[Stretch]:
        return [
            _stretch(problem, log, cutoff, i, loaded=False)
            for i, logs in enumerate(recordings)
            for log in logs
        ]

    stretches = stretches_of(problem.empty)
    friction = problem.friction or chosen_friction(model, stretches)
    rows = moving(rows_at_estimate(model, stretches, friction.terms))
    delay = torque_delay(rows)
    if delay.is_corrected:
        stretches = stretches_of([delay.moved(logs) for logs in problem.empty])
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


def _statistical(
    problem: DifferenceProblem,
    rows: DifferenceRows,
    fit: SharedFit,
    pieces: Pieces,
    known: tuple[float, Array],
) -> Statistical:
    """Block errors, enlarged by what pieces of empty recordings show, unit of effort and delay.

    Known are by how much residuals of the load enlarge them, and what a delay is to rows, (N, n).
    """
    widened, late = known
    errors = block_errors(rows, fit)
    deviation = widened * errors.deviation
    residuals = pieces.half_width(deviation, errors.freedom, problem.confidence)
    tail = student.ppf(0.5 * (1.0 + problem.confidence), 1e9)
    before, delay = tail * fit.shrinkage(problem.prior), tail * fit.moved_by(rows, late)
    noise = np.hypot(residuals, np.hypot(before, delay))
    by_joint = fit.by_joint(rows)[:, -10:]
    share = problem.gain_error @ np.abs(by_joint)
    calibrated = np.zeros(10)
    if problem.gain_covariance is not None:
        variance = np.einsum('jc,ji,ic->c', by_joint, problem.gain_covariance, by_joint)
        calibrated = tail * np.sqrt(np.maximum(variance, 0.0))
    gains = np.stack([calibrated, share])
    half = half_width(np.hypot(noise, calibrated), share, problem.confidence)
    parts = variance_shares(rows, fit, problem.prior)
    shares = Shares(*parts, residuals, before, delay, gains.sum(axis=0))
    return Statistical(
        Interval.from_center_radius(fit.phi, half),
        problem.confidence, noise, gains.sum(axis=0), pieces.factor, pieces.data_factor,
        len(pieces.z), pieces.seconds, errors.correlation_s, errors.freedom, shares,
        _free(problem, rows, fit, pieces, (errors, widened, gains[:, 0])),
    )  # fmt: skip


def _free(
    problem: DifferenceProblem,
    rows: DifferenceRows,
    fit: SharedFit,
    pieces: Pieces,
    known: tuple[BlockErrors, float, Array],
) -> DistributionFree:
    """Return the interval of the mass that assumes no distribution, with the unit's share."""
    errors, widened, gains = known
    confidence, mass = problem.confidence, float(fit.phi[0])
    sums = sign_perturbed(rows, fit, errors.blocks, confidence)
    deviation = float(errors.deviation[0])
    found = distribution_free(pieces.z[:, 0], deviation, sums, mass, confidence)
    if found.bounds is None:
        return found
    lower, upper = (abs(x - mass) * widened for x in found.bounds)
    calibrated, share = gains  # nothing is known of a distribution, so a bias counts in full
    below, above = (float(np.hypot(x, calibrated)) + float(share) for x in (lower, upper))
    return replace(found, bounds=(mass - below, mass + above))


def _guaranteed(
    problem: DifferenceProblem, rows: DifferenceRows, empty: EmptyArm, faster: float
) -> Guarantee:
    """Membership of all blocks, with errors as large as empty blocks show."""
    seconds = block_seconds(rows)
    promise = promise_of(spectral_blocks(empty.rows, seconds), empty.rows, empty.fit)
    while promise.blocks == 0 and seconds >= 2.0 * SHORTEST:  # from pose to pose, joints rest
        seconds *= 0.5
        promise = promise_of(spectral_blocks(empty.rows, seconds), empty.rows, empty.fit)
    late = GAIN_RANGE * empty.delay.left
    promise = replace(promise, delta=faster * promise.delta, faster=faster, late=late)
    fit = shared_fit(rows, problem.prior, GUARANTEED_THRESHOLD)
    mass, reach = problem.payload_mass, problem.reach + problem.frame[2]
    upper = np.array([mass, *(mass * reach,) * 3, *(mass * reach**2,) * 6])
    lower = -upper
    lower[[0, 4, 6, 9]] = 0.0  # mass and moments of inertia are not negative
    return guarantee(
        spectral_blocks(rows, seconds), rows, fit, promise, (Interval(lower, upper), reach),
        problem.gain_range,
    )  # fmt: skip


def _unit_doubt(problem: DifferenceProblem, rows: DifferenceRows) -> str | None:
    """Return what speaks against the sign, the order or the unit of the effort."""
    layout = problem.model.layout
    columns = FitColumns(layout, STANDING)
    plain = rows.part(np.asarray(rows.counts.all(axis=1)))
    check_rows = TorqueRows(
        plain.Y[:, :, : layout.size], plain.tau, plain.tau, rows.rate, np.ones(1), 1
    )
    try:
        cautions = effort_check(problem.model, columns, [check_rows]).cautions()
    except EffortError as error:
        return str(error)
    return cautions[0] if cautions and not problem.unit_is_stated else None


def _load_ratio(rows: DifferenceRows, fit: SharedFit) -> Array:
    """Residuals with the payload over those without, joint by joint, beyond those of torques."""

    def rms(values: Array, chosen: AnyArray) -> Array:
        squares = np.sum((values * rows.counts)[chosen] ** 2, axis=0)
        found: Array = np.sqrt(squares / np.maximum(rows.counts[chosen].sum(axis=0), 1))
        return found

    held, empty = rows.loaded, ~rows.loaded
    grown = np.maximum(rms(rows.tau, held) / np.maximum(rms(rows.tau, empty), 1e-12), 1.0)
    ratio: Array = rms(fit.residual, held) / np.maximum(rms(fit.residual, empty), 1e-12) / grown
    return ratio


def _load_doubt(model: RobotModel, ratio: Array) -> str | None:
    """Return what speaks against a statistical interval."""
    worst = int(np.argmax(ratio))
    if ratio[worst] <= WITHHELD:
        return None
    return (
        f'residuals of {model.layout.joint_names[worst]} with the payload are '
        f'{ratio[worst]:.2g} times what those without grow to with the torque ({WITHHELD:g} at '
        'most): the model lacks something that grows with the load, or the effort has another '
        'unit there'
    )


def _relative(rows: DifferenceRows, fit: SharedFit, chosen: AnyArray) -> float:
    part = fit.residual[chosen], rows.tau[chosen]
    return float(np.linalg.norm(part[0]) / max(float(np.linalg.norm(part[1])), 1e-300))
