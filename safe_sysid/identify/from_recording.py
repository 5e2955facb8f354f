"""From a recording to bounds on the payload, or to the reason why there are none."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from functools import cached_property
import time

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.calibrate.unit_findings import UnitFinding, unit_findings
from safe_sysid.errors import ConfigError, MeasurementError, ModelError
from safe_sysid.identify.contradiction import UNEXPLAINED
from safe_sysid.identify.effort_plausibility import implausible
from safe_sysid.identify.held_elsewhere import recorded_elsewhere
from safe_sysid.identify.held_object import (
    HeldObject,
    RecordedObject,
    containing,
    torque_of_force,
)
from safe_sysid.identify.held_out import HeldOut, Validation, held_out, thinned
from safe_sysid.identify.identification import Identification
from safe_sysid.identify.momentum_observation import ObservationSettings, per_joint
from safe_sysid.identify.online_identifier import IdentifierSettings
from safe_sysid.identify.payload_estimator import SolveSettings
from safe_sysid.identify.payload_in_frame import Body, object_of, payload_of
from safe_sysid.identify.payload_prior import RecordingPriorSettings, prior_of, sentences
from safe_sysid.identify.recorded_assumptions import (
    assumptions,
    beyond_rigid,
    clock_sentences,
    effort_sentences,
)
from safe_sysid.identify.recorded_readings import recorded_readings
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.identify.replay import Progress, Replay, refused, replay
from safe_sysid.identify.two_at_a_time import two_at_a_time
from safe_sysid.measure.dead_channels import check_efforts
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.measure.recording import Recording
from safe_sysid.measure.recording_choice import RecordingChoice, recording_of_choice
from safe_sysid.measure.smooth_log import SmoothLog, smooth
from safe_sysid.measure.turns import whole_turns
from safe_sysid.model.arm import Arm
from safe_sysid.model.parameter_kinds import JOINT_KINDS, LINK_KINDS
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.payload import Payload, read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import (
    ReadingErrors,
    TorqueErrors,
    torque_errors,
)
from safe_sysid.model.signal_facts import SensingFacts
from safe_sysid.sets.interval import Interval

WINDOW = 0.1  # [s] of measurements become rows together
WINDOW_OF_DIFFERENCES = 0.5  # [s] where velocities are differences, whose errors are larger
FREQUENCY_LIMIT = 10.0  # [Hz] cut-off where none is given, or a fifth of the sample rate
SOLVES = 10  # over the whole recording
SOLVE_PIVOTS = 100_000  # at most for one of them
SOLVE_SECONDS = 600.0  # the same, as the last resort
KNOWN_LINKS = (0.05, 0.0)  # share, and centres of mass [m], where nobody says more
ASSUMED = {  # what bounds rest on, in words
    'known_links': 'how well links are known',
    'known_friction': 'how well friction and armature are known',
    'known_offset': 'how well the offset is known',
    'payload_mass': 'the largest payload',
    'payload_reach': 'how far it reaches',
    'torque_ratio': 'the share by which torques err',
    'torque_error': 'the error of torques on top',
    'position_error': 'the error of positions',
    'velocity_error': 'the error of velocities',
    'torque_signal': 'what torque does between samples',
}
STEP_ALLOWED = {  # sample times between two samples, before it is a gap
    'sampled': 2.5,
    'held': 1.5,  # the torque of a lost sample is not known
    'held_until': 1.5,
}
FEWEST = 5  # samples in a window


@dataclass(frozen=True, eq=False)
class IdentificationProblem:
    """A recording and everything that is assumed about it."""

    arm: Arm
    log: JointLog
    known: RecordingPriorSettings
    observation: ObservationSettings
    sensing: tuple[str, ...]  # what is assumed of its readings, and was not stated
    split: float  # [s] where the held-out part begins
    filter_hz: float
    has_velocity: bool  # of its own; else it was made of positions
    velocity_source: str  # who says how wrong velocities are

    @property
    def seconds(self) -> float:
        """Length of the recording."""
        return float((self.log.stamp[-1] - self.log.stamp[0]) * 1e-9)

    @property
    def sensed(self) -> RobotModel:
        """The arm with sensors that feel what is recorded: commands also move drives."""
        model = self.arm.model
        if self.observation.torque_signal == 'sampled':
            return model
        sensing = model.sensors.sensing
        commanded = replace(sensing, torque=replace(sensing.torque, sensor='command'))
        return replace(model, sensors=replace(model.sensors, sensing=commanded))

    @property
    def has_moved(self) -> bool:
        """Whether any joint has, by more than its readings err."""
        assert self.observation.position_error is not None
        errors = per_joint('position_error', self.observation.position_error, self.arm.model.n)
        return bool((np.ptp(self.log.position, axis=0) > 2.0 * errors).any())

    @cached_property
    def smoothed(self) -> SmoothLog:
        """The recording as predictions are compared with it."""
        return smooth(self.log, self.filter_hz)

    @cached_property
    def prior(self) -> ParameterEstimate:
        """What is known before."""
        return prior_of(self.arm.model, self.known)

    def held(self, settings: RecordingSettings) -> HeldObject | None:
        """Whether the object is rigid, and which one it is; None without velocities."""
        if not self.has_velocity:
            return None
        model = self.arm.model
        rigid = replace(self.observation, beyond_rigid=(0.0,))
        recorded = RecordedObject(model, self.prior, rigid, self.log, settings.unmodelled_torque)
        return recorded.judged(_library(settings), self._empty_hand)

    def containing(self, settings: RecordingSettings, found: ParameterEstimate) -> tuple[str, ...]:
        """Names of known objects whose own bounds contain those that were found."""
        return containing(self.arm.model, _library(settings), self._empty_hand, found)

    @property
    def _empty_hand(self) -> Interval:
        """Bounds on theta_e of the hand that holds nothing."""
        model = self.arm.model
        widths = self.known.bounds(model)[model.layout.end_effector]
        empty = model.theta[model.layout.end_effector]
        return Interval.from_center_radius(empty, widths.radius)

    @property
    def implausible(self) -> str | None:
        """Why the effort signal is not what the settings take it for."""
        return implausible(self.sensed, thinned(self.smoothed), self.known)

    def replayed(self, progress: Progress) -> Replay:
        """Through the identifier."""
        model, prior = self.arm.model, self.prior
        solve = SolveSettings(
            pivots=SOLVE_PIVOTS,
            seconds=SOLVE_SECONDS,
            fit_seconds=SOLVE_SECONDS,
            reach=self.known.reach,
        )
        settings = IdentifierSettings(self.observation, solve, max(0.5, self.seconds / SOLVES))
        return replay(model, prior, settings, self.log, self.split, progress)

    @cached_property
    def held_out(self) -> HeldOut | None:
        """What is not learnt from, to validate parameters with, if there is anything."""
        if self.split >= self.seconds:
            return None
        known = self.prior.bounds
        return held_out(self.sensed, known, self.smoothed, self.split, self.filter_hz)

    def validation(self, theta: Array) -> Validation | None:
        """Of these parameters, if anything was held out."""
        return None if self.held_out is None else self.held_out.validation(theta)

    def payload(self, flange: str | None, estimate: ParameterEstimate) -> Body:
        """Without the arm's own last link, in the frame of the flange."""
        return payload_of(
            self.arm,
            estimate.end_effector,
            estimate.end_effector_bounds,
            flange or self.arm.facts.tip,
            self.known,
        )

    def held_alone(self, flange: str | None, estimate: ParameterEstimate) -> Body | None:
        """Without what the URDF has on the last joint, a gripper too; None: it holds less."""
        bodies = estimate.end_effector, estimate.end_effector_bounds
        try:
            return object_of(self.arm, *bodies, flange or self.arm.facts.tip, self.known)
        except ModelError:
            return None


