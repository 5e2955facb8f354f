"""A plan that begins after now is not in force; it hides no other one, nor that an arm rests."""

from unittest.mock import MagicMock

import numpy as np
import pytest
from trajectory_msgs.msg import JointTrajectory

from safe_sysid.plan.message import PlanNotice
from safe_sysid.ros.messages.codec import SECOND
from safe_sysid.ros.messages.plan_publisher import plan_message
from safe_sysid.ros.nodes.supervisor_node import SupervisorNode
from safe_sysid.ros.watch.plan_in_force import AHEAD, PlanInForce
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.task_motion import Piece, TaskMotion

NAMES = ('one', 'two')
NOW = 1_763_744_000 * SECOND
FORGED = (2**31 - 1) * SECOND
LATEST = NOW + round(AHEAD * SECOND)


def told(start, name='a'):
    """What is said of a motion of 2 s."""
    rest = np.zeros(2)
    motion = TaskMotion((Piece(Bezier(rest, rest, rest, 2.0), np.array([0.1, 0.2])),))
    return plan_message(PlanNotice(start, motion, name), NAMES)


def heard(*messages):
    plans = PlanInForce(NAMES)
    for message in messages:
        plans.hear(message, NOW)
    return plans


def rests(plans, stamp=NOW):
    """Whether a supervisor takes an arm that has been slow for long to rest."""
    node = MagicMock(_stamp=stamp, now=stamp, _in_force=plans)
    node._rest.is_still.return_value = True
    return SupervisorNode.is_at_rest(node)


@pytest.mark.parametrize('start', [LATEST + 1, FORGED])
def test_a_plan_that_begins_far_after_now_keeps_nobody_from_seeing_that_the_arm_rests(start):
    plans = heard(told(start))
    assert rests(plans)
    assert plans.at(NOW) is None
    assert 'at most 1 s are allowed, so it does not count' in plans.trouble(NOW)


@pytest.mark.parametrize('start', [NOW - SECOND, NOW, LATEST])
def test_a_plan_that_can_be_in_force_goes_on_to_its_end(start):
    plans = heard(told(start))
    assert not rests(plans)
    assert plans.trouble(NOW) == ''
    assert plans.end(NOW) == start + 2 * SECOND
    assert rests(plans, start + 2 * SECOND)


def test_what_was_in_force_stays_so_until_the_start_of_the_other_has_come():
    plans = heard(told(NOW - SECOND, 'true'), told(FORGED, 'forged'))
    assert plans.at(NOW).certified_for == 'true'
    assert not rests(plans)
    assert rests(plans, NOW + SECOND)
    assert plans.at(FORGED).certified_for == 'forged'


def test_a_plan_counts_once_samples_have_come_near_its_start():
    plans = PlanInForce(NAMES)
    plans.hear(told(NOW), 0)
    assert plans.trouble(0) == ''  # before the first sample nobody knows what now is
    assert rests(plans, NOW - 2 * SECOND)
    assert not rests(plans)


def test_no_points_say_that_nothing_is_in_force():
    assert heard(told(NOW), told(FORGED), JointTrajectory()).at(NOW) is None
    assert heard(told(FORGED), JointTrajectory()).trouble(NOW) == ''


def test_an_arm_rests_no_earlier_than_the_plan_on_which_the_guard_brakes():
    for messages in ([JointTrajectory()], [JointTrajectory()] * 2):
        plans = heard(told(NOW - SECOND), *messages)
        assert not rests(plans)
        assert not rests(plans, NOW + SECOND - 1)
        assert rests(plans, NOW + SECOND)
    assert rests(heard(told(NOW - 3 * SECOND), JointTrajectory()))  # it is over


def test_a_plan_that_was_left_ends_with_the_next_one_and_where_the_clock_goes_back():
    plans = heard(told(NOW), JointTrajectory(), told(NOW - 2 * SECOND))
    assert rests(plans)
    plans = heard(told(NOW), JointTrajectory())
    assert rests(plans, NOW - 10 * SECOND)


def test_a_message_that_is_no_plan_changes_nothing():
    broken = told(NOW)
    broken.joint_names = ['another']
    assert not rests(heard(told(NOW), broken))
