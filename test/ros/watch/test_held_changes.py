"""What is told of an announced change that was ended: once it might happen, it may have."""

from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from safe_sysid.ros.messages.codec import SECOND, stamp_of
from safe_sysid.ros.nodes.supervisor_node import SupervisorNode
from safe_sysid.ros.watch.bodies_energy import BODIES, SHARE
from safe_sysid.ros.watch.held_changes import (
    CERTIFYING,
    EARLY,
    LOST,
    NOT_GRANTED,
    HeldChanges,
    Seen,
    granted,
)
from safe_sysid.ros.watch.payload_events import (
    ANNOUNCE,
    ANNOUNCED_FOR,
    CALL_OFF,
    CHANGED,
    FIRST,
    IS_LOAD,
    MAY_BE_TOUCH,
    MAY_HAVE_CHANGED,
    SEEN,
    TAKEN,
    TOUCHED,
)
from safe_sysid.track.supervisor import Cause, Mode, Signal, Situation, Supervision

SETTLING = 0.5


class World:
    """Topics and figures by hand."""

    def __init__(self):
        self.told, self.figures = [], {}

    def create_publisher(self, *_):
        return SimpleNamespace(publish=self.told.append)

    def figure(self, _, key):
        return self.figures.get(key)

    def takes(self, bounds):
        name = stamp_of(self.told[-1].header.stamp)
        self.figures |= {TAKEN: str(name), ANNOUNCED_FOR: bounds, FIRST: '-1', SEEN: '-1'}
        self.figures |= {BODIES: bounds, SHARE: '0.5'}  # of the controller

    @property
    def sources(self):
        return [each.source for each in self.told]


def seen(certified_for):
    return Seen(Mode.CHANGING, frozenset(), True, certified_for)


@pytest.fixture
def world():
    return World()


@pytest.fixture
def changes(world):
    changes = HeldChanges(world, world, SETTLING, 2)
    changes.announce(1000)
    world.takes('bounds 1')
    changes.left(Mode.HOLDING, Mode.CHANGING, Signal.ANNOUNCE_CHANGE, 1500)
    return changes


@pytest.mark.parametrize('now', [Mode.HOLDING, Mode.FAULT, Mode.IDLE])
@pytest.mark.parametrize('by', [Signal.BRAKE, None])
def test_what_was_allowed_to_change_may_have_changed(changes, world, now, by):
    assert changes.may_change(seen('bounds 1'))
    changes.left(Mode.CHANGING, now, by, 2000)
    assert world.sources == [ANNOUNCE, MAY_HAVE_CHANGED]
    assert stamp_of(world.told[-1].time_ref) == 2000 + round(SETTLING * SECOND)


def test_what_was_never_allowed_to_change_has_not(changes, world):
    assert not changes.may_change(seen('bounds of before'))
    changes.left(Mode.CHANGING, Mode.HOLDING, Signal.BRAKE, 2000)
    assert world.sources == [ANNOUNCE, CALL_OFF]


@pytest.mark.parametrize(
    ('bodies', 'share', 'may'),
    [
        ('bounds 1', '1.0000', True),
        ('bounds 1', '1.0001', False),
        ('bounds 1', 'inf', False),
        ('bounds 1', 'nan', False),
        ('bounds of before', '0.1', False),
        ('', '0.1', False),
        (None, None, False),
    ],
)
def test_what_is_held_may_change_only_with_every_body_within_its_energy(
    changes, world, bodies, share, may
):
    """The arm may have been shaken since the planner looked, and bodies be others."""
    world.figures |= {BODIES: bodies, SHARE: share}
    assert changes.may_change(seen('bounds 1')) is may
    assert changes.was_allowed(seen('bounds 1')) is may
    changes.left(Mode.CHANGING, Mode.HOLDING, Signal.BRAKE, 2000)
    assert world.sources == [ANNOUNCE, MAY_HAVE_CHANGED if may else CALL_OFF]


def test_a_change_that_came_with_more_energy_is_taken_and_said(changes, world):
    assert changes.may_change(seen('bounds 1'))
    world.figures[SHARE] = '1.7'
    assert not changes.may_change(seen('bounds 1'))
    world.figures |= {SHARE: '0.5', FIRST: '1900', SEEN: '1900'}
    assert changes.signal(seen('bounds 1'), 2000, 0.0) is Signal.PAYLOAD_CHANGED
    changes.asked(Signal.PAYLOAD_CHANGED, 2000, 0.0)
    assert world.sources == [ANNOUNCE, CHANGED]
    assert '1.7 V_M when what is held changed' in changes.doubt
    changes.asked(Signal.EXCITE, 2500, 0.0)
    assert changes.doubt == ''


