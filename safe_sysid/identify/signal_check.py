"""Signal check: does the measured torque have the sign, unit and joint that the model expects.

Gain and correlation of what was measured (b) against what the model predicts (p) with the middle
of its bounds, joint by joint. Most of it is gravity; rows of windows predict friction and inertial
forces too and so need no slow motion. Both figures are taken about zero, not about means: an arm
that stands still shows its sign as well.

If every assumption holds, b = p + d with d = Y (theta - middle) + error, so that

    gain = sum b p / sum p^2    is within  1 +- (|sum Y p| radius + sum delta |p|) / sum p^2,
    correlation                 is at least  sqrt(1 - sum (|Y| radius + delta)^2 / sum p^2),

the latter if there is such a root; without one it may be anything. A joint is refused only
outside of these, so never while the assumptions hold, and only if gain or correlation are far
from 1 as well: smaller contradictions are not about the signal.

What is refused so may be the signal, or a limit that was stated before (A2) and is not true: more
torque than predicted is that of a heavier body rather than that of another unit, unless it is so
much more that no arm would hold such a body.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from safe_sysid.identify.observation import Observation
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

GAIN = 3.0  # a gain outside of 1/3 to 3 is another unit, not a model that is a little off
ROUNDING = 1e-9  # of the sums, relative
HEAVIER = 30.0  # times what is predicted: more is another unit sooner than a heavier body
CORRELATION = 0.5  # less than this is not the torque of this joint


BEYOND_LIMITS = (
    'what is held is outside what was stated before (A2: --payload-mass, --payload-reach; of a '
    'loop, prior:)'
)


class SignalOutcome(Enum):
    """What the torque signal of a joint turned out to be, in words for the operator."""

    AS_EXPECTED = 'the measured torque follows the model'
    UNDECIDED = 'the model predicts too little torque for sure to judge the signal'
    SIGN_INVERTED = 'the effort signal is counted against the joint axis of the URDF'
    WRONG_SCALE = (
        'the effort signal looks like a current, another unit or a torque without gravity'
    )
    UNRELATED = 'the effort signal does not follow the model: joints in another order, or contact'


@dataclass(frozen=True)
class JointSignal:
    """The torque signal of one joint."""

    outcome: SignalOutcome
    gain: float  # measured by predicted; nan without any prediction
    correlation: float  # 1: measured torque is the gain times the predicted one
    observations: int  # rows that this rests on


@dataclass(frozen=True)
class SignalVerdict:
    """The torque signals of all joints; with a refusal no bounds may be published."""

    joints: tuple[JointSignal, ...]
    refusal: str | None


class SignalCheck:
    """Running sums per joint; observations come in, a verdict is there at any time."""

    def __init__(self, model: RobotModel, bounds: Interval) -> None:
        self._model = model
        layout = model.layout
        order = np.concatenate([np.arange(layout.size)[layout.end_effector], layout.rest])
        self._middle, self._radius = bounds.center[order], bounds.radius[order]
        n = layout.n
        self._count = np.zeros(n, dtype=np.int64)
        self._square_p = np.zeros(n)
        self._square_b = np.zeros(n)
        self._product = np.zeros(n)
        self._leverage = np.zeros((n, layout.size))  # sum of Y p
        self._error = np.zeros(n)  # sum of delta |p|
        self._square_reach = np.zeros(n)  # sum of (|Y| radius + delta)^2

    def add_rows(self, rows: Observation) -> None:
        """Rows of windows, in which friction and acceleration have their place."""
        Y = np.hstack([rows.Y_e, rows.Y_r])
        p, reach = Y @ self._middle, np.abs(Y) @ self._radius + rows.delta
        for total, terms in (
            (self._count, 1),
            (self._square_p, p * p),
            (self._square_b, rows.b * rows.b),
            (self._product, rows.b * p),
            (self._leverage, Y * p[:, None]),
            (self._error, rows.delta * np.abs(p)),
            (self._square_reach, reach * reach),
        ):
            np.add.at(total, rows.joint, terms)

    def verdict(self) -> SignalVerdict:
        """Return what the rows so far say."""
        joints = tuple(self._joint_signal(joint) for joint in range(self._model.n))
        sentences = [
            self._sentence(joint, signal)
            for joint, signal in enumerate(joints)
            if signal.outcome not in (SignalOutcome.AS_EXPECTED, SignalOutcome.UNDECIDED)
        ]
        if not sentences:
            return SignalVerdict(joints, None)
        names = self._model.layout.joint_names
        open_ = [
            name
            for name, signal in zip(names, joints, strict=True)
            if signal.outcome is SignalOutcome.UNDECIDED
        ]
        if open_:  # what is wrong with one joint is often wrong with all
            sentences.append(f'not decided: {", ".join(open_)}')
        return SignalVerdict(joints, '; '.join([*sentences, 'no bounds are published']))

    def _joint_signal(self, joint: int) -> JointSignal:
        p2, b2 = float(self._square_p[joint]), float(self._square_b[joint])
        count = int(self._count[joint])
        if p2 == 0.0:
            return JointSignal(SignalOutcome.UNDECIDED, np.nan, np.nan, count)
        gain = float(self._product[joint]) / p2
        correlation = float(self._product[joint] / np.sqrt(p2 * b2)) if b2 > 0.0 else 0.0
        slack = float(np.abs(self._leverage[joint]) @ self._radius + self._error[joint]) / p2
        share = float(self._square_reach[joint]) / p2
        least = float(np.sqrt(1.0 - share)) if share < 1.0 else -1.0
        outcome = _outcome(gain, correlation, slack, least)
        return JointSignal(outcome, gain, correlation, count)

    def _sentence(self, joint: int, signal: JointSignal) -> str:
        name = self._model.layout.joint_names[joint]
        file = self._model.settings_file
        measured = (
            f'{name}: measured torque is {signal.gain:.3g} times what the model predicts '
            f'(correlation {signal.correlation:.3f} over {signal.observations} observations): '
        )
        cure = {
            SignalOutcome.SIGN_INVERTED: (
                f'set effort_sign: {-int(self._model.sensors.effort_sign[joint])} for {name}'
            ),
            SignalOutcome.WRONG_SCALE: f'correct effort_scale of {name}, or effort:',
            SignalOutcome.UNRELATED: f'compare the order of joints with {name}',
        }[signal.outcome]
        of_signal = f'{signal.outcome.value}; {cure} in {file}'
        if signal.outcome is SignalOutcome.SIGN_INVERTED:
            return measured + of_signal
        if signal.outcome is SignalOutcome.WRONG_SCALE and GAIN < signal.gain <= HEAVIER:
            return f'{measured}{BEYOND_LIMITS}; or {of_signal}'
        return f'{measured}{of_signal}; or {BEYOND_LIMITS}'


def _outcome(gain: float, correlation: float, slack: float, least: float) -> SignalOutcome:
    """Judge by how far gain and correlation may be from 1 while the assumptions hold."""
    possible = abs(gain - 1.0) <= slack + ROUNDING * (1.0 + slack)
    if not possible and gain < 0.0 and correlation <= -CORRELATION:
        return SignalOutcome.SIGN_INVERTED
    if correlation + ROUNDING < min(CORRELATION, least) or (not possible and gain < 0.0):
        return SignalOutcome.UNRELATED
    if not possible and not 1.0 / GAIN <= gain <= GAIN:
        return SignalOutcome.WRONG_SCALE
    return SignalOutcome.UNDECIDED if slack >= 1.0 else SignalOutcome.AS_EXPECTED
