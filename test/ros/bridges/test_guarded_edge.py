"""When a bridge may be ended from outside, and when its arm rests: not while anything moves."""

from functools import partial
from itertools import product
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from std_msgs.msg import String

from safe_sysid.ros.bridges.guarded_edge import GuardedEdge
from safe_sysid.track.obey_probe import Obedience, ProbeSettings
from safe_sysid.track.probed_driver import TRUSTED, ProbedDriver
from safe_sysid.track.supervisor import Mode


def told(mode, before=Mode.PROBING, is_given_up=False, driver=None):
    """What a bridge does that is told a mode."""
    edge = MagicMock(mode=before, _lets_go=False, _is_given_up=is_given_up)
    edge._driver = driver or MagicMock()
    edge.life.is_parked = False
    GuardedEdge._on_mode(edge, String(data=mode.value))
    return edge


def test_a_mode_that_nobody_knows_is_a_trouble_until_the_next_one_that_is_known():
    edge = MagicMock(mode=Mode.TASK, _lets_go=False)
    edge._unread.trouble = ''
    edge.life.is_parked = False
    edge._guard = edge._given = edge._controller = None
    edge._blindness.return_value = edge._driver.complaint.return_value = ''
    edge._rest_of_plan.return_value, edge._hand_over.unheard = 0.0, ''
    edge._newly_cut.return_value = edge._answers.contradiction.return_value = ''
    edge.lets_go = False
    said = []
    for word in ('nonsense', 'task'):
        GuardedEdge._on_mode(edge, String(data=word))
        said.append(GuardedEdge.condition(edge).trouble)
    assert said[0].startswith("mode is 'nonsense', allowed are ['idle', ")
    assert said[1] == ''
    assert edge.mode is Mode.TASK


def test_a_bridge_may_be_killed_only_once_it_was_told_to_end_and_the_arm_is_in_other_hands():
    names = ('_is_told', 'lets_go', 'is_free')
    may = GuardedEdge.may_be_killed.fget
    states = [dict(zip(names, s, strict=True)) for s in product([False, True], repeat=3)]
    killable = [state for state in states if may(SimpleNamespace(**state))]
    assert killable == [dict.fromkeys(names, True)]


def test_an_arm_rests_in_a_fault_once_its_plan_is_over_and_nothing_takes_it_over():
    rests = GuardedEdge.rests_in_fault.fget
    cases = product([Mode.TASK, Mode.FAULT], [False, True], [0.0, 0.001])
    resting = [
        (mode, lets_go, left)
        for mode, lets_go, left in cases
        if rests(SimpleNamespace(mode=mode, lets_go=lets_go, _rest_of_plan=partial(float, left)))
    ]
    assert resting == [(Mode.FAULT, False, 0.0)]


@pytest.mark.parametrize(
    ('before', 'mode', 'is_anew'),
    [
        (Mode.PROBING, Mode.PROBING, False),  # told again, as every mode is all the time
        (Mode.PROBING, Mode.EXCITING, True),
        (Mode.FAULT, Mode.EXCITING, True),
        (Mode.EXCITING, Mode.EXCITING, False),
        (Mode.EXCITING, Mode.TASK, False),
    ],
)
def test_what_the_guard_refused_is_forgotten_only_where_a_mode_begins(before, mode, is_anew):
    assert told(mode, before)._begin_anew.called is is_anew


def given_up(mode, is_wild, is_doubted, is_lost=False):
    driver = SimpleNamespace(is_wild=is_wild, is_doubted=is_doubted)
    edge = SimpleNamespace(mode=mode, _driver=driver, _is_lost=is_lost)
    return GuardedEdge._is_given_up.fget(edge)


@pytest.mark.parametrize('mode', list(Mode))
def test_no_law_holds_an_arm_on_a_driver_that_was_not_seen_to_obey_but_while_it_is_probed(mode):
    """It may have the wrong sign; where the probe was stopped by a fault, nobody knows."""
    assert not given_up(mode, is_wild=False, is_doubted=False)
    assert given_up(mode, is_wild=False, is_doubted=True) is (mode is not Mode.PROBING)
    assert given_up(mode, is_wild=True, is_doubted=True)
    assert given_up(mode, is_wild=False, is_doubted=False, is_lost=True)


def test_a_driver_is_doubted_until_this_process_has_seen_it_obey():
    """That the bridge before has may be so; one that was refused is started again just as well."""
    driver = ProbedDriver(None, None, ProbeSettings(driver='probed'))
    assert driver.is_doubted
    told(Mode.FAULT, Mode.EXCITING, driver=driver)  # as this bridge was started again
    told(Mode.PROBING, Mode.IDLE, driver=driver)
    told(Mode.FAULT, Mode.PROBING, driver=driver)  # before the probe has seen the arm once
    assert driver.is_doubted
    driver._probe = SimpleNamespace(obedience=Obedience.OBEYS)
    assert not driver.is_doubted
    told(Mode.PROBING, Mode.IDLE, driver=(trusted := ProbedDriver(None, None, TRUSTED)))
    assert not trusted.is_doubted


@pytest.mark.parametrize('mode', [Mode.PROBING, Mode.EXCITING, Mode.TASK, Mode.HOLDING])
def test_an_arm_that_was_given_up_is_not_taken_back(mode):
    """Modes are told again and again, that of the probe until its fault is known."""
    assert told(mode)._hand_over.engage.called
    assert not told(mode, is_given_up=True)._hand_over.engage.called
