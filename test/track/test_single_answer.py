"""Two controllers are noticed by their answers to one measurement."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest

from safe_sysid.ros.bridges.guarded_edge import GuardedEdge
from safe_sysid.track.guarded_torque import Command
from safe_sysid.track.single_answer import KEPT, SILENCE, SingleAnswer
from safe_sysid.track.supervisor import Cause

NAMES = ('shoulder', 'elbow')


def answer(stamp, *torque):
    return Command(np.array(torque), stamp)


@pytest.mark.parametrize('between', [0, KEPT - 1])
@pytest.mark.parametrize(
    ('second', 'said'),
    [
        (answer(2, 1.0, 2.0), ''),  # the next measurement
        (answer(1, 1.0, np.nan), ''),  # the same message once more
        (answer(1, 1.0, 2.5), 'one with nan and one with 2.5 N m for elbow'),
        (answer(1, -1.0, np.nan), 'one with 1 and one with -1 N m for shoulder'),
    ],
)
def test_only_different_answers_to_one_measurement_are_of_two_controllers(second, said, between):
    answers = SingleAnswer(NAMES)
    answers.note(answer(1, 1.0, np.nan), 0.0)
    for stamp in range(10, 10 + between):
        answers.note(answer(stamp, 5.0, 5.0), 0.05)
    answers.note(second, 0.1)
    sentence = answers.contradiction(0.2)
    assert sentence.endswith(said) and bool(sentence) == bool(said)


def test_the_second_controller_counts_as_gone_after_a_silence():
    answers = SingleAnswer(NAMES)
    for torque in (1.0, 2.0):
        answers.note(answer(1, torque, 0.0), 10.0)
    assert answers.contradiction(10.0 + 0.99 * SILENCE)
    answers.note(answer(2, 1.0, 0.0), 10.4)
    assert not answers.contradiction(10.0 + SILENCE)


def test_stamps_that_come_again_in_a_new_run_are_no_second_answer():
    answers = SingleAnswer(NAMES)
    answers.note(answer(1, 1.0, 0.0), 0.0)
    answers.begin_anew()
    answers.note(answer(1, 2.0, 0.0), 0.1)
    assert not answers.contradiction(0.1)


def test_a_bridge_gives_none_of_two_answers_and_says_so():
    edge = MagicMock(_answers=SingleAnswer(NAMES), _trouble='', _controller=None, is_alone=False)
    edge._is_given_up = edge.lets_go = False
    edge._driver.complaint.return_value = edge._hand_over.unheard = ''
    edge._blindness.return_value = edge._newly_cut.return_value = ''
    edge._rest_of_plan.return_value = 0.0
    edge._guard.refusal = edge._unknown_mode = ''
    asked = edge._driver.command
    for torque in (1.0, 2.0):
        GuardedEdge._take(edge, answer(1, torque, 0.0))
        GuardedEdge.torque(edge, 1, SimpleNamespace())
    assert asked.call_args_list[0].args[-1].torque[0] == 1.0
    assert asked.call_args_list[1].args[-1] is None
    condition = GuardedEdge.condition(edge)
    assert condition.faults == {Cause.SECOND_PUBLISHER}
    assert condition.trouble.startswith('torque_command: two controllers answer')