def test_a_change_that_came_within_it_leaves_no_doubt(changes):
    assert changes.may_change(seen('bounds 1'))
    changes.asked(Signal.PAYLOAD_CHANGED, 2000, 0.0)
    assert changes.doubt == ''


def supervisor(certified_for, *, rests, is_lockstep=True):
    """Return one in whose loop the arm follows a plan."""
    node = MagicMock(_stamp=1900, _now=Supervision(Mode.CHANGING))
    node._settings.is_lockstep = is_lockstep
    node._faults.return_value = frozenset()
    node.is_at_rest.return_value = rests
    node._in_force.at.return_value.certified_for = certified_for
    return node


@pytest.mark.parametrize('is_lockstep', [False, True])
def test_in_lockstep_nothing_is_granted_before_the_arm_rests(changes, is_lockstep):
    """How far the plan is when somebody looks would depend on the machine."""
    goes_on, over = (
        SupervisorNode._seen(supervisor('bounds 1', rests=rests, is_lockstep=is_lockstep))
        for rests in (False, True)
    )
    assert changes.may_change(goes_on) is not is_lockstep
    assert (changes.not_allowed(goes_on) == NOT_GRANTED) is is_lockstep
    assert changes.may_change(over)


@pytest.mark.parametrize('share', ['0.5', '1.7'])
def test_what_was_granted_stays_so_though_a_grasp_shakes_the_arm(changes, world, share):
    """It stands on the plan that is certified for the change all the while."""
    assert changes.may_change(SupervisorNode._seen(supervisor('bounds 1', rests=True)))
    shaken = SupervisorNode._seen(supervisor('bounds 1', rests=False))
    world.figures[SHARE] = share
    is_within = float(share) <= 1.0
    assert changes.may_change(shaken) is is_within
    assert changes.not_allowed(shaken) == ''
    asked = Situation(Signal.ANNOUNCE_CHANGE, frozenset(), at_rest=False)
    answer = changes.answer(Supervision(Mode.CHANGING), asked, shaken, 2000, has_shape=True)
    assert answer == ((True, granted(has_shape=True)) if is_within else (False, CERTIFYING))
    world.figures |= {FIRST: '1900', SEEN: '1900'}
    assert changes.signal(shaken, 2000, 0.0) is Signal.PAYLOAD_CHANGED
    assert world.sources == [ANNOUNCE]


@pytest.mark.parametrize('certified_for', ['bounds of before', ''])
def test_what_was_granted_is_lost_with_a_plan_for_other_bounds(changes, certified_for):
    """Nothing is granted that is not certified, and the answer says what has happened."""
    assert changes.may_change(seen('bounds 1'))
    others = seen(certified_for)
    assert not changes.may_change(others)
    assert changes.not_allowed(others) == LOST
    asked = Situation(Signal.ANNOUNCE_CHANGE, frozenset(), at_rest=False)
    granted, _ = changes.answer(Supervision(Mode.CHANGING), asked, others, 2000, has_shape=True)
    assert not granted
    assert changes.not_allowed(replace(others, mode=Mode.HOLDING)) == NOT_GRANTED


@pytest.mark.parametrize('certified_for', ['bounds of before', 'bounds 1'])
def test_an_event_before_the_grant_is_no_answer_to_it(changes, world, certified_for):
    """The arm stood on a plan for what was held before; the identifier tells it again then."""
    world.figures |= {SEEN: '1800', FIRST: '1800'}
    now = replace(seen(certified_for), stamp=1900)
    assert changes.signal(now, 1900, 0.0) is Signal.BRAKE
    assert not changes.was_allowed(now)
    assert changes.refusal == EARLY
    changes.left(Mode.CHANGING, Mode.HOLDING, Signal.BRAKE, 1900)
    assert world.sources == [ANNOUNCE, CALL_OFF]


@pytest.mark.parametrize('at', [1899, 1900])
def test_an_event_before_the_grant_that_is_heard_after_it_is_said_too(changes, world, at):
    """Nobody knows what happened since then: bounds are for both."""
    now = replace(seen('bounds 1'), stamp=1900)
    assert changes.may_change(now)
    world.figures |= {SEEN: str(at), FIRST: str(at)}
    later = replace(now, stamp=2000)
    if at >= now.stamp:
        assert changes.signal(later, 2000, 0.0) is Signal.PAYLOAD_CHANGED
        return
    assert changes.signal(later, 2000, 0.0) is Signal.BRAKE
    assert changes.refusal == EARLY
    changes.left(Mode.CHANGING, Mode.HOLDING, Signal.BRAKE, 2000)
    assert world.sources == [ANNOUNCE, MAY_HAVE_CHANGED]


