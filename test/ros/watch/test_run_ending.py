"""A supervisor waits for a bridge that hands the arm over, as long as the arm's time asks for."""

import pytest

from safe_sysid.ros.watch.heartbeats import Heartbeats
from safe_sysid.ros.watch.run_ending import LATE_READERS, PATIENCE, PERIOD, STANDS, RunEnding
from safe_sysid.track.supervisor import Mode


@pytest.fixture
def ending():
    found = RunEnding(Heartbeats('/arm', 1.0))
    found.hear('0 monitor: the task is done')
    return found


@pytest.mark.parametrize(
    'request_', ['not a status', '', '0', '0 nobody', '² monitor: done', '-1 a: b', '256 a: b']
)
def test_a_request_of_another_form_ends_nothing_and_is_said(request_, capsys):
    ending = RunEnding(Heartbeats('/arm', 1.0))
    ending.hear(request_)
    assert (ending.is_asked_for, ending.status, ending.why) == (False, 0, '')
    assert f'end_requested is {request_!r}, so the run goes on' in ''.join(capsys.readouterr())
    ending.hear('3 bridge: a fault: of two\nlines')
    assert (ending.status, ending.why) == (3, 'bridge: a fault: of two\nlines')
    assert ending.is_asked_for


def looks_until_over(ending, mode, is_stale=False, pace=1.0):
    """Looks of an arm whose time goes on so fast; none: nothing is heard of it."""
    for look in range(1, 10 * PATIENCE):
        stamp = None if pace is None else round(1e9 * (1.0 + pace * PERIOD * look))
        if ending.is_over(mode, is_stale, stamp):
            return look
    return None


def test_it_is_patient_with_a_bridge_that_cannot_hand_the_arm_over(ending):
    assert looks_until_over(ending, Mode.RELEASING) == PATIENCE + 1


def test_without_any_word_of_the_arm_it_does_not_say_that_nothing_is_cut_short(ending, capsys):
    assert looks_until_over(ending, Mode.RELEASING, pace=None) == PATIENCE + 1
    assert 'the driver goes on with the last torque' in ''.join(capsys.readouterr())


def test_it_waits_longer_where_the_time_of_the_arm_is_slow(ending):
    assert looks_until_over(ending, Mode.RELEASING, pace=0.1) > 4 * PATIENCE


def test_it_does_not_wait_for_ever_where_time_stands_still_as_nothing_is_heard(ending):
    assert looks_until_over(ending, Mode.RELEASING, pace=0.0) is None
    assert looks_until_over(ending, Mode.RELEASING, pace=None) <= PATIENCE + 1


@pytest.mark.parametrize('between', [11, 17, 40])
@pytest.mark.parametrize('step', [0, 10**6])
def test_samples_that_are_far_between_are_no_silence(ending, between, step):
    """In lockstep on a busy machine: none for some looks, then one, 1 ms later or at once."""
    stamp, since = 10**9, 0
    for look in range(1, 20 * PATIENCE):
        since = 0 if look % between == 0 else since + 1
        stamp += step if since == 0 else 0
        is_silent = since * PERIOD > 0.5
        assert not ending.is_over(Mode.RELEASING, False, None if is_silent else stamp)


def stuck_after(ending, looks, silent=('identifier',), step=0):
    for look in range(looks + 1):
        ending.watch(10**9 + step * look, silent)
    return ending.stuck


def test_time_that_stands_still_as_somebody_is_silent_is_told_once_it_has_for_long(ending):
    assert stuck_after(ending, STANDS) == ''
    assert stuck_after(ending, 1) == 'time stands still, as identifier does not answer'
    ending.watch(2 * 10**9, ['identifier'])
    assert ending.stuck == ''


@pytest.mark.parametrize('but', ['nobody is silent', 'time goes on', 'no end was asked for'])
def test_otherwise_time_may_stand_still_as_long_as_it_has_to(ending, but):
    if but == 'no end was asked for':
        ending = RunEnding(Heartbeats('/arm', 1.0))
    silent, step = [] if but == 'nobody is silent' else ['planner'], int(but == 'time goes on')
    assert stuck_after(ending, 3 * STANDS, silent, step) == ''


@pytest.mark.parametrize('mode', [Mode.BRAKING, Mode.FAULT])
def test_in_lockstep_a_bridge_that_is_gone_keeps_nobody_for_ever(ending, mode, capsys):
    """There nothing is stale, as time may stand still as long as it has to."""
    assert looks_until_over(ending, mode, pace=0.0) is None
    assert looks_until_over(ending, mode, pace=None) == PATIENCE + 1
    assert 'the driver goes on with the last torque' in ''.join(capsys.readouterr())


def test_a_bridge_that_is_gone_is_waited_for_in_any_mode(ending):
    assert looks_until_over(ending, Mode.TASK) is None
    assert looks_until_over(ending, Mode.TASK, is_stale=True, pace=None) == PATIENCE + 1


def test_what_has_ended_is_said_for_late_readers(ending):
    assert looks_until_over(ending, Mode.ENDED) == LATE_READERS + 1
