"""`safe-sysid identify`: a recording in, bounds on the payload or the reason for none out."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from functools import cached_property
import json
import sys
import time

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.cli.output import print_to_error
from safe_sysid.cli.progress import ProgressBar
from safe_sysid.config import yaml_text
from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.export.payload import write_export
from safe_sysid.identify.effort_plausibility import implausible
from safe_sysid.identify.held_out import Validation, thinned, validate
from safe_sysid.identify.identification import Identification, as_mapping, as_table
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.identify.online_identifier import IdentifierSettings
from safe_sysid.identify.payload_estimator import SolveSettings
from safe_sysid.identify.payload_in_frame import Body, payload_of
from safe_sysid.identify.payload_prior import PriorSettings, prior_of, sentences
from safe_sysid.identify.replay import Replay, refused, replay
from safe_sysid.measure.csv_log import Columns
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.measure.recording import Recording
from safe_sysid.measure.recording_choice import RecordingChoice, recording_of_choice
from safe_sysid.measure.smooth_log import SmoothLog, smooth
from safe_sysid.model.arm import Arm, arm_of
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.arm_scene import arm_scene
from safe_sysid.report.html_page import write_page
from safe_sysid.report.identification_page import Evidence, identification_page
from safe_sysid.report.page_figures import write_figures

WINDOW = 0.1  # [s] of measurements become rows together
WINDOW_OF_DIFFERENCES = 0.5  # [s] where velocities are differences, whose errors are larger
FREQUENCY_LIMIT = 10.0  # [Hz] cut-off where none is given, or a fifth of the sample rate
SOLVES = 10  # over the whole recording
SOLVE_SECONDS = 60.0  # at most for one of them
STEP_ALLOWED = 2.5  # sample times between two samples, before it is a gap
FEWEST = 5  # samples in a window
REFUSED = 1


def command(options: argparse.Namespace) -> int:
    """Carry out `safe-sysid identify`."""
    with print_to_error():
        found, run, replayed = identified(options)
        _write_exports(options, found, run.arm)
        _write_pictures(options, found, run.evidence(found, replayed))
    if options.json:
        print(json.dumps(as_mapping(found), allow_nan=False))
    elif options.yaml:
        print(yaml_text(as_mapping(found)), end='')
    else:
        print(as_table(found))
    return 0 if found.refused is None else REFUSED


def identified(options: argparse.Namespace) -> tuple[Identification, _Run, Replay]:
    """What the recording says, and from what that follows."""
    begin = time.monotonic()
    arm = _told(arm_of(options.robot, options.config), options.torque_sign)
    if not arm.facts.effort.gravity_included:
        raise ConfigError(
            f'{arm.model.name}: its effort signal does not contain gravity; record the torque '
            'with gravity in it'
        )
    recording = _recording(options, arm.model)
    run = _Run.of(options, arm, recording)
    replayed = run.replayed()
    estimate = replayed.estimate
    found = Identification(
        robot=arm.model.name,
        source=str(options.recording),
        joint_names=arm.model.layout.joint_names,
        recording=(*recording.timing.sentences(), *recording.remarks, *_effort_sentences(arm)),
        part=(options.payload_from, options.payload_from + run.seconds),
        nominal=estimate.end_effector,
        bounds=estimate.end_effector_bounds,
        payload=None if replayed.refused else run.payload(options.flange, estimate),
        assumptions=(
            *_assumptions(run.observation, recording),
            *sentences(arm.model, run.known),
        ),
        refused=replayed.refused,
        validation=run.validation(replayed.at_split.theta),
        series=replayed.series,
        seconds=time.monotonic() - begin,
    )
    return found, run, replayed


@dataclass(frozen=True, eq=False)
class _Run:
    """A recording and everything that is assumed about it."""

    arm: Arm
    log: JointLog
    known: PriorSettings
    observation: ObservationSettings
    split: float  # [s] where the held-out part begins
    filter_hz: float

    @staticmethod
    def of(options: argparse.Namespace, arm: Arm, recording: Recording) -> _Run:
        """As the command line says."""
        sensors = arm.model.sensors
        log = recording.log(sensors.effort_sign, sensors.effort_scale)
        return _Run(
            arm,
            log,
            _prior_settings(options, arm),
            _observation(options, arm.model, recording, log),
            float((log.stamp[-1] - log.stamp[0]) * 1e-9) * (1.0 - options.hold_out),
            options.filter or min(FREQUENCY_LIMIT, 0.2 / recording.timing.period),
        )

    @property
    def seconds(self) -> float:
        """Length of the recording."""
        return float((self.log.stamp[-1] - self.log.stamp[0]) * 1e-9)

    @cached_property
    def smoothed(self) -> SmoothLog:
        """The recording as predictions are compared with it."""
        return smooth(self.log, self.filter_hz)

    def replayed(self) -> Replay:
        """Through the identifier, unless the effort signal is implausible."""
        model, prior = self.arm.model, prior_of(self.arm.model, self.known)
        refusal = implausible(model, thinned(self.smoothed))
        if refusal is not None:
            return refused(prior, refusal)
        solve = SolveSettings(seconds=SOLVE_SECONDS, reach=self.known.reach)
        settings = IdentifierSettings(self.observation, solve, max(0.5, self.seconds / SOLVES))
        bar = ProgressBar('identifying')
        found = replay(model, prior, settings, self.log, self.split, bar.show)
        bar.end()
        return found

    def validation(self, theta: Array) -> Validation | None:
        """Of these parameters, if anything was held out."""
        if self.split >= self.seconds:
            return None
        return validate(self.arm.model, self.smoothed, self.split, self.filter_hz, theta)

    def evidence(self, found: Identification, replayed: Replay) -> Evidence:
        """What pictures show beside the outcome."""
        model, part = self.arm.model, thinned(self.smoothed)
        W = standard_regressor(model, part.q, part.qd, part.qdd)
        fitted = model.theta if found.validation is None else found.validation.fitted
        scene = arm_scene(model, part.seconds, part.q, NO_OBSTACLES)
        return Evidence(part, W @ replayed.at_split.theta, W @ fitted, scene)

    def payload(self, flange: str | None, estimate: ParameterEstimate) -> Body:
        """Without the arm's own last link, in the frame of the flange."""
        return payload_of(
            self.arm,
            estimate.end_effector,
            estimate.end_effector_bounds,
            flange or self.arm.facts.tip,
            self.known.links,
        )


