"""What an identifier makes of events and requests; what may have changed is not as before."""

from types import SimpleNamespace

import numpy as np
import pytest
from ros.watch.told_identifier import BOTH, WINDOW, Identifier
from sensor_msgs.msg import JointState, TimeReference
from std_msgs.msg import Header

from safe_sysid.identify.change.change_kinds import Explanation, Kind
from safe_sysid.identify.change.change_watch import NoticedChange
from safe_sysid.identify.change.held_next import HeldNext
from safe_sysid.ros.messages.codec import SECOND, time_of
from safe_sysid.ros.watch.finger import FingerSettings
from safe_sysid.ros.watch.payload_events import (
    ANNOUNCE,
    ANNOUNCED_FOR,
    CALL_OFF,
    CHANGED,
    FIRST,
    GO_ON,
    IS_LOAD,
    MAY_BE_TOUCH,
    MAY_HAVE_CHANGED,
    SEEN,
    TAKEN,
    TOUCHED,
    WAITS,
    HoldSettings,
    PayloadEvents,
)
from safe_sysid.sets.interval import Interval

NEXT = HeldNext(Interval(np.ones(10), np.full(10, 2.0)), np.full(10, 1.5))
MARGIN = round(0.03 * SECOND)
NEWEST = 100 * SECOND


@pytest.fixture
def identifier():
    return Identifier()


@pytest.fixture
def events(identifier, monkeypatch):
    monkeypatch.setattr('safe_sysid.ros.watch.payload_events.name_of', lambda _: 'bounds 1')
    node = SimpleNamespace(
        create_subscription=lambda *_: None, resolve_topic_name=lambda name: f'/loop/{name}'
    )
    settings = HoldSettings(FingerSettings('finger'))
    told = (lambda: None, lambda _: False, lambda: identifier.said.append(SEEN))
    events = PayloadEvents(node, identifier, NEXT, settings, *told)
    events.note_sample(NEWEST)
    return events


def ask(events, what, name, now):
    header = Header(stamp=time_of(name))
    events._on_request(TimeReference(header=header, time_ref=time_of(now), source=what))


def event(events, stamp):
    events._on_event(Header(stamp=time_of(stamp)))


def noticed(*kinds, is_explained=True):
    explanations = tuple(Explanation(kind, 200.0, (0.0, 0.0, 60.0)) for kind in kinds)
    return NoticedChange(NEWEST, NEWEST - 20, NEWEST - 10, explanations, is_explained)


def test_samples_on_either_side_of_an_event_are_of_different_bodies(events, identifier):
    event(events, NEWEST - 1000)
    ask(events, GO_ON, 1, NEWEST + SECOND)
    room = MARGIN + WINDOW
    expected = ('change', NEWEST - 1000 - room, NEWEST - 1000 + room, NEXT.bounds, NEXT.nominal)
    assert identifier.told == [('doubt',), expected]
    assert events.change() is None


@pytest.mark.parametrize('is_told', [True, False])
@pytest.mark.parametrize('kinds', [(Kind.DROPPED,), (Kind.PICKED,), (Kind.PICKED, Kind.DROPPED)])
def test_what_nobody_told_may_be_a_false_alarm_and_what_was_held_be_held_still(
    events, identifier, kinds, is_told
):
    if is_told:
        event(events, NEWEST)
    identifier.found = noticed(*kinds)
    assert events.figures()[IS_LOAD]
    ask(events, GO_ON, 1, NEWEST)
    kind, *_, bounds, nominal = identifier.told[-1]
    assert kind == 'change'
    assert bounds.contains(NEXT.bounds)
    assert bounds.contains(nominal)
    assert bounds.contains(BOTH.end_effector_bounds) is not is_told


def test_after_a_clock_that_went_back_events_are_judged_by_samples_of_now(events, identifier):
    events.note_sample(5 * SECOND)
    events.begin_anew()
    events.note_sample(6 * SECOND)
    ask(events, ANNOUNCE, 1, 6 * SECOND)
    event(events, 6 * SECOND)
    assert events.figures()[FIRST] == 6 * SECOND + MARGIN
    ask(events, CHANGED, 2, 7 * SECOND)
    _, after, before, *_ = identifier.told[-1]
    assert after <= before <= 7 * SECOND


