"""Paths that somebody asks for: what lies between their points, and what is refused."""

import numpy as np
import pytest

from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.path.joint_path import LONGEST, PathError, Points, joint_path
from safe_sysid.trajectory.bezier import Bezier

MODEL = RobotModel.named('two_link')
HERE = np.array([0.5, 0.8])
WAY = HERE + np.array([[0.0, 0.0], [0.2, 0.1], [0.5, 0.1], [0.3, 0.4]])
NOTHING = ((), (), (), ())


def path_of(times, positions, velocities=NOTHING, accelerations=NOTHING, start=HERE):
    return joint_path(MODEL, Points(times, list(positions), velocities, accelerations), start)[0]


def curves(path):
    """Every piece from the knot it begins in."""
    return [path.piece(knot, tuple(path.states[knot])) for knot in range(path.last)]


def test_pieces_pass_all_points_without_a_jump_and_turn_back_nowhere_else():
    path = path_of([0.0, 1.0, 2.0, 3.0], WAY)
    np.testing.assert_array_equal(path.states[:, 0], WAY)
    assert not path.states[0, 1:].any()
    assert not path.states[-1, 1:].any()
    assert path.states[2, 1, 0] == 0.0  # the first joint turns back there
    assert path.states[1, 1, 0] > 0.0
    for before, after in zip(curves(path), curves(path)[1:], strict=False):
        for x, y in zip(
            before.end, (after.curve.q0, after.curve.qd0, after.curve.qdd0), strict=True
        ):
            np.testing.assert_allclose(x, y, atol=1e-12)


def test_parts_of_a_long_piece_are_the_same_curve():
    qd = [np.zeros(2), np.array([0.1, -0.2]), np.zeros(2)]
    qdd = [np.zeros(2), np.array([0.3, 0.1]), np.zeros(2)]
    path = path_of([0.0, 4.0, 5.0], WAY[:3], qd, qdd)
    assert path.count == 2
    assert np.diff(path.times).max() <= LONGEST
    whole = Bezier(WAY[0], qd[0], qdd[0], 4.0, qd1=qd[1], qdd1=qdd[1])
    for knot, piece in enumerate(curves(path)[:3]):
        for t in np.linspace(0.0, piece.curve.duration, 7):
            for order in range(3):
                np.testing.assert_allclose(
                    piece.curve.derivative(order, t, piece.k),
                    whole.derivative(order, path.times[knot] + t, WAY[1] - WAY[0]),
                    atol=1e-9,
                )


def test_a_path_whose_first_point_comes_later_begins_where_the_arm_stands():
    path = path_of([1.0, 2.0], WAY[2:])
    np.testing.assert_array_equal(path.states[0], [HERE, np.zeros(2), np.zeros(2)])
    assert path.count == 2


def test_without_times_the_way_is_straight_and_rests_in_every_point():
    path = path_of([0.0, 0.0, 0.0], WAY[1:])
    assert path.count == 3
    assert not path.states[:, 1:].any()
    for piece in curves(path):
        for t in np.linspace(0.0, piece.curve.duration, 5):
            along = (piece.curve.position(t, piece.k) - piece.curve.q0) / np.where(
                piece.k, piece.k, 1
            )
            shares = along[piece.k != 0.0]
            np.testing.assert_allclose(shares, shares[0], atol=1e-9)


def test_joints_that_turn_without_end_begin_near_the_arm():
    turning = RobotModel.named('kinova_gen3')
    q = np.zeros((2, 7))
    q[1] += 0.2
    full = 2.0 * np.pi * np.eye(7)[0]
    path, _ = joint_path(turning, Points([0.0, 1.0], list(q + full), [(), ()], [(), ()]), q[0])
    np.testing.assert_allclose(path.states[:, 0], q, atol=1e-12)


@pytest.mark.parametrize(
    ('arguments', 'why'),
    [
        (([], []), 'no points'),
        (([0.0, 1.0], WAY[:2, :1]), 'point 1 of the path has 1 positions; every point needs 2'),
        (([0.0, 1.0, 2.0], [WAY[0], (), WAY[1]]), 'point 2 of the path has 0 positions'),
        (([0.0, 0.01], WAY[:2]), 'at least 0.05 s'),
        (([0.0, 1.0, 0.5], WAY[:3]), 'at least 0.05 s'),
        (([0.0, 1.0], WAY[:2], [np.zeros(2), np.ones(2)]), 'to end at rest'),
        (([0.0, 1.0], WAY[:2], [np.zeros(2), ()]), 'all points of a path or none'),
        (([0.0, np.nan], WAY[:2]), 'finite positions and a time'),
        (([0.0, 0.0], np.stack([HERE, HERE])), 'leads nowhere'),
        ((np.arange(400.0), np.tile(WAY, (100, 1))), 'at most 300'),
        (([0.0, 1e5], WAY[:2]), '66667 pieces, none of which lasts more than 1.5 s; at most 300'),
        (([-1.0, 1.0], WAY[:2]), 'is at -1 s'),
        (([0.0, 1.0], [HERE, [1e308, 0.0]]), r'point 2 .* joint_1 at 1e\+308 rad; \[-3, 3\] is'),
        (([0.0, 0.0], [HERE, [0.0, -3.1]]), r'point 2 .* joint_2 at -3.1 rad'),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(arguments, why):
    with pytest.raises(PathError, match=why):
        path_of(*arguments)


def test_a_path_that_lasts_for_years_is_refused_before_it_is_cut(monkeypatch):
    """The parts of it would fill the memory of the planner."""

    class Cut(BaseException):
        pass

    def cut(*_, **__):
        raise Cut

    monkeypatch.setitem(joint_path.__globals__, 'Bezier', cut)
    with pytest.raises(PathError, match='at most 300'):
        path_of([0.0, 2.0**31], WAY[:2])


@pytest.mark.parametrize('far', [500.0, 9e5])
def test_a_joint_that_turns_for_long_is_refused_without_times_too(far):
    """One certificate of such a piece would take minutes, or the memory of the planner."""
    turning = RobotModel.named('kinova_gen3')
    points = Points([0.0, 0.0], [np.zeros(7), far * np.eye(7)[0]], [(), ()], [(), ()])
    with pytest.raises(PathError, match='pieces, none of which lasts more .* at most 300'):
        joint_path(turning, points, np.zeros(7))
    points.positions[1][0] = 60.0
    path, _ = joint_path(turning, points, np.zeros(7))
    with pytest.raises(PathError, match='at most 300'):
        path.slower(0, 25.0)


def test_a_joint_that_is_farther_than_floats_tell_angles_is_refused():
    turning = RobotModel.named('kinova_gen3')
    points = Points([0.0, 0.0], [np.zeros(7), 1e300 * np.eye(7)[0]], [(), ()], [(), ()])
    with pytest.raises(PathError, match=r'joint_1 at 1e\+300 rad; \[-1e\+06, 1e\+06\] is'):
        joint_path(turning, points, np.zeros(7))


def test_an_arm_that_stands_elsewhere_does_not_begin():
    path = path_of([0.0, 1.0], WAY[:2])
    near = path.beginning_at(HERE + 0.01)
    np.testing.assert_array_equal(near.states[0, 0], HERE + 0.01)
    with pytest.raises(PathError, match='joint 2 stands'):
        path.beginning_at(HERE + np.array([0.01, 0.4]))
