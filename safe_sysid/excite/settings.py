"""Choices of the excitation design, config/excitation.yaml."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
from pathlib import Path

from safe_sysid.config import from_mapping, read_yaml
from safe_sysid.errors import ConfigError
from safe_sysid.model import friction
from safe_sysid.share import share_directory
from safe_sysid.trajectory.bspline import SplineBasis
from safe_sysid.trajectory.fourier import FourierBasis
from safe_sysid.trajectory.motion_basis import MotionBasis

BASES: dict[str, Callable[[float, int], MotionBasis]] = {
    'fourier': FourierBasis,
    'bspline': SplineBasis,
}


@dataclass(frozen=True)
class ExcitationSettings:
    """Every key of config/excitation.yaml, whose comments say what it means."""

    basis: str
    order: int
    duration: float  # [s]
    sample_rate: float  # [Hz]
    check_rate: float  # [Hz]
    command_rate: float  # [Hz]
    friction: tuple[str, ...]
    smooth: float  # [rad/s]
    torque_noise: tuple[float, ...]  # [N m]
    floor: float | None  # [m]
    clearance: float  # [m]
    extra_clearance: float  # [m]
    extra_torque: float
    poor_condition: float

    def __post_init__(self) -> None:
        if self.basis not in BASES:
            raise ConfigError(f"no basis '{self.basis}', there are {list(BASES)}")
        for kind in self.friction:
            if kind not in friction.LABELS:
                raise ConfigError(f"no friction '{kind}', there are {list(friction.LABELS)}")
        positive = ('duration', 'sample_rate', 'check_rate', 'command_rate', 'smooth')
        for name in (*positive, 'poor_condition'):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                raise ConfigError(f'{name} is {value}, it has to be more than 0')
        for name in ('clearance', 'extra_clearance', 'extra_torque'):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0.0):
                raise ConfigError(f'{name} is {value}, it has to be 0 or more')
        if self.extra_torque >= 1.0:
            raise ConfigError(f'extra_torque is {self.extra_torque}, it has to be less than 1')
        if any(not (math.isfinite(x) and x > 0.0) for x in self.torque_noise):
            raise ConfigError(f'torque_noise is {self.torque_noise}, all have to be more than 0')

    def motion_basis(self) -> MotionBasis:
        """Return the functions that motions are made of."""
        return BASES[self.basis](self.duration, self.order)


def read_settings(path: Path | None = None) -> ExcitationSettings:
    """Return settings from a YAML file; those that come with the package if none is given."""
    path = path or share_directory() / 'config' / 'excitation.yaml'
    return from_mapping(ExcitationSettings, read_yaml(path), str(path))