def _told(arm: Arm, sign: tuple[float, ...] | None) -> Arm:
    """The arm with the sign of its effort signal as the command line says."""
    if sign is None:
        return arm
    n = arm.model.n
    if len(sign) not in (1, n):
        raise ConfigError(f'--torque-sign has {len(sign)} entries; 1 or {n} are needed')
    signs = np.broadcast_to(np.array(sign), (n,)).copy()
    sensors = replace(arm.model.sensors, effort_sign=signs)
    return replace(arm, model=replace(arm.model, sensors=sensors))


def _recording(options: argparse.Namespace, model: RobotModel) -> Recording:
    columns = Columns(rate=options.rate, **dict(options.columns or ()))
    choice = RecordingChoice(options.recording, options.topic, options.joint_names, columns)
    recording = recording_of_choice(choice, model.layout.joint_names)
    if options.payload_from > 0.0 or options.to is not None:
        end = np.inf if options.to is None else options.to
        return recording.between(options.payload_from, end)
    return recording


def _prior_settings(options: argparse.Namespace, arm: Arm) -> PriorSettings:
    share, com = options.known_links
    friction: float | None = share if arm.is_described else None
    if options.known_friction is not None:
        friction = None if options.known_friction == 'unknown' else options.known_friction
    return PriorSettings(share, com, friction, options.payload_mass, options.payload_reach)


