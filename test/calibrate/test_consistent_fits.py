"""Two independent ways to the best bodies that exist agree, and nothing feasible is better."""

from calibrate.simulated import relative, rows_of, whitened
import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.bench.experiments.calibration import altered
from safe_sysid.calibrate.compressed import compress
from safe_sysid.calibrate.consistency import Consistency, consistency_of, ellipsoid
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.log_cholesky_fit import log_cholesky_fit
from safe_sysid.calibrate.sdp_fit import sdp_fit
from safe_sysid.errors import BoundError, ConfigError
from safe_sysid.model.inertia import from_pseudo_inertia, is_consistent, pseudo_inertia
from safe_sysid.model.robot_model import RobotModel

MODEL = RobotModel.named('two_link')
COLUMNS = FitColumns(MODEL.layout, 0.003)


def problem(model, rng, noise=0.3, samples=286):
    columns = FitColumns(model.layout, 0.003)
    sigma = np.full(model.n, noise)
    Y, tau, x = rows_of(altered(model, rng), columns, rng, samples, sigma)
    return compress(*whitened(Y, tau, sigma)), columns, x


@pytest.mark.parametrize('robot', slow_after(2, ['two_link', 'lbr_med7', 'kinova_gen3']))
@pytest.mark.parametrize('weight', slow_after(1, [10.0, 0.1]))
def test_both_fits_find_the_same_optimum(robot, weight, rng):
    model = RobotModel.named(robot)
    data, columns, _ = problem(model, rng)
    limits = consistency_of(model, columns, weight)
    sdp, descent = sdp_fit(data, limits), log_cholesky_fit(data, limits)
    assert descent.objective == pytest.approx(sdp.objective, rel=1e-7)
    assert sdp.objective == pytest.approx(data.cost(descent.x) + limits.pull(descent.x), rel=1e-7)
    assert relative(data.R @ sdp.x, data.R @ descent.x) < 1e-5
    assert is_consistent(np.array([sdp.x[b] for b in limits.bodies])).all()


def test_no_feasible_neighbour_is_better(rng):
    data, columns, _ = problem(MODEL, rng)
    limits = consistency_of(MODEL, columns, 1.0)
    fit = sdp_fit(data, limits)
    better = 0
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(300):
            x = fit.x + size * rng.normal(size=fit.x.size) * np.maximum(np.abs(fit.x), 1e-3)
            x[limits.nonnegative] = np.maximum(x[limits.nonnegative], 0.0)
            better += data.cost(x) + limits.pull(x) < fit.objective * (1.0 - 1e-8)
    assert better == 0


def test_without_a_prior_the_fit_ends_where_bodies_stop_to_exist(rng):
    data, columns, _ = problem(MODEL, rng, noise=3.0, samples=40)
    free = np.linalg.lstsq(data.R, data.z, rcond=None)[0]
    limits = consistency_of(MODEL, columns, 0.0)
    assert limits.eigenvalues(free).min() < -0.01
    fit = sdp_fit(data, limits)
    assert fit.cost >= data.cost(free) - 1e-9
    assert limits.eigenvalues(fit.x).min() < 1e-4
    assert is_consistent(np.array([fit.x[b] for b in limits.bodies])).all()
    assert (fit.x[limits.nonnegative] >= 0.0).all()


def test_friction_is_never_negative(rng):
    data, columns, _ = problem(MODEL, rng, noise=0.5, samples=60)
    place = MODEL.layout.joint_entries('Fc').start
    pulled = compress(data.R.copy(), data.z - 50.0 * data.R[:, place])
    fit = sdp_fit(pulled, consistency_of(MODEL, columns, 1.0))
    descent = log_cholesky_fit(pulled, consistency_of(MODEL, columns, 1.0))
    assert fit.x[place] == pytest.approx(0.0, abs=1e-5)
    assert descent.x[place] == 0.0
    assert descent.objective == pytest.approx(fit.objective, rel=1e-6)


def test_masses_and_ellipsoids_bound_bodies(rng):
    data, columns, _ = problem(MODEL, rng)
    free = consistency_of(MODEL, columns, 1.0)
    masses = np.array([sdp_fit(data, free).x[b.start] for b in free.bodies])
    bounds = 0.5 * masses
    within = np.array([ellipsoid(np.array([0.1, 0.0, 0.0]), np.array([0.1, 0.05, 0.05]))] * 2)
    limits = Consistency(free.bodies, free.priors, 1.0, free.nonnegative, bounds, within)
    fit = sdp_fit(data, limits)
    assert all(fit.x[b.start] <= m + 1e-6 for b, m in zip(free.bodies, bounds, strict=True))
    for b in free.bodies:
        assert np.trace(pseudo_inertia(fit.x[b]) @ within[0]) >= -1e-6
        com = fit.x[b][1:4] / fit.x[b][0]
        assert np.sum(((com - [0.1, 0, 0]) / [0.1, 0.05, 0.05]) ** 2) <= 1.0 + 1e-6
    assert fit.objective > sdp_fit(data, free).objective


def test_an_ellipsoid_holds_every_body_inside_and_not_one_outside(rng):
    center, axes = np.array([0.2, -0.1, 0.3]), np.array([0.3, 0.2, 0.1])
    Q = ellipsoid(center, axes)
    for _ in range(100):
        d = rng.normal(size=3)
        inside = center + axes * d / np.linalg.norm(d) * rng.uniform(0, 1)
        outside = center + axes * d / np.linalg.norm(d) * rng.uniform(1.001, 2)
        for point, sign in ((inside, 1), (outside, -1)):
            J = np.outer([*point, 1.0], [*point, 1.0])
            assert sign * np.trace(J @ Q) > 0.0


def test_pull_is_least_at_the_prior_and_infinite_without_a_body():
    limits = consistency_of(MODEL, COLUMNS, 2.0)
    x = np.zeros(COLUMNS.size)
    for body, J0 in zip(limits.bodies, limits.priors, strict=True):
        x[body] = from_pseudo_inertia(J0)
    assert limits.pull(x) == pytest.approx(2.0 * 8)
    assert limits.pull(1.1 * x) > 2.0 * 8
    assert limits.pull(0.0 * x) == np.inf


def test_bounds_that_exclude_each_other_are_said(rng):
    data, columns, _ = problem(MODEL, rng)
    free = consistency_of(MODEL, columns, 1.0)
    limits = Consistency(free.bodies, free.priors, 1.0, free.nonnegative, np.array([-1.0, 1.0]))
    with pytest.raises(BoundError, match='the bounds may exclude each'):
        sdp_fit(data, limits)
    with pytest.raises(BoundError, match='needs a prior weight above 0'):
        log_cholesky_fit(data, consistency_of(MODEL, columns, 0.0))
    with pytest.raises(ConfigError, match='prior weight is -1'):
        consistency_of(MODEL, columns, -1.0)
