"""A joint that turns without end is followed through every turn, and no other joint is touched."""

import numpy as np

from safe_sysid.measure.turns import TURN, Turns


def test_a_motion_reported_within_a_turn_comes_back_whole(rng):
    true = np.cumsum(rng.uniform(-3.0, 3.0, size=(400, 3)), axis=0)
    true -= true[0]
    reported = np.pi - np.mod(np.pi - true, TURN)
    turns = Turns(np.array([True, True, True]))
    seen = np.array([turns.step(q) for q in reported])
    assert np.abs(true).max() > 5.0 * TURN
    np.testing.assert_allclose(seen, true, rtol=0.0, atol=1e-10)


def test_a_position_that_does_not_jump_stays_to_the_last_bit(rng):
    turns = Turns(np.array([True, False]))
    for q in rng.uniform(-1.0, 1.0, size=(50, 2)):
        np.testing.assert_array_equal(turns.step(q), q)


def test_a_joint_with_ends_is_left_as_it_is():
    turns = Turns(np.array([False]))
    for q in (3.0, -3.0, 3.0):
        assert turns.step(np.array([q])) == q
