"""Obstacles in frames that move are sets over time, or nothing is known; they never stand."""

import numpy as np
import pytest

from safe_sysid.errors import SafeSysidError
from safe_sysid.model import moving_frames
from safe_sysid.model.collision.moving_box import MotionBounds, MovingBox
from safe_sysid.model.collision.shown_scene import Change, Shown, ShownScene
from safe_sysid.model.frame_tree import FrameTree, Transform
from safe_sysid.model.moving_frames import FrameMotion, MovingFrames
from safe_sysid.model.placement import Placement
from safe_sysid.model.rotation import rotation_from_rpy
from safe_sysid.sets.box import Box
from safe_sysid.sets.interval import Interval

STAMP, MS = 50_000_000_000, 1_000_000  # [ns]
QUARTER = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])  # about z
PROMISED = MotionBounds(0.02, 0.1, 0.5, 2.0)
BOX = Box(np.array([0.3, 0.0, 0.0]), np.full(3, 0.1), np.eye(3))
AHEAD, STILL = np.array([0.5, 0.0, 0.0]), np.zeros(3)


class Cell:
    """A frame tree, frames that move in it and a scene with one obstacle."""

    def __init__(self, promised=PROMISED, expected=('person',), frame='person'):
        self.frames = FrameTree('base', {'wall': Placement(np.eye(3), np.ones(3))}, 0.5)
        self.moving = MovingFrames(self.frames, promised, 0.5, expected)
        self.scene = ShownScene(self.frames, 0.2, self.moving)
        self.scene.apply([Change('a', Shown((BOX,), frame))], STAMP)

    def tell(self, linear=AHEAD, angular=STILL, parent='wall', stamp=STAMP, turn=QUARTER):
        pose = Transform(np.array([1.0, 2.0, 0.0]), turn)
        self.moving.put('person', FrameMotion(parent, stamp, pose, linear, angular))

    def refusal(self, now=STAMP):
        """Why nothing is known, after the patience."""
        self.scene.settle(now)
        assert not self.scene.is_settled
        return self.scene.trouble(now + 250 * MS)


def test_a_frame_that_was_said_to_move_is_not_known_before_it_is_told_how():
    cell = Cell()
    assert "frame 'person' moves, and nobody has told how" in cell.refusal().replace(
        ', or a frame that it hangs on', ''
    )
    assert cell.scene.boxes == {}
    cell.tell()
    cell.scene.settle(STAMP)
    assert cell.scene.is_settled
    (box,) = cell.scene.boxes.values()
    assert isinstance(box, MovingBox)
    np.testing.assert_allclose(box.center, [2.0, 3.3, 1.0], atol=1e-12)
    np.testing.assert_allclose(box.velocity, [0.0, 0.5, 0.0], atol=1e-12)
    assert (box.stamp, box.bounds) == (STAMP, PROMISED)
    assert box.radius >= PROMISED.position_error
    cell.scene.settle(STAMP + MS)
    assert next(iter(cell.scene.boxes.values())) is box  # nothing has changed


