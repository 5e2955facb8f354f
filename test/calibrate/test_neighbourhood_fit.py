"""Fits near a description, against SLSQP on the constraints as they are printed."""

import numpy as np
import pinocchio
import pytest
import scipy.optimize
from tiers import slow_after

from safe_sysid.calibrate.compressed import compress
from safe_sysid.calibrate.neighbourhood_fit import Neighbourhood, deviations, neighbourhood_fit
from safe_sysid.errors import BoundError

BODIES = (slice(0, 10), slice(10, 20))
NONNEGATIVE = np.array([20])  # one column of friction, and one of an offset


def parameters(y):
    """All columns from m, c, u and d of each body as they are, by Pinocchio."""
    bodies = []
    for m, *rest in y[:20].reshape(2, 10):
        c, u, d = np.array(rest).reshape(3, 3)
        U = np.array([[1.0, u[0], u[1]], [0.0, 1.0, u[2]], [0.0, 0.0, 1.0]])
        inertia = pinocchio.Inertia(m, c, U @ np.diag(d) @ U.T)
        bodies.append(inertia.toDynamicParameters())
    return np.concatenate([*bodies, y[20:]])


def described(rng):
    """Return the raw m, c, u, d of two bodies and two columns of friction."""
    bodies = [
        [
            rng.uniform(1.0, 4.0),
            *rng.uniform(-0.1, 0.1, 3),
            *rng.uniform(-0.2, 0.2, 3),
            *rng.uniform(0.01, 0.05, 3),
        ]
        for _ in range(2)
    ]
    return np.concatenate([*bodies, [0.5, 0.0]])


def sizes(y0):
    """Lengths that the radii are shares of, from the definition."""
    found = []
    for m, *rest in y0[:20].reshape(2, 10):
        c, u, d = np.array(rest).reshape(3, 3)
        U = np.array([[1.0, u[0], u[1]], [0.0, 1.0, u[2]], [0.0, 0.0, 1.0]])
        gyration = np.sqrt(np.linalg.norm(U @ np.diag(d) @ U.T, 2) / m)
        found.append((m, max(np.linalg.norm(c), gyration), 1.0, np.linalg.norm(d)))
    return found


def left(y, y0, radii):
    """What the printed constraints leave, below 0 where one is broken."""
    slack = []
    for body, body0, size in zip(
        y[:20].reshape(2, 10), y0[:20].reshape(2, 10), sizes(y0), strict=True
    ):
        off = body - body0
        parts = off[:1], off[1:4], off[4:7], off[7:]
        slack += [
            1.0 - np.sum((part / (radius * length)) ** 2)
            for part, radius, length in zip(parts, radii, size, strict=True)
        ]
    return np.array(slack)


def problem(seed):
    """Rows of random motions of bodies that are about a quarter off what is described."""
    rng = np.random.default_rng(seed)
    y0 = described(rng)
    y = y0 * (1.0 + 0.25 * rng.uniform(-1.0, 1.0, len(y0)))
    x0 = parameters(y0)
    scale = np.maximum(np.abs(x0), 0.02)
    Y = rng.normal(size=(80, 22)) / scale
    return y0, compress(Y, Y @ parameters(y) + 0.1 * rng.normal(size=80))


@pytest.mark.parametrize(
    ('seed', 'radii'),
    slow_after(1, [(1, (0.1, 0.02, 0.05, 0.2)), (0, (0.05,) * 4)]),
)
def test_slsqp_on_the_printed_constraints_finds_nothing_better(seed, radii):
    y0, data = problem(seed)
    near = Neighbourhood(BODIES, parameters(y0), radii, NONNEGATIVE)
    found = neighbourhood_fit(data, near)
    scale = np.maximum(np.abs(y0), 0.02)

    def cost(s):
        return data.cost(parameters(y0 + scale * s)) / data.count

    oracle = scipy.optimize.minimize(
        cost,
        np.zeros(22),
        method='SLSQP',
        constraints=[
            {'type': 'ineq', 'fun': lambda s: left(y0 + scale * s, y0, radii)},
            {'type': 'ineq', 'fun': lambda s: (y0 + scale * s)[20]},
        ],
        options={'maxiter': 500, 'ftol': 1e-12},
    )
    assert found.solved
    assert found.cost / data.count == pytest.approx(oracle.fun, rel=1e-4)
    v = np.concatenate([deviations(found.x[body], near.described[body]) for body in BODIES])
    raw = y0.copy()
    for k, lengths in enumerate(sizes(y0)):
        raw[10 * k : 10 * k + 10] += v[10 * k : 10 * k + 10] * np.repeat(lengths, (1, 3, 3, 3))
    raw[20:] = found.x[20:]
    np.testing.assert_allclose(parameters(raw), found.x, rtol=1e-9, atol=1e-12)
    slack = left(raw, y0, radii)
    assert slack.min() > -1e-6
    assert near.contains(found.x)
    if max(radii) < 0.25:  # the truth is farther off than that
        assert slack.min() < 1e-3
        assert not near.contains(parameters(1.5 * y0))


def test_without_radii_exact_rows_give_the_bodies_back():
    rng = np.random.default_rng(5)
    y0 = described(rng)
    truth = parameters(y0 * (1.0 + 0.3 * rng.uniform(-1.0, 1.0, 22)))
    Y = rng.normal(size=(60, 22)) / np.maximum(np.abs(truth), 0.02)
    near = Neighbourhood(BODIES, parameters(y0), (np.inf,) * 4, NONNEGATIVE)
    found = neighbourhood_fit(compress(Y, Y @ truth), near)
    np.testing.assert_allclose(found.x, truth, rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(found.path[0], near.described)
    np.testing.assert_array_equal(found.path[-1], found.x)


@pytest.mark.parametrize('iterations', [1, 3, 6])
def test_a_fit_that_is_stopped_gives_the_best_on_its_way_that_is_allowed(iterations):
    y0, data = problem(1)
    near = Neighbourhood(BODIES, parameters(y0), (0.1, 0.02, 0.05, 0.2), NONNEGATIVE)
    found = neighbourhood_fit(data, near, iterations)
    assert not found.solved
    assert near.contains(found.x)
    assert found.cost == min(data.cost(x) for x in found.path if near.contains(x))
    assert found.cost <= data.cost(near.described)


def test_a_description_without_inertia_is_refused():
    x0 = parameters(described(np.random.default_rng(0)))
    x0[4:10] = 0.0
    with pytest.raises(BoundError, match='would be empty'):
        Neighbourhood(BODIES, x0, (0.1,) * 4, NONNEGATIVE)
    with pytest.raises(BoundError, match='more than 0'):
        Neighbourhood(BODIES, x0, (0.1, 0.0, 0.1, 0.1), NONNEGATIVE)
