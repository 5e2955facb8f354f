"""Choices of the excitation design: its aim, the effort of a search, config/excitation.yaml."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from safe_sysid.config import (
    Count,
    Finite,
    Natural,
    NotNegative,
    OneOf,
    Positive,
    Range,
    Settings,
    Share,
    from_mapping,
    read_yaml,
)
from safe_sysid.errors import ConfigError
from safe_sysid.model.own_cost import OwnCostSettings
from safe_sysid.share import share_directory
from safe_sysid.versions import cpu_count

if TYPE_CHECKING:
    from safe_sysid.model.arm import Arm

FEWEST = 2  # samples and poses of a motion
SAMPLES = 20_000  # that a search keeps in memory with its regressors, and poses
POINTS = 1_000_000  # that are written
Basis = Annotated[str, OneOf(('fourier', 'bspline'))]
Friction = Annotated[str, OneOf(('Fc', 'Fv', 'Ia', 'beta'))]
Duration = Annotated[float, Range(at_least=0.01, at_most=600.0)]
Rate = Annotated[float, Range(above=0.0, at_most=1e4)]
Order = Annotated[int, Range(at_least=1, at_most=200)]
Smooth = Annotated[float, Range(at_least=1e-6, at_most=100.0)]
Noise = Annotated[float, Range(at_least=1e-6, at_most=1e6)]
CriterionName = Annotated[str, OneOf(('kappa', 'rho', 'D', 'A', 'E', 'r_c', 'kappa-direct'))]


@dataclass(frozen=True)
class ExcitationAim(Settings):
    """What a motion has to be good for."""

    criterion: CriterionName = 'kappa'  # kappa: condition number; rho: its smooth bound; D, A, E:
    # volume, sum and largest axis of the confidence ellipsoid; r_c, kappa-direct: for comparison
    payload_only: bool = False  # judge by the ten parameters of the last body alone


@dataclass(frozen=True)
class Effort(Settings):
    """How much is tried: it ends with whatever is used up first."""

    seconds: Positive = 20.0  # [s] of search
    starts: Count | None = None  # after which the search ends; the result is then the same on
    # every machine, if the seconds suffice; none: as many as there is time for
    processes: Count = field(default_factory=cpu_count)  # that search at a time; usually one for
    # each core
    seed: Natural = 1  # of the random starts
    cpu_seconds: float = math.inf  # [s] of the busiest process,
    # whatever else the machine does


@dataclass(frozen=True)
class ExcitationSettings(Settings):
    """Every key of config/excitation.yaml, whose comments say what it means."""

    basis: Basis
    order: Order
    duration: Duration  # [s]
    sample_rate: Rate  # [Hz]
    check_rate: Rate  # [Hz]
    command_rate: Rate  # [Hz]
    friction: tuple[Friction, ...]
    smooth: Smooth  # [rad/s]
    torque_noise: tuple[Noise, ...]  # [N m]
    floor: Finite | None  # [m]
    clearance: NotNegative  # [m]
    extra_clearance: NotNegative  # [m]
    extra_torque: Share
    poor_condition: Positive
    payload: str = ''  # what the arm holds: a name, or a file beside this one; empty: nothing
    own_cost: OwnCostSettings = field(default_factory=OwnCostSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        for what, rate, most in (
            ('sample_rate', self.sample_rate, SAMPLES),
            ('check_rate', self.check_rate, SAMPLES),
            ('command_rate', self.command_rate, POINTS),
        ):
            number = round(self.duration * rate)
            if not FEWEST <= number <= most:
                raise ConfigError(
                    f'duration is {self.duration:g} s and {what} is {rate:g} Hz, which makes '
                    f'{number} samples; {FEWEST} to {most} are needed'
                )


def settings_of(arm: Arm) -> ExcitationSettings:
    """Return what stands in ARM_excitation.yaml beside the URDF, or comes with the package."""
    beside = arm.urdf.with_name(f'{arm.model.name}_excitation.yaml')
    return read_settings(beside if beside.is_file() else None)


def read_settings(path: Path | None = None) -> ExcitationSettings:
    """Return settings from a YAML file; those that come with the package if none is given."""
    path = path or share_directory() / 'config' / 'excitation.yaml'
    found = from_mapping(ExcitationSettings, read_yaml(path), str(path))
    is_file = Path(found.payload).suffix in ('.yaml', '.yml')
    return replace(found, payload=str(path.parent / found.payload)) if is_file else found
