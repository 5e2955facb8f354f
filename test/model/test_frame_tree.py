"""Frames are told as tf2 would: chains, times between, nothing beyond what is known."""

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.model.frame_tree import MOST, FrameError, FrameTree, Transform
from safe_sysid.model.placement import HERE, Placement

SECOND = 1_000_000_000
MAX_AGE = 0.5


def tree(**fixed):
    return FrameTree('base', fixed, MAX_AGE)


def random_transform(rng):
    q = rng.normal(size=4)
    return Transform(rng.normal(size=3), q / np.linalg.norm(q))


def se3(transform):
    w, x, y, z = transform.quaternion
    return pin.SE3(pin.Quaternion(w, x, y, z), transform.position)


def assert_is(placement, expected):
    np.testing.assert_allclose(placement.R, expected.rotation, rtol=0, atol=1e-12)
    np.testing.assert_allclose(placement.p, expected.translation, rtol=0, atol=1e-12)


def test_chains_up_and_down_are_products_of_transforms(rng):
    frames = tree()
    told = {name: random_transform(rng) for name in ('table', 'box', 'base', 'mast', 'camera')}
    frames.put('world', 'base', 0, told['base'], True)
    frames.put('world', 'table', 0, told['table'], True)
    frames.put('table', 'box', 5, told['box'], False)
    frames.put('/base', '/mast', 0, told['mast'], True)
    frames.put('mast', 'camera', 5, told['camera'], False)
    up = se3(told['base']).inverse()
    assert_is(frames.placement('box', 5, 5), up * se3(told['table']) * se3(told['box']))
    assert_is(frames.placement('world', 0, 5), up)
    assert_is(frames.placement('camera', 5, 5), se3(told['mast']) * se3(told['camera']))
    assert_is(frames.placement('base', 77, 99), pin.SE3.Identity())


def test_frames_of_the_arm_that_do_not_move_need_nobody_to_tell_them(rng):
    place = Placement.of([0.1, 0.2, 0.3], [1.0, 0, 0, 0])
    frames = tree(flange_of_base=place)
    assert frames.placement('flange_of_base', 3, 99 * SECOND) is place
    camera = random_transform(rng)
    frames.put('flange_of_base', 'camera', 0, camera, True)
    expected = pin.SE3(np.eye(3), place.p) * se3(camera)
    assert_is(frames.placement('camera', 0, 0), expected)
    # the base is known under the root of somebody else's tree
    frames.put('map', 'flange_of_base', 0, camera, True)
    assert_is(frames.placement('map', 0, 0), pin.SE3(np.eye(3), place.p) * se3(camera).inverse())


