"""What empty recordings of an arm are worth: base parameters, residuals, friction, drift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.identify.difference.against_empty import DifferenceProblem, EmptyArm, empty_arm
from safe_sysid.identify.difference.block_errors import block_errors, correlation_time
from safe_sysid.identify.difference.friction_choice import PRIOR, held_out_residuals
from safe_sysid.identify.difference.guaranteed import ARM_BOX, Promise, promise_of
from safe_sysid.identify.difference.guaranteed_friction import factor_of, parameter_bounds
from safe_sysid.identify.difference.link_rows import link_rows
from safe_sysid.identify.difference.motion_band import MotionBand, cutoff_of, motion_band
from safe_sysid.identify.difference.rows import DifferenceRows
from safe_sysid.identify.difference.shared_fit import (
    THRESHOLD,
    SharedFit,
    information,
    shared_fit,
)
from safe_sysid.identify.difference.spectral_blocks import (
    BAND,
    LONGEST,
    SpectralBlocks,
    spectral_blocks,
)
from safe_sysid.model.promised_links import ARRAYS, LinkRows
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

CONFIDENCE = 0.999  # of intervals of friction, under repetitions of the recordings
TOLD = 1.0 - 1e-6  # length of a parameter's part in the directions that rows tell apart


@dataclass(frozen=True, eq=False)
class ArmEvidence:
    """Figures of the empty arm behind one cut-off."""

    joints: tuple[str, ...]
    motion: MotionBand
    empty: EmptyArm
    promise: Promise
    held_out: Array  # (N, n) [N m] residuals of rows that had no part in the fit
    guaranteed: Interval | None  # (2 n,) Fc, then Fv; None where no block is long enough
    links: LinkRows | None  # for whoever moves the arm later; None for the same reason
    drift: Array | None  # (n,) [N m] rms between recordings, beyond that inside them

    def as_mapping(self) -> dict[str, Any]:
        """For a file that people read."""
        empty, fit = self.empty, self.empty.fit
        rows, friction = empty.rows, empty.friction
        errors = fit.errors(rows)
        return {
            'motion': {
                'band_hz': float(self.motion.band_hz),
                'peak_velocity_rad_s': self.motion.peak_velocity.tolist(),
            },
            'friction': {
                'columns': asdict(friction.terms),
                'terms': list(friction.terms.names),
                'held_out_error': float(friction.error),
                'tried': dict(friction.table),
                'confidence': CONFIDENCE,
                'intervals': self._friction_intervals(),
                'guaranteed': {
                    'blocks': self.promise.blocks,
                    'factor': factor_of(self.promise),
                    'intervals': self._named(self.guaranteed),
                },
            },
            'base': {
                'rank': len(fit.u),
                'threshold': THRESHOLD,
                'box_deviations': ARM_BOX,
                'constraints': 'every block of the recordings, see residual.blocks',
            },
            **self._link_evidence(),
            'rows': {
                'cutoff_hz': float(empty.cutoff),
                'number': len(rows),
                'rate_hz': float(rows.rate),
            },
            'residual': {
                'rms_nm': np.sqrt(np.mean(self.held_out**2, axis=0)).tolist(),
                'largest_nm': np.abs(self.held_out).max(axis=0).tolist(),
                'held_out': 'fifths of the recordings',
                'correlation_s': float(correlation_time(rows, errors)),
                'blocks': {
                    'number': self.promise.blocks,
                    'seconds': float(self.promise.seconds),
                    'band_hz': BAND,
                },
            },
            'delay_s': {
                'value': float(empty.delay.seconds),
                'deviation': float(empty.delay.deviation),
                'corrected': bool(empty.delay.is_corrected),
            },
            'drift_nm': None if self.drift is None else self.drift.tolist(),
        }

    def arrays(self) -> dict[str, Array]:
        """For a file that programs read."""
        fit = self.empty.fit
        k, links = len(fit.u), self.links
        of_links = {} if links is None else {f'link_{x}': getattr(links, x) for x in ARRAYS}
        return of_links | {
            'base_center': fit.u,
            'base_basis': fit.basis,
            'base_covariance': fit.covariance[:k, :k],
            'residual_covariance': fit.spread,
            'residual_spectrum': self.promise.delta,
        }

    def _link_evidence(self) -> dict[str, Any]:
        """Return what the rows over all of theta rest on, if there are any."""
        if self.links is None:
            return {}
        return {
            'links': {
                'rows': len(self.links),
                'block_s': float(self.links.seconds),
                'blocks': self.promise.blocks,
                'factor': factor_of(self.promise),
            }
        }

    def _friction_intervals(self) -> dict[str, dict[str, list[float] | None]]:
        """Intervals of Coulomb and viscous friction; None where the rows don't tell it."""
        fit, rows, n = self.empty.fit, self.empty.rows, len(self.joints)
        places = np.arange(10 * n, 12 * n)  # Fc of all joints, then Fv
        directions = np.concatenate([fit.basis[places], np.zeros((2 * n, 10))], axis=1).T
        errors = block_errors(rows, fit, directions)
        half = stdtrit(errors.freedom, 0.5 * (1.0 + CONFIDENCE)) * errors.deviation
        return self._named(Interval(fit.x[places] - half, fit.x[places] + half))

    def _named(self, found: Interval | None) -> dict[str, dict[str, list[float] | None]]:
        """Return ends by joint and kind, those that rows tell."""
        n = len(self.joints)
        ends: list[list[float] | None] = [None] * (2 * n)
        if found is not None:
            told = determined(self.empty.rows, self.empty.fit, np.arange(10 * n, 12 * n))
            for i in np.flatnonzero(told):
                ends[i] = [float(found.lower[i]), float(found.upper[i])]
        return {name: {'Fc': ends[j], 'Fv': ends[n + j]} for j, name in enumerate(self.joints)}