def _observation(
    options: argparse.Namespace, model: RobotModel, recording: Recording, log: JointLog
) -> ObservationSettings:
    period = recording.timing.period
    position = options.position_error or tuple(0.5 * model.sensors.encoder_resolution)
    velocity = options.velocity_error
    if velocity is None:
        velocity = (
            (0.0,) if recording.velocity is not None else _difference_error(log, recording.stride)
        )
    usual = WINDOW if recording.velocity is not None else WINDOW_OF_DIFFERENCES
    return ObservationSettings(
        window=max(FEWEST, round((options.window or usual) / period)),
        torque_signal=options.torque_signal,
        torque_ratio=options.torque_ratio,
        torque_error=options.torque_noise,
        position_error=position,
        velocity_error=velocity,
        longest_step=STEP_ALLOWED * period,
    )


def _difference_error(log: JointLog, stride: int) -> tuple[float, ...]:
    """How far central differences may be from the truth [rad/s], by how much they bend.

    The error of a difference over a time h to each side is h^2 / 6 times the jerk, and the
    second difference of velocities h^2 times the jerk: twice that, for noise.
    """
    v = log.velocity
    bend = np.abs(v[2 * stride :] - 2.0 * v[stride:-stride] + v[: -2 * stride])
    if not len(bend):
        raise MeasurementError(
            f'{len(log)} samples are too few to see how wrong velocities from positions are; '
            'give --velocity-error'
        )
    return tuple(float(x) for x in bend.max(axis=0) / 3.0)


def _effort_sentences(arm: Arm) -> list[str]:
    sign = arm.model.sensors.effort_sign
    if (sign == sign[0]).all():
        counted = 'in the sense of the joint axes' if sign[0] > 0 else 'against the joint axes'
    else:
        counted = f'with the signs {[int(s) for s in sign]}'
    scale = arm.model.sensors.effort_scale
    unit = '' if (scale == 1.0).all() else f', times {[float(f"{s:.4g}") for s in scale]}'
    return [f'effort is read as {arm.facts.effort.kind}, counted {counted}{unit}']


def _assumptions(settings: ObservationSettings, recording: Recording) -> list[str]:
    """A1 and A3 to A6 of the identifier with their figures; A2 is the prior."""
    source = '' if recording.velocity is not None else ' (central differences of the positions)'
    return [
        'A1: the arm is a chain of rigid bodies with the kinematics of the URDF, and friction is '
        'Coulomb, viscous, rotor inertia and offset; nothing touches it',
        f'A3: every torque is within {_shares(settings.torque_ratio)} of its value and '
        f'{_figures(settings.torque_error)} N m, every position within '
        f'{_figures(settings.position_error)} rad, every velocity within '
        f'{_figures(settings.velocity_error)} rad/s of the truth at its stamp{source}',
        f'A4: between samples nothing bends more than {settings.safety_factor:g} times what the '
        'neighbouring samples show',
        f'A5: torque is {settings.torque_signal} between samples',
        'A6: no joint reverses twice between two samples',
        'A2: theta is inside what is known before:',
    ]


def _shares(values: tuple[float, ...]) -> str:
    return ', '.join(f'{100 * x:g} %' for x in values)


def _figures(values: tuple[float, ...]) -> str:
    distinct = values if len(set(values)) > 1 else values[:1]
    return ', '.join(f'{x:.3g}' for x in distinct)


def _write_exports(options: argparse.Namespace, found: Identification, arm: Arm) -> None:
    """Exports that were asked for."""
    if options.export and found.refused is not None:
        print('refused, so nothing is exported', file=sys.stderr)
        return
    for form, path in options.export or ():
        write_export(form, path, found, arm)


def _write_pictures(
    options: argparse.Namespace, found: Identification, evidence: Evidence
) -> None:
    """The page and the figures that were asked for."""
    page = identification_page(found, evidence)
    if options.html is not None:
        write_page(options.html, page)
    if options.plots is not None:
        write_figures(options.plots, page)
