"""Only legal transitions, every fault has a cause and a way back."""

from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

from safe_sysid.track.supervisor import (
    OF_A_CHANGE,
    TABLE,
    Cause,
    Mode,
    Signal,
    Situation,
    Supervision,
    Supervisor,
    successor,
)

# Written down a second time, mode by mode, so that the table can't change unnoticed.
LEGAL = {
    'idle': {'idle', 'probing', 'exciting', 'fault', 'releasing'},
    'probing': {'probing', 'exciting', 'braking', 'fault'},
    'exciting': {'exciting', 'identified', 'braking', 'fault'},
    'identified': {
        *('identified', 'task', 'exciting', 'holding', 'idle', 'changing', 'fault', 'releasing'),
    },
    'task': {'task', 'identified', 'braking', 'fault'},
    'braking': {'braking', 'holding', 'fault'},
    'holding': {'holding', 'probing', 'exciting', 'idle', 'changing', 'fault', 'releasing'},
    'changing': {'changing', 'holding', 'fault', 'releasing'},
    'fault': {'fault', 'holding', 'releasing'},
    'releasing': {'releasing', 'ended'},
    'ended': {'ended'},
}
MOVING = {Mode.PROBING, Mode.EXCITING, Mode.TASK, Mode.BRAKING}
SITUATIONS = st.builds(
    Situation,
    st.one_of(st.none(), st.sampled_from(Signal)),
    st.one_of(st.just(frozenset()), st.frozensets(st.sampled_from(Cause), max_size=2)),
    st.booleans(),
)


def after(*situations):
    """A supervisor that has been through some situations, and what it said last."""
    supervisor = Supervisor()
    for situation in situations:
        now = supervisor.step(situation)
    return now


EXCITING = (Situation(Signal.EXCITE, at_rest=True),)
IDENTIFIED = (*EXCITING, Situation(Signal.BOUNDS_SETTLED, at_rest=True))
TASK = (*IDENTIFIED, Situation(Signal.DO_TASK, at_rest=True))


def test_the_way_from_idle_to_a_task_and_back():
    done = (*TASK, Situation(Signal.TASK_DONE, at_rest=True), Situation(Signal.STOP))
    assert after(*EXCITING).mode is Mode.EXCITING
    assert after(*IDENTIFIED).mode is Mode.IDENTIFIED
    assert after(*TASK).mode is Mode.TASK
    assert after(*done).mode is Mode.IDLE


def test_braking_ends_when_the_arm_is_at_rest():
    braking = (*EXCITING, Situation(Signal.BRAKE))
    assert after(*braking, Situation()).mode is Mode.BRAKING
    assert after(*braking, Situation(at_rest=True)).mode is Mode.HOLDING
    assert not after(*braking).takes_plans


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(SITUATIONS, max_size=30))
def test_no_sequence_of_events_makes_an_illegal_transition(situations):
    supervisor, before = Supervisor(), Supervision(Mode.IDLE)
    for situation in situations:
        now = supervisor.step(situation)
        assert now.mode.value in LEGAL[before.mode.value]
        assert (now.cause is not None) == (now.mode is Mode.FAULT)
        if situation.faults:
            assert now.mode in (Mode.FAULT, Mode.RELEASING, Mode.ENDED)
        if before.mode is Mode.FAULT and now.mode is not Mode.FAULT:
            goes_on = situation.signal is Signal.GO_ON and before.cause in OF_A_CHANGE
            assert goes_on or situation.signal is Signal.RESET_FAULT or now.is_ending
            assert situation.at_rest
        if before.mode in MOVING and now.mode not in MOVING | {Mode.FAULT}:
            assert situation.at_rest
        if now.mode is Mode.ENDED and before.mode is not Mode.ENDED:
            assert situation.signal is Signal.RELEASED
        assert now.is_ending >= before.is_ending
        if before.is_ending:
            assert not now.takes_plans
        if now.takes_plans and not before.takes_plans:
            assert situation.signal in (Signal.EXCITE, Signal.DO_TASK, Signal.ANNOUNCE_CHANGE)
        before = now


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(SITUATIONS, max_size=20))
def test_from_everywhere_there_is_a_way_back(situations):
    """The operator clears the causes, waits, resets, stops: idle."""
    situations = [s for s in situations if s.signal is not Signal.END]
    supervisor = Supervisor()
    for situation in situations:
        supervisor.step(situation)
    for signal in (Signal.BRAKE, None, Signal.RESET_FAULT, Signal.STOP):
        now = supervisor.step(Situation(signal, at_rest=True))
    assert now == Supervision(Mode.IDLE)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(SITUATIONS, max_size=20))