def determined(rows: DifferenceRows, fit: SharedFit, places: IntArray) -> AnyArray:
    """Whether the rows tell parameters of the arm apart from all others, (c,) bool.

    In columns of length 1 a parameter is told where no direction that was left out contains it.
    """
    size = np.sqrt(np.diag(information(rows, fit.spread))[places])
    share = size * np.linalg.norm(fit.basis[places], axis=1)
    told: AnyArray = (size > 0.0) & (share > TOLD)
    return told


def arm_evidence(model: RobotModel, recordings: Sequence[list[EvenLog]]) -> ArmEvidence:
    """Look at empty recordings alone, as `payload_difference` will beside a loaded one."""
    motion = motion_band([log for logs in recordings for log in logs])
    problem = DifferenceProblem(
        model=model, loaded=[], empty=list(recordings), frame=('', np.eye(10), 0.0),
        payload_mass=PRIOR[0], reach=1.0, gain_error=np.zeros(model.n), inertia_prior=1.0,
        confidence=0.95,
    )  # fmt: skip
    empty = empty_arm(problem, cutoff_of(motion))
    longest = max(log.seconds for logs in recordings for log in logs)
    blocks = spectral_blocks(empty.rows, min(LONGEST, longest / 3.0))
    promise = promise_of(blocks, empty.rows, empty.fit)
    held_out = held_out_residuals(empty.rows)
    return ArmEvidence(
        model.layout.joint_names, motion, empty, promise, held_out,
        _guaranteed_friction(blocks, empty, promise),
        link_rows(blocks, empty.rows, empty.fit, promise, factor_of(promise)),
        _drift(empty, held_out),
    )  # fmt: skip


def _guaranteed_friction(
    blocks: SpectralBlocks, empty: EmptyArm, promise: Promise
) -> Interval | None:
    """Bounds on Coulomb and viscous friction of all joints, wide where rows don't tell it."""
    n = empty.rows.tau.shape[1]
    places = np.arange(10 * n, 12 * n)
    told = determined(empty.rows, empty.fit, places)
    found = parameter_bounds(blocks, empty.rows, empty.fit, promise, places[told])
    if found is None:
        return None
    lower, upper = np.full(2 * n, -np.inf), np.full(2 * n, np.inf)
    lower[told], upper[told] = found.lower, found.upper
    return Interval(lower, upper)


def _drift(empty: EmptyArm, held_out: Array) -> Array | None:
    """Rms of a recording that the others predict, beyond that of fifths of them all."""
    rows = empty.rows
    numbers = np.unique(rows.recording)
    if len(numbers) < 2:
        return None
    errors = []
    for number in numbers:
        here = rows.recording == number
        fit = shared_fit(rows.part(~here), PRIOR)
        judged = rows.part(here)
        errors.append((judged.tau - judged.Y @ fit.x) * judged.counts)
    between = np.mean(np.concatenate(errors) ** 2, axis=0)
    inside = np.mean(held_out**2, axis=0)
    return np.asarray(np.sqrt(np.maximum(between - inside, 0.0)))