def test_a_change_that_came_is_not_called_off(changes, world):
    assert changes.may_change(seen('bounds 1'))
    changes.asked(Signal.PAYLOAD_CHANGED, 2000, 0.0)
    changes.left(Mode.CHANGING, Mode.HOLDING, Signal.PAYLOAD_CHANGED, 2000)
    assert world.sources == [ANNOUNCE, CHANGED]


@pytest.mark.parametrize('mode', [Mode.HOLDING, Mode.IDENTIFIED, Mode.CHANGING])
@pytest.mark.parametrize('cause', [None, *Cause])
def test_nothing_is_announced_nor_granted_while_there_is_a_fault(world, mode, cause):
    """An event that was told has to be answered first; the mode follows a look later."""
    changes = HeldChanges(world, world, SETTLING, 2)
    if mode is Mode.CHANGING:
        changes.announce(1000)
        world.takes('bounds 1')
        changes.left(Mode.HOLDING, Mode.CHANGING, Signal.ANNOUNCE_CHANGE, 1500)
    told = list(world.sources)
    faults = frozenset() if cause is None else frozenset({cause})
    asked = Situation(Signal.ANNOUNCE_CHANGE, faults, True)
    now = replace(seen('bounds 1'), mode=mode, faults=faults)
    answer = changes.answer(Supervision(mode), asked, now, 2000, has_shape=True)
    if cause is None:
        changed = mode is Mode.CHANGING
        assert answer == ((True, granted(has_shape=True)) if changed else (False, CERTIFYING))
        assert world.sources == [ANNOUNCE]
        return
    assert answer[0] is False
    assert cause.value[0] in answer[1]
    assert world.sources == told


def test_the_next_announcement_waits_until_the_last_one_is_answered(changes, world):
    assert changes.may_change(seen('bounds 1'))
    changes.left(Mode.CHANGING, Mode.HOLDING, Signal.BRAKE, 2000)
    changes.announce(3000)
    assert world.sources == [ANNOUNCE, MAY_HAVE_CHANGED]
    world.takes('')
    changes.announce(3000)
    assert world.sources == [ANNOUNCE, MAY_HAVE_CHANGED, ANNOUNCE]


def test_another_announcement_begins_without_permission(changes, world):
    assert changes.may_change(seen('bounds 1'))
    changes.left(Mode.CHANGING, Mode.HOLDING, Signal.BRAKE, 2000)
    world.takes('')
    changes.announce(3000)
    changes.left(Mode.HOLDING, Mode.HOLDING, Signal.BRAKE, 3500)
    assert world.sources[-2:] == [ANNOUNCE, CALL_OFF]


def test_an_announcement_is_called_off_by_who_asks_for_rest_where_the_arm_rests_already(world):
    changes = HeldChanges(world, world, SETTLING, 2)
    changes.announce(1000)
    changes.asked(Signal.BRAKE, 1200, 0.0)
    world.takes('bounds 1')
    assert world.sources == [ANNOUNCE, CALL_OFF]
    holding = RESTS
    assert changes.signal(holding, 1500, 0.0) is None


def test_what_a_supervisor_before_had_announced_may_have_happened(world):
    """Else the identifier would wait for ever, learn nothing and notice no change."""
    world.figures |= {TAKEN: '2000', ANNOUNCED_FOR: 'bounds 1'}
    changes = HeldChanges(world, world, SETTLING, 2)
    changes.remind(0)  # no sample was heard
    assert world.sources == []
    changes.remind(2000)
    assert world.sources == [MAY_HAVE_CHANGED]
    assert stamp_of(world.told[-1].header.stamp) > 2000  # else it counts as taken
    assert stamp_of(world.told[-1].time_ref) == 2000 + round(SETTLING * SECOND)
    assert changes.is_pending
    world.takes('')
    changes.remind(3000)
    assert world.sources == [MAY_HAVE_CHANGED]
    changes.announce(3000)
    world.takes('bounds 2')
    changes.remind(3500)
    assert world.sources == [MAY_HAVE_CHANGED, ANNOUNCE]


