"""Merged steps contain every state of the steps they are made of."""

import numpy as np
import pytest

from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.joint_reach import Horizon, joint_reach
from safe_sysid.reach.merged_steps import MergedSteps
from safe_sysid.reach.tracking_error import tracking_error
from safe_sysid.track.gains import Gains
from safe_sysid.trajectory.bezier import Bezier


def reach_of(rng, intervals):
    model = RobotModel.named('two_link')
    estimate = ParameterEstimate(model.layout, model.theta, ratio_bounds(model.theta, 0.05))
    gains = Gains(np.full(2, 5.0), 0.02, 25.0)
    start = Bezier(*rng.normal(size=(3, 2)), 2.0)
    horizon = Horizon(start, rng.normal(size=2), np.full(2, 0.3), intervals)
    return joint_reach(model, horizon, tracking_error(model, estimate, gains))


def ends(reach, x, z):
    """Least and largest of every number for x, and error variables z."""
    count = reach.monomials.count
    values = reach.rows[..., :count] @ np.array(reach.monomials.values(x))
    values = values + reach.rows[..., count:-1] @ z
    return values - reach.rows[..., -1], values + reach.rows[..., -1]


@pytest.mark.parametrize(('intervals', 'count'), [(32, 8), (30, 8), (7, 32), (33, 1)])
def test_states_of_each_step_are_in_its_group(rng, intervals, count):
    reach = reach_of(rng, intervals)
    merged = MergedSteps.about(count, intervals)
    few = merged.reach(reach)
    assert few.rows.shape[1] == len(merged.starts) <= max(count, 1)
    assert few.time.lower[0] == reach.time.lower[0]
    assert few.time.upper[-1] == reach.time.upper[-1]
    for _ in range(200):
        x = rng.uniform(-1.0, 1.0, reach.monomials.variables)
        z = rng.uniform(-1.0, 1.0, reach.error_variables)
        low, high = ends(few, x, z)
        own_low, own_high = ends(reach, x, z)
        assert np.all(low[:, merged.of] <= own_low)
        assert np.all(high[:, merged.of] >= own_high)
    time = few.time
    assert np.all(time.lower[merged.of] <= reach.time.lower)
    assert np.all(time.upper[merged.of] >= reach.time.upper)


def test_the_largest_of_a_group_counts(rng):
    values = rng.normal(size=(10, 3))
    merged = MergedSteps.about(4, 10)
    np.testing.assert_array_equal(merged.of, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3])
    assert np.all(merged.largest(values)[merged.of] >= values)


def test_a_group_that_leaves_out_how_far_middles_are_apart_would_miss_states(rng):
    """A mutant: the largest remainder alone."""
    reach = reach_of(rng, 32)
    merged = MergedSteps.about(8, 32)
    few = merged.reach(reach)
    few.rows.setflags(write=True)
    few.rows[..., -1] = merged.largest(np.swapaxes(reach.rows[..., -1], 0, 1)).swapaxes(0, 1)
    x, z = np.zeros(reach.monomials.variables), np.zeros(reach.error_variables)
    assert not np.all(ends(few, x, z)[1][:, merged.of] >= ends(reach, x, z)[1])
