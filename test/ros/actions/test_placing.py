"""What is let go is shown where the arm is, and it is over once the planner avoids it."""

from types import SimpleNamespace

import numpy as np
import pytest
from ros.actions.test_handling import Gripper, Loop

from safe_sysid.ros.actions.asked import PATIENCE
from safe_sysid.ros.actions.grasping import Grasping
from safe_sysid.ros.actions.handling import RELEASE, Handling
from safe_sysid.ros.actions.placing import BETWEEN, NO_SIZE, Placing

Q, STAMP = np.array([0.3, 0.4]), 7_000_000_000


class Placed:
    """Objects by the pose of the arm."""

    def __init__(self, has_shape=True):
        self.touched_within = 0.0
        self.has_shape, self.put_at, self.taken_at = has_shape, [], []
        self.told = 0

    def put(self, q, stamp):
        self.put_at.append((tuple(q), stamp))
        return 'placed: object/7'

    def tell(self):
        self.told += 1

    def take(self, q):
        self.taken_at.append(tuple(q))
        return []

    def lend(self, name):
        raise AssertionError(name)

    knows = give_back = lend


class Planned(Loop):
    """One whose planner says what it avoids."""

    def __init__(self):
        super().__init__()
        self.certified, self.avoided = 'yes', ''

        self.measured = SimpleNamespace(position=Q, stamp=STAMP)

    def motion(self):
        """Return nothing: a fault since the gripper has opened leaves no plan in force."""

    def figure(self, key, node='planner'):
        assert (key, node) == ('placed objects', 'planner')
        return self.avoided


def placing(loop, placed, gripper):
    return Placing(loop, Grasping(loop, gripper, lambda: True, closes=False), placed)


def opened(loop, placed):
    """One whose gripper has opened."""
    asked = placing(loop, placed, Gripper())
    assert asked.step() is None
    assert not placed.put_at
    loop.changes()
    loop.is_change_pending = False
    return asked


def test_it_is_over_once_the_planner_avoids_what_was_placed():
    loop, placed = Planned(), Placed()
    asked = opened(loop, placed)
    loop.avoided = 'placed: object/77'
    for _ in range(3 * BETWEEN):
        assert asked.step() is None
    loop.avoided = 'placed: object/5, placed: object/7'
    outcome = asked.step()
    assert outcome.success
    said = 'the gripper has opened; the planner avoids it now as "placed: object/7"'
    assert outcome.message == said
    assert placed.put_at == [((0.3, 0.4), STAMP)]
    assert placed.told == 3  # a planner that did not hear it at first


def test_what_is_let_go_before_anything_is_measured_is_shown_as_soon_as_it_is():
    loop, placed = Planned(), Placed()
    asked, loop.measured = opened(loop, placed), None
    assert asked.step() is None
    loop.measured = SimpleNamespace(position=Q, stamp=STAMP)
    assert asked.step() is None
    assert placed.put_at == [((0.3, 0.4), STAMP)]


def test_what_has_no_size_is_no_obstacle_and_that_is_said():
    loop, placed = Planned(), Placed(has_shape=False)
    outcome = opened(loop, placed).step()
    assert outcome.success
    assert outcome.message == f'the gripper has opened; {NO_SIZE}'
    assert not placed.put_at


def test_a_planner_that_does_not_hear_of_it_is_not_waited_for_without_end():
    loop, placed = Planned(), Placed()
    asked = opened(loop, placed)
    outcomes = [asked.step() for _ in range(PATIENCE + 1)]
    assert outcomes[:-1] == [None] * PATIENCE
    assert outcomes[-1].success
    assert 'does not say that it avoids it' in outcomes[-1].message


@pytest.mark.parametrize('is_told', [True, False])
def test_what_may_have_been_let_go_counts_as_let_go(is_told):
    loop, placed, gripper = Planned(), Placed(), Gripper()
    loop.certified, loop.avoided = 'yes' if is_told else '', 'placed: object/7'
    asked = placing(loop, placed, gripper)
    handling = Handling([(RELEASE, lambda: asked)])
    assert handling.step() is None
    gripper.trouble = 'it is stuck'
    if not is_told:
        loop.refusal = 'standing is not certified'
    outcome = handling.step()
    assert not outcome.success
    assert bool(placed.put_at) == is_told
    assert ('the planner avoids it now' in outcome.message) == is_told
    assert ('nobody knows what is in the hand' in outcome.message) == is_told