def test_between_two_times_a_frame_moves_evenly():
    frames = tree()
    turn = 1.2
    first = Transform(np.zeros(3), np.array([1.0, 0, 0, 0]))
    second = Transform(
        np.array([0.4, 0, 0]), -np.array([np.cos(turn / 2), 0, 0, np.sin(turn / 2)])
    )
    frames.put('base', 'cart', 1 * SECOND, first, False)
    frames.put('base', 'cart', 1 * SECOND + SECOND // 5, second, False)
    place = frames.placement('cart', 1 * SECOND + SECOND // 20, 2 * SECOND)
    np.testing.assert_allclose(place.p, [0.1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(place.R, pin.rpy.rpyToMatrix(0, 0, 0.25 * turn), atol=1e-12)


def test_nothing_is_guessed():
    frames = tree()
    there = Transform(np.zeros(3), np.array([1.0, 0, 0, 0]))
    frames.put('base', 'cart', 10 * SECOND, there, False)
    for stamp, words in (
        (11 * SECOND, '1 s after the newest'),
        (9 * SECOND, '1 s before the first'),
    ):
        with pytest.raises(FrameError, match=words):
            frames.placement('cart', stamp, 11 * SECOND)
    frames.put('base', 'cart', 11 * SECOND, there, False)
    with pytest.raises(FrameError, match='between two transforms'):
        frames.placement('cart', 10 * SECOND + 5, 11 * SECOND)
    frames.placement('cart', 0, 11 * SECOND + SECOND // 2)
    with pytest.raises(FrameError, match='is 0.6 s old'):
        frames.placement('cart', 0, 11 * SECOND + 6 * SECOND // 10)
    with pytest.raises(FrameError, match='is 0.6 s ahead'):
        frames.placement('cart', 0, 11 * SECOND - 6 * SECOND // 10)
    with pytest.raises(FrameError, match="'moon' is not connected to 'base'"):
        frames.placement('moon', 0, 0)
    with pytest.raises(BoundError, match='orientation'):
        frames.put('base', 'cart', 0, Transform(np.zeros(3), np.zeros(4)), False)


def test_the_newest_time_is_when_all_of_a_chain_is_known():
    frames = tree()
    for stamp, x in ((10, 0.0), (11, 1.0)):
        moved = Transform(np.array([x, 0, 0]), np.array([1.0, 0, 0, 0]))
        frames.put('base', 'cart', stamp * SECOND // 10, moved, False)
    still = Transform(np.zeros(3), np.array([1.0, 0, 0, 0]))
    frames.put('cart', 'camera', 10 * SECOND // 10, still, False)
    place = frames.placement('camera', 0, 11 * SECOND // 10)
    np.testing.assert_allclose(place.p, [0.0, 0, 0], atol=1e-12)


def test_a_circle_has_no_place():
    frames = tree()
    there = Transform(np.zeros(3), np.array([1.0, 0, 0, 0]))
    frames.put('a', 'b', 0, there, True)
    frames.put('b', 'a', 0, there, True)
    with pytest.raises(FrameError, match='above itself'):
        frames.placement('a', 0, 0)


def test_a_clock_that_steps_back_begins_anew():
    frames = tree()
    there = Transform(np.zeros(3), np.array([1.0, 0, 0, 0]))
    frames.put('base', 'cart', 100 * SECOND, there, False)
    frames.put('base', 'cart', 1 * SECOND, there, False)
    with pytest.raises(FrameError, match='after the newest'):
        frames.placement('cart', 100 * SECOND, 100 * SECOND)
    assert frames.placement('base', 0, 0).p is HERE.p


def test_frames_of_ever_new_names_are_forgotten_but_for_the_static_and_the_newest(rng):
    frames, place = tree(), random_transform(rng)
    frames.put('base', 'mast', 0, place, True)
    for number in range(3 * MOST):
        frames.put('base', f'person_{number}', SECOND, place, False)
        frames.put('base', 'cart', SECOND + number, place, False)
    assert_is(frames.placement('mast', 5, 5), se3(place))
    newest = 3 * MOST - 1
    assert_is(frames.placement('cart', SECOND + newest, SECOND + newest), se3(place))
    assert_is(frames.placement(f'person_{newest}', SECOND, SECOND), se3(place))
    with pytest.raises(FrameError, match='not connected'):
        frames.placement('person_0', SECOND, SECOND)
    assert len(frames._edges) == MOST


def test_a_static_frame_is_not_forgotten_for_another(rng):
    frames, place = tree(), random_transform(rng)
    for number in range(MOST):
        frames.put('base', f'mark_{number}', 0, place, True)
    with pytest.raises(FrameError, match='one too many'):
        frames.put('base', 'another', 0, place, False)
    frames.put('base', 'mark_0', 0, place, True)


def test_a_frame_of_a_name_that_nobody_can_read_is_refused(rng):
    frames, long = tree(), 'x' * 1_000_000
    for parent, child in (('base', long), (long, 'box')):
        with pytest.raises(FrameError, match=r"^the name 'x{40}\.\.\.' has 1000000 letters"):
            frames.put(parent, child, 0, random_transform(rng), True)
    with pytest.raises(FrameError) as refused:
        frames.placement(long, 0, 0)
    assert len(str(refused.value)) < 500
