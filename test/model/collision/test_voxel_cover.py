"""Boxes of a cloud contain all its points, with no more boxes than asked for."""

import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.model.collision.enclosing_boxes import volume
from safe_sysid.model.collision.voxel_cover import voxel_cover

CELL = 0.05


def nearest(boxes, points):
    return np.min([box.distance(points)[0] for box in boxes], axis=0)


@pytest.mark.parametrize('budget', [1, 7, 200])
def test_every_point_is_in_a_box(budget, rng):
    wall = rng.uniform([-1.0, 0.5, 0.0], [1.0, 0.51, 1.0], size=(2000, 3))
    edges = CELL * rng.integers(-20, 20, size=(500, 3))  # where rounding decides
    points = np.concatenate([wall, edges, rng.normal(size=(50, 3))])
    boxes = voxel_cover(points, CELL, budget)
    assert len(boxes) <= budget
    assert nearest(boxes, points).max() <= 0.0


def test_voxels_in_a_row_are_one_box_no_larger_than_they_are():
    points = np.array([[x, 0.01, 0.01] for x in np.arange(0.01, 1.0, CELL)])
    (box,) = voxel_cover(points, CELL, 200)
    assert volume(box) == pytest.approx(20 * CELL**3, rel=1e-6)
    beside = points + np.array([0.0, 0.2, 0.0])
    assert len(voxel_cover(np.concatenate([points, beside]), CELL, 200)) == 2


def test_no_points_take_no_room_and_far_ones_are_refused():
    assert voxel_cover(np.zeros((0, 3)), CELL, 10) == []
    with pytest.raises(BoundError, match='are allowed'):
        voxel_cover(np.array([[1e9, 0.0, 0.0]]), CELL, 10)
