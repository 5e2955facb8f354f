"""AssumedArm: what a simulated arm is taken to be where its file says nothing.

A simulator needs some armature, some error of drives and sensors, and some width of every figure,
and whoever plans for the simulated arm needs bounds that contain them. What a calibration would
find is assumed here, in the settings of a loop, and said at its start. Of an arm that is not
simulated none of it is: what its file leaves out is unknown there, and wide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.config import NotNegative, Positive, Settings, Share
from safe_sysid.errors import ConfigError
from safe_sysid.model.parameter_kinds import KINDS, LINK_KINDS
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.uncertainty import Uncertainty, Width


@dataclass(frozen=True)
class AssumedArmature(Settings):
    """Armature of every joint without one, and how well it is known."""

    ratio: Share  # share of it by which it may be more or less
    figure: Positive | None = None  # [kg m^2] of all joints alike
    figures: tuple[Positive, ...] = ()  # [kg m^2] one each, along the arm; in place of `figure`

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.figure is None) == (not self.figures):
            raise ConfigError(
                'assumed.armature: either `figure`, of all joints alike, or `figures`, one each'
            )

    def of(self, joints: int) -> Array:
        """Return the armature of every joint, (n,) [kg m^2]."""
        if self.figure is not None:
            return np.full(joints, self.figure)
        if len(self.figures) != joints:
            raise ConfigError(
                f'assumed.armature: figures has {len(self.figures)} entries, the arm has '
                f'{joints} joints'
            )
        return np.array(self.figures)


@dataclass(frozen=True)
class AssumedError(Settings):
    """Error of a torque: so much of it, and so much of the torque limit of its joint."""

    ratio: Share  # share of the torque
    of_limit: NotNegative  # share of the torque limit on top


@dataclass(frozen=True)
class AssumedSignals(Settings):
    """When commands act, and how wrong readings are."""

    bandwidth: NotNegative | None = None  # [s] of drives, as a time constant of first order
    delay: tuple[NotNegative, NotNegative] | None = None  # [s] of commands: least, largest
    jitter: NotNegative | None = None  # [s] of the delays of commands, either way
    encoder_step: Positive | None = None  # [rad] of joints without one
    stamp_error: NotNegative | None = None  # [s]
    zero_error: NotNegative | None = None  # [rad] of every joint
    gravity_tilt: NotNegative | None = None  # [rad]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delay is not None and self.delay[0] > self.delay[1]:
            raise ConfigError(
                f'assumed.signals: delay is {list(self.delay)}, it has to be [least, largest]'
            )


@dataclass(frozen=True, eq=False)
class AssumedModel:
    """An arm with all that is assumed of it, in words too."""

    model: RobotModel
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class AssumedArm(Settings):
    """What is assumed of a simulated arm, kind by kind; what its file states counts more."""

    armature: AssumedArmature | None = None  # of joints without one
    drives: AssumedError | None = None  # of what acts on a joint against its command
    torque: AssumedError | None = None  # of measured torques
    signals: AssumedSignals = field(default_factory=AssumedSignals)
    uncertainty: Uncertainty = field(default_factory=Uncertainty)  # widths of the other figures

    def of(self, model: RobotModel) -> AssumedModel:
        """Return an arm as its file has it, and what is assumed where that says nothing."""
        said: list[str] = []
        for assume in (
            self._with_armature,
            self._with_drives,
            self._with_torque,
            self._with_times,
            self._with_steps,
            self._with_readings,
            self._with_widths,
        ):
            model = assume(model, said)
        if not said:
            return AssumedModel(model, ())
        sentence = (
            f'assumed of the simulated {model.name}, as a calibration would leave it, where its '
            f'file says nothing (assumed): {"; ".join(said)}; nothing of this is assumed of a '
            'real arm'
        )
        return AssumedModel(model, (sentence,))

    def refuse_unordered(self, named: Sequence[str], along: Sequence[str]) -> None:
        """Refuse lists by joint if the file of the arm names joints in another order."""
        self.uncertainty.refuse_unordered('assumed.uncertainty.', named, along)
        figures = () if self.armature is None else self.armature.figures
        if tuple(named) != tuple(along) and len(set(figures)) > 1:
            raise ConfigError(
                f'assumed.armature: figures is {list(figures)}, one for each joint; the file of '
                f'the arm names them {", ".join(named)}, along the arm they are '
                f'{", ".join(along)}, so whose each entry is, is open'
            )

    def _with_armature(self, model: RobotModel, said: list[str]) -> RobotModel:
        place = model.layout.joint_entries('Ia')
        missing = model.theta[place] == 0.0
        if self.armature is None or not missing.any() or model.uncertainty.armature is not None:
            return model
        figures, share = self.armature.of(model.n), self.armature.ratio
        theta = model.theta.copy()
        theta[place] = np.where(missing, figures, theta[place])
        ranges = dict.fromkeys(_range(figure, share) for figure in figures[missing])
        said.append(f'the armature of {_joints(model, missing)} is {", ".join(ranges)} kg m^2')
        widths = replace(model.uncertainty, armature=Width((share,)))
        return replace(model.with_parameters(theta), uncertainty=widths)

    def _with_drives(self, model: RobotModel, said: list[str]) -> RobotModel:
        if self.drives is None or model.actuation.is_stated:
            return model
        ratio, absolute = _error(self.drives, model)
        said.append(f'what acts on a joint is {_within(self.drives, "its command")}')
        drives = replace(model.actuation, ratio=ratio, absolute=absolute, is_stated=True)
        return replace(model, actuation=drives)

    def _with_torque(self, model: RobotModel, said: list[str]) -> RobotModel:
        sensing = model.sensors.sensing
        if self.torque is None or sensing.torque.ratio is not None:
            return model
        if sensing.torque.sensor == 'command':  # as wrong as the drives
            return model
        ratio, absolute = (tuple(x.tolist()) for x in _error(self.torque, model))
        said.append(f'a measured torque is {_within(self.torque, "what acts")}')
        read = replace(sensing.torque, ratio=ratio, absolute=absolute)
        sensors = replace(model.sensors, sensing=replace(sensing, torque=read))
        return replace(model, sensors=sensors)

    def _with_times(self, model: RobotModel, said: list[str]) -> RobotModel:
        drives, slow, jitter = model.actuation, self.signals.bandwidth, self.signals.jitter
        if slow is not None and drives.silent:
            said.append(f'drives follow commands with a time constant of {1e3 * slow:g} ms')
            is_silent = [name in drives.silent for name in model.layout.joint_names]
            bandwidth = np.where(is_silent, slow, drives.bandwidth)
            drives = replace(drives, bandwidth=bandwidth, silent={})
        if self.signals.delay is not None and not drives.is_delay_stated:
            least, largest = self.signals.delay
            said.append(
                f'a torque begins to act {1e3 * least:g} to {1e3 * largest:g} ms after its sample'
            )
            drives = replace(
                drives, delay=(least, largest), delay_periods=(0.0, 0.0), is_delay_stated=True
            )
        if jitter is not None and np.isinf(drives.jitter) and drives.is_delay_open:
            said.append(f'delays of commands are within {1e3 * jitter:g} ms of a constant')
            drives = replace(drives, jitter=jitter)
        return model if drives is model.actuation else replace(model, actuation=drives)

    def _with_steps(self, model: RobotModel, said: list[str]) -> RobotModel:
        step, sensors = self.signals.encoder_step, model.sensors
        missing = sensors.encoder_resolution == 0.0
        if step is None or not missing.any() or sensors.sensing.position_error is not None:
            return model
        said.append(f'{_joints(model, missing)} is read in steps of {step:g} rad')
        steps = np.where(missing, step, sensors.encoder_resolution)
        return replace(model, sensors=replace(sensors, encoder_resolution=steps))

    def _with_readings(self, model: RobotModel, said: list[str]) -> RobotModel:
        signals, sensing = self.signals, model.sensors.sensing
        stamp, zero, tilt = signals.stamp_error, signals.zero_error, signals.gravity_tilt
        if stamp is not None and sensing.stamp_error is None:
            said.append(f'stamps are within {1e3 * stamp:g} ms of their samples')
            sensing = replace(sensing, stamp_error=stamp)
        if zero is not None and sensing.zero_error is None:
            said.append(f'joints that read 0 are within {zero:g} rad of it')
            sensing = replace(sensing, zero_error=(zero,))
        if tilt is not None and model.gravity_tilt is None:
            said.append(f'gravity is within {tilt:g} rad of its direction')
            model = replace(model, gravity_tilt=tilt)
        if sensing is model.sensors.sensing:
            return model
        return replace(model, sensors=replace(model.sensors, sensing=sensing))

    def _with_widths(self, model: RobotModel, said: list[str]) -> RobotModel:
        stated = model.uncertainty.stated()
        kinds = {k: w for k, w in self.uncertainty.stated().items() if k not in stated}
        for kind, width in kinds.items():
            said.append(f'{kind.replace("_", " ")} is within {_width(kind, width)} of its figure')
        return replace(model, uncertainty=replace(model.uncertainty, **kinds))


def _range(figure: float, share: float) -> str:
    return f'{(1.0 - share) * figure:g} to {(1.0 + share) * figure:g}'


def _error(error: AssumedError, model: RobotModel) -> tuple[Array, Array]:
    return np.full(model.n, error.ratio), error.of_limit * model.limits.torque


def _within(error: AssumedError, of: str) -> str:
    return f'within {100 * error.ratio:g} % of {of} and {100 * error.of_limit:g} % of its limit'


def _width(kind: str, width: Width) -> str:
    parts = []
    if any(width.shares):
        whose = ' of the size of its body' if kind in LINK_KINDS else ' of it'
        parts.append(f'{100 * max(width.shares):g} %{whose}')
    if any(width.on_top):
        least, most = min(width.on_top), max(width.on_top)
        figure = f'{most:g}' if least == most else f'{least:g} to {most:g}'
        parts.append(f'{figure} {KINDS[kind]}')
    return ' and '.join(parts) or '0'


def _joints(model: RobotModel, some: Array) -> str:
    names = [name for name, x in zip(model.layout.joint_names, some, strict=True) if x]
    return 'every joint' if some.all() else ', '.join(names)
