"""Bounds on a payload that hold if no block's spectrum of model error is larger than promised.

Unknowns are phi, the arm in coordinates s of the directions that rows tell apart (in deviations
of the fit), the gain of every drive, and the delay of the payload's torques (`late_payload`). All
blocks, empty and loaded, are rows of one polytope:

    | Y B u + Y_L(t - d) phi - (1 + g) tau | <= f delta_j(k)

with delta the largest error that any empty block showed at that frequency or beside it. The factor
f is 1.5, or 1.3 times the smallest at which empty and loaded rows do not contradict each other;
1.5 times that where it is above 1.5 itself, as the loaded errors are then others than those seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.identify.difference.late_payload import LatePayload
from safe_sysid.identify.difference.rows import DifferenceRows
from safe_sysid.identify.difference.shared_fit import SharedFit
from safe_sysid.identify.difference.spectral_blocks import SpectralBlocks, largest_seen
from safe_sysid.identify.interior_programs import InteriorPrograms
from safe_sysid.identify.linear_programs import Basis, Budget, Ending, Polytope
from safe_sysid.identify.observation import Observation
from safe_sysid.identify.parameter_polytope import ParameterPolytope
from safe_sysid.identify.set_membership import SetMembership
from safe_sysid.sets.interval import Interval, concatenate
from safe_sysid.sets.symmetric_eigen import symmetric_eigen

ARM_BOX = 30.0  # deviations of the fit; rows are what bounds the arm, this keeps programs bounded
OF_GAINS = 2.0  # times what the range of gains moves the arm, beside that
FACTOR = 1.5  # times the largest error seen
FEW_BLOCKS = 6
FACTOR_OF_FEW = 2.0  # with fewer blocks to have seen errors in
ABOVE_LEAST = 1.3  # times the smallest factor without a contradiction
LARGEST_LEAST = 3.0  # smallest factor beyond which a unit, the arm or a term is wrong
LARGEST_OF_FEW = 4.0  # the same with few blocks
ROUNDS = ((220.0, 0.05), (300.0, 3e-3))  # steps of programs and how near optima are told, for
# bounds with the error that a delay makes of any payload, then for those within these: twenty
# programs of 12 steps, and some with cuts
IF_CUT_SHORT = ((600.0, 3e-3), (1200.0, 3e-3))  # more of them, where many rows take more steps
LEAST_ERROR = 1e-6  # of the largest error, where none was seen
START = 0.1  # of the errors, from which they grow until there is no contradiction


@dataclass(frozen=True, eq=False)
class Promise:
    """What the guaranteed interval rests on."""

    delta: Array  # (K, n) [N m] largest error of a frequency and joint seen in empty blocks
    blocks: int  # empty ones, of the moving joint with the fewest in which it always moves
    seconds: float  # of a block
    faster: float = 1.0  # times larger than seen, as the loaded motion is faster
    grown: float = 1.0  # times larger at most, as torque is with the payload
    late: float = 0.0  # [s] by which torques of the payload may be late; of the arm it was seen

    @property
    def of_growth(self) -> str:
        """Say that errors may grow with the torque of a joint, where they do."""
        if self.grown == 1.0:
            return ''
        return f', and as much larger as the torque of a joint, {self.grown:.3g} times at most'


@dataclass(frozen=True, eq=False)
class Guarantee:
    """Bounds on phi, or why there are none."""

    bounds: Interval | None
    refused: str | None
    factor: float  # f
    least: float  # smallest factor without a contradiction
    promise: Promise
    ending: Ending = Ending.ALL_DONE  # of the programs; what is not done is what was known before

    @property
    def contradicts(self) -> bool:
        """Whether loaded and empty rows exclude each other with errors as large as promised."""
        return self.bounds is None and bool(np.isfinite(self.least))

    @property
    def is_cut_short(self) -> bool:
        """Whether some bounds are those of the prior, as no work was left for them."""
        return self.bounds is not None and self.ending is not Ending.ALL_DONE


def promise_of(blocks: SpectralBlocks, rows: DifferenceRows, fit: SharedFit) -> Promise:
    """Largest error of every frequency and joint in the blocks of empty rows and their fit.

    A joint that never moves has no rows, and none of its errors is known.
    """
    spectra = blocks.of(fit.residual)
    absorbed = len(fit.u) / max(int(np.count_nonzero(rows.counts)), 1)
    inflation = (1.0 - min(absorbed, 0.9)) ** -0.5
    seen = inflation * largest_seen(spectra, blocks.moves)
    moving = rows.counts.any(axis=0)
    count = int(blocks.moves[:, moving].sum(axis=0).min(initial=len(spectra)))
    return Promise(np.maximum(seen, LEAST_ERROR * seen.max()), count, blocks.seconds)


def guarantee(
    blocks: SpectralBlocks,
    rows: DifferenceRows,
    fit: SharedFit,
    promise: Promise,
    prior: tuple[Interval, float],
    gain_error: Array,
) -> Guarantee:
    """Bounds from all blocks; the prior is a box of phi and the reach [m] of the payload."""
    if promise.blocks == 0:
        seconds = promise.seconds
        sentence = f'no empty block of {seconds:.3g} s in which each joint that moves always does'
        return Guarantee(None, sentence, np.nan, np.nan, promise)
    box, reach = prior
    common = _common_rows(blocks, rows, fit, promise, gain_error)
    least = _least_factor(common, fit.phi, box, reach)
    few = promise.blocks < FEW_BLOCKS
    usual = FACTOR_OF_FEW if few else FACTOR
    above = ABOVE_LEAST if least <= usual else usual  # a set just short of empty is too narrow
    factor = max(usual, above * least)
    if least > (LARGEST_OF_FEW if few else LARGEST_LEAST):
        sentence = (
            f'loaded and empty rows contradict each other unless errors are {least:.1f} times the '
            f'largest seen in {promise.blocks} empty blocks: another arm, unit or friction'
        )
        return Guarantee(None, sentence, factor, least, promise)
    names = [f'joint {j}' for j in range(rows.tau.shape[1])]
    given = ROUNDS if promise.late > 0.0 else ROUNDS[1:]
    ending = Ending.PIVOTS
    solver = _AsNear()
    programs = SetMembership(names, reach, solver=solver)  # keeps its cuts for the next round
    for number, (steps, gap) in enumerate((*given, *IF_CUT_SHORT)):
        if number >= len(given) and ending is Ending.ALL_DONE:
            break
        solver.gap = gap
        observation, rest = common.observation(factor, box), common.rest(box)
        found = programs.solve(observation, rest, box, budget=Budget(steps))
        if found.bounds is None:
            return Guarantee(None, str(found.contradiction), factor, least, promise)
        box, ending = found.bounds, found.ending
    return Guarantee(box, None, factor, least, promise, ending)


class _AsNear:
    """Interior programs whose optima are told as near as `gap`, which a round sets."""

    gap = ROUNDS[-1][1]

    def __call__(self, polytope: Polytope, numbers: IntArray, budget: Budget) -> InteriorPrograms:
        return InteriorPrograms(polytope, numbers, budget, self.gap)


def arm_rows(
    blocks: SpectralBlocks, rows: DifferenceRows, fit: SharedFit, promise: Promise, factor: float
) -> tuple[Observation, Interval, Array]:
    """Rows of empty blocks, the range of s in them, and the axes of s in coordinates u."""
    common = _common_rows(blocks, rows, fit, promise, np.zeros(rows.tau.shape[1]))
    observation = replace(common.rows, delta=factor * common.seen + common.rounding)
    return observation, common.arm, _axes(fit)[0]


def _axes(fit: SharedFit) -> tuple[Array, Array, Array]:
    """Axes of s in coordinates u, (k, k), as directions times deviations (k,), and both."""
    k = len(fit.u)
    values, vectors = symmetric_eigen(fit.covariance[:k, :k])
    scale = np.sqrt(np.maximum(values, 1e-12 * values[-1]))
    return vectors * scale, vectors, scale


@dataclass(frozen=True, eq=False)
class _CommonRows:
    """Rows of all blocks, of joints that move; their errors are those of a factor and a delay."""

    rows: Observation  # without errors and delay
    arm: Interval  # range of what they share: the arm in s, and gains
    seen: Array  # (m,) [N m] errors of the promise, with the range of gains
    rounding: Array  # (m,) [N m]
    slope: Array  # (m, 10) [N m per unit of phi] columns of psi
    bend: Array  # (m, 10) [N m per unit of phi] errors of second order

    def observation(self, factor: float, held: Interval) -> Observation:
        """Rows with errors `factor` times those seen, late with any payload that is `held`."""
        delta = factor * self.seen + self.bend @ held.magnitude + self.rounding
        Y_r = np.concatenate([self.rows.Y_r, self.slope], axis=1)
        return replace(self.rows, Y_r=Y_r, delta=delta)

    def rest(self, held: Interval) -> Interval:
        """Range of all that rows share, with psi of any payload that is `held`."""
        largest = held.magnitude
        return concatenate([self.arm, Interval(-largest, largest)])

    def of_estimate(self, phi: Array, factor: float) -> tuple[Observation, Interval]:
        """Rows with the delay of one payload alone, and the range of what they share."""
        rows = self.observation(factor, Interval(phi, phi))
        Y_r = np.concatenate([self.rows.Y_r, self.slope @ phi[:, None]], axis=1)
        one = Interval(-np.ones(1), np.ones(1))
        return replace(rows, Y_r=Y_r), concatenate([self.arm, one])


def _common_rows(
    blocks: SpectralBlocks,
    rows: DifferenceRows,
    fit: SharedFit,
    promise: Promise,
    gain_error: Array,
) -> _CommonRows:
    """Rows in coordinates s of the arm, in deviations of the fit."""
    n, k = rows.tau.shape[1], len(fit.u)
    axes, vectors, scale = _axes(fit)
    tau = blocks.of(rows.tau)  # (blocks, K, n)
    arm = blocks.of(rows.Y @ (fit.basis @ axes))
    center = blocks.of(rows.Y @ fit.x)
    payload = blocks.of(rows.Y_L) * blocks.loaded[:, None, None, None]
    varied = gain_error > 0.0
    gains = (-tau[..., None] * np.eye(n))[..., varied]
    times = rows.t[blocks.rows]
    late = LatePayload.of(blocks, rows, promise.late)
    by_joint = fit.by_joint(rows)[:, :k]
    start, end = (np.broadcast_to(times[:, i, None, None], tau.shape).ravel() for i in (0, -1))
    observation = Observation(
        payload.reshape(-1, 10),
        np.concatenate([arm, gains], axis=-1).reshape(tau.size, -1),
        (tau - center).ravel(),
        np.ones(tau.size),
        np.broadcast_to(np.arange(n), tau.shape).ravel(),
        start,
        end,
    )
    width = ARM_BOX + OF_GAINS * gain_error @ np.abs(by_joint @ (vectors / scale))
    width = np.concatenate([width, gain_error[varied]])
    moves = np.broadcast_to(blocks.moves[:, None, :], tau.shape).ravel()
    seen = np.broadcast_to(promise.delta * (1.0 + gain_error), tau.shape).ravel()
    return _CommonRows(
        observation.rows(moves),
        Interval(-width, width),
        seen[moves],
        _rounding(blocks, rows, fit, by_joint).ravel()[moves],
        late.columns.reshape(-1, 10)[moves],
        late.largest.reshape(-1, 10)[moves],
    )


def _rounding(
    blocks: SpectralBlocks, rows: DifferenceRows, fit: SharedFit, by_joint: Array
) -> Array:
    """Bound on what rounding makes of the rows, (blocks, K, n) [N m]."""
    terms = rows.Y.shape[2] + blocks.rows.shape[1]
    size = np.abs(rows.tau) + np.abs(rows.Y) @ (np.abs(fit.basis) @ np.abs(fit.u))
    width = ARM_BOX * np.sqrt(np.diag(fit.covariance)[: len(fit.u)])
    width = width + OF_GAINS * np.abs(by_joint).sum(axis=0)
    size = size + np.abs(rows.Y) @ (np.abs(fit.basis) @ width)
    rounding: Array = 4.0 * terms * 2.0**-52 * blocks.largest(size)
    return rounding


def _least_factor(common: _CommonRows, phi: Array, box: Interval, reach: float) -> float:
    """Return the factor of all errors at which the rows stop to contradict each other.

    The delay is that of the estimate: fewer unknowns can only make it larger.
    """
    observation, rest = common.of_estimate(phi, 1.0)
    shrunk = replace(observation, delta=START * observation.delta)
    elastic = ParameterPolytope(shrunk, rest, box, reach).elastic()
    programs = InteriorPrograms(elastic, np.arange(len(elastic.A)), Budget(np.inf))
    least = np.zeros(elastic.A.shape[1])
    least[-1] = -1.0
    optimum = programs.maximum(least, Basis())
    if optimum is None or not optimum.feasible:
        return np.inf
    return START * (1.0 + float(optimum.x[-1]))
