"""From rows of an empty and a loaded arm to both intervals, wherever the rows are from.

Rows are Y x + Y_L phi = tau of joint torques in motion, of joint torques at rest, or of the wrench
at a sensor; what is said of their errors is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.difference.answer import PayloadDifference, Residuals, Statistical
from safe_sysid.identify.difference.beside_statistics import within_reach
from safe_sysid.identify.difference.block_errors import BlockErrors, block_errors
from safe_sysid.identify.difference.centred_prior import centred_fit
from safe_sysid.identify.difference.distribution_free import (
    DistributionFree,
    distribution_free,
    sign_perturbed,
)
from safe_sysid.identify.difference.friction_choice import FrictionChoice
from safe_sysid.identify.difference.guaranteed import Guarantee, Promise, guarantee, promise_of
from safe_sysid.identify.difference.held_out_pieces import Pieces, held_out_pieces
from safe_sysid.identify.difference.load_check import (
    load_doubt,
    load_ratio,
    strained,
    torque_growth,
)
from safe_sysid.identify.difference.loaded_gain import GainCheck, loaded_gain
from safe_sysid.identify.difference.noise_and_bias import half_width
from safe_sysid.identify.difference.rows import DifferenceRows
from safe_sysid.identify.difference.shared_fit import SharedFit, payload_prior, shared_fit
from safe_sysid.identify.difference.spectral_blocks import (
    FEWEST,
    SHORTEST,
    SpectralBlocks,
    block_seconds,
    spectral_blocks,
)
from safe_sysid.identify.difference.torque_delay import (
    LaterWithPayload,
    TorqueDelay,
    later_with_payload,
    rate_of_change,
)
from safe_sysid.identify.difference.what_limits import (
    Shares,
    spread_if_longer,
    variance_shares,
)
from safe_sysid.identify.difference.what_to_record import Recorded, what_to_record
from safe_sysid.identify.two_at_a_time import two_at_a_time
from safe_sysid.sets.interval import Interval

LEAST_SECONDS = 4.0  # with the payload, of which statistics are made
LEAST_OF_BLOCKS = FEWEST * SHORTEST  # [s] the same of bounds, which every block makes narrower
WIDENED = 1.3  # residuals with the payload over those without, in which intervals get wider
GUARANTEED_THRESHOLD = 1e-6  # directions of the arm that rows show less are left out
GAIN_RANGE = 3.0  # deviations of a calibrated gain that the guaranteed form allows for


@dataclass(frozen=True, eq=False)
class Assumed:
    """What is assumed of the payload and of the unit of the effort."""

    payload_mass: float  # [kg] at most
    reach: float  # [m] from the origin of the payload's frame
    gain_error: Array  # (n,) share by which the unit of the effort may be off
    inertia_prior: float  # [kg m^2] about the centre, 0 to so much, for statistics, or inf
    confidence: float
    gain_covariance: Array | None = None  # (n, n) of ln gain, where a known mass has told it

    @property
    def gain_range(self) -> Array:
        """Share by which gains may be off in the guaranteed form, (n,)."""
        if self.gain_covariance is None:
            return self.gain_error
        calibrated: Array = GAIN_RANGE * np.sqrt(np.diag(self.gain_covariance))
        return self.gain_error + calibrated

    @property
    def payload(self) -> Interval:
        """Range of the payload's parameters; mass and moments of inertia are not negative."""
        mass, reach = self.payload_mass, self.reach
        upper = np.array([mass, *(mass * reach,) * 3, *(mass * reach**2,) * 6])
        lower = -upper
        lower[[0, 4, 6, 9]] = 0.0
        return Interval(lower, upper)

    @property
    def prior(self) -> Array:
        """Deviations of the payload's parameters before anything is recorded, (10,)."""
        return payload_prior(self.payload_mass, self.reach, self.inertia_prior)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Rows of all recordings, and what empty ones say."""

    rows: DifferenceRows
    empty_rows: DifferenceRows
    empty_fit: SharedFit  # with all directions that rows show
    delay: TorqueDelay
    recordings: int  # empty ones
    velocity: Array  # (N, n) [rad/s] beside residuals
    names: tuple[str, ...]  # of joints, or of what else the rows are about
    doubt: str | None  # what speaks against sign, order or unit of the effort
    beyond: float | str  # by how much errors may be larger than seen, or why nobody can tell
    bodies: IntArray  # columns of x that are bodies and rotors
    brief: str | None = None  # why there is too little for statistics

    @property
    def seconds(self) -> float:
        """With the payload."""
        return float(np.count_nonzero(self.rows.loaded)) / self.rows.rate


def too_brief(seconds: float, what: str) -> str | None:
    """Return why seconds with the payload are too few for statistics; for anything: an error."""
    left = f'{seconds:.2g} s {what}'
    if seconds < LEAST_OF_BLOCKS:
        raise MeasurementError(
            f'{left}; {LEAST_OF_BLOCKS:g} s or more are needed, {LEAST_SECONDS:g} s for '
            'statistics. An arm that stands shows what it holds in poses (--poses)'
        )
    if seconds < LEAST_SECONDS:
        return f'{left}; {LEAST_SECONDS:g} s or more are needed for it'
    return None


BlocksOf = Callable[[Evidence], tuple[Promise, SpectralBlocks]]


def difference_of(
    given: Evidence,
    assumed: Assumed,
    about: tuple[str, FrictionChoice, float],
    blocks_of: BlocksOf,
) -> PayloadDifference:
    """Both intervals; `about` is the payload's frame, the friction and the cut-off [Hz]."""
    with two_at_a_time() as beside:
        bounds = beside.submit(_guaranteed, given, assumed, blocks_of)
        return within_reach(_both(given, assumed, about, bounds), assumed.reach)


