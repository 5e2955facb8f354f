"""From files of an empty and a loaded arm to a payload, its intervals and what they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
import time

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.even_recording import even_recording
from safe_sysid.calibrate.unit_findings import remarks_on_units
from safe_sysid.errors import ConfigError, ModelError
from safe_sysid.identify.difference.against_empty import (
    DifferenceProblem,
    payload_difference,
)
from safe_sysid.identify.difference.answer import CONTAINS, PayloadDifference
from safe_sysid.identify.difference.arm_promise import read_promise
from safe_sysid.identify.difference.friction_choice import FrictionChoice
from safe_sysid.identify.difference.gains_file import KnownGains, read_gains
from safe_sysid.identify.difference.intervals import GAIN_RANGE
from safe_sysid.identify.difference.self_test import SelfTest, self_test
from safe_sysid.identify.payload_in_frame import IN_TIP, into_frame
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.identify.replay import Progress
from safe_sysid.measure.dead_channels import check_efforts
from safe_sysid.measure.recording import Recording
from safe_sysid.measure.recording_choice import RecordingChoice, recording_of_choice
from safe_sysid.model.arm import Arm
from safe_sysid.model.promise_file import is_promise

SELF_TEST_SECONDS = (5.0, 10.0, 20.0)  # of pieces
UNVERIFIED = 0.1  # share by which the unit of an effort may be off, where nobody states it


@dataclass(frozen=True, eq=False)
class IdentifiedDifference:
    """The payload, and from what it follows."""

    found: PayloadDifference
    robot: str
    loaded: str
    empty: tuple[str, ...]
    joint_names: tuple[str, ...]
    remarks: tuple[str, ...]  # on the recordings
    assumptions: tuple[str, ...]
    seconds: float
    problem: DifferenceProblem | None  # None: not from joint torques in motion
    arm: Arm

    @property
    def contains(self) -> str:
        """What of all that the last joint moves the payload is, in words."""
        return f'{CONTAINS}, {IN_TIP}' if self.arm.facts.gripper_in_tip else CONTAINS

    def self_test(self, rng: np.random.Generator) -> list[SelfTest]:
        """Add bodies to pieces of the empty recordings and identify them, by length of piece."""
        if self.problem is None:
            raise ConfigError('the self-test adds bodies to joint torques in motion, not to these')
        longest = max(log.seconds for logs in self.problem.empty for log in logs)
        lengths = [s for s in SELF_TEST_SECONDS if s <= longest / 2.0]
        problem = replace(self.problem, friction=None)  # a piece has no part in what judges it
        return [self_test(problem, seconds, rng) for seconds in lengths]


def identify_difference(
    arm: Arm,
    loaded: RecordingChoice,
    empty: Sequence[RecordingChoice],
    settings: RecordingSettings,
    progress: Progress,
) -> IdentifiedDifference:
    """Identify what an arm holds in one recording beyond what it held in others."""
    begin = time.monotonic()
    if not arm.facts.effort.gravity_included:
        raise ConfigError(
            f'{arm.model.name}: its effort signal does not contain gravity; record the torque '
            'with gravity in it'
        )
    names = arm.model.layout.joint_names
    progress(0.0, 'reading')
    gains = gains_of(arm, settings)
    arm = arm if gains is None else gains.of(arm)
    held = part_of(recording_of_choice(loaded, names, arm.model.sensors.torque_per_unit), settings)
    without = _empty_arm_of(empty, arm)
    gains = gains or without.gains
    gain_error, unit = unit_of(arm, settings, gains)
    remarks = [f'{loaded.path.name}: {x}' for x in remarks_on(held, arm)] + without.remarks
    problem = DifferenceProblem(
        model=arm.model,
        loaded=_logs(arm, held),
        empty=without.logs,
        frame=payload_frame(arm, settings.flange or arm.facts.tip),
        payload_mass=settings.payload_mass,
        reach=settings.payload_reach,
        gain_error=gain_error,
        inertia_prior=settings.inertia_prior,
        confidence=settings.confidence,
        unit_is_stated=settings.gain_error is not None or gains is not None,
        gain_covariance=None if gains is None else gains.log_covariance,
        cutoff=settings.filter_hz,
        friction=without.friction,
    )
    progress(0.2, 'comparing')
    found = payload_difference(problem)
    progress(1.0, 'done')
    return IdentifiedDifference(
        found,
        arm.model.name,
        str(loaded.path),
        tuple(str(choice.path) for choice in empty),
        names,
        tuple(remarks),
        (unit, _rigid(found), *interval_assumptions(found, settings, len(problem.empty))),
        time.monotonic() - begin,
        problem,
        arm,
    )


@dataclass(frozen=True, eq=False)
class _Empty:
    """Empty recordings, in the unit of the arm's effort."""

    logs: list[list[EvenLog]]
    friction: FrictionChoice | None  # None: not chosen yet
    remarks: list[str]
    gains: KnownGains | None = None  # that the calibration knew