@dataclass(frozen=True, eq=False)
class IdentifiedRecording:
    """What a recording says, and from what that follows."""

    found: Identification
    problem: IdentificationProblem
    replay: Replay


def identify_recording(
    arm: Arm, choice: RecordingChoice, settings: RecordingSettings, progress: Progress
) -> IdentifiedRecording:
    """Bounds on what an arm holds, from a recording of its motion."""
    begin = time.monotonic()
    if not arm.facts.effort.gravity_included:
        raise ConfigError(
            f'{arm.model.name}: its effort signal does not contain gravity; record the torque '
            'with gravity in it'
        )
    unit = arm.model.sensors.torque_per_unit
    recording = recording_of_choice(choice, arm.model.layout.joint_names, unit)
    if settings.begin > 0.0 or settings.end is not None:
        end = np.inf if settings.end is None else settings.end
        recording = recording.between(settings.begin, end)
    recording = in_si(recording, arm, settings)
    check_efforts(recording.source, recording.effort, recording.position)
    problem = identification_problem(arm, recording, settings)
    replayed, held = _replayed_and_held(problem, settings, progress)
    if held is not None and held.rigidity is not None and not settings.slosh_force:
        reasons = [each for each in (replayed.refused, held.rigidity.refusal) if each]
        if held.rigidity.rejects:
            replayed = refused(problem.prior, '; or '.join(reasons))
    estimate = replayed.estimate
    found = Identification(
        robot=arm.model.name,
        source=str(choice.path),
        joint_names=arm.model.layout.joint_names,
        recording=(
            *recording.timing.sentences(),
            *recording.remarks,
            *effort_sentences(arm),
            *(f'DOUBT: {each}' for each in replayed.doubts),
        ),
        part=(settings.begin, settings.begin + problem.seconds),
        nominal=estimate.end_effector,
        bounds=estimate.end_effector_bounds,
        payload=None if replayed.refused else problem.payload(settings.flange, estimate),
        assumptions=(
            *clock_sentences(replayed.solves_cut_short),
            *assumptions(
                problem.observation, arm.model, problem.prior.bounds, problem.velocity_source
            ),
            *problem.sensing,
            *beyond_rigid(settings),
            *sentences(arm.model, problem.known),
        ),
        unstated=nobody_stated(settings, problem),
        refused=replayed.refused,
        validation=problem.validation(replayed.at_split.theta),
        series=replayed.series,
        seconds=time.monotonic() - begin,
        held=held,
        alone=None if replayed.refused else problem.held_alone(settings.flange, estimate),
        elsewhere=recorded_elsewhere(arm, choice, settings, problem.known),
        has_moved=problem.has_moved,
    )
    return IdentifiedRecording(found, problem, replayed)


