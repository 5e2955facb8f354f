"""LoopSettings: what all nodes of the loop have to agree on, and the arm that follows from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from safe_sysid.config import (
    Entries,
    Finite,
    NotNegative,
    OneOf,
    Positive,
    Range,
    Settings,
    Share,
    from_mapping,
    nested,
)
from safe_sysid.errors import ConfigError
from safe_sysid.model.arm_knowledge import ArmKnowledge
from safe_sysid.model.assumed_arm import AssumedArm, AssumedModel
from safe_sysid.model.facts import read_facts, settings_of_robot
from safe_sysid.model.grasp import GraspError, holding_any
from safe_sysid.model.held_body import refuse_beyond
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.payload import Payload, read_payload
from safe_sysid.model.possible_body import why_no_body
from safe_sysid.model.promised_friction import PromisedFriction, friction_of_loop
from safe_sysid.model.promised_links import CalibratedArm, links_of_loop
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.uncertainty import Uncertainty
from safe_sysid.parameter_files import by_full_name
from safe_sysid.sets.interval import Interval
from safe_sysid.track.described_sampling import DescribedSampling, described_sampling
from safe_sysid.track.gains import Gains
from safe_sysid.track.seen_law import Sampling

Timing = Annotated[str, OneOf(('real_time', 'lockstep'))]
Seen = Annotated[str, OneOf(('ideal', 'described'))]
Promised = Annotated[str, OneOf(('guaranteed', 'statistical', 'none'))]
Body = Annotated[tuple[Finite, ...], Entries(10, 10)]  # numbers that describe a body
Period = Annotated[
    float, Range(at_least=1e-9, less_than=10.0)
]  # [s]; stamps are whole nanoseconds


@dataclass(frozen=True)
class LoopPriorSettings(Settings):
    """What is known of theta before anything was measured; order of theta_e as in notation.md."""

    lower: Body  # of theta_e with everything the arm may hold
    nominal: Body  # theta_e to begin with
    upper: Body  # of theta_e
    ratio: Share = 0.05  # theta_r is within this share of its figures; of links: of their size
    uncertainty: Uncertainty = field(default_factory=Uncertainty)  # widths; instead of the arm's
    is_wrong: bool = False  # of simulators: what they hold may be beyond it, to see what that does

    def __post_init__(self) -> None:
        super().__post_init__()
        rows = zip(self.lower, self.nominal, self.upper, strict=True)
        for i, (lower, nominal, upper) in enumerate(rows):
            if not lower <= nominal <= upper:
                raise ConfigError(
                    f'entry {i} of theta_e: nominal {nominal} is outside [{lower}, {upper}]'
                )
        reason = why_no_body(self.bounds)
        if reason:
            raise ConfigError(f'no body has theta_e from lower to upper: {reason}')

    @property
    def bounds(self) -> Interval:
        """Bounds on theta_e."""
        return Interval(np.array(self.lower), np.array(self.upper))

    def estimate(self, model: RobotModel) -> ParameterEstimate:
        """Return the same for all of theta."""
        bounds, theta = self.known(model).bounds(model), model.theta.copy()
        lower, upper, place = bounds.lower.copy(), bounds.upper.copy(), model.layout.end_effector
        lower[place], theta[place], upper[place] = self.lower, self.nominal, self.upper
        return ParameterEstimate(model.layout, theta, Interval(lower, upper))

    def known(self, model: RobotModel) -> ArmKnowledge:
        """Return what is known of theta_r, from here or the arm's file; the rest is wide."""
        stated = self.uncertainty.over(model.uncertainty)
        return ArmKnowledge(self.ratio, 0.0, self.ratio, stated)


@dataclass(frozen=True)
class GainSettings(Settings):
    """Gains of the robust controller; plans are certified for the same ones."""

    K_r: tuple[Positive, ...] = (5.0,)  # [1/s] rate at which a position error decays
    V_M: Positive = 0.02  # [J] energy of the error that plans count on
    alpha: Positive = 25.0  # [1/s] how early the robust input sets in below V_M
    coulomb_speed: Positive = 0.05  # [rad/s] desired speed at which friction is compensated
    sign_speed: NotNegative = 0.0  # [rad/s] up to this measured one it may point either way

    def gains(self, model: RobotModel) -> Gains:
        """Gains for an arm whose actuators err, and rub under load, as it says.

        One K_r counts for all joints.
        """
        n = model.n
        if len(self.K_r) not in (1, n):
            raise ConfigError(f'gains: K_r has {len(self.K_r)} entries; 1 or {n} are allowed')
        drives = model.actuation
        ratio, absolute = model.friction.with_load(drives.ratio, drives.absolute)
        return Gains(
            np.full(n, self.K_r),
            self.V_M,
            self.alpha,
            self.coulomb_speed,
            self.sign_speed,
            absolute,
            ratio,
        )