def test_what_somebody_else_announces_is_ended(changes, world):
    """Else nothing would be learnt, nor any change noticed, and nobody would say so."""
    changes.asked(Signal.PAYLOAD_CHANGED, 2000, 0.0)
    world.takes('')
    world.figures[ANNOUNCED_FOR] = 'bounds of somebody'
    changes.remind(3000)
    assert world.sources == [ANNOUNCE, CHANGED, MAY_HAVE_CHANGED]
    world.takes('')
    changes.remind(3050)
    changes.announce(3100)
    world.takes('bounds 2')
    changes.remind(3150)
    assert world.sources == [ANNOUNCE, CHANGED, MAY_HAVE_CHANGED, ANNOUNCE]


def test_a_request_has_another_name_than_those_of_a_supervisor_before(world):
    world.figures |= {TAKEN: '2000'}
    changes = HeldChanges(world, world, SETTLING, 2)
    changes.announce(2000)  # time stands still
    assert changes.is_pending


def test_a_request_of_somebody_else_from_the_far_future_stops_none_of_ours(world):
    """Names of ours stay stamps: what is told after them is newer, and fits into a message."""
    world.figures |= {TAKEN: str(2**31 * SECOND - 1)}
    changes = HeldChanges(world, world, SETTLING, 2)
    changes.announce(2000)
    assert changes.is_pending
    world.takes('bounds 1')
    world.figures[SEEN] = '2500'
    changes.left(Mode.HOLDING, Mode.CHANGING, Signal.ANNOUNCE_CHANGE, 2100)
    assert changes.signal(seen('bounds 1'), 3000, 0.0) is Signal.PAYLOAD_CHANGED


@pytest.fixture
def back(world):
    """The clock has gone back by an hour since the last change, and another one is announced."""
    changes = HeldChanges(world, world, SETTLING, 2)
    for stamp in (3600 * SECOND, 3600 * SECOND, 5 * SECOND):
        changes.announce(stamp)
        world.takes('bounds 1')
        changes.left(Mode.HOLDING, Mode.CHANGING, Signal.ANNOUNCE_CHANGE, stamp)
        if stamp > 5 * SECOND:
            changes.asked(Signal.PAYLOAD_CHANGED, stamp, 0.0)
            changes.left(Mode.CHANGING, Mode.HOLDING, Signal.PAYLOAD_CHANGED, stamp)
            world.takes('')
    return changes


def test_after_the_clock_went_back_a_refusal_is_heard(back, world):
    told = {'outcome': 'NONE_CERTIFIED', 'found': 'torque of joint_2'}
    world.figures |= {'said at [ns]': str(4 * SECOND), **told}
    assert back.signal(seen('bounds of before'), 7 * SECOND, 0.0) is None
    world.figures['said at [ns]'] = str(6 * SECOND)
    assert back.signal(seen('bounds of before'), 7 * SECOND, 0.0) is Signal.BRAKE
    assert 'torque of joint_2' in back.refusal


def test_after_the_clock_went_back_an_event_is_heard(back, world):
    world.figures[SEEN] = str(4 * SECOND)
    assert back.signal(seen('bounds 1'), 6 * SECOND, 0.0) is None
    world.figures[SEEN] = str(7 * SECOND)
    assert back.signal(seen('bounds 1'), 8 * SECOND, 0.0) is Signal.PAYLOAD_CHANGED


def test_no_two_requests_in_a_row_have_one_name(world, back):
    back.asked(Signal.PAYLOAD_CHANGED, 5 * SECOND, 0.0)
    names = [stamp_of(each.header.stamp) for each in world.told]
    assert len(set(names)) == len(names)
    assert names[-2:] == [5 * SECOND, 5 * SECOND + 1]


def test_what_has_no_shape_is_said_where_it_may_be_picked():
    assert 'keep the arm clear of obstacles, not what it picks' in granted(has_shape=False)
    assert 'clear' not in granted(has_shape=True)


NOTICED = Seen(Mode.FAULT, frozenset({Cause.CHANGE_NOTICED}), True, '', cause=Cause.CHANGE_NOTICED)
RESTS = Seen(Mode.HOLDING, frozenset(), True, '')


@pytest.fixture
def noticed(world):
    """A load was dropped while the arm learned; nobody had announced it."""
    changes = HeldChanges(world, world, SETTLING, 2)
    changes.left(Mode.EXCITING, Mode.FAULT, None, 1000)
    world.figures |= {IS_LOAD: 'True'}
    return changes


def goes_on(noticed):
    assert noticed.signal(NOTICED, 2000, 0.0) is Signal.GO_ON
    noticed.left(Mode.FAULT, Mode.HOLDING, Signal.GO_ON, 2000)


