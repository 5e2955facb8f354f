"""An arm is let go only at rest and into something that holds it, once it stands there."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.track.hand_over import HandOver, HandOverSettings, Hands

STEP = 10_000_000  # [ns]
SETTINGS = HandOverSettings(settled=0.2, limit=2.0)


@dataclass
class Brakes:
    """Hold the arm a while after they were asked to, or never."""

    holds: bool = False
    listens: bool = True
    asked: list = field(default_factory=list)

    def take(self):
        self.asked.append('take')

    def give(self):
        self.asked.append('give')
        self.holds = False

    def __str__(self):
        return 'the brakes'


class Story:
    """Steps of 10 ms in which the arm has a speed, or trembles with it."""

    def __init__(self):
        self.brakes = Brakes()
        self.hand_over = HandOver(SETTINGS, self.brakes)
        self.now, self.q = 0, np.array([0.3, -0.2])
        self.hand_over.engage()

    def go_on(self, seconds, speed=0.0, is_over=True, trembles=False, late=0.0):
        for i in range(round(seconds * 1e9 / STEP)):
            self.now += STEP
            velocity = np.full(2, speed or 0.0) * ((-1) ** i if trembles else 1)
            self.q = self.q + velocity * STEP * 1e-9
            stamp = self.now - round(1e9 * late)
            sample = JointMeasurement(stamp, self.q, velocity, 0.0 * self.q)
            self.hand_over.step(self.now, None if speed is None else sample, is_over)
        return self.hand_over.hands


@pytest.fixture
def story():
    return Story()


def test_nobody_is_asked_before_the_arm_has_stood_for_a_while_with_no_motion_left(story):
    assert story.go_on(5.0, speed=0.1) is Hands.TORQUE
    assert story.go_on(5.0, is_over=False) is Hands.TORQUE
    story.go_on(0.05, speed=-0.1, is_over=False)
    assert story.go_on(0.15) is Hands.TORQUE
    assert story.brakes.asked == ['give']
    assert story.go_on(0.07) is Hands.HANDING_BACK


def test_who_trembles_in_one_place_stands_and_who_creeps_does_not(story):
    assert story.go_on(5.0, speed=0.0205) is Hands.TORQUE
    assert story.go_on(5.0, speed=1.0, trembles=True) is Hands.TORQUE  # 10 mrad to and fro
    assert story.go_on(0.3, speed=0.3, trembles=True) is Hands.HANDING_BACK
    story.brakes.holds = True
    assert story.go_on(5.0, speed=0.0205) is Hands.WATCHED
    assert story.go_on(0.3, speed=0.3, trembles=True) is Hands.FREE


def test_a_position_that_is_no_number_is_nowhere(story):
    story.q = story.q * np.nan
    assert story.go_on(5.0) is Hands.TORQUE


def test_torque_is_given_until_something_else_holds_the_arm(story):
    assert story.go_on(1.0) is Hands.HANDING_BACK
    assert story.hand_over.gives_torque
    assert story.hand_over.complaint == ''
    assert story.go_on(60.0) is Hands.HANDING_BACK
    assert story.hand_over.gives_torque
    assert story.brakes.asked.count('take') == pytest.approx(30, abs=1)
    assert 'until something else holds the arm: the brakes' in story.hand_over.complaint
    story.brakes.holds = True
    assert story.go_on(0.01) is Hands.WATCHED
    assert not story.hand_over.gives_torque
    assert story.go_on(0.3) is Hands.FREE
    assert story.hand_over.complaint == ''


def test_an_arm_that_moves_in_other_hands_is_not_free(story):
    story.go_on(0.5)
    story.brakes.holds = True
    assert story.go_on(10.0, speed=0.1) is Hands.WATCHED
    assert 'not seen to stand' in story.hand_over.complaint
    assert story.go_on(0.3) is Hands.FREE


def test_late_samples_show_that_an_arm_stands_in_other_hands_if_they_are_of_that_time(story):
    story.go_on(0.5)
    story.brakes.holds = True
    assert story.go_on(0.9, late=1.0) is Hands.WATCHED  # all from before
    assert story.go_on(0.25, late=1.0) is Hands.WATCHED
    assert story.go_on(0.15, late=1.0) is Hands.FREE


def test_one_old_sample_again_and_again_shows_nothing(story):
    story.go_on(0.5)
    story.brakes.holds = True
    story.go_on(0.01)
    sample = JointMeasurement(story.now, story.q, 0.0 * story.q, 0.0 * story.q)
    for now in range(story.now, story.now + 5_000_000_000, STEP):
        story.hand_over.step(now, sample, is_over=True)
    assert story.hand_over.hands is Hands.WATCHED


def test_an_arm_that_does_not_come_to_rest_stays_under_torque_and_that_is_said(story):
    assert story.go_on(3.0, speed=0.1) is Hands.TORQUE
    assert story.hand_over.complaint == ''
    assert story.go_on(2.0, speed=0.1) is Hands.TORQUE
    assert 'under torque' in story.hand_over.complaint


def test_without_measurements_any_other_hold_is_better_but_nobody_says_that_it_stands(story):
    assert story.go_on(1.9, speed=None) is Hands.TORQUE
    assert story.go_on(0.2, speed=None) is Hands.HANDING_BACK
    story.brakes.holds = True
    assert story.go_on(5.0, speed=None) is Hands.WATCHED


def test_torque_may_be_asked_for_again_at_any_time(story):
    story.go_on(0.5)
    story.hand_over.engage()
    assert story.hand_over.hands is Hands.TORQUE
    story.go_on(0.5)
    story.brakes.holds = True
    assert story.go_on(1.0) is Hands.FREE
    story.hand_over.engage()
    assert story.hand_over.gives_torque
    assert story.brakes.asked[-1] == 'give'


def test_who_does_not_leave_the_arm_to_torque_is_asked_again_and_named(story):
    """Until it does nothing of ours is heard, and nobody may judge the arm by it."""
    hand_over, brakes = story.hand_over, story.brakes
    brakes.listens = False
    asked, named = [], []
    for i in range(1000):
        hand_over.insist(i * STEP, is_wanted=True)
        asked.append(len(brakes.asked))
        named.append(hand_over.unheard)
        assert not hand_over.is_heard
    assert asked[:202] == [1] * 201 + [2]
    assert asked[-1] == 5
    assert named[:401] == [''] * 401
    assert named[-1] == 'the brakes'
    hand_over.insist(1000 * STEP, is_wanted=False)  # in a fault
    assert not hand_over.unheard
    brakes.listens = True
    hand_over.insist(1001 * STEP, is_wanted=True)
    assert hand_over.is_heard
    assert set(brakes.asked) == {'give'}