@dataclass(frozen=True, eq=False)
class LoopArm:
    """An arm as the loop knows it."""

    model: RobotModel
    prior: ParameterEstimate
    gains: Gains
    sampling: Sampling | None = None  # how it is seen; None: exactly, and torques act at once
    sentences: tuple[str, ...] = ()  # what is assumed of that, and not stated
    calibrated: CalibratedArm | None = None  # what a calibration knows of its links


IDEAL = (
    'certificates take positions and velocities as exact and torques as acting at once, whatever '
    'the settings of the arm say (sampling: ideal)'
)


@dataclass(frozen=True)
class LoopSettings(Settings):
    """Parameters that every node has, besides its own."""

    robot: str  # an arm of config/robots, or a YAML file, beside the loop file first
    prior: LoopPriorSettings
    period: Period = 0.001  # [s] between two samples
    gains: GainSettings = field(default_factory=GainSettings)
    payload: str = ''  # what the arm may hold, for its shape: of config/payloads, or a YAML file
    library: tuple[str, ...] = ()  # payloads that may be held after a change, or none of them;
    # their shapes count too; empty: anything that the prior allows for
    grasp: GraspError = field(default_factory=GraspError)  # how far from their place in the files
    timing: Timing = 'real_time'  # in lockstep every sample waits for all answers to it
    sampling: Seen = 'ideal'  # described: positions in steps, late torques, as the arm's file says
    promise: Promised = 'guaranteed'  # of calibrate: friction without a width, rows of links
    simulated: bool = False  # whether the arm is a simulator's; only then anything is `assumed`
    assumed: AssumedArm = field(default_factory=AssumedArm)  # where the arm's file says nothing

    @property
    def is_lockstep(self) -> bool:
        """Whether simulated time stands still until every node has answered."""
        return self.timing == 'lockstep'

    def arm(self) -> LoopArm:
        """Return the arm with the shape of its payload, whose inertia the loop is not told.

        Who knows the payload is the simulator: the prior replaces all that is said about theta_e.
        """
        promised = self._promised()
        described = self._described(promised)
        named = tuple(read_facts(settings_of_robot(self.robot)).joints)
        self.refuse_unordered(named, described.model)
        empty, hand = self.with_empty_hand()
        self.refuse_beyond_prior(empty, hand)
        model = self.holding_library(described.model)
        known = model, self.prior.estimate(model), self.gains.gains(model)
        links = links_of_loop(self.robot, self.promise)
        calibrated = None if links is None else links.with_hand(hand)
        said = (x.sentence for x in (promised, links) if x is not None)
        more = (*described.sentences, *said)
        seen = self.seen(model)
        return LoopArm(*known, seen.sampling, (*seen.sentences, *more), calibrated)

    def seen(self, model: RobotModel) -> DescribedSampling:
        """Return how certificates take an arm to be seen and moved, and what that assumes."""
        if self.sampling == 'ideal':
            return DescribedSampling(None, (*model.actuation.assumed, IDEAL))
        return described_sampling(model, self.period)

    def with_all_shapes(self) -> RobotModel:
        """Return the arm with the shapes of all that it may hold, as certificates have it."""
        return self.holding_library(self.described())

    def holding_library(self, model: RobotModel) -> RobotModel:
        """Return an arm with the shapes of all that it may hold after a change."""
        return holding_any(model, self.payloads(), self.grasp)

    def payloads(self) -> list[Payload]:
        """Return what may be held after a change, if that is known."""
        return [read_payload(name) for name in self.library]

    @property
    def lightest(self) -> float:
        """Least mass of what may be held after a change [kg]; 0 where nobody knows."""
        masses = [each.mass for each in self.payloads()]
        return min(masses, default=0.0) * (1.0 - self.grasp.weight)

    def refuse_beyond_prior(self, empty: RobotModel, hand: Interval) -> None:
        """Refuse what may be held and the prior excludes, of a hand within these bounds."""
        if self.prior.is_wrong and self.simulated:
            return
        if self.prior.is_wrong:
            raise ConfigError('prior.is_wrong is true, which only a simulated arm may be told')
        held: dict[str, Payload | None] = {}
        if self.payload:
            held[f'payload {self.payload}'] = read_payload(self.payload)
        for name, payload in zip(self.library, self.payloads(), strict=True):
            held[f'{name} of library'] = payload
        if self.library:
            held['nothing, as after a change with a library,'] = None
        refuse_beyond(self.prior.bounds, hand, empty, held)

    def refuse_unordered(self, named: Sequence[str], model: RobotModel) -> None:
        """Refuse lists of widths by joint if the file of the arm names joints in another order."""
        along = model.layout.joint_names
        self.prior.uncertainty.refuse_unordered('prior.uncertainty.', named, along)
        self.assumed.refuse_unordered(named, along)

    @property
    def has_shape(self) -> bool:
        """Whether certificates know of a shape that the arm may hold."""
        return bool(self.payload or self.library)

    @property
    def held_shapes(self) -> tuple[str, ...]:
        """Names of the capsules of all that may be held; none where nobody has stated a shape."""
        stated = [read_payload(self.payload)] if self.payload else []
        every = (*stated, *self.payloads())
        return tuple(f'{each.name}.{shape}' for each in every for shape in each.shapes)

    def with_empty_hand(self) -> tuple[RobotModel, Interval]:
        """Return the arm without a payload, and bounds on theta_e of its hand."""
        empty = replace(self, payload='').described()
        bounds = self.prior.known(empty).bounds(empty)
        return empty, bounds[empty.layout.end_effector]

    def bare(self) -> RobotModel:
        """Return the arm as its own file has it."""
        path = Path(self.robot)
        is_file = path.suffix in ('.yaml', '.yml')
        return RobotModel.from_config(path) if is_file else RobotModel.named(self.robot)

    def described(self) -> RobotModel:
        """Return the arm as its files describe it, payload included."""
        return self._described(self._promised()).model

    def _described(self, promised: PromisedFriction | None) -> AssumedModel:
        model = self.bare()
        model = model if promised is None else promised.of(model)
        known = self.assumed_of(model)
        if not self.payload:
            return known
        return replace(known, model=known.model.with_payload(read_payload(self.payload)))

    def assumed_of(self, model: RobotModel) -> AssumedModel:
        """Return an arm with what is assumed of it: nothing unless it is simulated."""
        return self.assumed.of(model) if self.simulated else AssumedModel(model, ())

    def _promised(self) -> PromisedFriction | None:
        return friction_of_loop(self.robot, self.promise)