def _both(
    given: Evidence,
    assumed: Assumed,
    about: tuple[str, FrictionChoice, float],
    bounds: Future[tuple[Guarantee | None, str | None]],
) -> PayloadDifference:
    """Statistics, and the guaranteed interval that is on its way."""
    rows, delay = given.rows, given.delay
    limits, gain = (assumed.payload_mass, assumed.reach), float(assumed.gain_range.max())
    fit, prior = centred_fit(rows, limits, assumed.inertia_prior, gain)
    ratio = load_ratio(rows, fit)
    empty = given.empty_rows, given.empty_fit
    doubt = given.doubt or given.brief or load_doubt(given.names, ratio)
    doubt = doubt or strained(given.names, empty, (rows, fit))
    statistical, following, withheld, unlike, changed = None, None, doubt, None, np.zeros(10)
    if withheld is None:
        pieces = held_out_pieces(given.empty_rows, given.seconds, assumed.prior)
        errors = block_errors(rows, fit)
        gains = pieces.judged(loaded_gain(rows, fit, errors), assumed.confidence)
        changed = gains.widening
        withheld = unlike = gains.doubt(given.names, float(assumed.gain_error.max()))
        if unlike is None:
            widened = max(1.0, float(ratio.max()) / WIDENED)
            late = delay.left * rate_of_change(rows, rows.tau - fit.residual)
            statistical = _statistical(
                given, assumed, (fit, errors, prior), pieces, (widened, late, gains)
            )
            following = _next(given, (fit, prior), statistical, pieces)
    later = _later(given, assumed)
    guaranteed, refused = (None, unlike) if unlike else bounds.result()
    if guaranteed is not None:
        guaranteed = _wider(guaranteed, assumed, changed)
    known = (None, given.brief)  # which no delay explains
    for said in (later, delay if delay.is_seen else None):
        if said is not None:
            withheld, refused = (x if x in known else f'{x}; {said}' for x in (withheld, refused))
    left = [_relative(rows, fit, rows.loaded == held) for held in (False, True)]
    frame, friction, cutoff = about
    return PayloadDifference(
        frame, fit.phi, statistical, withheld, guaranteed, refused,
        friction, cutoff, ratio, (left[0], left[1]), delay,
        Residuals(given.velocity, fit.residual * rows.counts, rows.loaded), later, following,
    )  # fmt: skip


def _next(
    given: Evidence, fitted: tuple[SharedFit, Array], found: Statistical, pieces: Pieces
) -> str:
    """Return what to record next."""
    rows, number = given.rows, given.recordings
    empty = float(np.count_nonzero(~rows.loaded)) / rows.rate / number
    recorded = Recorded(
        found.shares, found.confidence, number, (given.seconds, empty),
        float(pieces.data_factor[0]), spread_if_longer(rows, *fitted), pieces.enlarged,
    )  # fmt: skip
    return what_to_record(recorded)


def _later(given: Evidence, assumed: Assumed) -> LaterWithPayload | None:
    """Return by how much torques are later with the payload, if they surely are."""
    if given.brief is not None or not len(given.delay.by_joint):  # too short, or at rest
        return None
    later = later_with_payload(given.rows, assumed.prior)
    return later if later.is_sure else None


def blocks_of_motion(given: Evidence) -> tuple[Promise, SpectralBlocks]:
    """Spectra of blocks as long as recordings allow, and what empty ones show of errors.

    Of a joint that never moved without the payload they show nothing: its rows do not count.
    """
    seconds = block_seconds(given.rows)
    rows, fit = given.empty_rows, given.empty_fit
    promise = promise_of(spectral_blocks(rows, seconds), rows, fit)
    while promise.blocks == 0 and seconds >= 2.0 * SHORTEST:  # from pose to pose, joints rest
        seconds *= 0.5
        promise = promise_of(spectral_blocks(rows, seconds), rows, fit)
    blocks = spectral_blocks(given.rows, seconds)
    return promise, replace(blocks, moves=blocks.moves & rows.counts.any(axis=0))


