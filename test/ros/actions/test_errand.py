"""An errand is handling without an action: begun once, after learning, and it says how it ends."""

from types import SimpleNamespace

import pytest
from ros.actions.test_handling import Gripper, Loop
from ros.actions.test_placing import Placed

from safe_sysid.errors import ConfigError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.actions.asked import Outcome
from safe_sysid.ros.actions.errand import Errand, ErrandSettings
from safe_sysid.ros.actions.placing import NO_SIZE
from safe_sysid.track.supervisor import Mode

ARM = RobotModel.named('two_link')
JOINTS = ('one', 'two')
THERE = Outcome(True, 'there')


class Cell:
    """A loop that knows what it is told, a gripper that is quick, and where the arm was led."""

    def __init__(self, settings, answer=THERE):
        self.loop, self.gripper, self.led, self.answer = Loop(Mode.EXCITING), Gripper(), [], answer
        self.checked, self.missed = Outcome(True, 'it may stand there'), ''
        self.loop.certified, self.loop.bounds_for_change = 'yes', ''
        asking = SimpleNamespace(loop=self.loop, go=self.go, known=self.known, check=self.check)
        hand = SimpleNamespace(
            gripper=self.gripper, placed=Placed(has_shape=False), missed=lambda _: self.missed
        )
        self.errand = Errand(settings, JOINTS, asking, hand)

    def known(self):
        """Return nothing, as no bounds for a change were heard."""

    def check(self, places):
        self.places = {name: list(joints.position) for name, joints in places}
        return SimpleNamespace(step=lambda: self.checked, take_back=lambda: None)

    def go(self, joints, pose):
        assert pose is None
        self.led.append(dict(zip(joints.name, joints.position, strict=True)))
        return SimpleNamespace(step=lambda: self.answer, take_back=lambda: None)


def test_nothing_begins_before_the_loop_has_learnt():
    cell = Cell(ErrandSettings(pick=(1.0, 2.0), place=(3.0, 4.0)))
    cell.errand.look()
    assert (cell.led, cell.errand.says) == ([], 'waits')
    cell.loop.mode = Mode.IDENTIFIED
    cell.errand.look()
    assert cell.errand.says == 'check'
    assert cell.places == {'pick': [1.0, 2.0], 'place': [3.0, 4.0]}
    assert cell.led == []
    cell.errand.look()
    assert cell.led == [{'one': 1.0, 'two': 2.0}]
    assert cell.errand.says == 'approach'
    assert not cell.errand.is_over


def test_a_place_that_is_refused_is_the_end_before_anything_moves():
    cell = Cell(ErrandSettings(pick=(1.0, 2.0), place=(3.0, 4.0)))
    cell.checked, cell.loop.mode = Outcome(False, 'place: no'), Mode.IDENTIFIED
    cell.errand.look()
    assert cell.errand.says == 'failed: check: place: no; nothing was picked'
    assert (cell.led, cell.gripper.told) == ([], [])


def test_a_way_that_fails_is_the_end_and_is_said_once():
    cell = Cell(ErrandSettings(pick=(1.0, 2.0), place=(3.0, 4.0)), Outcome(False, 'no way'))
    cell.loop.mode = Mode.IDENTIFIED
    cell.errand.look()
    cell.errand.look()
    assert cell.errand.is_over
    assert cell.errand.says == 'failed: approach: no way; nothing was picked'
    cell.errand.look()
    assert len(cell.led) == 1


def test_the_gripper_is_not_told_before_bounds_for_the_change_were_heard():
    cell = Cell(ErrandSettings(place=(3.0, 4.0)))
    cell.loop.mode = Mode.IDENTIFIED
    for _ in range(3):
        cell.errand.look()
    assert cell.errand.says == 'grasp'
    assert (cell.gripper.told, cell.led) == ([], [])


def test_what_an_errand_lets_go_is_placed(monkeypatch):
    """Nobody has said how large it is, and the errand says so at its end."""
    monkeypatch.setattr('safe_sysid.ros.actions.errand.knows_change', lambda _: lambda: True)
    cell = Cell(ErrandSettings(place=(3.0, 4.0)))
    cell.loop.measured = None
    loop, told = cell.loop, cell.gripper.told
    loop.mode = Mode.IDENTIFIED
    for closes in (True, False):
        while closes not in told:
            cell.errand.look()
        loop.load_changes, loop.mode = loop.load_changes + 1, Mode.HOLDING
    for _ in range(2):  # it has opened, and that was the last step
        cell.errand.look()
    assert told == [True, False]
    said = f'it may stand there; the gripper has closed; there; the gripper has opened; {NO_SIZE}'
    assert cell.errand.says == f'done: {said}'


def test_an_errand_that_has_missed_ends_before_it_lets_go(monkeypatch):
    monkeypatch.setattr('safe_sysid.ros.actions.errand.knows_change', lambda _: lambda: True)
    cell = Cell(ErrandSettings(lift=(2.0, 2.0), place=(3.0, 4.0)))
    loop, told = cell.loop, cell.gripper.told
    loop.mode = Mode.IDENTIFIED
    while True not in told:
        cell.errand.look()
    loop.load_changes, loop.mode = loop.load_changes + 1, Mode.HOLDING
    cell.errand.look()
    cell.missed = 'nothing was picked'
    while not cell.errand.is_over:
        cell.errand.look()
    assert cell.errand.says == 'failed: lift: nothing was picked; nothing is in the hand'
    assert told == [True]
    assert cell.led == [{'one': 2.0, 'two': 2.0}]


@pytest.mark.parametrize(
    ('settings', 'said'),
    [
        (ErrandSettings(place=(1.0,)), 'errand.place has 1 entries, not 2'),
        (ErrandSettings(pick=(1.0, 2.0)), 'errand.place is empty'),
        (ErrandSettings(place=(0.0, 99.0)), 'errand.place: joint_2 is at 99 rad'),
    ],
)
def test_configurations_that_make_no_sense_are_refused(settings, said):
    with pytest.raises(ConfigError, match=said):
        settings.check(ARM)
    ErrandSettings(pick=(1.0, 2.0), place=(1.0, 2.0)).check(ARM)
    ErrandSettings().check(ARM)


def test_an_errand_that_is_ended_does_not_wait_for_an_arm_that_nobody_sees():
    cell = Cell(ErrandSettings(pick=(1.0, 2.0), place=(3.0, 4.0)), answer=None)
    cell.errand.end('unseen')
    assert cell.errand.says == 'waits'  # it had not begun, and may yet
    cell.loop.mode = Mode.IDENTIFIED
    cell.errand.look()
    cell.errand.look()
    assert cell.errand.goes_on
    cell.errand.end('unseen')
    assert cell.errand.says == 'failed: unseen'
    assert not cell.errand.goes_on