def test_a_frame_that_was_told_to_move_never_stands_again():
    """Neither while nobody says how, nor where tf knows where it is."""
    cell = Cell(expected=())
    pose = Transform(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
    cell.frames.put('base', 'person', STAMP, pose, False)
    cell.scene.settle(STAMP)
    assert cell.scene.is_settled
    cell.tell()
    cell.scene.settle(STAMP)
    (before,) = cell.scene.boxes.values()
    assert isinstance(before, MovingBox)
    later = STAMP + 600 * MS
    cell.frames.put('base', 'person', later, pose, False)
    assert "motion of frame 'person' is 0.6 s old; 0.5 s are allowed" in cell.refusal(later)
    assert list(cell.scene.boxes.values()) == [before]
    cell.tell(stamp=later)
    cell.scene.settle(later)
    assert cell.scene.is_settled


BROKEN = [
    ({'stamp': 0}, 'it has no stamp; it has to be that of its pose'),
    ({'turn': np.zeros(4)}, 'so it is no rotation'),
    ({'linear': np.full(3, np.nan)}, "velocity of frame 'person'"),
    ({'angular': np.full(3, np.inf)}, "angular velocity of frame 'person'"),
]


@pytest.mark.parametrize(('told', 'said'), BROKEN)
def test_a_frame_whose_motion_makes_no_sense_moves_and_nobody_knows_how(told, said):
    """Whatever tf says of it, until a motion of it is understood."""
    cell = Cell(expected=())
    pose = Transform(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
    cell.frames.put('base', 'person', STAMP, pose, True)
    cell.scene.settle(STAMP)
    assert cell.scene.is_settled
    with pytest.raises(SafeSysidError, match="motion of 'person'"):
        cell.tell(**told)
    for other in range(3):  # what others send means nothing for this one
        cell.moving.put(f'other_{other}', FrameMotion('base', STAMP, pose, AHEAD, STILL))
        refusal = cell.refusal()
        assert "frame 'person' moves, and nobody has told how (motion of 'person': " in refusal
        assert said in refusal
    cell.tell()
    cell.scene.settle(STAMP)
    assert cell.scene.is_settled
    assert isinstance(next(iter(cell.scene.boxes.values())), MovingBox)


def test_a_motion_that_was_understood_grows_old_while_those_after_it_are_not():
    cell = Cell()
    cell.tell()
    with pytest.raises(SafeSysidError):
        cell.tell(stamp=0)
    cell.scene.settle(STAMP + 400 * MS)
    assert cell.scene.is_settled
    refusal = cell.refusal(STAMP + 600 * MS)
    assert 'is 0.6 s old; 0.5 s are allowed' in refusal
    assert 'it has no stamp' in refusal
    cell.tell(stamp=STAMP + 600 * MS)
    cell.scene.settle(STAMP + 600 * MS)
    assert cell.scene.is_settled
    assert 'no stamp' not in cell.refusal(STAMP + 1200 * MS)


def test_what_hangs_on_a_frame_that_moves_is_not_taken_to_stand():
    cell = Cell(frame='hat')
    cell.tell()
    pose = Transform(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
    cell.frames.put('person', 'hat', STAMP, pose, True)
    assert 'or a frame that it hangs on moves, and nobody has told how' in cell.refusal()


@pytest.mark.parametrize(
    ('told', 'promised', 'said'),
    [
        ({'parent': 'cart'}, PROMISED, "told in frame 'cart', which is not known to stand"),
        ({'parent': 'nowhere'}, PROMISED, "frame 'nowhere' is not connected"),
        ({'stamp': STAMP + 900 * MS}, PROMISED, '0.9 s in the future'),
        ({}, MotionBounds(), 'it is not promised how fast'),
        ({}, MotionBounds(speed=1.0), 'it is not promised how fast'),
        ({'linear': 5.0 * AHEAD}, PROMISED, r'it moves at 2.5 m/s; at most 2.0 m/s is promised'),
    ],
)
def test_motions_that_bound_nothing_are_refused(told, promised, said):
    cell = Cell(promised)
    pose = Transform(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
    cell.frames.put('base', 'cart', STAMP, pose, False)
    cell.tell(**told)
    assert said in cell.refusal()


def test_obstacles_that_turn_stay_within_their_sets(rng):
    for _ in range(20):
        angular, linear = rng.normal(size=3), rng.normal(size=3)
        rate, size = np.linalg.norm(angular), np.linalg.norm(BOX.center) + 0.3
        linear *= 0.5 / np.linalg.norm(linear)
        cell = Cell(MotionBounds(0.0, 0.0, rate**2 * size, 50.0))
        cell.tell(linear, angular, parent='base')
        cell.scene.settle(STAMP)
        (box,) = cell.scene.boxes.values()
        edges = np.linspace(0.0, 1.0, 11)
        shift, growth = box.over(STAMP, Interval(edges[:-1], edges[1:]))
        corners = BOX.center + 0.1 * rng.choice([-1.0, 1.0], size=(8, 3))
        turn = rotation_from_rpy(np.array([0.0, 0.0, 0.5 * np.pi]))
        for t, tau in enumerate(0.5 * (edges[:-1] + edges[1:])):
            spun = np.array([rotated(angular, tau, corner) for corner in corners])
            points = np.array([1.0, 2.0, 0.0]) + (turn @ (spun + linear * tau).T).T
            local = (points - shift[t] - box.center) @ box.rotation
            away = local - np.clip(local, -box.half_sizes, box.half_sizes)
            assert np.linalg.norm(away, axis=1).max() <= growth[t] + box.radius


def rotated(angular, tau, point):
    """Rodrigues' formula."""
    angle = np.linalg.norm(angular) * tau
    axis = angular / np.linalg.norm(angular)
    along = axis * (axis @ point) * (1.0 - np.cos(angle))
    return point * np.cos(angle) + np.cross(axis, point) * np.sin(angle) + along


def test_a_motion_told_in_a_frame_that_moves_places_nothing():
    """Also where tf says that this frame stands."""
    cell = Cell(expected=('person', 'cart'))
    cell.frames.put('base', 'cart', 0, Transform(np.ones(3), np.array([1.0, 0, 0, 0])), True)
    cell.tell(parent='cart')
    assert "'cart', which is not known to stand" in cell.refusal()


def test_of_ever_new_frames_the_newest_motions_are_kept_and_every_name(monkeypatch):
    """A frame whose motion was forgotten does not stand, whatever tf says of it."""
    monkeypatch.setattr(moving_frames, 'MOST', 5)
    cell, pose = Cell(expected=()), Transform(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
    cell.frames.put('base', 'person', STAMP, pose, True)
    cell.tell()
    for i in range(20):
        cell.moving.put(f'p{i}', FrameMotion('wall', STAMP, pose, AHEAD, STILL))
    assert len(cell.moving._told) == 5
    assert "frame 'person' moves, and nobody has told how" in cell.refusal()
    cell.tell()
    cell.scene.settle(STAMP)
    assert cell.scene.is_settled


def test_where_names_are_too_many_no_other_frame_is_taken_to_stand(monkeypatch):
    monkeypatch.setattr(moving_frames, 'NAMES', 5)
    cell, pose = Cell(expected=(), frame='wall'), Transform(np.zeros(3), QUARTER)
    cell.frames.put('base', 'other', STAMP, pose, True)
    for i in range(5):
        cell.moving.put(f'p{i}', FrameMotion('wall', STAMP, pose, AHEAD, STILL))
        cell.scene.settle(STAMP)
        assert cell.scene.is_settled
    with pytest.raises(SafeSysidError, match="frame 'other' is one too many"):
        cell.moving.put('other', FrameMotion('wall', STAMP, pose, AHEAD, STILL))
    assert cell.moving.moves('other')
    cell.moving.put('p0', FrameMotion('wall', STAMP + 1, pose, AHEAD, STILL))
    assert "nobody knows whether frame 'wall' stands" in cell.refusal()
    assert "'other' and maybe others beside" in cell.refusal()
