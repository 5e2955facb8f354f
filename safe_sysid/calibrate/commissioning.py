"""What a recording of an arm at rest says of its driver, beside what the arm's file says.

The arm is empty and held still by something else for a few seconds, in one pose or several; what
it does between the poses tells of velocities and encoders. Nothing is commanded for it.

    stamps      period, its scatter, gaps
    encoder     the smallest step of a position, where positions have steps
    velocity    whether it is the difference of positions, over how many samples, or slower
    noise       of torques in each pose
    gravity     torques of each pose against those that hold the described arm: sign, scale, and
                what is left, which friction of joints at rest may explain
    commands    where a recording has them, as of an arm that a loop holds against gravity: how
                much later torques follow, with which gain, and whether the driver adds gravity

Measured figures are what was seen: of an error the least that there is, never its bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from safe_sysid.arrays import AnyArray, Array
from safe_sysid.calibrate.commission_finding import OTHER, Agreement, CommissionFinding
from safe_sysid.calibrate.commissioned_commands import CommandedDriver
from safe_sysid.calibrate.commissioned_velocity import MOVES, velocity_seen
from safe_sysid.calibrate.commissioned_weight import WeightShown, share_of_weight, weight_shown
from safe_sysid.errors import MeasurementError
from safe_sysid.measure.bag.driver_words import DriverWords
from safe_sysid.measure.recording import Recording
from safe_sysid.model.effort_contract import CommandSignal, EffortContract
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import torque_errors

PIECE = 0.5  # [s] in which an arm that stands is looked at
STANDS = 2e-3  # [rad] by which a joint that stands moves at most in a piece
SEEN = 1.0  # [N m] of gravity that tells a sign
A_LITTLE = 0.03  # the same where it explains what is read in every pose
STEPS = 0.05  # of a step, by which changes may miss its multiples
SMALL = 50  # steps, up to which a change counts for that


@dataclass(frozen=True, eq=False)
class Commissioning:
    """Findings, and what they propose for the arm's file, by its keys."""

    findings: tuple[CommissionFinding, ...]
    joints: dict[str, dict[str, float | int]]  # keys of `joints`, by joint
    torque: dict[str, list[float]]  # keys of `sensing: torque`
    delay: tuple[float, float] | None = None  # [s] of `command: delay`
    command: dict[str, object] = field(default_factory=dict)  # keys of `command` of the bridge
    effort: dict[str, bool] = field(default_factory=dict)  # keys of `effort`

    @property
    def differs(self) -> bool:
        """Whether anything is not what the file says."""
        return any(finding.agreement is Agreement.DIFFERS for finding in self.findings)


@dataclass(frozen=True, eq=False)
class Pose:
    """Samples of an arm that stands."""

    q: Array  # (n,) [rad] mean
    effort: Array  # (N, n) of the driver


def commissioned(
    model: RobotModel, recording: Recording, period: float, words: DriverWords | None = None
) -> Commissioning:
    """Compare a recording of the empty arm with its description; the loop has this period [s].

    `words` are when states came and what the driver was told, where the recording has that.
    """
    poses = standing(recording)
    if not poses:
        raise MeasurementError(
            f'{recording.source}: the arm never stands for {PIECE} s (all joints within '
            f'{STANDS} rad); record it at rest, in several poses'
        )
    look = _Look(model, recording, poses)
    findings = [
        look.stamps(period),
        *look.encoders(),
        look.velocity(),
        *look.gravity(),
        *look.noise(),
    ]
    commanded = CommandedDriver(model, period)
    if words is not None:
        findings += commanded.findings(recording, words)
    told = (commanded.delay, commanded.command, look.effort)
    return Commissioning(tuple(findings), look.joints, look.torque, *told)


def standing(recording: Recording) -> list[Pose]:
    """Return poses in which the arm stands, each as long as it lasts."""
    per_piece = max(3, round(PIECE / recording.timing.period))
    poses: list[list[AnyArray]] = []
    last = None
    for begin in range(0, len(recording) - per_piece + 1, per_piece):
        rows = np.arange(begin, begin + per_piece)
        q = recording.position[rows]
        if np.ptp(q, axis=0).max() > STANDS:
            last = None
            continue
        if last is None or np.abs(q.mean(axis=0) - last).max() > STANDS:
            poses.append([])
        poses[-1].append(rows)
        last = q.mean(axis=0)
    found = [np.concatenate(rows) for rows in poses]
    return [Pose(recording.position[r].mean(axis=0), recording.effort[r]) for r in found]


