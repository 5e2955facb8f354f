"""`safe-sysid bench constrained`: loops closed, parameters found, motions predicted."""

from __future__ import annotations

import time

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.bench.experiments.closed_chain_validation import (
    free_motion,
    inverse_dynamics_rms,
    tracking_errors,
)
from safe_sysid.bench.experiments.closed_chains import (
    SimulatedRecording,
    exciting_motion,
    recording,
    true_chain,
)
from safe_sysid.bench.settings import BenchSettings, Progress
from safe_sysid.calibrate.closed_chain_fit import ClosedChainFit, closed_chain_fit
from safe_sysid.calibrate.closed_chain_rows import random_closures
from safe_sysid.calibrate.settings import ClosedChainSettings
from safe_sysid.calibrate.torque_rows import MOTION, SmoothedMotion, filtered_rows, motion_of
from safe_sysid.model.closed_chain.assembly_modes import other_closures
from safe_sysid.model.closed_chain.chain import ClosedChain

ROBOT = 'digit_left_leg'
CONFIGURATIONS = 1000
OUTLIERS = 0.02  # of all torque samples
SECONDS = 20.0
SEGMENTS = 31


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Closures, a fit of a simulated recording, and its tables of errors."""
    quick = settings.quick
    rng = np.random.default_rng(settings.seed)
    nominal = ClosedChain.named(ROBOT)
    figures = closures(nominal, settings, progress)
    true = true_chain(nominal, rng, bodies=False)
    seconds = 8.0 if quick else SECONDS
    progress(f'simulating {seconds:.0f} s of {ROBOT} at 1 kHz, with outliers, and a second motion')
    training = recording((nominal, true), seconds, rng, OUTLIERS)
    validation = recording((nominal, true), 5.0 if quick else 16.0, rng)
    chosen = ClosedChainSettings()
    progress('identifying friction and armature of the motors')
    begin = time.perf_counter()
    fit = closed_chain_fit(nominal, [training.log], chosen)
    figures |= {
        'recording_s': time.perf_counter() - begin,
        'fit_s': fit.consistent.seconds,
        'outliers_found': outliers_found(training, fit, chosen),
        'condition': fit.separability.condition,
        **_within(fit, true),
    }
    progress('validation: torques, free motion, tracking')
    figures |= tables((nominal, true), fit, validation, chosen, 8 if quick else SEGMENTS)
    figures['tracking_deg'] = tracking((nominal, true), fit, rng, 5.0 if quick else 10.0)
    if not quick:
        figures['inseparable'] = inseparable(nominal, training)
    return figures


def closures(chain: ClosedChain, settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Newton steps of random configurations, and other ways to close them that were found."""
    rng = np.random.default_rng([settings.seed, 1])
    count = settings.trials or (100 if settings.quick else CONFIGURATIONS)
    progress(f'closing {count} random configurations of {ROBOT}, and looking for second ways')
    limits, a = chain.model.limits, chain.actuated
    q_a = rng.uniform(limits.position_lower[a], limits.position_upper[a], (count, len(a)))
    share = float(np.mean(chain.attempt(q_a).usable))
    q = random_closures(chain, count, rng)
    again = chain.attempt(q[:, a])
    gaps = [np.abs(chain.gap(row)[0]).max() for row in again.q]
    second = sum(bool(other_closures(chain, row, i)) for i, row in enumerate(q))
    return {
        'configurations': count,
        'closing_share': share,
        'newton_steps_mean': float(again.steps.mean()),
        'newton_steps_max': int(again.steps.max()),
        'closure_residual_m': float(max(gaps)),
        'ambiguous': second,
    }


def outliers_found(
    training: SimulatedRecording, fit: ClosedChainFit, settings: ClosedChainSettings
) -> float:
    """Share of the rows inside planted bursts that were left out."""
    burst = rows_in_bursts(training, settings)
    return float(np.mean(~fit.reweighted.kept[burst]))


def rows_in_bursts(training: SimulatedRecording, settings: ClosedChainSettings) -> AnyArray:
    """(N, n_a) bool: rows of the fit whose sample is inside a burst."""
    motion = motion_of(training.log, MOTION * settings.cutoff)
    marked = SmoothedMotion(
        motion.rate, motion.q, motion.qd, motion.qdd, training.burst.astype(float)
    )

    def nothing(q: Array, _: Array, __: Array) -> Array:
        return np.zeros((*q.shape, 1))

    inside: AnyArray = filtered_rows(nothing, marked, settings.cutoff).recorded > 0.5
    return inside


def tables(
    chains: tuple[ClosedChain, ClosedChain],
    fit: ClosedChainFit,
    validation: SimulatedRecording,
    settings: ClosedChainSettings,
    segments: int,
) -> dict[str, object]:
    """Rms of inverse dynamics and error of free motion: identified, nominal and true."""
    nominal, true = chains
    candidates = {
        'identified': fit.theta(nominal.model.theta),
        'nominal': nominal.model.theta,
        'true': true.model.theta,
    }
    torque, free = {}, {}
    for name, theta in candidates.items():
        chain = nominal.with_parameters(theta)
        torque[name] = inverse_dynamics_rms(
            chain, theta, fit.selection, validation.log, settings.cutoff
        )
        free[name] = free_motion(chain, validation, segments).l2
    ratio = np.sqrt(np.sum(torque['identified'] ** 2) / np.sum(torque['true'] ** 2))
    return {
        'validation_ratio_to_truth': float(ratio),
        'joints': [nominal.model.layout.joint_names[i] for i in nominal.actuated],
        'inverse_dynamics_rms_nm': torque,
        'free_motion_l2_rad': free,
    }


def tracking(
    chains: tuple[ClosedChain, ClosedChain],
    fit: ClosedChainFit,
    rng: np.random.Generator,
    seconds: float,
) -> dict[str, object]:
    """Mean and largest error in degrees, with the identified and the nominal model."""
    nominal, true = chains
    motion = exciting_motion(nominal, seconds, rng)
    identified = nominal.with_parameters(fit.theta(nominal.model.theta))
    errors = {
        name: np.degrees(tracking_errors(chain, true, motion))
        for name, chain in (('identified', identified), ('nominal', nominal))
    }
    return {
        'mean': {name: error[0] for name, error in errors.items()},
        'largest': {name: error[1] for name, error in errors.items()},
    }


def inseparable(chain: ClosedChain, training: SimulatedRecording) -> list[str]:
    """Return friction figures of all joints, some of which turn together."""
    fit = closed_chain_fit(chain, [training.log], ClosedChainSettings(identified='joints'))
    return fit.separability.sentences()


def _within(fit: ClosedChainFit, true: ClosedChain) -> dict[str, object]:
    """How far estimates are from the truth, in standard deviations."""
    base = fit.uncertainty.base
    truth = true.model.theta[fit.selection.entries]
    error = base.values(fit.reweighted.x) - base.values(truth)
    deviations = np.abs(error) / fit.uncertainty.deviation()
    return {
        'within_two_sigma': float(np.mean(deviations < 2.0)),
        'largest_sigma': float(deviations.max()),
        'smallest_eigenvalue': fit.consistent.smallest_eigenvalue,
    }