COMMON = tuple(each.name for each in fields(LoopSettings))


def agreed_settings(
    by_node: Mapping[str, Mapping[str, object]], source: str = 'parameters of node'
) -> LoopSettings:
    """Return what the parameters of nodes say of the settings that every node has.

    Refuse what is not the same for all of them.
    """
    said = {node: _common(parameters) for node, parameters in by_node.items()}
    first = next(iter(said))
    if all(told == said[first] for told in said.values()):  # in words; no need to read each
        said = {first: said[first]}
    read = {
        node: from_mapping(LoopSettings, nested(told), f"{source} '{node}'")
        for node, told in said.items()
    }
    _check_agreement(read)
    return read[first]


def _common(parameters: Mapping[str, object]) -> dict[str, Any]:
    """Parameters of a node that every node has, by name."""
    values = by_full_name(parameters)
    return {name: values[name] for name in values if name.partition('.')[0] in COMMON}


def _check_agreement(by_node: Mapping[str, LoopSettings]) -> None:
    """Refuse settings that are not the same for all nodes, and say how to say them to all."""
    values = {node: by_full_name(asdict(settings)) for node, settings in by_node.items()}
    for name in dict.fromkeys(name for own in values.values() for name in own):
        told = {node: own.get(name) for node, own in values.items()}
        ((usual, _),) = Counter(told.values()).most_common(1)
        for odd, value in told.items():
            if value != usual:
                other = next(node for node in told if told[node] == usual)
                raise ConfigError(
                    f'{name} is {_shown(value)} for the {odd} and {_shown(usual)} for the '
                    f'{other}, and all nodes have to agree on it: -p {name}:=VALUE, without a '
                    "node, is for all of them, and so is the block '/**' of a settings file"
                )


def _shown(value: Any) -> str:
    if value is None:
        return 'not stated'
    return repr(list(value) if isinstance(value, tuple) else value)


@dataclass(frozen=True)
class ManagedSettings(LoopSettings):
    """Parameters of a node that has a lifecycle."""

    waits_to_be_activated: bool = False  # by the supervisor; else it is active from its start