def test_from_everywhere_the_end_leads_to_rest_and_into_other_hands(situations):
    supervisor = Supervisor()
    for situation in situations:
        supervisor.step(situation)
    now = supervisor.step(Situation(Signal.END))
    if now.mode in MOVING | {Mode.FAULT}:
        assert supervisor.step(Situation()).mode is now.mode  # as long as the arm moves
        for _ in range(2):
            now = supervisor.step(Situation(at_rest=True))
    assert now.mode in (Mode.RELEASING, Mode.ENDED)
    assert supervisor.step(Situation(Signal.RELEASED)).mode is Mode.ENDED


def test_after_the_end_was_asked_for_nothing_else_is_granted():
    now = after(*TASK, Situation(Signal.END), Situation(Signal.EXCITE))
    assert now.mode is Mode.BRAKING
    assert 'excite has to wait for another run' in now.refusal
    fault = after(*TASK, Situation(Signal.END), Situation(faults=frozenset({Cause.TRACKING})))
    assert (fault.mode, fault.is_ending) == (Mode.FAULT, True)


@pytest.mark.parametrize('cause', Cause)
def test_every_cause_says_what_is_wrong_and_what_to_do(cause):
    now = after(*TASK, Situation(faults=frozenset({cause})))
    assert (now.mode, now.cause) == (Mode.FAULT, cause)
    said, way_back = cause.value
    assert str(now) == f'fault: {said}; {way_back}'
    assert 'reset_fault' in way_back
    assert not now.takes_plans


def test_a_lost_track_names_what_certificates_for_exact_readings_leave_out():
    fault = str(after(*TASK, Situation(faults=frozenset({Cause.TRACKING}))))
    assert 'with `sampling: ideal`, for period, delay and encoder steps' in fault
    assert '`sampling: described` takes them in' in fault


def test_a_fault_is_not_reset_while_its_cause_is_there_or_the_arm_moves():
    fault = Supervision(Mode.FAULT, Cause.STALE_MEASUREMENT)
    present = Situation(Signal.RESET_FAULT, frozenset({Cause.NO_PLAN}), at_rest=True)
    still = successor(fault, present)
    assert (still.mode, still.cause) == (Mode.FAULT, Cause.STALE_MEASUREMENT)
    assert 'reset_fault has to wait, as no plan could be certified' in still.refusal
    moving = successor(fault, Situation(Signal.RESET_FAULT))
    assert 'until the arm is at rest' in moving.refusal
    assert successor(fault, Situation(Signal.RESET_FAULT, at_rest=True)).mode is Mode.HOLDING


def test_a_payload_that_changes_in_motion_is_a_fault_and_at_rest_is_none():
    assert after(*TASK, Situation(Signal.NEW_PAYLOAD)).cause is Cause.PAYLOAD_CHANGED
    at_rest = after(*IDENTIFIED, Situation(Signal.NEW_PAYLOAD, at_rest=True))
    assert at_rest.mode is Mode.HOLDING  # what was identified counts no more: no task from here
    assert Signal.DO_TASK not in TABLE[Mode.HOLDING]


def test_no_motion_begins_on_bounds_of_the_payload_before():
    now = after(Situation(Signal.NEW_PAYLOAD, at_rest=True))
    for signal in (Signal.EXCITE, Signal.STOP):
        pending = successor(now, Situation(signal, at_rest=True, awaited='it is'))
        assert pending.mode is Mode.IDLE
        assert bool(pending.refusal) == (signal is Signal.EXCITE)
    assert successor(now, Situation(Signal.EXCITE, at_rest=True)).mode is Mode.EXCITING
    identified = after(*IDENTIFIED)
    waits = successor(identified, Situation(Signal.DO_TASK, frozenset(), True, 'it is'))
    assert waits.mode is Mode.IDENTIFIED
    assert waits.refusal == 'do_task has to wait until it is'


def test_a_request_that_means_nothing_is_refused_with_what_is_allowed():
    now = after(Situation(Signal.DO_TASK, at_rest=True))
    assert now.mode is Mode.IDLE
    assert now.refusal == (
        "start means nothing in mode idle; allowed are ['start', 'stop', 'new_payload', 'end']"
    )


def test_bounds_settle_only_at_rest():
    now = after(*EXCITING, Situation(Signal.BOUNDS_SETTLED))
    assert now.mode is Mode.EXCITING
    assert 'bounds_settled has to wait' in now.refusal
