"""A supervisor waits for a bridge that hands the arm over, as long as the arm's time asks for."""

import pytest

from safe_sysid.ros.watch.heartbeats import Heartbeats
from safe_sysid.ros.watch.run_ending import LATE_READERS, PATIENCE, RunEnding
from safe_sysid.track.supervisor import Mode


@pytest.fixture
def ending():
    found = RunEnding(Heartbeats('/arm', 1.0))
    found.hear('0 monitor: the task is done')
    return found


def looks_until_over(ending, mode, is_stale=False, stands_still=False, most=10 * PATIENCE):
    for look in range(1, most + 1):
        if ending.is_over(mode, is_stale, stands_still):
            return look
    return None


def test_it_is_patient_with_a_bridge_that_cannot_hand_the_arm_over(ending):
    assert looks_until_over(ending, Mode.RELEASING) == PATIENCE + 1


def test_time_that_stands_still_is_no_patience(ending):
    assert looks_until_over(ending, Mode.RELEASING, stands_still=True) is None
    assert looks_until_over(ending, Mode.RELEASING) == PATIENCE + 1


def test_a_bridge_that_is_gone_is_waited_for_in_any_mode(ending):
    assert looks_until_over(ending, Mode.TASK) is None
    assert looks_until_over(ending, Mode.TASK, is_stale=True) == PATIENCE + 1


def test_what_has_ended_is_said_for_late_readers(ending):
    assert looks_until_over(ending, Mode.ENDED) == LATE_READERS + 1