def test_a_sample_that_comes_late_is_not_the_newest(events):
    events.note_sample(NEWEST - SECOND)
    event(events, NEWEST + SECOND // 4)
    assert 'cannot be' not in events.figures()['change']


@pytest.mark.parametrize(
    'stamp', [0, 1, NEWEST - 2 * SECOND, NEWEST + 2 * SECOND, 10**18], ids=str
)
def test_a_stamp_that_cannot_be_is_not_gone_by(events, identifier, stamp):
    """What has changed, has; nobody knows when, so no sample until the answer is of one body."""
    event(events, stamp)
    assert events.figures()[IS_LOAD]
    assert f'{stamp} ns, cannot' in events.figures()['change']
    now = NEWEST + SECOND
    ask(events, GO_ON, 1, now)
    what, after, before, *_ = identifier.told[-1]
    assert (what, before) == ('change', now + WINDOW)
    assert after < 0
    event(events, NEWEST)  # the next one has a stamp
    ask(events, GO_ON, 2, now)
    assert identifier.told[-1][2] == NEWEST + MARGIN + WINDOW


@pytest.mark.parametrize('stamp', [0, NEWEST - 2 * SECOND, 10**18], ids=str)
def test_an_event_without_a_time_ends_the_wait_for_an_announced_change(events, stamp):
    ask(events, ANNOUNCE, NEWEST - 10, NEWEST - 10)
    event(events, stamp)
    assert events.figures()[SEEN] > NEWEST - 10


def test_an_announcement_that_another_payload_makes_void_is_asked_for_again(events, identifier):
    """An identifier that was started anew hears of both in any order."""
    ask(events, ANNOUNCE, 7, NEWEST)
    events.begin_anew()
    assert events.figures()[ANNOUNCED_FOR] == ''
    assert events.figures()[TAKEN] != 7  # so the supervisor tells it again
    ask(events, ANNOUNCE, 7, NEWEST)
    assert (events.figures()[TAKEN], events.figures()[ANNOUNCED_FOR]) == (7, 'bounds 1')
    ask(events, CHANGED, 8, NEWEST)
    events.begin_anew()
    assert events.figures()[TAKEN] == 8
    assert [each[0] for each in identifier.told] == ['announce', 'announce', 'change']


def test_the_same_event_again_is_no_other_change(events):
    event(events, NEWEST)
    ask(events, GO_ON, 1, NEWEST + SECOND)
    event(events, NEWEST)
    assert events.change() is None


def test_a_collision_stays_one_where_the_gripper_says_something_too(events, identifier):
    identifier.found = noticed(Kind.TOUCHED, is_explained=False)
    assert not events.figures()[IS_LOAD]
    event(events, NEWEST)
    figures = events.figures()
    assert not figures[IS_LOAD]
    assert 'touched' in figures['change']
    assert figures[WAITS] == 'it may have been touched'


def test_a_slip_waits_for_a_person_and_says_why(events, identifier):
    identifier.found = noticed(Kind.DROPPED, Kind.SLIPPED)
    assert not events.figures()[IS_LOAD]
    assert 'slipped is not where' in events.figures()[WAITS]


def test_an_event_says_which_of_two_kinds_it_was(events, identifier):
    identifier.found = noticed(Kind.TOUCHED, Kind.DROPPED)
    assert not events.figures()[IS_LOAD]
    event(events, NEWEST)
    assert events.figures()[IS_LOAD]


def finger(events, position, stamp, name='finger'):
    """What a driver says of its gripper, and of an arm."""
    msg = JointState(name=['joint_1', name], position=[0.3, position])
    msg.header.stamp = time_of(stamp)
    events._finger._on_state(msg)


def test_a_finger_that_says_no_number_says_nothing(events):
    for position in (0.9, float('nan'), 0.9):
        finger(events, position, NEWEST + 1)
    assert events.change() is None


def test_a_finger_that_passes_the_middle_says_between_which_stamps(events):
    finger(events, 0.2, NEWEST - 30)
    finger(events, 0.9, NEWEST - 20, name='another')
    assert events.change() is None
    finger(events, 0.9, NEWEST - 10)
    change = events.change()
    assert (change.after, change.before) == (NEWEST - 30 - MARGIN, NEWEST - 10 + MARGIN)
    assert events.figures()['finger'] == 'closed'


def test_a_finger_of_another_clock_changes_what_is_held_at_any_time(events):
    finger(events, 0.2, 5)
    finger(events, 0.9, 6)
    change = events.change()
    assert change.after <= 0 and change.before >= NEWEST
    assert 'the finger of the gripper whose stamp, 6 ns, cannot be' in change.sentence


def test_what_could_not_change_is_as_before(events, identifier):
    ask(events, ANNOUNCE, 1, NEWEST)
    ask(events, CALL_OFF, 2, NEWEST)
    assert identifier.told[-1] == ('trust',)


def test_an_event_before_a_change_is_granted_counts_where_that_is_called_off(events, identifier):
    """What has changed, has: bounds of before are of another body."""
    ask(events, ANNOUNCE, 1, NEWEST)
    event(events, NEWEST + 10)
    assert events.change() is None
    ask(events, CALL_OFF, 2, NEWEST)
    assert ('trust',) not in identifier.told
    assert events.figures()[IS_LOAD]
    assert events.change().before == NEWEST + 10 + MARGIN
    ask(events, ANNOUNCE, 3, NEWEST)
    ask(events, CALL_OFF, 4, NEWEST)
    assert ('trust',) not in identifier.told  # nobody has answered it yet
    assert events.change().before == NEWEST + 10 + MARGIN
    ask(events, GO_ON, 5, NEWEST)
    ask(events, ANNOUNCE, 6, NEWEST)
    ask(events, CALL_OFF, 7, NEWEST)
    assert identifier.told[-1] == ('trust',)


@pytest.mark.parametrize('what', [MAY_HAVE_CHANGED, CHANGED])
@pytest.mark.parametrize('is_told_before', [True, False])
@pytest.mark.parametrize('ago', [SECOND // 5, SECOND // 2])
def test_since_an_event_that_nobody_has_answered_no_sample_is_of_the_body_before(
    events, identifier, what, is_told_before, ago
):
    """A supervisor that has not heard of it has a change announced."""
    if is_told_before:
        event(events, NEWEST - ago)
    ask(events, ANNOUNCE, 1, NEWEST)
    if not is_told_before:
        event(events, NEWEST - ago)
    ask(events, what, 2, NEWEST + SECOND)
    _, after, before, *_ = identifier.told[-1]
    assert after == NEWEST - ago - MARGIN - WINDOW
    assert before == NEWEST + SECOND
    assert events.change() is None


def test_an_event_before_an_announcement_is_said_again_where_that_is_called_off(
    events, identifier
):
    event(events, NEWEST - SECOND // 5)
    told = events.change()
    ask(events, ANNOUNCE, 1, NEWEST)
    assert events.change() is None
    ask(events, CALL_OFF, 2, NEWEST)
    assert ('trust',) not in identifier.told
    assert events.change() == told


def test_since_torques_show_a_change_no_sample_is_of_the_body_before(events, identifier):
    ask(events, ANNOUNCE, 1, NEWEST)
    identifier.found = noticed(Kind.DROPPED)
    ask(events, CHANGED, 2, NEWEST + SECOND)
    assert identifier.told[-1][1] == identifier.found.after - WINDOW


def test_what_is_told_between_a_touch_and_its_release_is_not_forgotten(events):
    touch(events, NEWEST - SECOND)
    ask(events, TOUCHED, 1, NEWEST)
    event(events, NEWEST + 1000)
    ask(events, ANNOUNCE, 2, NEWEST + SECOND // 2)
    ask(events, CALL_OFF, 3, NEWEST + SECOND // 2)
    assert events.change().before == NEWEST + 1000 + MARGIN


def test_the_first_event_that_an_announced_change_has_to_answer_is_told(events):
    assert events.figures()[FIRST] == -1
    event(events, NEWEST - 1000)
    assert events.figures()[FIRST] == -1  # a change that has to be answered itself
    ask(events, ANNOUNCE, 1, NEWEST)
    assert events.figures()[FIRST] <= NEWEST  # it was before that
    assert events.figures()[SEEN] == -1
    ask(events, CHANGED, 2, NEWEST)
    assert events.figures()[FIRST] == -1
    ask(events, ANNOUNCE, 3, NEWEST)
    assert events.figures()[FIRST] == -1
    event(events, NEWEST + 2 * SECOND // 5)
    event(events, NEWEST + SECOND // 5)
    event(events, NEWEST + SECOND // 3)
    assert events.figures()[FIRST] == NEWEST + SECOND // 5 + MARGIN
    ask(events, CALL_OFF, 4, NEWEST)
    assert events.figures()[FIRST] == -1


def test_an_event_whose_time_nobody_knows_is_of_when_it_is_heard(events):
    """Samples that wait here would make one of after the grant one of before."""
    ask(events, ANNOUNCE, 1, NEWEST)
    event(events, 0)
    assert events.figures()[FIRST] > NEWEST + 100 * SECOND
    event(events, NEWEST)
    assert events.figures()[FIRST] == NEWEST + MARGIN


def test_a_touch_that_is_felt_later_than_torques_show_it_is_no_event_before_the_release(
    events, identifier
):
    identifier.found = noticed(Kind.TOUCHED)
    ask(events, TOUCHED, 1, NEWEST)
    touch(events, NEWEST)
    ask(events, ANNOUNCE, 2, NEWEST + SECOND)
    assert events.figures()[FIRST] == -1
    ask(events, CALL_OFF, 3, NEWEST + SECOND)
    assert events.figures()[MAY_BE_TOUCH]


@pytest.mark.parametrize('is_announced', [True, False])
def test_the_supervisor_hears_of_an_event_at_once(events, identifier, is_announced):
    if is_announced:
        ask(events, ANNOUNCE, 1, NEWEST)
    event(events, NEWEST)
    event(events, NEWEST)  # told again
    assert len(identifier.said) == 1


@pytest.mark.parametrize('what', [MAY_HAVE_CHANGED, CHANGED])
def test_an_event_that_comes_while_a_request_is_on_its_way_counts(events, identifier, what):
    """Until it no sample is of what is held after it, however late the request is taken."""
    later = NEWEST + 2 * SECOND // 5
    ask(events, ANNOUNCE, 1, NEWEST - SECOND)
    event(events, later)
    ask(events, what, 2, NEWEST)
    assert identifier.told[-1][1:3] == (NEWEST - SECOND, later + MARGIN)


@pytest.mark.parametrize('what', [MAY_HAVE_CHANGED, CHANGED])
def test_bounds_are_for_what_may_be_held(events, identifier, what):
    """Where it may have changed, for both; and samples in between are of neither."""
    ask(events, ANNOUNCE, 1, NEWEST)
    ask(events, what, 2, NEWEST + SECOND)
    held = (NEXT.bounds, NEXT.nominal)
    if what == MAY_HAVE_CHANGED:
        held = (BOTH.end_effector_bounds, BOTH.end_effector)
    assert identifier.told[-1] == ('change', NEWEST, NEWEST + SECOND, *held)
    ask(events, what, 3, NEWEST + SECOND)  # nothing is announced any more
    assert len(identifier.told) == 2


@pytest.mark.parametrize('what', [MAY_HAVE_CHANGED, CHANGED])
def test_a_process_that_was_started_again_counts_no_sample_of_what_it_did_not_see(
    events, identifier, what
):
    """What was grasped may still swing, and what was held before it knows from nobody."""
    ask(events, what, 2, NEWEST + SECOND)
    assert identifier.told == [('new payload', NEWEST + SECOND)]


def test_what_a_process_that_was_started_again_has_heard_itself_is_not_lost(events, identifier):
    event(events, NEWEST)
    ask(events, CHANGED, 2, NEWEST + SECOND)
    found = events.change()
    assert (found.after, found.before) == (0, NEWEST + SECOND)
    assert identifier.told == [('doubt',)]


def test_a_process_that_was_started_again_is_told_of_a_touch_and_says_it_again(events, identifier):
    """It cannot know which samples were of the touch, and the thing still stands there."""
    ask(events, TOUCHED, 1, NEWEST)
    assert events.figures()[MAY_BE_TOUCH]
    assert (events.change().after, events.change().before) == (0, NEWEST)
    assert identifier.told == [('doubt',)]
    ask(events, TOUCHED, 2, NEWEST)  # by who goes on from there
    assert events.figures()[ANNOUNCED_FOR] == 'bounds 1'


@pytest.mark.parametrize('what', [MAY_HAVE_CHANGED, CHANGED])
def test_a_change_is_over_whatever_its_stamps_say(events, identifier, what):
    """Else nothing would be learnt any more; the clock of a driver may have begun anew."""
    ask(events, ANNOUNCE, 1, NEWEST)
    ask(events, what, 2, NEWEST - SECOND)
    assert identifier.told[-1][:3] == ('change', NEWEST, NEWEST)
    assert events.figures()[ANNOUNCED_FOR] == ''
    ask(events, ANNOUNCE, 3, NEWEST)
    identifier.has_fault = True
    ask(events, what, 4, NEWEST - SECOND)
    assert identifier.told[-1] == ('new payload', NEWEST - SECOND)
    assert events.figures()[ANNOUNCED_FOR] == ''


@pytest.mark.parametrize('name', [0, 7, -SECOND, 2**31 * SECOND - 1], ids=str)
def test_a_request_that_nobody_knows_is_none(events, name):
    """Else the one of the supervisor would count as not taken, and be told again."""
    ask(events, ANNOUNCE, 6, NEWEST)
    ask(events, 'explode', name, NEWEST)
    assert (events.figures()[TAKEN], events.figures()[ANNOUNCED_FOR]) == (6, 'bounds 1')


def touch(events, stamp):
    events._on_touch(Header(stamp=time_of(stamp)))


@pytest.mark.parametrize('is_told', [True, False])
def test_since_a_touch_of_the_place_no_sample_is_of_any_body(events, identifier, is_told):
    """From before it until what was held is let go, however long that takes."""
    if is_told:
        touch(events, NEWEST)
    else:
        identifier.found = noticed(Kind.DROPPED, Kind.TOUCHED)
    figures = events.figures()
    assert (figures[MAY_BE_TOUCH], figures[IS_LOAD]) == (True, False)
    first = events.change().after
    ask(events, 'touched', 1, NEWEST + SECOND)
    assert events.change() is None
    assert events.figures()[ANNOUNCED_FOR] == 'bounds 1'
    ask(events, ANNOUNCE, 2, NEWEST + 2 * SECOND)
    ask(events, CHANGED, 3, NEWEST + 9 * SECOND)
    kind, after, before, *_ = identifier.told[-1]
    assert (kind, after, before) == ('change', first - WINDOW, NEWEST + 9 * SECOND)


@pytest.mark.parametrize('how', [CALL_OFF, MAY_HAVE_CHANGED])
def test_what_touched_and_was_not_let_go_is_said_again_and_taught_nothing(events, identifier, how):
    touch(events, NEWEST)
    ask(events, 'touched', 1, NEWEST + SECOND)
    ask(events, how, 2, NEWEST + 2 * SECOND)
    assert events.figures()[MAY_BE_TOUCH]
    assert ('trust',) not in identifier.told
    assert not any(each[0] == 'change' for each in identifier.told)


def test_a_touch_is_told_once(events, identifier):
    touch(events, NEWEST)
    touch(events, NEWEST)
    assert identifier.told == [('doubt',)]


@pytest.mark.parametrize('before', [True, False])
def test_a_touch_while_something_is_let_go_counts_where_that_is_called_off(
    events, identifier, before
):
    if before:
        touch(events, NEWEST)
        ask(events, 'touched', 1, NEWEST)
    ask(events, ANNOUNCE, 2, NEWEST)
    touch(events, NEWEST + 1000)
    assert events.change() is None
    ask(events, CALL_OFF, 3, NEWEST)
    found = events.change()
    first = NEWEST if before else NEWEST + 1000
    assert found.after <= first - MARGIN
    assert found.before >= NEWEST + 1000 + MARGIN
    assert ('trust',) not in identifier.told


def test_what_is_let_go_at_once_has_no_sample_since_the_touch_either(events, identifier):
    touch(events, NEWEST)
    ask(events, 'touched', 1, NEWEST + SECOND)
    ask(events, CHANGED, 2, NEWEST + 2 * SECOND)
    assert identifier.told[-1][1] == NEWEST - MARGIN - WINDOW
    assert events.change() is None


@pytest.mark.parametrize('stamp', [0, NEWEST + 2 * SECOND, NEWEST - 9 * SECOND])
def test_a_touch_whose_stamp_cannot_be_was_any_time(events, stamp):
    touch(events, stamp)
    found = events.change()
    assert found.after <= 0
    assert found.before >= NEWEST


def test_what_is_told_of_a_touch_is_no_load_whatever_torques_say(events, identifier):
    identifier.found = noticed(Kind.DROPPED)
    touch(events, NEWEST)
    assert not events.figures()[IS_LOAD]
    assert events.figures()[MAY_BE_TOUCH]


def test_a_touch_where_no_torque_is_given_is_a_new_payload(events, identifier):
    begun = []
    events._begins_anew = lambda stamp: begun.append(stamp) or True
    touch(events, NEWEST)
    assert begun == [NEWEST]
    assert events.change() is None
    assert identifier.told == []
