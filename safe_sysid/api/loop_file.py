"""LoopFile: the settings of a loop (config/loop/<arm>.yaml) as the API needs them, without ROS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from safe_sysid.api.arguments import finite_numbers, path_from, payload_from
from safe_sysid.api.loop_blocks import read_blocks
from safe_sysid.api.loop_world import LoopWorld
from safe_sysid.arrays import Array
from safe_sysid.config import from_mapping, nested
from safe_sysid.errors import ConfigError
from safe_sysid.identify.online_identifier import IdentifierSettings
from safe_sysid.input_file import is_file, is_folder
from safe_sysid.loop_settings import LoopPriorSettings, LoopSettings, agreed_settings
from safe_sysid.model.arm import Arm
from safe_sysid.model.assumed_arm import AssumedModel
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.held_body import refuse_beyond
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.payload import Payload
from safe_sysid.model.promised_friction import promised_friction
from safe_sysid.model.promised_links import CalibratedArm, promised_links
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.parameter_files import by_full_name
from safe_sysid.plan.mission import MissionSettings
from safe_sysid.plan.receding_horizon import PlannerSettings
from safe_sysid.sets.interval import Interval
from safe_sysid.share import share_directory
from safe_sysid.simulate.sensors import SensorSettings
from safe_sysid.track.described_sampling import DescribedSampling
from safe_sysid.track.gains import Gains
from safe_sysid.track.seen_law import Sampling

SIMULATOR = 'builtin_sim_bridge'
NEARLY = 1e-6  # [m, rad] to which links of the same arm are alike
NODES = ('planner', 'identifier', 'controller', 'supervisor', SIMULATOR)


@dataclass(frozen=True)
class SimulatorSettings:
    """Where a simulated arm starts, and what its sensors do."""

    start: tuple[float, ...] = ()  # [rad]; empty: all joints at 0
    period: float = 0.001  # [s] between two samples
    sensors: SensorSettings = field(default_factory=SensorSettings)


@dataclass(frozen=True, eq=False)
class LoopFile:
    """What a loop knows about its arm, and how it plans, identifies and controls."""

    model: RobotModel  # with the shape of what the arm may hold
    prior: ParameterEstimate
    gains: Gains
    seen: DescribedSampling  # how certificates take the arm to be seen and moved
    planner: PlannerSettings
    mission: MissionSettings
    identifier: IdentifierSettings
    simulator: SimulatorSettings
    assumed: AssumedModel  # the bare arm; of one that is not simulated nothing is assumed
    path: Path  # of the file
    world: LoopWorld
    calibrated: CalibratedArm | None = None  # what a calibration knows of its links
    promised: tuple[str, ...] = ()  # what is taken of a calibration, and what that rests on
    prior_is_wrong: bool = False  # on purpose: what a simulated arm holds may be beyond it

    @property
    def sampling(self) -> Sampling | None:
        """Sampling of certificates; None: exact."""
        return self.seen.sampling

    @property
    def sentences(self) -> tuple[str, ...]:
        """What its certificates and bounds assume of the arm."""
        return (*self.seen.sentences, *self.assumed.sentences, *self.promised)

    def position(self, given: Sequence[float] | Array | None) -> Array:
        """Return joint positions (n,) [rad]: those given, or where the simulators start."""
        start = self.simulator.start if given is None else given
        if given is None and not len(start):
            return np.zeros(self.model.n)
        return finite_numbers('start', start, self.model.n)

    def refuse_held(self, payload: Payload | None) -> None:
        """Refuse what a simulated arm holds, or nothing, if the prior excludes it."""
        bare = self.assumed.model
        hand = bare.theta[bare.layout.end_effector]
        name = 'an empty hand' if payload is None else f'payload {payload.name}'
        if not self.prior_is_wrong:
            own, prior = Interval(hand, hand), self.prior.end_effector_bounds
            refuse_beyond(prior, own, bare, {name: payload})

    def obstacles(self) -> Obstacles:
        """Return what the planner of a run avoids: world and walls of the region of the file."""
        return Obstacles.of(self.world.boxes(self.model, self.path))

    def goal(self, given: Sequence[float] | Array | None) -> Array | None:
        """Return joint positions (n,) [rad] of a goal, if there is one."""
        return None if given is None else finite_numbers('goal', given, self.model.n)


class Load(Enum):
    """What an arm is known to hold, where that is no payload."""

    NOTHING = 'nothing'


def read_loop(
    arm: Arm,
    loop: str | PathLike[str] | None = None,
    payload: Payload | str | PathLike[str] | Load | None = None,
) -> LoopFile:
    """Read a loop file; without one, that of the package for this arm.

    A `payload` that is given is known: the prior is then the arm with it, or the bare one with
    `Load.NOTHING`, within the share that the file states for links.
    """
    return _loop_of(_sections_of(arm, loop), arm, payload)


def read_simulated_loop(arm: Arm, loop: str | PathLike[str] | None = None) -> LoopFile:
    """Read the same for a simulated arm, of which its loop file may assume something."""
    found = _sections_of(arm, loop)
    simulated = replace(found, common=replace(found.common, simulated=True))
    return _loop_of(simulated, arm, None)


@dataclass(frozen=True, eq=False)
class _Sections:
    """What a loop file says to nodes without a namespace, and to all of them."""

    path: Path
    nodes: dict[str, dict[str, Any]]
    common: LoopSettings


def _sections_of(arm: Arm, loop: str | PathLike[str] | None) -> _Sections:
    name = arm.model.name
    path = (
        share_directory() / 'config' / 'loop' / f'{name}.yaml' if loop is None else path_from(loop)
    )
    if is_folder(path):
        raise ConfigError(f'{path}: is a folder, and has to be a loop file')
    if not is_file(path):
        raise ConfigError(
            f'there is no loop file {path} for the arm {name}; give loop=FILE (prior of what it '
            'may hold, gains), see docs/robots.md'
        )
    blocks = read_blocks(path)
    everybody = {'robot': name, **by_full_name(blocks.everybody)}
    said = {node: {**everybody, **by_full_name(blocks.nodes[node])} for node in NODES}
    common = agreed_settings(said, f'{path}: node')
    _refuse_another(arm, common, path)
    return _Sections(path, {node: nested(own) for node, own in said.items()}, common)


def _refuse_another(arm: Arm, common: LoopSettings, path: Path) -> None:
    """Refuse a loop of an arm of another name, unless its joints are those of this one."""
    model = arm.model
    if Path(common.robot).name in (model.name, *(f'{model.name}{x}' for x in ('.yaml', '.yml'))):
        return
    other = common.bare()
    same = model.layout.joint_names == other.layout.joint_names and all(
        np.allclose(mine, its, rtol=0.0, atol=NEARLY)
        for mine, its in zip(model.tree[1:4], other.tree[1:4], strict=True)
    )
    if not same:
        raise ConfigError(
            f'{path} is the loop of {common.robot}, whose joints are not those of {model.name}; '
            'give loop=FILE of this arm, or mend `robot` there'
        )


def _loop_of(
    found: _Sections, arm: Arm, payload: Payload | str | PathLike[str] | Load | None
) -> LoopFile:
    path, nodes, common = found.path, found.nodes, found.common
    common.refuse_unordered(tuple(arm.facts.joints), arm.model)
    shape = _shape(common, path) if payload is None else _given_shape(payload)
    promised = promised_friction(arm, common.promise)
    bare = arm.model if promised is None else promised.of(arm.model)
    assumed = common.assumed_of(bare)
    model = assumed.model if shape is None else assumed.model.with_payload(shape)
    links, known = promised_links(arm, common.promise), common.prior.known(assumed.model)
    hand = known.bounds(assumed.model)[assumed.model.layout.end_effector]
    if payload is None:
        common.refuse_beyond_prior(assumed.model, hand)
        model = common.holding_library(model)
    planner, identifier = nodes['planner'], nodes['identifier']
    return LoopFile(
        model,
        _prior(common.prior, model, payload is not None),
        common.gains.gains(model),
        common.seen(model),
        from_mapping(PlannerSettings, planner.get('planner', {}), f'{path}, planner'),
        from_mapping(MissionSettings, planner.get('mission', {}), f'{path}, mission'),
        from_mapping(IdentifierSettings, identifier.get('identifier', {}), f'{path}, identifier'),
        _simulator({**nodes[SIMULATOR], 'period': common.period}, str(path)),
        assumed,
        path,
        LoopWorld.of(planner, path),
        None if links is None else links.with_hand(hand),
        tuple(x.sentence for x in (promised, links) if x is not None),
        common.prior.is_wrong,
    )


def _given_shape(payload: Payload | str | PathLike[str] | Load) -> Payload | None:
    if isinstance(payload, Load) or (isinstance(payload, str) and payload == ''):
        return None
    return payload_from(payload)


def _shape(common: LoopSettings, path: Path) -> Payload | None:
    """Payload that the loop file names, for its shape."""
    try:
        return _given_shape(common.payload)
    except ConfigError as error:
        beside = '' if Path(common.payload).is_absolute() else '; nor is such a file beside it'
        raise ConfigError(f'{path}: payload: {error}{beside}') from error


def _prior(settings: LoopPriorSettings, model: RobotModel, is_known: bool) -> ParameterEstimate:
    """Return what is known of theta: of a known load, its figures in place of the prior's."""
    if not is_known:
        return settings.estimate(model)
    place = model.layout.end_effector
    nominal = model.theta[place]
    radius = settings.ratio * np.abs(nominal)
    return replace(
        settings,
        lower=tuple((nominal - radius).tolist()),
        nominal=tuple(nominal.tolist()),
        upper=tuple((nominal + radius).tolist()),
    ).estimate(model)


def _simulator(values: dict[str, Any], source: str) -> SimulatorSettings:
    chosen: dict[str, Any] = {
        key: values[key] for key in ('start', 'period', 'sensors') if key in values
    }
    return from_mapping(SimulatorSettings, chosen, f'{source}, {SIMULATOR}')
