"""Calibration: recordings of one arm become parameters, with what they are worth."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.calibrate.consistency import Consistency, consistency_of, ellipsoids_of
from safe_sysid.calibrate.drive_knowledge import DRIVES, DriveKnowledge, drive_knowledge
from safe_sysid.calibrate.effort_check import EffortCheck, EffortError, effort_check
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.excitation_quality import (
    ExcitationQuality,
    arm_base_parameters,
    excitation_quality,
    usual_rows,
)
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.motion_noise import kept_of_motion
from safe_sysid.calibrate.reweighted_fit import ReweightedFit, base_solver, reweighted_fit
from safe_sysid.calibrate.sdp_fit import SdpFit, sdp_fit
from safe_sysid.calibrate.separability import silent_columns
from safe_sysid.calibrate.settings import CalibrationSettings
from safe_sysid.calibrate.torque_rows import (
    MOTION,
    SmoothedMotion,
    TorqueRows,
    joined,
    motion_of,
    periodic_motion_of,
    rows_of_motion,
)
from safe_sysid.calibrate.uncertainty import FitUncertainty, uncertainty_of
from safe_sysid.calibrate.validation import TorqueError, likeliness_of_noise, torque_error
from safe_sysid.errors import BoundError, ConfigError, MeasurementError
from safe_sysid.identifiability.base_parameters import BaseParameters, base_parameters
from safe_sysid.model.robot_model import RobotModel

PAYLOAD_ALONE = (
    'A payload alone needs no calibrated arm: record the same motion with it, and give '
    '`safe-sysid identify LOADED --empty` this one'
)
FAR = 4.0  # times what explains it, from which on an error of held-out torque is a caution


@dataclass(frozen=True, eq=False)
class Calibration:
    """Fitted parameters of an arm and everything that says how good they are."""

    settings: CalibrationSettings
    columns: FitColumns
    base: BaseParameters
    fit: ReweightedFit  # base parameters, no physical limits
    consistent: SdpFit  # bodies that can exist
    uncertainty: FitUncertainty
    effort: EffortCheck  # torques beside the description, before the fit
    quality: ExcitationQuality
    drives: DriveKnowledge
    training: TorqueError
    validation: TorqueError  # of the consistent parameters, on what was held out
    validation_base: TorqueError  # of the base parameters
    validation_nominal: TorqueError  # of the description the arm came with
    likeliness_of_noise: Array  # (n,) of the held-out residuals
    refused: str | None  # why these figures must not be used

    @property
    def x(self) -> Array:
        """Factors of all columns, physically consistent."""
        return self.consistent.x

    @property
    def theta(self) -> Array:
        """The part of them that a `RobotModel` knows, (14 n,)."""
        return self.consistent.x[: self.columns.layout.size]

    @property
    def known_theta(self) -> Array:
        """The same with 0, which is no figure, for friction and armature that nothing tells."""
        n = self.columns.layout.n
        theta: Array = self.theta.copy()
        theta[10 * n : (10 + DRIVES) * n][self.drives.unknown.ravel()] = 0.0
        return theta

    @property
    def expected(self) -> Array:
        """Error of held-out torque that noise and uncertain parameters explain, (n,) [N m] rms."""
        explained: Array = np.hypot(self.fit.sigma, self.quality.deviation)
        return explained

    def cautions(self) -> tuple[str, ...]:
        """Return what speaks against these figures without forbidding them."""
        said = (*self.effort.cautions(), *self.drives.cautions())
        far = np.flatnonzero(self.validation.rms > FAR * self.expected)
        if not far.size:
            return said
        names, held = self.columns.layout.joint_names, self.validation
        of = ['N' if slides else 'N m' for slides in self.drives.slides]
        each = ', '.join(
            f'{names[j]} {held.rms[j]:.3g} {of[j]} ({100 * held.relative_by_joint[j]:.0f} % of '
            f'its torque; noise and uncertainty of the fit explain {self.expected[j]:.3g} '
            f'{of[j]}, {self.validation_base.rms[j]:.3g} {of[j]} without physical limits)'
            for j in far
        )
        sentence = (
            f'held-out torque is off by more than {FAR:g} times what the fit explains, {each}. '
            'Where it is well off without physical limits too, the model lacks something or the '
            'arm changed; where it is not, no bodies and friction that can exist make such '
            'torques: look at sign, scale and order of the effort signal and at the joint axes'
        )
        return (*said, sentence)


def calibrate(
    model: RobotModel,
    training: list[EvenLog],
    validation: list[EvenLog],
    settings: CalibrationSettings,
) -> Calibration:
    """Fit one set of logs, judge on another; without another, on the end of each.

    Torques of a wrong sign or order end it as `EffortError`, before the fit.
    """
    training, validation = (
        [log.in_time(settings.torque_delay) for log in logs] for logs in (training, validation)
    )
    if not validation:
        if settings.held_out == 0.0:
            raise MeasurementError('nothing is held out and there is no other recording to judge')
        share = 1.0 - settings.held_out
        validation = [log.part(share, 1.0) for log in training]
        training = [log.part(0.0, share) for log in training]
    columns = _best_columns(model, training, settings)
    rng = np.random.default_rng(0)
    usual = usual_rows(model, columns, rng)
    base = base_parameters(usual.reshape(-1, columns.size))
    motions = [_motion(log, settings) for log in training]
    rows = joined([rows_of_motion(model, columns, motion, settings.cutoff) for motion in motions])
    rows = replace(rows, Y=np.where(silent_columns(rows.Y, usual), 0.0, rows.Y))
    held = _rows(model, columns, validation, settings)
    effort = effort_check(model, columns, [rows, held])
    fit = reweighted_fit(rows.Y, rows.tau, base_solver(base), base.count, settings.outlier)
    uncertainty = uncertainty_of(base, rows, rows.tau - rows.Y @ fit.x, fit.kept)
    quality = excitation_quality(model, columns, motions, (uncertainty, fit.data.R), rng)
    refused = refusal(model, quality, settings)
    try:
        consistent = sdp_fit(fit.data, consistency(model, columns, settings))
    except BoundError as error:  # an arm that stood leaves no program to solve
        raise EffortError(refused, effort) if refused is not None else error from error
    nominal = columns.nominal(model.theta)
    drives = drive_knowledge(
        model, columns, (consistent.x, uncertainty), [motion.qd for motion in motions]
    )
    return Calibration(
        settings=settings,
        columns=columns,
        base=base,
        fit=fit,
        consistent=consistent,
        uncertainty=uncertainty,
        effort=effort,
        quality=quality,
        drives=drives,
        training=torque_error(rows, consistent.x),
        validation=torque_error(held, consistent.x),
        validation_base=torque_error(held, fit.x),
        validation_nominal=torque_error(held, nominal),
        likeliness_of_noise=likeliness_of_noise(held, held.tau - held.Y @ consistent.x),
        refused=refused,
    )


def consistency(
    model: RobotModel, columns: FitColumns, settings: CalibrationSettings
) -> Consistency:
    """Physical limits of the fit."""
    limits = consistency_of(model, columns, settings.prior_weight)
    if settings.largest_mass is not None:
        limits = replace(limits, largest_mass=np.full(model.n, settings.largest_mass))
    if settings.capsule_margin is not None:
        limits = replace(limits, within=ellipsoids_of(model, settings.capsule_margin))
    return limits


def refusal(
    model: RobotModel, quality: ExcitationQuality, settings: CalibrationSettings
) -> str | None:
    """Why a recording can not calibrate the arm, if so."""
    if model.n > 1 and quality.alone < settings.least_independence:
        return (
            f'poorly excited: {100 * (1.0 - quality.alone):.2f} % of the motion is along one '
            f'line in joint space (all joints in phase, or one moves alone), at most '
            f'{100 * (1.0 - settings.least_independence):.2f} % is allowed; such a recording is '
            'fitted well and predicts badly. Record a motion with different frequencies on '
            f'every joint. {PAYLOAD_ALONE}'
        )
    if quality.relative > settings.largest_uncertainty:
        worst = model.layout.joint_names[int(np.argmax(quality.deviation))]
        return (
            f'poorly excited: torques of other motions in the same range are uncertain by '
            f'{100 * quality.relative:.1f} % of the recorded torque, most at {worst} '
            f'({quality.deviation.max():.3g} N m); at most '
            f'{100 * settings.largest_uncertainty:.1f} % is allowed. Record a longer motion, or '
            f'one with more speed and range. {PAYLOAD_ALONE}'
        )
    return None


def fit_columns(model: RobotModel, settings: CalibrationSettings) -> FitColumns:
    """Columns of a fit without Stribeck friction."""
    names = model.layout.joint_names
    for pair in settings.couplings:
        for name in pair:
            if name not in names:
                raise ConfigError(f"coupling {list(pair)}: no joint '{name}' among {list(names)}")
    couplings = tuple((names.index(a), names.index(b)) for a, b in settings.couplings)
    return FitColumns(model.layout, settings.creep, couplings)


def _motion(log: EvenLog, settings: CalibrationSettings) -> SmoothedMotion:
    if settings.period is not None:
        return periodic_motion_of(log, settings.period, settings.harmonics)
    return motion_of(log, kept_of_motion(log, MOTION * settings.cutoff))


def _rows(
    model: RobotModel, columns: FitColumns, logs: list[EvenLog], settings: CalibrationSettings
) -> TorqueRows:
    return joined(
        [rows_of_motion(model, columns, _motion(log, settings), settings.cutoff) for log in logs]
    )


def _best_columns(
    model: RobotModel, logs: list[EvenLog], settings: CalibrationSettings
) -> FitColumns:
    """Columns with the Stribeck velocity that leaves the smallest residual, or without any."""
    plain = fit_columns(model, settings)
    tried = []
    for velocity in settings.stribeck_velocities:
        columns = replace(plain, stribeck_velocity=velocity)
        base = arm_base_parameters(model, columns, np.random.default_rng(0))
        rows = _rows(model, columns, logs, settings)
        fit = reweighted_fit(rows.Y, rows.tau, base_solver(base), base.count, np.inf)
        tried.append((float(np.sum(np.log(fit.sigma))), columns))
    return min(tried, key=lambda one: one[0])[1] if tried else plain