def in_si(recording: Recording, arm: Arm, settings: RecordingSettings) -> Recording:
    """Refuse times and positions in other units; leave out velocities that are not of these.

    Velocities whose error was stated are somebody's promise, and stay, unless positions show that
    they err by more. Limits of a URDF are often narrower than those of the arm, so positions
    beyond them are a remark.
    """
    limits = arm.model.limits
    found = unit_findings(whole_turns(recording, limits.is_continuous), limits)
    refused = [x.sentence for x in found if x.quantity in ('time', 'position')]
    refused += [x for each in found if (x := _broken_promise(each, settings, recording.joints))]
    if refused:
        raise MeasurementError(f'{recording.source}: ' + '; '.join(refused))
    remarks = [x.sentence for x in found if x.quantity == 'limit']
    velocity = [x.sentence for x in found if x.quantity == 'velocity']
    if velocity and settings.velocity_error is None:
        taken = 'no velocity: central differences of the positions'
        recording = replace(recording, velocity=None)
        remarks += [f'{x} (not used here)' for x in velocity] + [taken]
    return replace(recording, remarks=(*recording.remarks, *remarks)) if remarks else recording


def _broken_promise(
    finding: UnitFinding, settings: RecordingSettings, joints: tuple[str, ...]
) -> str | None:
    """Refuse velocities that err by more than was stated of them."""
    if not finding.off or settings.velocity_error is None:
        return None
    off = np.array(finding.off)
    promised = per_joint('velocity_error', settings.velocity_error, len(off))
    worst = int(np.argmax(off - promised))
    if off[worst] <= promised[worst]:
        return None
    return (
        f'{finding.sentence}; those of {joints[worst]} are off by {off[worst]:.3g} rad/s (rms) '
        f'and --velocity-error promises {promised[worst]:.3g}: correct one of them; without '
        '--velocity-error such velocities are not used'
    )


def _replayed_and_held(
    problem: IdentificationProblem, settings: RecordingSettings, progress: Progress
) -> tuple[Replay, HeldObject | None]:
    """Return what the identifier finds, and what short windows say beside it."""
    refusal = problem.implausible
    if refusal is not None:
        return refused(problem.prior, refusal), None
    with two_at_a_time() as pool:
        beside = pool.submit(_held_and_held_out, problem, settings)
        replayed = problem.replayed(progress)
    if replayed.refused is not None and UNEXPLAINED not in replayed.refused:
        return replayed, None
    held = beside.result()
    if held is not None and held.probabilities:
        held = replace(held, inside=problem.containing(settings, replayed.estimate))
    return replayed, held


def _held_and_held_out(
    problem: IdentificationProblem, settings: RecordingSettings
) -> HeldObject | None:
    """Return what short windows say, when all is ready to validate parameters too."""
    held = problem.held(settings)
    with contextlib.suppress(MeasurementError):  # who validates is told
        _ = problem.held_out
    return held


def _library(settings: RecordingSettings) -> list[Payload]:
    return [read_payload(each) for each in settings.library]