def _statistical(
    given: Evidence,
    assumed: Assumed,
    fitted: tuple[SharedFit, BlockErrors, Array],
    pieces: Pieces,
    known: tuple[float, Array, GainCheck],
) -> Statistical:
    """Block errors, enlarged by what pieces of empty recordings show, unit of effort and delay.

    Fitted are estimates, their errors and the deviations of what was known before, (10,). Known
    are by how much residuals of the load enlarge them, what a delay is to rows, (N, n), and what
    recordings say of a unit that changes from one to the other.
    """
    rows, (fit, errors, prior), (widened, late, changed) = given.rows, fitted, known
    deviation = widened * errors.deviation
    residuals = pieces.half_width(deviation, errors.freedom, assumed.confidence)
    tail = stdtrit(1e9, 0.5 * (1.0 + assumed.confidence))
    before, delay = tail * fit.shrinkage(prior), tail * fit.moved_by(rows, late)
    noise = np.hypot(residuals, np.hypot(before, delay))
    by_joint = fit.by_joint(rows)[:, -10:]
    share = assumed.gain_error @ np.abs(by_joint) + changed.widening
    calibrated = np.zeros(10)
    if assumed.gain_covariance is not None:
        variance = np.einsum('jc,ji,ic->c', by_joint, assumed.gain_covariance, by_joint)
        calibrated = tail * np.sqrt(np.maximum(variance, 0.0))
    gains = np.stack([calibrated, share])
    half = half_width(np.hypot(noise, calibrated), share, assumed.confidence)
    parts = variance_shares(rows, fit, prior, given.bodies)
    shares = Shares(*parts, residuals, before, delay, gains.sum(axis=0), calibrated)
    return Statistical(
        Interval.from_center_radius(fit.phi, half),
        assumed.confidence, noise, gains.sum(axis=0), pieces.factor, pieces.data_factor,
        len(pieces.z), pieces.seconds, errors.correlation_s, errors.freedom, shares,
        _free(assumed, rows, fit, pieces, (errors, widened, gains[:, 0])),
        changed.caution(given.names), float(changed.half[-1]),
    )  # fmt: skip


def _free(
    assumed: Assumed,
    rows: DifferenceRows,
    fit: SharedFit,
    pieces: Pieces,
    known: tuple[BlockErrors, float, Array],
) -> DistributionFree:
    """Return the interval of the mass that assumes no distribution, with the unit's share."""
    errors, widened, gains = known
    confidence, mass = assumed.confidence, float(fit.phi[0])
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
    given: Evidence, assumed: Assumed, blocks_of: BlocksOf
) -> tuple[Guarantee | None, str | None]:
    """Membership of all blocks, with errors as large as empty ones show, or why there is none."""
    if given.doubt is not None:
        return None, given.doubt
    if isinstance(given.beyond, str):
        return None, f'{given.beyond}: errors of the empty motions say nothing of those'
    promise, blocks = blocks_of(given)
    late = GAIN_RANGE * given.delay.left
    promise = replace(promise, delta=given.beyond * promise.delta, faster=given.beyond, late=late)
    fit = shared_fit(given.rows, assumed.prior, GUARANTEED_THRESHOLD)
    prior = assumed.payload, assumed.reach
    found = guarantee(blocks, given.rows, fit, promise, prior, assumed.gain_range)
    if found.contradicts:  # perhaps errors are as large a share of torque, and not as large
        shown = given.empty_rows.counts.any(axis=0)  # of other joints no row counts
        growth = np.where(shown, torque_growth(given.rows), 1.0)
        more = replace(promise, delta=promise.delta * growth, grown=float(growth.max()))
        again = guarantee(blocks, given.rows, fit, more, prior, assumed.gain_range)
        found = found if again.bounds is None else again
    return found, found.refused


def _wider(found: Guarantee, assumed: Assumed, by: Array) -> Guarantee:
    """Return bounds that are wider (10,), within what is assumed of a payload."""
    if found.bounds is None:
        return found
    wider = found.bounds + Interval(-by, by)
    return replace(found, bounds=wider.intersection(assumed.payload))


def _relative(rows: DifferenceRows, fit: SharedFit, chosen: AnyArray) -> float:
    part = fit.residual[chosen], rows.tau[chosen]
    return float(np.linalg.norm(part[0]) / max(float(np.linalg.norm(part[1])), 1e-300))