def _empty_arm_of(empty: Sequence[RecordingChoice], arm: Arm) -> _Empty:
    """Read empty recordings, or those that a calibration has left beside the arm."""
    promises = [choice.path for choice in empty if is_promise(choice.path)]
    if promises and len(empty) > 1:
        raise ConfigError(
            f'{promises[0]} holds all empty recordings of a calibration; give either it or '
            'recordings with --empty'
        )
    if promises:
        promise = read_promise(promises[0], arm)
        names = ', '.join(each.name for each in promise.recordings)
        logs = [each.logs for each in promise.recordings]
        remarks = [f'{promises[0].name}: {names}']
        return _Empty(logs, promise.friction, remarks, promise.gains)
    joints, unit = arm.model.layout.joint_names, arm.model.sensors.torque_per_unit
    read = [recording_of_choice(choice, joints, unit) for choice in empty]
    remarks = [
        f'{choice.path.name}: {sentence}'
        for choice, recording in zip(empty, read, strict=True)
        for sentence in remarks_on(recording, arm)
    ]
    return _Empty([_logs(arm, recording) for recording in read], None, remarks)


def remarks_on(recording: Recording, arm: Arm) -> tuple[str, ...]:
    """Return what is to be said of a recording: its times, what was left out, its units."""
    units = remarks_on_units(recording, arm.model.limits)
    return (*recording.timing.sentences(), *recording.remarks, *units)


def gains_of(arm: Arm, settings: RecordingSettings) -> KnownGains | None:
    """Gains of the file that is stated, if one is."""
    if settings.gains is None:
        return None
    return read_gains(settings.gains, arm.model.layout.joint_names)


def part_of(recording: Recording, settings: RecordingSettings) -> Recording:
    """Part of a recording in which the payload is held."""
    if settings.begin > 0.0 or settings.end is not None:
        return recording.between(settings.begin, settings.end or np.inf)
    return recording


def _logs(arm: Arm, recording: Recording) -> list[EvenLog]:
    check_efforts(recording.source, recording.effort, recording.position)
    sensors, limits = arm.model.sensors, arm.model.limits
    return even_recording(
        recording, sensors.effort_sign, sensors.effort_scale, limits.is_continuous
    )


def payload_frame(arm: Arm, flange: str) -> tuple[str, Array, float]:
    """Name of the payload's frame, its parameters of those of the joint, and how far it is."""
    frames, tip = arm.model.frames, arm.model.layout.tip
    if flange not in frames or frames[flange].joint != tip:
        fixed = [name for name, frame in frames.items() if frame.joint == tip]
        raise ModelError(f"'{flange}' is not fixed to the last joint; these links are: {fixed}")
    frame = frames[flange]
    return flange, into_frame(frame), float(np.linalg.norm(frame.p))