class _Look:
    """One recording beside one description."""

    def __init__(self, model: RobotModel, recording: Recording, poses: list[Pose]) -> None:
        self._model, self._recording, self._poses = model, recording, poses
        self._names = model.layout.joint_names
        self.joints: dict[str, dict[str, float | int]] = {}
        self.torque: dict[str, list[float]] = {}
        self.effort: dict[str, bool] = {}
        arm = EffortContract(model, CommandSignal())
        weights = np.array([arm.gravity(pose.q) for pose in poses])
        self._gravity = weights if model.sensors.effort.gravity_included else 0.0 * weights
        sensors = model.sensors
        self._gain = sensors.effort_sign * sensors.effort_scale  # [N m per unit of the driver]

    def stamps(self, period: float) -> CommissionFinding:
        """Return whether samples come as often as the loop takes them to."""
        timing = self._recording.timing
        is_same = abs(timing.period - period) < 0.2 * period
        said = '; '.join(timing.sentences())
        agreement = Agreement.AGREES if is_same else Agreement.DIFFERS
        return CommissionFinding('rate', agreement, f'{said}; the loop has {1e3 * period:.4g} ms')

    def encoders(self) -> list[CommissionFinding]:
        """Return steps of positions."""
        stated = self._model.sensors.encoder_resolution
        found = []
        for j, name in enumerate(self._names):
            step = smallest_step(self._recording.position[:, j])
            if step is None:
                said = f'positions of {name} have no steps, or it never moved'
                found.append(CommissionFinding(f'encoder of {name}', Agreement.UNSEEN, said))
                continue
            said = f'steps of {step:.4g} rad; stated are {stated[j]:.4g}'
            if stated[j] == 0.0:
                agreement = Agreement.NEW
            else:
                is_same = step <= 1.01 * stated[j]
                agreement = Agreement.AGREES if is_same else Agreement.DIFFERS
            if agreement is not Agreement.AGREES:
                self._propose(name, 'encoder_resolution', float(f'{step:.9g}'))
            found.append(CommissionFinding(f'encoder of {name}', agreement, said))
        return found

    def velocity(self) -> CommissionFinding:
        """Return what reported velocities are."""
        recording = self._recording
        if recording.velocity is None:
            return CommissionFinding('velocity', Agreement.UNSEEN, 'the driver reports none')
        facts = self._model.sensors.sensing.velocity
        stated = 'nothing' if facts is None else f'{facts.source}, {facts.samples} samples'
        found = velocity_seen(recording)
        if found is None:
            said = f'no joint is faster than {MOVES} rad/s; stated is {stated}'
            return CommissionFinding('velocity', Agreement.UNSEEN, said)
        said = f'{found}; stated is {stated}'
        return CommissionFinding('velocity', found.agreement(facts), said)

    def gravity(self) -> list[CommissionFinding]:
        """Return sign and scale of efforts, and what gravity leaves of them."""
        measured = np.array([pose.effort.mean(axis=0) for pose in self._poses])
        torque, weight = self._gain * measured, self._gravity
        told = np.flatnonzero(np.abs(weight).max(axis=0) >= SEEN)
        shown = {self._little(torque[:, j], weight[:, j], int(j)) for j in told}
        if shown == {WeightShown.NONE}:
            self.effort['gravity_included'] = False
        return [self._gravity_of(j, torque[:, j], weight[:, j]) for j in range(self._model.n)]

    def _shown(self, j: int, torque: Array, weight: Array) -> tuple[WeightShown, float]:
        scatter = max(float(abs(self._gain[j]) * pose.effort[:, j].std()) for pose in self._poses)
        return weight_shown(torque, weight, scatter)

    def _little(self, torque: Array, weight: Array, j: int) -> WeightShown | None:
        """Return what a small share of the weight shows; None where it is not small."""
        if abs(share_of_weight(torque, weight)) > OTHER or np.abs(weight).max() < SEEN:
            return None
        return self._shown(j, torque, weight)[0]

    def _too_little(self, j: int, torque: Array, weight: Array) -> str:
        """Say what a small share of the weight is: another unit, no gravity, or not to be told."""
        gain = share_of_weight(torque, weight)
        shown, r = self._shown(j, torque, weight)
        times = f'; it is {gain:.3g} times that'
        if shown is WeightShown.NONE:
            return f'{times}: gravity is not in it, or it is no torque'
        if shown is WeightShown.OPEN:
            return (
                f'{times}: gravity is not in it, or it is in another unit, such as a current; '
                f'{len(weight)} poses do not tell, record more'
            )
        sensors = self._model.sensors
        slope = float(np.polyfit(weight, torque, 1)[0])
        self._propose(self._names[j], 'effort_scale', float(sensors.effort_scale[j] / abs(slope)))
        said = f'; it follows that with {slope:.3g} times its size (correlation {r:.3f}): '
        if slope > 0.0:
            return said + 'another unit, such as a current'
        self._propose(self._names[j], 'effort_sign', -int(sensors.effort_sign[j]))
        return said + 'another unit, such as a current, counted against the axis'

    def _gravity_of(self, j: int, torque: Array, weight: Array) -> CommissionFinding:
        name, what = self._names[j], f'gravity on {self._names[j]}'
        errors, theta = torque_errors(self._model), self._model.theta
        friction = theta[self._model.layout.joint_entries('Fc')][j]
        offset = theta[self._model.layout.joint_entries('beta')][j]
        left = float(np.abs(torque - weight - offset).max())
        allowed = float(errors.absolute[j] + friction + errors.ratio[j] * np.abs(weight).max())
        said = f'{left:.3g} N m beside that of the described arm; {allowed:.3g} N m are allowed'
        is_unit = self._little(torque, weight, j) is WeightShown.FOLLOWED
        if left <= allowed and not is_unit:
            # an effort of nothing, and one of the other sign, have to be seen to differ
            other = min(float(np.abs(x * torque + weight + offset).max()) for x in (0.0, 1.0))
            if other > allowed and np.abs(weight).max() >= SEEN:
                return CommissionFinding(what, Agreement.AGREES, said)
            said += (
                f'; gravity is {np.abs(weight).max():.3g} N m at most in these poses: too little '
                'to tell it from no effort, or from one of the other sign'
            )
            return CommissionFinding(what, Agreement.UNSEEN, said)
        if np.abs(weight).max() < SEEN:
            return CommissionFinding(what, Agreement.DIFFERS, f'{said}; see its offset')
        gain = share_of_weight(torque, weight)
        if gain < -OTHER:
            self._propose(name, 'effort_sign', -int(self._model.sensors.effort_sign[j]))
            said += f'; it is {gain:.3g} times that: counted against the axis'
        elif abs(gain) <= OTHER:
            said += self._too_little(j, torque, weight)
        elif abs(gain - 1.0) > OTHER:
            scale = float(self._model.sensors.effort_scale[j] / gain)
            self._propose(name, 'effort_scale', scale)
            said += f'; it is {gain:.3g} times that: another unit, or the arm is not empty'
        elif abs(gain - 1.0) > A_LITTLE and _explains(gain, torque, weight, friction):
            scale = float(self._model.sensors.effort_scale[j] / gain)
            self._propose(name, 'effort_scale', scale)
            said += f'; it is {gain:.3g} times that in every pose: its unit, or all masses'
        else:
            said += f'; it is {gain:.3g} times that: friction at rest, masses, an offset or '
            said += 'something that it holds'
        return CommissionFinding(what, Agreement.DIFFERS, said)

    def noise(self) -> list[CommissionFinding]:
        """Return how torques scatter about their mean while the arm stands."""
        errors, found, least = torque_errors(self._model), [], []
        for j, name in enumerate(self._names):
            scatter, allowed = 0.0, float(errors.absolute[j])
            for pose in self._poses:
                torque = self._gain[j] * pose.effort[:, j]
                away = float(np.abs(torque - torque.mean()).max())
                if away >= scatter:
                    scatter = away
                    allowed = float(errors.absolute[j] + errors.ratio[j] * abs(torque.mean()))
            agreement = Agreement.AGREES if scatter <= allowed else Agreement.DIFFERS
            least.append(max(scatter, float(errors.absolute[j])))
            said = f'up to {scatter:.3g} N m from the mean; {allowed:.3g} N m are allowed'
            found.append(CommissionFinding(f'torque of {name} at rest', agreement, said))
        if any(finding.agreement is Agreement.DIFFERS for finding in found):
            self.torque = {'ratio': errors.ratio.tolist(), 'absolute': least}
        return found

    def _propose(self, joint: str, key: str, value: float) -> None:
        self.joints.setdefault(joint, {})[key] = value


def _explains(gain: float, torque: Array, weight: Array, friction: float) -> bool:
    """Whether a gain says what is read in several poses that differ, but for friction at rest."""
    if len(weight) < 3 or np.ptp(weight) < SEEN:
        return False
    left = np.abs(torque - gain * weight).max()
    return bool(left <= max(friction, 0.2 * np.abs(torque - weight).max()))


def smallest_step(position: Array) -> float | None:
    """Return the step of which all changes of a position are multiples; None if there is none."""
    changes = np.abs(np.diff(np.unique(position)))
    changes = changes[changes > 1e-9]
    if len(changes) < 3:
        return None
    multiples = changes / changes.min()
    small = multiples < SMALL
    if np.count_nonzero(small) < 0.5 * len(changes):
        return None
    whole = np.round(multiples[small])
    if np.abs(multiples[small] - whole).max() > STEPS:
        return None
    return float(changes[small].sum() / whole.sum())
