"""In lockstep every sample is answered, and again if its answer got lost; else nobody waits."""

import pytest
from std_msgs.msg import Header

from safe_sysid.plan.announced import Announced
from safe_sysid.ros.messages.codec import time_of
from safe_sysid.ros.messages.planned_answers import PlannedAnswers


class Silent:
    """A node whose publisher keeps what it is told to publish."""

    def __init__(self):
        self.said = []

    def create_publisher(self, message, topic, qos):
        del qos
        assert (message, topic) == (Header, 'planned')
        return self

    def publish(self, msg):
        self.said.append((msg.stamp, msg.frame_id))


@pytest.fixture
def node():
    return Silent()


def test_an_answer_has_the_mode_and_the_newest_plan(node):
    announced = Announced()
    answers = PlannedAnswers(node, True, announced)
    answers.answer(5, 'exciting')
    announced.newest = '12'
    answers.answer(6, 'exciting')
    assert node.said == [(time_of(5), 'exciting '), (time_of(6), 'exciting 12')]


def test_an_answer_that_got_lost_is_given_again(node):
    answers = PlannedAnswers(node, True, Announced())
    answers.answer(5, 'task')
    assert not answers.is_missing(5, 'task')
    assert node.said == 2 * [(time_of(5), 'task ')]
    assert not answers.is_missing(4, 'task')
    assert len(node.said) == 2


def test_an_answer_in_another_mode_is_missing_and_not_made_up(node):
    answers = PlannedAnswers(node, True, Announced())
    answers.answer(5, 'exciting')
    assert answers.is_missing(5, 'task')
    assert len(node.said) == 1


def test_before_the_mode_is_known_there_is_nothing_to_say(node):
    answers = PlannedAnswers(node, True, Announced())
    answers.answer(5, '')
    assert node.said == []
    assert answers.is_missing(5, 'idle')


def test_in_real_time_nobody_is_answered(node):
    answers = PlannedAnswers(node, False, Announced())
    answers.answer(5, 'task')
    assert not answers.is_missing(5, 'exciting')
    assert node.said == []