def unit_of(arm: Arm, settings: RecordingSettings, gains: KnownGains | None) -> tuple[Array, str]:
    """Share by which torque per unit of effort may be off, joint by joint, and what says so."""
    n, stated = arm.model.n, arm.model.sensors.sensing.torque.ratio
    if settings.gain_error is not None:
        share, source = settings.gain_error, 'as stated'
    elif gains is not None:
        widest = float(np.sqrt(np.diag(gains.log_covariance).max()))
        source = str(settings.gains or 'the calibration')
        sentence = (
            f'torque per unit of effort is that of {source}, the same in all recordings, '
            f'with its covariance (statistical) and within {GAIN_RANGE:g} deviations (guaranteed; '
            f'{100 * GAIN_RANGE * widest:.2g} % at most)'
        )
        return np.zeros(n), sentence
    elif stated is not None:
        share, source = float(np.max(stated)), 'as the settings of the arm state'
    else:
        share = UNVERIFIED
        source = (
            'assumed, as nobody stated it (--gain-error): no recording shows a wrong unit; a '
            'known mass does, see calibrate-gains'
        )
    sentence = (
        f'torque per unit of effort is the same in all recordings and within {100 * share:g} % '
        f'of what is taken for it, {source}'
    )
    return np.full(n, share), sentence


def _rigid(found: PayloadDifference) -> str:
    friction = ', '.join(('Coulomb', 'viscous', 'offset', *found.friction.terms.names))
    return (
        'the arm is a chain of rigid bodies with the kinematics of the URDF; its inertias, '
        f'rotors and friction ({friction}) are unknown and the same in all recordings; nothing '
        'touches it'
    )


def interval_assumptions(
    found: PayloadDifference, settings: RecordingSettings, recordings: int
) -> list[str]:
    """Return what each kind of interval rests on."""
    sentences = []
    given = found.statistical
    if given is not None:
        few = {1: 'one empty recording: doubled', 2: 'two empty recordings: 1.5 times'}
        sentences.append(
            f'statistical: in {100 * given.confidence:g} % of repetitions of such recordings the '
            'interval contains the payload, if blocks of residuals '
            f'({2 * given.correlation_s:.2g} s) are independent and empty pieces err like the '
            f'loaded recording; enlarged {given.kappa[0]:.2f} times '
            f'({given.pieces} empty pieces of {given.piece_s:.1f} s ask for '
            f'{given.kappa_of_data[0]:.2f}'
            + (f'; {few[recordings]}' if recordings in few else '')
            + '). It is no bound: it says nothing of drift after the recordings'
        )
        sentences += of_inertia(settings)
    promise = None if found.guaranteed is None else found.guaranteed
    if promise is not None and promise.bounds is not None:
        sentences += [
            f'guaranteed: no block of {promise.promise.seconds:.3g} s has a spectrum of model '
            f'error above {promise.factor * promise.promise.faster:.2f} times the largest seen in '
            f'{promise.promise.blocks} empty blocks{promise.promise.of_growth} (at '
            f'{promise.least:.2f} times the rows begin to contradict each other); friction under '
            'load is that of the estimated load, and '
            f'all torques are late by the same time, {1e3 * promise.promise.late:.1f} ms more or '
            'less than corrected at most',
            f'guaranteed: the payload weighs at most {settings.payload_mass:g} kg '
            f'(--payload-mass), no part of it is farther than {settings.payload_reach:g} m from '
            'the last joint (--payload-reach), and no parameter of the arm is farther than 30 '
            'deviations from its fit, beside what gains move',
        ]
    return sentences


def of_inertia(settings: RecordingSettings) -> list[str]:
    """Return what statistics take for known of inertias, which is all where nothing shows them."""
    if not np.isfinite(settings.inertia_prior):
        return []
    return [
        'statistical: moments and products of inertia of the payload about its centre of mass are '
        f'0 to {settings.inertia_prior:g} kg m² (one deviation, --inertia-prior)'
    ]
