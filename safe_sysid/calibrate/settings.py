"""Choices of a calibration: of an arm, of closed loops, of its geometry, of hand guiding."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from safe_sysid.config import (
    Count,
    Entries,
    NotNegative,
    OneOf,
    Positive,
    Range,
    Settings,
    Share,
    from_mapping,
    read_yaml,
)
from safe_sysid.share import share_directory

Delay = Annotated[float, Range(at_least=-0.2, at_most=0.2)]
Wrench = Annotated[tuple[NotNegative, ...], Entries(6, 6)]


@dataclass(frozen=True)
class CalibrationSettings(Settings):
    """Choices of a calibration; config/calibration.yaml explains each."""

    cutoff: Positive = 10.0  # [Hz] low-pass on both sides of the fit
    creep: Positive = 0.003  # [rad/s] below, a joint counts as standing; sliding, at a third
    outlier: Positive = 4.0  # residuals beyond so many standard deviations are left out
    prior_weight: NotNegative = 1.0  # pull towards the description, in units of noise
    held_out: Share = 0.4  # share of each recording that judges the fit; 0 for other recordings
    largest_uncertainty: Positive = 0.1  # of torque, share of the recorded one, before a refusal
    least_independence: Share = 0.01  # share of the motion off one line in joint space
    couplings: tuple[tuple[str, str], ...] = ()  # (a, b): the motor of joint b turns with a too
    stribeck_velocities: tuple[Positive, ...] = ()  # [rad/s] to try; none: no Stribeck friction
    period: Positive | None = None  # [s] of a periodic motion, for derivatives of its Fourier
    # series of that many harmonics
    harmonics: Count = 20  # of that series
    torque_delay: Delay = 0.0  # [s] by which torques come after positions, taken out for the fit
    largest_mass: Positive | None = None  # [kg] of any body
    capsule_margin: NotNegative | None = None  # [m] bodies lie in their capsules, widened by this


def calibration_settings(path: Path | None = None) -> CalibrationSettings:
    """Choices of a file, or of config/calibration.yaml."""
    path = path or share_directory() / 'config' / 'calibration.yaml'
    return from_mapping(CalibrationSettings, read_yaml(path), str(path))


@dataclass(frozen=True)
class ClosedChainSettings(Settings):
    """Choices of a fit with closed loops."""

    identified: Annotated[str, OneOf(('motors', 'joints', 'everything'))] = 'motors'  # whose
    # friction and rotor inertia are identified; everything: the bodies of the robot, too
    cutoff: Positive = 20.0  # [Hz] low-pass on both sides of the fit
    creep: Positive = 0.01  # [rad/s] below, a joint counts as standing
    outlier: Positive = 4.0  # residuals beyond so many standard deviations are left out
    prior_weight: NotNegative = 1.0  # pull of bodies towards the description, in units of noise


@dataclass(frozen=True)
class PoseNoise(Settings):
    """Standard deviations of a measurement, which weigh metres against radians."""

    position: Positive = 1e-4  # [m] standard deviation of a measured position
    rotation: Positive = 1e-3  # [rad] standard deviation of a measured orientation


@dataclass(frozen=True)
class AdmittanceSettings(Settings):
    """Hand guiding as in the published experiment: dead zone, and speed per force."""

    dead_zone: Wrench = (2.0, 2.0, 2.0, 0.1, 0.1, 0.1)  # three forces [N], three moments [N m]
    mobility: Wrench = (0.01, 0.01, 0.01, 0.1, 0.1, 0.1)  # [m/s per N], [rad/s per N m]
    damping: Positive = 0.2  # lambda
    standing: NotNegative = 0.01  # [rad/s] below, friction of a joint is undefined and left out