def test_after_a_change_the_arm_goes_on_once_the_identifier_has_bounds_for_it(noticed, world):
    goes_on(noticed)
    assert noticed.signal(RESTS, 2050, 0.0) is None
    world.takes('')
    assert noticed.signal(RESTS, 2100, 0.0) is Signal.EXCITE
    assert noticed.signal(RESTS, 2150, 0.0) is None


@pytest.mark.parametrize('by', [Signal.BRAKE, Signal.STOP, Signal.NEW_PAYLOAD])
def test_who_asks_for_rest_meanwhile_gets_it(noticed, world, by):
    goes_on(noticed)
    noticed.asked(by, 2050, 0.0)
    world.takes('')
    assert noticed.signal(RESTS, 2100, 0.0) is None


def test_another_fault_meanwhile_and_who_resets_it_move_nothing(noticed, world):
    goes_on(noticed)
    noticed.left(Mode.HOLDING, Mode.FAULT, None, 2050)
    world.takes('')
    noticed.left(Mode.FAULT, Mode.HOLDING, Signal.RESET_FAULT, 9000)
    assert noticed.signal(RESTS, 9050, 0.0) is None


def test_after_a_fault_of_another_cause_nothing_is_told_and_nobody_says_that_it_goes_on(
    noticed, world
):
    """The first cause is gone, and forbids going on all the same; a reset moves nothing."""
    other = replace(NOTICED, cause=Cause.COMMAND_REFUSED)
    assert noticed.why_it_stays(other) == 'there is COMMAND_REFUSED as well'
    assert noticed.signal(other, 2000, 0.0) is None
    assert (world.told, noticed.count) == ([], 0)


def test_going_on_that_was_not_granted_is_not_made_up_for_by_a_reset(noticed, world):
    assert noticed.signal(NOTICED, 2000, 0.0) is Signal.GO_ON
    world.takes('')
    noticed.left(Mode.FAULT, Mode.HOLDING, Signal.RESET_FAULT, 9000)
    assert noticed.signal(RESTS, 9050, 0.0) is None


AT_PLACE = Seen(Mode.FAULT, frozenset({Cause.CHANGE_NOTICED}), True, '', expects_touch=True)


@pytest.fixture
def touching(world):
    """A touch was noticed, and the arm rests."""
    changes = HeldChanges(world, world, SETTLING, 2)
    changes.left(Mode.TASK, Mode.FAULT, None, 1000)
    world.figures |= {MAY_BE_TOUCH: 'True', IS_LOAD: 'False'}
    return changes


def test_a_touch_of_the_place_leads_to_holding_and_to_no_motion(touching, world):
    assert touching.signal(AT_PLACE, 2000, 0.0) is Signal.GO_ON
    assert world.sources == [TOUCHED]
    touching.left(Mode.FAULT, Mode.HOLDING, Signal.GO_ON, 2000)
    world.takes('bounds 1')
    holding = RESTS
    assert touching.signal(holding, 2100, 0.0) is None
    touching.announce(2200)
    touching.left(Mode.HOLDING, Mode.CHANGING, Signal.ANNOUNCE_CHANGE, 2300)
    assert world.sources == [TOUCHED, ANNOUNCE]
    assert touching.count == 0


@pytest.mark.parametrize(
    'seen',
    [
        replace(AT_PLACE, expects_touch=False),
        replace(AT_PLACE, is_at_rest=False),
        replace(AT_PLACE, faults=frozenset({Cause.CHANGE_NOTICED, Cause.OBSTACLE})),
        replace(AT_PLACE, faults=frozenset({Cause.CHANGE_NOTICED, Cause.CONTRADICTION})),
        replace(AT_PLACE, faults=frozenset({Cause.TRACKING})),
        replace(AT_PLACE, cause=Cause.COMMAND_REFUSED),
    ],
)
def test_elsewhere_and_with_other_faults_it_waits_for_a_person(touching, world, seen):
    assert touching.signal(seen, 2000, 0.0) is None
    assert world.sources == []


def test_what_can_be_no_touch_waits_for_a_person(touching, world):
    world.figures[MAY_BE_TOUCH] = 'False'
    assert touching.signal(AT_PLACE, 2000, 0.0) is None


def test_what_touched_and_was_not_let_go_is_called_off(touching, world):
    """So that the identifier says again that it touches, and nothing moves."""
    touching.signal(AT_PLACE, 2000, 0.0)
    touching.left(Mode.FAULT, Mode.HOLDING, Signal.GO_ON, 2000)
    touching.left(Mode.HOLDING, Mode.EXCITING, Signal.EXCITE, 3000)
    assert world.sources == [TOUCHED, CALL_OFF]
