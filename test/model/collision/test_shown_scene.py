"""The rules of RViz for keys, lifetimes and frames; what is not understood is never forgotten."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.model.collision import shown_scene
from safe_sysid.model.collision.enclosing_boxes import cuboid
from safe_sysid.model.collision.shown_scene import Change, Shown, ShownScene, changed
from safe_sysid.model.frame_tree import FrameTree, Transform

SECOND = 1_000_000_000
PATIENCE = 0.2
MOST = 20


@pytest.fixture
def is_small(monkeypatch):
    """Scenes that have little room."""
    monkeypatch.setattr(shown_scene, 'MOST', MOST)


def scene():
    frames = FrameTree('base', {}, 0.5)
    return ShownScene(frames, PATIENCE), frames


def cube(size=0.1, **fields):
    return replace(Shown((cuboid([size] * 3),), 'base'), **fields)


def at(x):
    return Transform(np.array([x, 0.0, 0.0]), np.array([1.0, 0, 0, 0]))


def test_a_second_add_does_not_delete_the_first():
    shown, _ = scene()
    shown.apply([Change('a/0', cube())], 0)
    shown.apply([Change('a/1', cube()), Change('b/0', cube())], 1)
    assert list(shown.boxes) == ['a/0', 'a/1', 'b/0']
    shown.apply([Change('a/1')], 2)
    assert list(shown.boxes) == ['a/0', 'b/0']
    shown.apply([Change('')], 3)
    assert shown.boxes == {}


def test_what_has_no_place_is_said_however_often_it_is_shown_again():
    """With and without a lifetime that ends before the next message."""
    for lifetime in (0, SECOND // 20):
        shown, _ = scene()
        for k in range(4):
            now = k * SECOND // 10
            shown.apply([Change('a', cube(frame='nowhere', lifetime=lifetime))], now)
            assert not shown.is_settled
        assert 'nowhere' in shown.trouble(now)
        shown.apply([Change('a', cube())], now)
        assert shown.is_settled
        shown.apply([Change('a', cube(frame='nowhere'))], now + 1)
        assert shown.trouble(now + 2) == ''


def test_the_same_key_is_replaced_and_the_rest_untouched():
    shown, _ = scene()
    shown.apply([Change('a/0', cube(0.1)), Change('a/1', cube(0.1))], 0)
    before = shown.boxes
    shown.apply([Change('a/0', cube(0.1)), Change('a/1', cube(0.2))], 1)
    assert list(changed(before, shown.boxes)) == ['a/1']  # what is shown again did not change
    assert shown.boxes['a/1'].half_sizes[0] > 0.09


def test_a_lifetime_counts_from_its_arrival():
    shown, _ = scene()
    shown.apply([Change('a/0', cube(lifetime=2 * SECOND)), Change('a/1', cube())], 10 * SECOND)
    shown.settle(12 * SECOND - 1)
    assert list(shown.boxes) == ['a/0', 'a/1']
    shown.apply([Change('a/0', cube(lifetime=2 * SECOND))], 12 * SECOND - 1)
    shown.settle(13 * SECOND)
    assert 'a/0' in shown.boxes
    shown.settle(14 * SECOND)
    assert list(shown.boxes) == ['a/1']


def test_what_is_not_understood_stays_until_it_is_said_better():
    shown, _ = scene()
    shown.apply([Change('a/0', cube()), Change('a/1', cube())], 0)
    shown.apply([Change('a/0', unclear='its type is 77'), Change('a/2', cube())], 1)
    assert not shown.is_settled
    assert shown.trouble(1) == "obstacle 'a/0': its type is 77"
    assert list(shown.boxes) == ['a/0', 'a/1', 'a/2']  # what it was before stays in the way
    shown.apply([Change('a/1', cube())], 2)
    assert not shown.is_settled
    for cure in (Change('a/0', cube()), Change('a/0'), Change('')):
        other, _ = scene()
        other.apply([Change('a/0', unclear='its type is 77')], 0)
        other.apply([cure], 1)
        assert other.is_settled
        assert other.trouble(9 * SECOND) == ''


def test_a_frame_that_is_not_known_stops_planning_at_once_and_is_trouble_soon():
    shown, frames = scene()
    shown.apply([Change('a/0', cube())], 0)
    shown.apply([Change('a/0', cube(frame='cart', stamp=5 * SECOND))], 5 * SECOND)
    assert not shown.is_settled
    assert shown.trouble(5 * SECOND) == ''
    assert shown.boxes['a/0'].center[0] == 0.0  # where it was before
    shown.settle(5 * SECOND + SECOND // 4)
    assert "'cart' is not connected" in shown.trouble(5 * SECOND + SECOND // 4)
    frames.put('base', 'cart', 5 * SECOND, at(0.7), False)
    shown.settle(5 * SECOND + SECOND // 3)
    assert shown.is_settled
    assert shown.trouble(6 * SECOND) == ''
    assert shown.boxes['a/0'].center[0] == 0.7


def test_what_moves_with_its_frame_is_placed_again_and_again():
    shown, frames = scene()
    frames.put('base', 'cart', 5 * SECOND, at(0.5), False)
    fixed, moves = cube(frame='cart', stamp=5 * SECOND), cube(frame='cart', moves_with_frame=True)
    shown.apply([Change('a/0', fixed), Change('a/1', moves)], 5 * SECOND)
    frames.put('base', 'cart', 6 * SECOND, at(0.6), False)
    before = shown.boxes
    shown.settle(6 * SECOND)
    assert list(changed(before, shown.boxes)) == ['a/1']
    assert shown.boxes['a/1'].center[0] == 0.6
    shown.settle(7 * SECOND)  # nobody says any more where the cart is
    assert not shown.is_settled
    assert shown.boxes['a/1'].center[0] == 0.6
    shown.settle(8 * SECOND)
    assert 'is 2 s old' in shown.trouble(8 * SECOND)


def test_writing_takes_no_room_and_many_boxes_have_names():
    shown, _ = scene()
    shown.apply([Change('a/0', cube())], 0)
    shown.apply(
        [Change('a/0', Shown((), 'base')), Change('a/1', Shown((cube().boxes * 3), 'base'))], 1
    )
    assert list(shown.boxes) == ['a/1#0', 'a/1#1', 'a/1#2']
    assert shown.is_settled


@pytest.mark.usefixtures('is_small')
def test_there_is_room_for_many_and_none_is_forgotten_for_another():
    shown, _ = scene()
    small = cube()
    shown.apply([Change(f'a/{i}', small) for i in range(MOST)], 0)
    assert shown.is_settled
    before = shown.boxes
    shown.apply([Change('b/0', cube())], 1)
    assert not shown.is_settled
    assert shown.trouble(1).startswith(f"obstacle 'b/0' is one too many: there is room for {MOST}")
    assert list(changed(before, shown.boxes)) == []
    shown.apply([Change('a/0'), Change('b/1', cube())], 2)  # there is room, but for what was lost
    assert 'b/1' in shown.boxes
    assert not shown.is_settled
    shown.apply([Change(''), Change('b/0', cube())], 3)
    assert shown.is_settled
    assert shown.trouble(3) == ''


@pytest.mark.usefixtures('is_small')
def test_what_grows_beyond_the_room_stays_as_it_was_and_that_is_said():
    shown, _ = scene()
    part = cuboid([0.1] * 3)
    shown.apply([Change('a', Shown((part,) * (MOST - 1), 'base')), Change('b', cube())], 0)
    assert shown.is_settled
    shown.apply([Change('b', Shown((part, part), 'base'))], 1)
    assert not shown.is_settled
    assert "obstacle 'b' is one too many" in shown.trouble(1)
    assert len(shown.boxes) == MOST


@pytest.mark.usefixtures('is_small')
def test_a_name_is_kept_while_it_is_shown_and_not_for_ever():
    shown, _ = scene()
    for i in range(3 * MOST):
        shown.apply([Change(f'a/{i}', cube(lifetime=2)), Change(f'b/{i}', cube())], i)
        shown.apply([Change(f'b/{i}')], i)
    assert shown.is_settled
    assert list(shown.boxes) == [f'a/{3 * MOST - 2}', f'a/{3 * MOST - 1}']


@pytest.mark.usefixtures('is_small')
def test_names_without_a_place_are_not_remembered_without_end():
    shown, _ = scene()
    for i in range(5):
        names = (f'{i}/{j}' for j in range(MOST // 2))
        shown.apply([Change(name, cube(frame='nowhere', lifetime=1)) for name in names], i)
    assert len(shown._unplaced) <= 2 * MOST
    assert not shown.is_settled


def test_who_shows_all_anew_each_time_has_a_frame_that_stays_unknown_said():
    shown, _ = scene()
    for step in range(20):
        now = step * SECOND // 10
        shown.apply([Change(''), Change('a/0', cube(frame='nowhere'))], now)
        assert not shown.is_settled
        assert (shown.trouble(now) != '') == (step >= 2)


def test_all_of_a_namespace_are_taken_away_and_no_others():
    shown, _ = scene()
    shown.apply([Change(f'{ns}/0', cube()) for ns in ('a', 'a/b', 'ab', '')], 0)
    shown.apply([Change('', namespace='a')], 1)
    assert list(shown.boxes) == ['a/b/0', 'ab/0', '/0']
    shown.apply([Change('')], 2)
    assert list(shown.boxes) == []


def test_a_place_that_no_box_can_have_leaves_nothing_known():
    shown, frames = scene()
    frames.put('base', 'cart', 0, Transform(np.full(3, 1e308), np.array([1.0, 0, 0, 0])), True)
    frames.put('cart', 'lid', 0, Transform(np.full(3, 1e308), np.array([1.0, 0, 0, 0])), True)
    shown.apply([Change('a/0', cube(frame='lid'))], 0)
    assert not shown.is_settled
    shown.settle(SECOND)
    assert 'has to be finite numbers' in shown.trouble(SECOND)