def identification_problem(
    arm: Arm, recording: Recording, settings: RecordingSettings
) -> IdentificationProblem:
    """Return the recording with assumptions in the place of settings that leave them open."""
    sensors = arm.model.sensors
    recording = whole_turns(recording, arm.model.limits.is_continuous)
    log = recording.log(sensors.effort_sign, sensors.effort_scale)
    readings = recorded_readings(settings, arm.model, recording, log)
    beyond = torque_of_force(arm.model, log, settings.payload_reach, settings.slosh_force)
    return IdentificationProblem(
        arm,
        log,
        prior_settings(settings, arm),
        replace(
            _observation(settings, recording, readings.errors), beyond_rigid=tuple(beyond.tolist())
        ),
        (*readings.errors.sentences, *_torques(settings, arm.model).sentences),
        float((log.stamp[-1] - log.stamp[0]) * 1e-9) * (1.0 - settings.hold_out),
        settings.filter_hz or min(FREQUENCY_LIMIT, 0.2 / recording.timing.period),
        recording.velocity is not None,
        readings.velocity_source,
    )


def nobody_stated(settings: RecordingSettings, problem: IdentificationProblem) -> tuple[str, ...]:
    """List what bounds rest on that neither the settings nor the arm's file state."""
    usual, arm = RecordingSettings(), problem.arm
    sensing = arm.model.sensors.sensing
    unknown = prior_settings(settings, arm).unknown(arm.model)
    stated = settings.known.over(arm.model.uncertainty).stated()
    known = stated.keys() - unknown.keys()  # a share of a figure 0 states nothing
    elsewhere = {
        'known_links': set(LINK_KINDS) <= known,
        'known_friction': {'coulomb', 'viscous', 'armature'} <= known,
        'known_offset': 'offset' in known or settings.known_friction == 'unknown',
        'position_error': sensing.position_error is not None
        or bool((arm.model.sensors.encoder_resolution > 0.0).all()),
        'velocity_error': problem.has_velocity
        and (sensing.velocity_error is not None or _states_velocity(sensing)),
        'torque_ratio': settings.torque_error is not None or sensing.torque.ratio is not None,
        'torque_error': settings.torque_ratio is not None or sensing.torque.absolute is not None,
    }
    return tuple(
        words
        for name, words in ASSUMED.items()
        if name not in settings.stated
        and getattr(settings, name, None) == getattr(usual, name, None)
        and not elsewhere.get(name, False)
    )


def _states_velocity(sensing: SensingFacts) -> bool:
    """Whether the causes that are stated of velocities are all that they rest on."""
    facts = sensing.velocity
    return facts is not None and facts.source == 'driver' and sensing.stamp_error is not None


def prior_settings(settings: RecordingSettings, arm: Arm) -> RecordingPriorSettings:
    """Return what is said for this recording counts more than what the file of the arm states."""
    of_file, along = arm.model.uncertainty, arm.model.layout.joint_names
    settings.known.refuse_unordered('known ', tuple(arm.facts.joints), along)
    if settings.known_links is not None:
        of_file = of_file.without(tuple(LINK_KINDS))
    if settings.known_friction is not None:
        keeps = () if settings.known_friction == 'unknown' else ('offset',)
        of_file = of_file.without([kind for kind in JOINT_KINDS if kind not in keeps])
    share, com = settings.known_links or KNOWN_LINKS
    friction: float | None = share if arm.is_described else None
    if settings.known_friction == 'unknown':
        friction = None
    elif settings.known_friction is not None:
        friction = float(settings.known_friction)
    stated = settings.known.over(of_file)
    return RecordingPriorSettings(
        share, com, friction, stated, settings.payload_mass, settings.payload_reach
    )


def _observation(
    settings: RecordingSettings, recording: Recording, readings: ReadingErrors
) -> ObservationSettings:
    period = recording.timing.period
    usual = WINDOW if recording.velocity is not None else WINDOW_OF_DIFFERENCES
    chosen = replace(settings, window=settings.window or usual)
    return observation_settings(chosen, period, readings)


def observation_settings(
    settings: RecordingSettings, period: float, readings: ReadingErrors
) -> ObservationSettings:
    """How samples of a period [s] become rows."""
    return ObservationSettings(
        window=max(FEWEST, round((settings.window or WINDOW) / period)),
        torque_signal=settings.torque_signal,
        torque_ratio=settings.torque_ratio,
        torque_error=settings.torque_error,
        position_error=tuple(readings.position.tolist()),
        zero_error=tuple(readings.zero.tolist()),
        velocity_error=tuple(readings.velocity.tolist()),
        longest_step=STEP_ALLOWED[settings.torque_signal] * period,
    )


def _torques(settings: RecordingSettings, model: RobotModel) -> TorqueErrors:
    return torque_errors(model, settings.torque_ratio, settings.torque_error)
