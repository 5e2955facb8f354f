"""Supervisor: which mode the loop is in, and what may change that.

`TABLE` is every transition there is. In idle, identified and holding the arm is at rest; in fault
the guard brakes it and holds it. Only exciting, task and changing take new plans, so leaving them
is enough to brake: a plan without a successor ends at rest. In changing all plans stand still.

After a fault of which a change of what is held is the cause, and nothing else, the loop may go on
by itself (`GO_ON`), once the arm is at rest.

Once the end was asked for, every mode leads to rest and from there to releasing, in which the
bridge hands the arm to what holds it without us; nothing leads back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from safe_sysid.track.seen_law import LEFT_OUT


class Mode(Enum):
    """What the loop is doing."""

    IDLE = 'idle'  # no torque is given out
    PROBING = 'probing'  # the bridge finds out whether its driver does what it is told
    EXCITING = 'exciting'
    IDENTIFIED = 'identified'  # at rest, [theta] is as small as it gets
    TASK = 'task'
    BRAKING = 'braking'
    HOLDING = 'holding'
    CHANGING = 'changing'  # at rest on a plan for what is held and for what may be held next
    FAULT = 'fault'
    RELEASING = 'releasing'  # the guard holds the arm until something else does
    ENDED = 'ended'  # the arm is in other hands, all processes leave


class Signal(Enum):
    """What can change a mode: the first ten are asked for, the rest is observed."""

    PROBE = 'probe'
    EXCITE = 'excite'
    DO_TASK = 'do_task'
    BRAKE = 'brake'
    STOP = 'stop'
    NEW_PAYLOAD = 'new_payload'
    ANNOUNCE_CHANGE = 'announce_change'  # of what is held, which waits until it is granted
    PAYLOAD_CHANGED = 'payload_changed'  # as was announced
    RESET_FAULT = 'reset_fault'
    END = 'end'
    OBEYED = 'obeyed'  # by the driver, with every joint
    BOUNDS_SETTLED = 'bounds_settled'  # [theta] shrinks no further
    TASK_DONE = 'task_done'
    AT_REST = 'at_rest'
    GO_ON = 'go_on'  # from a change that nobody announced, on bounds of what may be held now
    RELEASED = 'released'  # the robot gets no torque from us any more
    FAULT = 'fault'


class Cause(Enum):
    """Why there is a fault, and the way back from it."""

    STALE_MEASUREMENT = (
        'measurements are late or have stopped',
        'see that the driver is running, then reset_fault',
    )
    BAD_MEASUREMENT = (
        'a measurement is not finite or not one number per joint',
        'check encoders and joint names of the driver, then reset_fault',
    )
    COMMAND_REFUSED = (
        'the guard refused a torque',
        'read its reason, correct gains or limits, then reset_fault',
    )
    ROBOT_NOT_READY = (
        'the robot takes no torque any more',
        'read what its bridge says, bring the robot back to torque control, then reset_fault',
    )
    TRACKING = (
        'the error is larger than the controller promises, so an assumption is false',
        f'look for contact, a wrong payload, wrong friction or, {LEFT_OUT}; new_payload if it '
        'changed, then reset_fault',
    )
    CONTRADICTION = (
        'measurements contradict the model',
        'look for contact, slip or a torque signal out of its promised error; then reset_fault',
    )
    PAYLOAD_CHANGED = (
        'the payload changed while the arm moved, so its plan is certified for another one',
        'reset_fault, then new_payload',
    )
    CHANGE_NOTICED = (
        'what is held has changed, or something touches the arm',
        'see what it holds, then reset_fault, after which nothing is known of it',
    )
    SECOND_PUBLISHER = (
        'another safe_sysid loop publishes on the same topics',
        'stop it or set another ROS_DOMAIN_ID, then reset_fault',
    )
    RESTARTED = (
        'the supervisor was started while the robot was under torque',
        'see that all nodes are running, then reset_fault',
    )
    SCENE_UNCLEAR = (
        'what is shown as an obstacle is not understood, or nobody knows where it is',
        'show it again as the sentence says, or delete it; then reset_fault',
    )
    OBSTACLE = (
        'an obstacle has appeared in the path, and no stop was proven to avoid it',
        'see that nothing is touched and make way; then reset_fault',
    )
    NOT_RECORDED = (
        'nothing is recorded any more, which the settings require',
        'read what the recorder says, make room and start it again; then reset_fault',
    )
    NO_PLAN = (
        'no plan could be certified, again and again',
        'give it more room, time or smaller bounds; then reset_fault',
    )


@dataclass(frozen=True)
class Situation:
    """What the supervisor is told in one period."""

    signal: Signal | None = None  # not FAULT: faults have causes
    faults: frozenset[Cause] = frozenset()  # all that are present now
    at_rest: bool = False
    awaited: str = ''  # what has to come before a motion begins; empty: nothing


@dataclass(frozen=True)
class Supervision:
    """The mode, why there is a fault, and why a request was refused."""

    mode: Mode
    cause: Cause | None = None  # only in fault
    refusal: str = ''
    is_ending: bool = False  # asked for once, and not taken back

    @property
    def takes_plans(self) -> bool:
        """Whether a plan may follow the one in force."""
        return self.mode in (Mode.EXCITING, Mode.TASK, Mode.CHANGING)

    @property
    def gives_torque(self) -> bool:
        """Whether the robot gets any torque at all."""
        return self.mode not in (Mode.IDLE, Mode.ENDED)

    def __str__(self) -> str:
        if self.cause is None:
            return self.mode.value
        said, way_back = self.cause.value
        return f'{self.mode.value}: {said}; {way_back}'


TABLE: Mapping[Mode, Mapping[Signal, Mode]] = {
    Mode.IDLE: {
        Signal.PROBE: Mode.PROBING,
        Signal.EXCITE: Mode.EXCITING,
        Signal.STOP: Mode.IDLE,
        Signal.NEW_PAYLOAD: Mode.IDLE,
        Signal.END: Mode.RELEASING,
        Signal.FAULT: Mode.FAULT,
    },
    Mode.PROBING: {
        Signal.OBEYED: Mode.EXCITING,
        Signal.BRAKE: Mode.BRAKING,
        Signal.STOP: Mode.BRAKING,
        Signal.END: Mode.BRAKING,
        Signal.FAULT: Mode.FAULT,
    },
    Mode.EXCITING: {
        Signal.BOUNDS_SETTLED: Mode.IDENTIFIED,
        Signal.BRAKE: Mode.BRAKING,
        Signal.STOP: Mode.BRAKING,
        Signal.END: Mode.BRAKING,
        Signal.FAULT: Mode.FAULT,
    },
    Mode.IDENTIFIED: {
        Signal.DO_TASK: Mode.TASK,
        Signal.EXCITE: Mode.EXCITING,
        Signal.BRAKE: Mode.HOLDING,
        Signal.STOP: Mode.IDLE,
        Signal.NEW_PAYLOAD: Mode.HOLDING,
        Signal.ANNOUNCE_CHANGE: Mode.CHANGING,
        Signal.END: Mode.RELEASING,
        Signal.FAULT: Mode.FAULT,
    },
    Mode.TASK: {
        Signal.TASK_DONE: Mode.IDENTIFIED,
        Signal.BRAKE: Mode.BRAKING,
        Signal.STOP: Mode.BRAKING,
        Signal.END: Mode.BRAKING,
        Signal.FAULT: Mode.FAULT,
    },
    Mode.BRAKING: {
        Signal.AT_REST: Mode.HOLDING,
        Signal.BRAKE: Mode.BRAKING,
        Signal.STOP: Mode.BRAKING,
        Signal.END: Mode.BRAKING,
        Signal.FAULT: Mode.FAULT,
    },
    Mode.HOLDING: {
        Signal.PROBE: Mode.PROBING,
        Signal.EXCITE: Mode.EXCITING,
        Signal.BRAKE: Mode.HOLDING,
        Signal.STOP: Mode.IDLE,
        Signal.NEW_PAYLOAD: Mode.HOLDING,
        Signal.ANNOUNCE_CHANGE: Mode.CHANGING,
        Signal.END: Mode.RELEASING,
        Signal.FAULT: Mode.FAULT,
    },
    Mode.CHANGING: {
        Signal.ANNOUNCE_CHANGE: Mode.CHANGING,
        Signal.PAYLOAD_CHANGED: Mode.HOLDING,
        Signal.BRAKE: Mode.HOLDING,
        Signal.STOP: Mode.HOLDING,
        Signal.END: Mode.RELEASING,
        Signal.FAULT: Mode.FAULT,
    },
    Mode.FAULT: {
        Signal.RESET_FAULT: Mode.HOLDING,
        Signal.GO_ON: Mode.HOLDING,
        Signal.END: Mode.FAULT,
        Signal.AT_REST: Mode.RELEASING,  # where the end was asked for
        Signal.FAULT: Mode.FAULT,
    },
    Mode.RELEASING: {
        Signal.END: Mode.RELEASING,
        Signal.RELEASED: Mode.ENDED,
        Signal.FAULT: Mode.RELEASING,  # the guard acts alone already
    },
    Mode.ENDED: {Signal.END: Mode.ENDED, Signal.FAULT: Mode.ENDED},
}
GUARDED = (Mode.FAULT, Mode.RELEASING, Mode.ENDED)  # the guard acts, a fault changes nothing
MOVING = (Mode.PROBING, Mode.EXCITING, Mode.TASK, Mode.BRAKING)
OBSERVED = (Signal.OBEYED, Signal.AT_REST, Signal.GO_ON, Signal.RELEASED, Signal.FAULT)
# What the loop tells itself; nobody else can.
INTERNAL = (*OBSERVED, Signal.TASK_DONE, Signal.BOUNDS_SETTLED)
# In releasing somebody else may hold the arm already; in probing who does is to be found out.
WITHOUT_TORQUE = (Mode.IDLE.value, Mode.PROBING.value, Mode.RELEASING.value, Mode.ENDED.value)
STARTS = (Signal.PROBE, Signal.EXCITE, Signal.DO_TASK)  # `start`, for whoever asks for them
# What has to wait until the arm is at rest.
WAITS_FOR_REST = (
    *(Signal.BOUNDS_SETTLED, Signal.TASK_DONE, Signal.RESET_FAULT, Signal.AT_REST),
    *(Signal.GO_ON, Signal.ANNOUNCE_CHANGE),
)
# What an arm shows whose payload is another one than its plan was certified for.
OF_A_CHANGE = frozenset({Cause.CHANGE_NOTICED, Cause.TRACKING, Cause.CONTRADICTION})


def successor(now: Supervision, situation: Situation) -> Supervision:
    """Return what a situation makes of a mode."""
    faults = situation.faults
    if situation.signal is Signal.NEW_PAYLOAD and now.mode in MOVING:
        faults = faults | {Cause.PAYLOAD_CHANGED}
    is_ending = now.is_ending or situation.signal is Signal.END
    if faults and now.mode not in GUARDED:
        first = next(cause for cause in Cause if cause in faults)
        return Supervision(TABLE[now.mode][Signal.FAULT], first, '', is_ending)
    signal = situation.signal or _observed(now, situation)
    refusal = '' if signal is None else _refusal(now, signal, situation)
    if signal is None or refusal:
        return Supervision(now.mode, now.cause, refusal, is_ending)
    mode = TABLE[now.mode][signal]
    return Supervision(mode, now.cause if mode is Mode.FAULT else None, '', is_ending)


def _observed(now: Supervision, situation: Situation) -> Signal | None:
    """Return what follows from rest alone."""
    if not situation.at_rest:
        return None
    if now.mode is Mode.BRAKING or (now.mode is Mode.FAULT and now.is_ending):
        return Signal.AT_REST
    return Signal.END if now.mode is Mode.HOLDING and now.is_ending else None


def _refusal(now: Supervision, signal: Signal, situation: Situation) -> str:
    """Why a signal changes nothing; empty if it does."""
    if now.is_ending and signal not in (*OBSERVED, Signal.END):
        return f'{signal.value} has to wait for another run, as the end was asked for'
    is_unknown = signal is Signal.FAULT or signal not in TABLE[now.mode]
    if is_unknown or (now.mode is Mode.FAULT and signal is Signal.AT_REST and not now.is_ending):
        allowed = dict.fromkeys(_word(s) for s in TABLE[now.mode] if s not in INTERNAL)
        mode = now.mode.value
        return f'{_word(signal)} means nothing in mode {mode}; allowed are {list(allowed)}'
    if signal is Signal.RESET_FAULT and situation.faults:  # which may hide whether it is at rest
        present = next(cause for cause in Cause if cause in situation.faults)
        said, way_back = present.value
        return f'{signal.value} has to wait, as {said}: {way_back}'
    if signal is Signal.GO_ON and now.cause not in OF_A_CHANGE:
        return f'{signal.value} is no way back from this fault'
    if signal in STARTS and situation.awaited:
        return f'{signal.value} has to wait until {situation.awaited}'
    if signal in WAITS_FOR_REST and not situation.at_rest:
        return f'{signal.value} has to wait until the arm is at rest and its plan is over'
    return ''


def _word(signal: Signal) -> str:
    """Return what an operator calls it."""
    return 'start' if signal in STARTS else signal.value


class Supervisor:
    """Keeps the mode; begins in idle."""

    def __init__(self) -> None:
        self._now = Supervision(Mode.IDLE)

    def step(self, situation: Situation) -> Supervision:
        """Mode after a situation."""
        self._now = successor(self._now, situation)
        return self._now
