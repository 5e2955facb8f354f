"""How much W_s theta changes between near states, against regressors at both of them."""

import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.model.dynamics.regressors import slotine_li_regressor
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach import torque_change as module
from safe_sysid.reach.joint_reach import Horizon, joint_reach
from safe_sysid.reach.torque_change import torque_change
from safe_sysid.reach.tracking_error import TrackingError
from safe_sysid.sets.interval import Interval
from safe_sysid.trajectory.bezier import Bezier

# of q, qd, qd_a, qd_d, qdd_a, pull
BY = np.array([2e-3, 0.05, 4e-3, 1e-3, 2e-3, 0.05])


class Case:
    """An arm on a plan, and errors of what is seen of it."""

    def __init__(self, name, scale):
        self.model = RobotModel.named(name)
        n = self.model.n
        theta = self.model.theta.copy()
        theta[self.model.layout.joint_entries('Fc')] = 0.0
        spread = 0.05 * np.abs(theta)
        bounds = Interval(theta - spread, theta + spread)
        self.estimate = ParameterEstimate(self.model.layout, theta, bounds)
        curve = Bezier(np.linspace(-0.4, 0.9, n), np.full(n, 0.4 * scale), np.zeros(n), 3.0)
        self.horizon = Horizon(curve, np.full(n, 0.8 * scale), np.zeros(n), 16)
        K, size = np.full(n, 5.0), 0.05 * scale
        self.error = TrackingError(K, np.full(n, size), np.full(n, size / 5), np.full(n, 2 * size))
        self.by = np.tile(scale * BY[:, None], (1, n))
        self.reach = joint_reach(self.model, self.horizon, self.error)

    def bound(self):
        return torque_change(self.model, self.estimate, self.reach, self.by, self.by[5])

    def changes(self, rng, count):
        """Time steps, and how much the torque differs there."""
        n, horizon = self.model.n, self.horizon
        ends = np.stack([self.estimate.bounds.lower, self.estimate.bounds.upper])
        for _ in range(count):
            step = int(rng.integers(horizon.intervals))
            t = rng.uniform(horizon.time.lower[step], horizon.time.upper[step])
            q_d, qd_d, qdd_d = (horizon.curve.derivative(i, t, horizon.k_center) for i in range(3))
            e = self.error.position * rng.choice([-1.0, 1.0, 0.0], n)
            ed = self.error.velocity * rng.choice([-1.0, 1.0, 0.0], n)
            states = [q_d - e, qd_d - ed, qd_d + 5.0 * e, qdd_d + 5.0 * ed]
            off = [self.by[0], self.by[1], self.by[2], self.by[4] + self.by[5]]
            near = [x + d * rng.choice([-1.0, 1.0], n) for x, d in zip(states, off, strict=True)]
            which = rng.integers(2, size=self.model.layout.size)
            theta = ends[which, np.arange(self.model.layout.size)]
            torques = []
            for each in (states, near):
                W = slotine_li_regressor(self.model, *each)
                W[:, self.model.layout.joint_entries('Fv')] = np.diag(each[2])  # of qd_a
                torques.append(W @ theta)
            yield step, np.abs(torques[1] - torques[0])


@pytest.mark.parametrize('name', ['kinova_gen3', 'two_link'])
@pytest.mark.parametrize('scale', slow_after(1, [5.0, 1.0]))
def test_changes_are_within_their_bound(rng, name, scale):
    case = Case(name, scale)
    bound, used = case.bound(), 0.0
    for step, change in case.changes(rng, 400):
        assert np.all(change <= bound[step])
        used = max(used, float((change / bound[step]).max()))
    assert used > 0.5


@pytest.mark.parametrize('left_out', ['_by_position', '_by_velocity'])
def test_a_bound_without_positions_or_velocities_breaks(rng, monkeypatch, left_out):
    """On two links whose armature and load play no part, so that the kinds show."""
    case = Case('two_link', 5.0)
    case.by[[2, 3, 4, 5]] = 0.0
    monkeypatch.setattr(module, left_out, lambda reach, _: reach)
    kept = 0 if left_out == '_by_velocity' else 1
    case.by[kept] = 0.0
    bound = case.bound()
    assert any(np.any(change > bound[step]) for step, change in case.changes(rng, 50))


def test_linear_terms_cancel_where_sizes_do_not():
    """It is well below what radii alone say of a moving arm."""
    case = Case('kinova_gen3', 1.0)
    wide = module.wider(case.reach, case.by, case.by[5])
    sizes = (module._sizes(case.model, case.estimate, x) for x in (wide, case.reach))
    by_radii = np.subtract(*sizes)
    assert np.median(case.bound()[:, 1] / by_radii[:, 1]) < 0.9
