"""Joint states of every plan, at every time of a step, with every tracking error, are enclosed."""

from dataclasses import replace

import numpy as np
import pytest
from reach.reach_samples import BOUNDS, random_error, random_horizon, sample
from tiers import slow_after

from safe_sysid.errors import BoundError
from safe_sysid.reach.joint_reach import Horizon, joint_reach
from safe_sysid.simulate.random_arm import random_tree
from safe_sysid.trajectory.bezier import Bezier

SAMPLES = 2_300  # 9 cases of these are 2e4 samples


def escapes(rng, model, horizon, error, reach, samples=500) -> int:
    """How many sampled states leave their sets."""
    count = 0
    for _ in range(samples):
        state = sample(rng, horizon, error)
        for name, value in state.values.items():
            if name in ('cos', 'sin'):
                value = np.where(model.tree.is_prismatic, {'cos': 1.0, 'sin': 0.0}[name], value)
            rows = getattr(reach, name)[state.step]
            middle = rows[:, :-1] @ reach.monomials.values(state.x[: reach.monomials.variables])
            count += np.sum(~(np.abs(value - middle) <= rows[:, -1] + BOUNDS))
    return int(count)


@pytest.mark.parametrize(
    ('degree', 'samples'), slow_after(1, [(2, 500), (2, SAMPLES), (1, SAMPLES), (3, SAMPLES)])
)
def test_states_of_random_plans_do_not_escape(degree, samples, rng):
    for k_range in (0.0, 0.05, 0.8):
        model = random_tree(rng, 4, serial=False)
        horizon = random_horizon(rng, 4, k_range, intervals=9, degree=degree)
        error = random_error(rng, 4)
        reach = joint_reach(model, horizon, error)
        assert escapes(rng, model, horizon, error, reach, samples) == 0


@pytest.mark.parametrize('column', [0, 1, -1])
def test_a_smaller_set_is_noticed(column, rng):
    model = random_tree(rng, 4, serial=False)
    horizon, error = random_horizon(rng, 4, 0.3, intervals=9), random_error(rng, 4)
    reach = joint_reach(model, horizon, error)
    rows = reach.rows.copy()
    rows[..., column] *= 0.9
    assert escapes(rng, model, horizon, error, replace(reach, rows=rows)) > 0


@pytest.mark.parametrize('name', ['position', 'velocity'])
def test_a_forgotten_tracking_error_is_noticed(name, rng):
    model = random_tree(rng, 4, serial=True)
    horizon, error = random_horizon(rng, 4, 0.0, intervals=50), random_error(rng, 4)
    reach = joint_reach(model, horizon, replace(error, **{name: np.zeros(4)}))
    assert escapes(rng, model, horizon, error, reach) > 0


def test_time_steps_cover_the_plan_without_gaps(rng):
    time = random_horizon(rng, 3, 0.1, intervals=37).time
    assert time.lower[0] == 0.0
    assert time.upper[-1] == 3.0
    assert np.array_equal(time.lower[1:], time.upper[:-1])


def test_a_single_plan_needs_no_variables(rng):
    horizon = random_horizon(rng, 3, 0.0)
    assert horizon.monomials.variables == 0


@pytest.mark.parametrize(
    ('change', 'complaint'),
    [
        ({'k_range': np.array([0.1, -0.1])}, 'at least zero'),
        ({'k_range': np.array([0.1])}, '2 finite numbers'),
        ({'k_center': np.array([0.1, np.nan])}, 'finite numbers'),
        ({'intervals': 0}, '1 or more are needed'),
        ({'curve': Bezier(np.zeros(2), np.zeros(2), np.zeros(2), 5e-324)}, 'have no length'),
    ],
)
def test_horizons_that_mean_nothing_are_refused(change, complaint):
    curve = Bezier(np.zeros(2), np.zeros(2), np.zeros(2), 3.0)
    horizon = Horizon(curve, np.zeros(2), np.full(2, 0.1))
    with pytest.raises(BoundError, match=complaint):
        replace(horizon, **change)


def test_another_number_of_joints_is_refused(rng):
    model = random_tree(rng, 3, serial=True)
    with pytest.raises(BoundError, match='the horizon has 4 joints, the arm has 3'):
        joint_reach(model, random_horizon(rng, 4, 0.1), random_error(rng, 3))
