"""A route says where its points are, and which of them is nearest."""

import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.plan.path.route import Route

TURNING = np.array([True, False])
CORNER = Route(np.array([[0.0, 0.0], [1.0, 0.5], [1.0, 2.0]]), TURNING)


def test_lengths_count_the_joint_that_moves_most():
    assert CORNER.length == 2.5
    np.testing.assert_allclose(CORNER.at(0.5), [0.5, 0.25])
    np.testing.assert_allclose(CORNER.at(1.0), [1.0, 0.5])
    np.testing.assert_allclose(CORNER.at(2.0), [1.0, 1.5])
    np.testing.assert_array_equal(CORNER.at(9.0), [1.0, 2.0])


def test_the_nearest_point_is_found_wherever_a_joint_has_turned_to():
    for turns in (-2, 0, 3):
        q = CORNER.at(1.7) + np.array([2.0 * np.pi * turns, 0.0])
        begin, away = CORNER.nearest(q)
        assert begin == pytest.approx(1.7, abs=0.02)
        assert away <= 0.02
        toward = CORNER.toward(q, 2.5)
        np.testing.assert_allclose(toward, [1.0 + 2.0 * np.pi * turns, 2.0])
    begin, away = CORNER.nearest(np.array([1.3, 2.4]))
    assert (begin, away) == (pytest.approx(2.5), pytest.approx(0.4))


def test_a_route_may_be_the_goal_alone():
    here = Route(np.array([[0.3, 0.4]]), TURNING)
    assert here.length == 0.0
    assert here.nearest(np.array([0.3, 0.4])) == (0.0, 0.0)
    np.testing.assert_array_equal(here.at(1.0), [0.3, 0.4])


def test_a_route_without_waypoints_is_refused():
    with pytest.raises(BoundError, match='has no waypoint'):
        Route(np.zeros((0, 2)), TURNING)
