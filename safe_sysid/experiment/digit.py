"""Legs of Digit with closed loops: torques, free motion and tracking of what was identified.

All of it is simulated: nothing that was recorded there is published. The manufacturer's parameters
are those of our description; the truth differs from it in friction and armature of the motors,
which is what is identified of a leg. The right leg is the mirror image of the left: its equations
are the same but for signs, so it is the left one here, with a truth of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
import json

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.closed_chain_validation import (
    SEGMENT,
    SETTLED,
    free_motion,
    free_piece,
    inverse_dynamics_rms,
    torque_residual,
)
from safe_sysid.bench.experiments.closed_chains import (
    CLOSURES,
    RATE,
    REACH,
    ROOM,
    TRIES,
    recording,
    track,
    true_chain,
)
from safe_sysid.calibrate.closed_chain_fit import ClosedChainFit, closed_chain_fit
from safe_sysid.calibrate.closed_chain_rows import random_closures
from safe_sysid.calibrate.settings import ClosedChainSettings
from safe_sysid.errors import SafeSysidError
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.trial import Row, Trial, seed_of
from safe_sysid.model.closed_chain.chain import ClosedChain, ClosureError

NAME = 'digit'
ROBOT = 'digit_left_leg'
SIDES = ('left', 'right')
SPEEDS = (1.8, 3.0, 5.0)  # [rad/s] largest of a joint
TRIALS = 5
SEGMENTS, QUICK_SEGMENTS = 31, 8  # of free motion
OUTLIERS = 0.02  # of torque samples
FITTED, JUDGED = 20.0, 16.0  # [s] of recordings
QUICK_FITTED, QUICK_JUDGED = 8.0, 5.0
TRACKED, QUICK_TRACKED = 10.0, 4.0  # [s] of sines
SHOWN, POINTS = 5.0, 200  # [s] of a recording in a figure, and points in a line of it
MODELS = ('identified', 'manufacturer')


@dataclass(frozen=True, eq=False)
class Leg:
    """A leg as it is, as the manufacturer says, and as it was identified."""

    described: ClosedChain
    true: ClosedChain
    fit: ClosedChainFit

    def believed(self, model: str) -> ClosedChain:
        """Return the chain of one of MODELS."""
        if model == 'manufacturer':
            return self.described
        return self.described.with_parameters(self.fit.theta(self.described.model.theta))


def trials(settings: ExperimentSettings) -> list[Trial]:
    """Each leg: what was identified is judged by torques, then by tracking at three speeds."""
    effort = 'quick' if settings.quick else 'full'
    count = settings.trials or (1 if settings.quick else TRIALS)
    return [
        Trial(
            NAME,
            {'side': side, 'number': number, 'judged_by': judged_by, 'effort': effort},
            seed_of(settings.seed, (NAME, side), number),
        )
        for number in range(count)
        for side in SIDES
        for judged_by in ('torque', *map(str, SPEEDS))
    ]


def trial(spec: Trial) -> Row:
    """Identify a leg, and judge it."""
    is_quick = spec.settings['effort'] == 'quick'
    leg = identified_leg(spec.seed, is_quick=is_quick)
    is_shown = (spec.settings['number'], spec.settings['side']) == (0, SIDES[0])
    judged_by = str(spec.settings['judged_by'])
    if judged_by == 'torque':
        return _torques(leg, spec.seed, is_quick=is_quick, is_shown=is_shown)
    return _tracking(leg, float(judged_by), spec.seed, is_quick=is_quick, is_shown=is_shown)


@lru_cache(maxsize=2)
def identified_leg(seed: int, *, is_quick: bool) -> Leg:
    """Draw a truth, record it, and identify friction and armature of its motors."""
    rng = np.random.default_rng([seed, 1])
    described = ClosedChain.named(ROBOT)
    true = true_chain(described, rng, bodies=False)
    seconds = QUICK_FITTED if is_quick else FITTED
    training = recording((described, true), seconds, rng, OUTLIERS)
    return Leg(described, true, closed_chain_fit(described, [training.log], ClosedChainSettings()))


def _torques(leg: Leg, seed: int, *, is_quick: bool, is_shown: bool) -> Row:
    """Tables I and II, on a recording that was not used."""
    rng = np.random.default_rng([seed, 2])
    chains = leg.described, leg.true
    judged = recording(chains, QUICK_JUDGED if is_quick else JUDGED, rng)
    segments = QUICK_SEGMENTS if is_quick else SEGMENTS
    row: Row = {'samples': round(segments * SEGMENT * RATE), 'condition': _condition(leg)}
    for model in (*MODELS, 'true'):
        chain = leg.true if model == 'true' else leg.believed(model)
        torque = inverse_dynamics_rms(
            chain, chain.model.theta, leg.fit.selection, judged.log, ClosedChainSettings().cutoff
        )
        free = free_motion(chain, judged, segments)
        row |= _by_joint(f'torque_rms_{model}', torque)
        row |= _by_joint(f'free_l2_{model}', free.l2)
        row |= _by_joint(f'free_rms_{model}', free.rms)
        if is_shown:
            moved, was = free_piece(chain, judged, 0)
            given = chain, chain.model.theta, leg.fit.selection, judged.log
            residual, rate = torque_residual(*given, ClosedChainSettings().cutoff)
            row |= history(f'residual_{model}', residual[: round(SHOWN * rate)], rate)
            row |= history(f'free_{model}', moved, RATE) | history('free_was', was, RATE)
    return row


def history(name: str, values: Array, rate: float) -> Row:
    """Return values (N, n_a) of all joints as a cell: seconds between points, then each joint."""
    step = max(1, len(values) // POINTS)
    drawn = [[float(f'{x:.4g}') for x in each] for each in values[::step].T]
    return {f'{name}_history': json.dumps([step / rate, drawn])}


def _condition(leg: Leg) -> float:
    return float(leg.fit.separability.condition)


def _tracking(leg: Leg, speed: float, seed: int, *, is_quick: bool, is_shown: bool) -> Row:
    """Tables III and IV: sines that were not used, with both sets of parameters."""
    rng = np.random.default_rng([seed, 3])
    motion = sines(leg.described, speed, QUICK_TRACKED if is_quick else TRACKED, rng)
    limit = leg.described.model.limits.torque[leg.described.actuated]
    row: Row = {'speed': speed}
    for model in MODELS:
        states, torque = track(leg.believed(model), leg.true, motion)
        error = np.degrees(np.abs(states[:, 0] - motion[0]))[round(SETTLED * RATE) :]
        row |= _by_joint(f'mean_{model}', error.mean(axis=0))
        row |= _by_joint(f'largest_{model}', error.max(axis=0))
        if is_shown and speed == SPEEDS[-1]:
            row |= history(f'error_{model}', np.degrees(states[:, 0] - motion[0]), RATE)
        row[f'saturated_{model}'] = float(np.mean(np.any(np.abs(torque) >= limit, axis=1)))
    return row


def _by_joint(name: str, values: Array) -> Row:
    return {f'{name}_{i}': float(value) for i, value in enumerate(values)}


def sines(
    chain: ClosedChain, speed: float, seconds: float, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Sines of one frequency in all joints, (T, n_a) each; the fastest joint reaches `speed`.

    Joints move together as they do in random closures, with phases drawn, as far as loops close.
    """
    closures = random_closures(chain, CLOSURES, rng)[:, chain.actuated]
    middle = closures.mean(axis=0)
    spread = np.linalg.cholesky(np.cov(closures.T))
    limits, share = chain.model.limits, REACH
    for _ in range(TRIES):
        amplitude = share * spread @ np.exp(1j * rng.uniform(0.0, 2.0 * np.pi, len(middle)))
        omega = speed / np.abs(amplitude).max()
        t = np.arange(round(seconds * RATE)) / RATE
        turning = amplitude * np.exp(1j * omega * t)[:, None]
        period = min(len(t), round(2.0 * np.pi / omega * RATE) + 1)
        share *= 0.98
        try:
            q = chain.follow(middle + turning[:period:5].imag)
        except ClosureError:
            continue
        if np.all(q > limits.position_lower + ROOM) and np.all(q < limits.position_upper - ROOM):
            turn = 1j * omega
            return middle + turning.imag, (turn * turning).imag, (turn**2 * turning).imag
    raise SafeSysidError(f'{chain.model.name}: no sines of {TRIES} keep its loops closed')
