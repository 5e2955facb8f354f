"""Task motions pass their via point without a jump, and no other ones are smoother."""

from dataclasses import replace

import numpy as np
from numpy.polynomial import Polynomial
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.task_motion import Piece, TaskMotion, jerk_products, minimum_jerk


def random_task(rng, durations=(1.0, 1.0)):
    start = tuple(rng.normal(size=(3, 4)))
    return minimum_jerk(start, rng.normal(size=4), rng.normal(size=4), durations)


def polynomials(piece):
    """The joints of a piece as polynomials in time, fitted to its values."""
    T = piece.curve.duration
    t = T * (0.5 - 0.5 * np.cos(np.linspace(0, np.pi, 6)))
    values = piece.curve.position(t, piece.k)
    return [Polynomial.fit(t, values[:, j], 5, domain=[0, T]) for j in range(values.shape[1])]


def squared_jerk(motion):
    """Integral per joint, from the values of the pieces alone."""
    total = 0.0
    for piece in motion.pieces:
        square = [(p.deriv(3) ** 2).integ() for p in polynomials(piece)]
        total = total + np.array([s(piece.curve.duration) - s(0.0) for s in square])
    return total


def test_goes_from_the_start_through_the_via_point_to_rest_at_the_goal(rng):
    start, via, goal = rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=4)
    motion = minimum_jerk(tuple(start), via, goal, (1.0, 0.7))
    assert motion.duration == pytest.approx(1.7)
    assert np.allclose(motion.desired(0.0), start)
    assert np.allclose(motion.desired(1.0)[0], via)
    assert np.allclose(motion.desired(1.7 - 1e-9), [goal, 0 * goal, 0 * goal], atol=1e-6)
    assert np.array_equal(motion.desired(9.0), [motion.end_position, 0 * goal, 0 * goal])
    assert np.allclose(motion.end_position, goal)


def test_position_velocity_and_acceleration_have_no_jump(rng):
    motion = random_task(rng, (0.8, 1.3))
    before, after = motion.desired(0.8 - 1e-12), motion.desired(0.8)
    assert np.allclose(before, after, atol=1e-9)


def test_jerk_and_snap_have_no_jump_either(rng):
    """What stationarity in acceleration and velocity at the via point means."""
    for durations in ((1.0, 1.0), (0.6, 1.5)):
        first, second = (polynomials(p) for p in random_task(rng, durations).pieces)
        for p, q in zip(first, second, strict=True):
            for order in (3, 4):
                size = abs(p.deriv(order)(0.0)) + abs(q.deriv(order)(durations[1]))
                assert p.deriv(order)(durations[0]) == pytest.approx(
                    q.deriv(order)(0.0), abs=1e-7 * size
                )


def test_any_other_velocity_or_acceleration_at_the_via_point_costs_more(rng):
    motion = random_task(rng)
    least = squared_jerk(motion)
    first, second = motion.pieces
    for _ in range(20):
        qd = first.curve.qd1 + rng.normal(scale=0.1, size=4)
        qdd = first.curve.qdd1 + rng.normal(scale=0.5, size=4)
        other = TaskMotion(
            (
                Piece(replace(first.curve, qd1=qd, qdd1=qdd), first.k),
                Piece(replace(second.curve, qd0=qd, qdd0=qdd), second.k),
            )
        )
        assert np.all(squared_jerk(other) > least)


def test_a_via_point_on_the_straight_quintic_changes_nothing(rng):
    start, goal = rng.normal(size=4), rng.normal(size=4)
    rest = np.zeros(4)
    whole = Bezier(start, rest, rest, 2.0)
    motion = minimum_jerk((start, rest, rest), 0.5 * (start + goal), goal)
    for t in np.linspace(0.0, 1.99, 30):
        expected = [whole.derivative(order, t, goal - start) for order in range(3)]
        assert np.allclose(motion.desired(t), expected, atol=1e-11)


def test_jerk_products_by_hand():
    """Integral of K'''^2 with K''' = 60 - 360 s + 360 s^2."""
    assert jerk_products()[2, 2] == pytest.approx(720.0)


def test_refuses_pieces_that_do_not_fit(rng):
    motion = random_task(rng)
    first, second = motion.pieces
    moved = Piece(replace(second.curve, q0=second.curve.q0 + 1e-3), second.k)
    with pytest.raises(BoundError, match='have to be the same'):
        TaskMotion((first, moved))
    with pytest.raises(BoundError, match='end at rest'):
        TaskMotion((first,))
    with pytest.raises(BoundError, match='before the start'):
        motion.desired(-0.1)
    with pytest.raises(BoundError, match='as the start'):
        minimum_jerk(motion.desired(0.0), np.zeros(3), np.zeros(4))
