"""What a user can say of a recording: its part, what is known before, errors of readings."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from safe_sysid.config import (
    Length,
    Mass,
    NotNegative,
    OneOf,
    Positive,
    PositiveShare,
    Settings,
    Share,
)
from safe_sysid.model.uncertainty import Uncertainty

Entry = tuple[NotNegative, ...]  # one for all joints, or one each
Unknown = Annotated[str, OneOf(('unknown',))]
TorqueSignal = Annotated[str, OneOf(('sampled', 'held', 'held_until'))]


@dataclass(frozen=True)
class RecordingSettings(Settings):
    """What is known before, and which part of a recording tells more."""

    begin: NotNegative = 0.0  # [s] time in the recording from which on the payload is held
    end: Positive | None = None  # [s] end of that part of the recording; none: its end
    known_links: tuple[Share, NotNegative] | None = None  # how well links are known: a share of
    # the size of every parameter, and how far every centre of mass may be off [m] as in 5%,0.01;
    # none: what the settings of the arm state, else 5%
    known_friction: Share | Unknown | None = None  # the same for friction and rotor inertia where
    # their figure is not 0. What is 0 in a file is unknown, and so is an offset without a stated
    # width; none: as links, or unknown where a URDF stands alone
    known: Uncertainty = field(default_factory=Uncertainty)  # widths of kinds of parameters
    payload_mass: Mass = 10.0  # [kg] most that the last joint may move
    payload_reach: Length = 0.5  # [m] farthest that any of it is from the origin of that joint
    torque_ratio: tuple[Share, ...] | None = None  # error of a torque as a share of it; one for
    # all joints or one each; none: what sensing: of the arm states, else wide figures, which are
    # printed
    torque_error: Entry | None = None  # [N·m] error of a torque on top of that share; one or one
    # each; none: the same, and 0 where only the share is given
    position_error: Entry | None = None  # [rad] error of a position of all causes; one or one
    # each; none: what sensing: of the arm states, else wide figures, which are printed
    velocity_error: Entry | None = None  # [rad/s] error of a velocity of all causes; one or one
    # each; none: what sensing: of the arm states, else what shows
    torque_signal: TorqueSignal = 'sampled'  # sampled: measured; held: a command, constant from
    # its stamp on; held_until: constant until its stamp
    window: Positive | None = None  # [s] measurements that become one row per joint; none: 0.1,
    # or 0.5 where the recording has no velocity
    flange: str | None = None  # frame of the payload; none: the `tip` of the arm's settings
    hold_out: Share = 0.4  # share at the end of the recording whose torque is predicted from what
    # came before. Bounds are from all of it
    filter_hz: Positive | None = None  # [Hz] low-pass of that comparison; none: 10, or a fifth of
    # the sample rate
    confidence: PositiveShare = 0.95  # probability of the statistical interval, against empty
    # recordings
    gain_error: Share | None = None  # share by which torque per unit of effort may be off, against
    # empty recordings; none: what sensing: of the arm states, else 10%
    gains: Path | None = None  # file of calibrate-gains: torque per unit of effort, instead of
    # sign and scale of the arm's settings, against empty recordings
    inertia_prior: Positive = 0.1  # [kg·m²] inertias of the payload about its centre of mass are
    # 0 to one such deviation for the statistical interval; 1000 says nothing of them
    sensor: str | None = None  # link with the axes of a force/torque sensor at the wrist: its
    # wrench is taken instead of joint torques, against empty recordings
    sensor_topic: str | None = None  # of its wrenches in a bag; none: the only WrenchStamped
    poses: bool = False  # recordings are tables with a row for every pose in which the arm rests
    unmodelled_torque: Positive = 0.3  # [N·m] deviation of what no model has of the torque of a
    # joint, where what is held is tested for being rigid, and for being a known object
    slosh_force: NotNegative = 0.0  # [N] most that what sloshes, swings or flexes in the hand
    # pulls with, beyond a rigid body: bounds then hold for that body. 0: it is rigid
    library: tuple[str, ...] = ()  # payloads that may be held, by name or as YAML: which of them
    # it is, is said as probabilities
    stated: tuple[str, ...] = ()  # fields that were chosen, though they may equal their default
