"""Errors stay in their ellipsoids whatever r does, from step to step and at a switch of plans."""

import numpy as np
import pytest

from safe_sysid.reach import error_tube
from safe_sysid.reach.error_tube import position_shapes, rest_shape
from safe_sysid.sets.ellipsoids import contains, factor
from safe_sysid.sets.interval import Interval

STEP = 5e-4  # [s]


def some_shapes(rng, n, steps, change=0.3):
    """Shapes Q that go from one to another, as the inertia does along a plan."""
    first, last = (rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-1, 0.5, (n, 1)) for _ in 'ab')
    mixed = [first + change * s * (last - first) for s in np.linspace(0.0, 1.0, steps)]
    return np.array([A @ A.T for A in mixed]) * 1e-3


def largest_share(K_r, Q, durations, shapes, start, c):
    """Largest c'e / sqrt(c'Pc) when r is always where it moves e along c most."""
    n, worst = len(K_r), 0.0
    total = durations.sum()
    edges = np.cumsum(durations)
    # e(T) = exp(-K_r T) e(0) + integral of exp(-K_r (T - t)) r(t): each r(t) has its own best
    for T in (edges - 0.5 * durations, edges):
        for end in T:
            t, h, at = middles(edges, end)
            decay = np.exp(-np.outer(end - t, K_r)) * c
            reached = np.sqrt(np.einsum('ti,tij,tj->t', decay, Q[at], decay)) @ h
            left = np.exp(-K_r * end) * c
            reached += np.sqrt(left @ start @ left)
            s = min(int(np.searchsorted(edges, end - 1e-9)), len(Q) - 1)
            worst = max(worst, reached / np.sqrt(c @ shapes[s] @ c))
    assert total > 0.0
    assert n == len(c)
    return worst


def middles(edges, end):
    """Middles and lengths of short times until an end, none of them across an edge, and steps."""
    parts, begin = [], 0.0
    for s, edge in enumerate(np.minimum(edges, end)):
        count = int(np.ceil((edge - begin) / STEP))
        if count:
            h = (edge - begin) / count
            parts.append((begin + h * (0.5 + np.arange(count)), np.full(count, h), s))
        begin = edge
    t, h = (np.concatenate([part[i] for part in parts]) for i in range(2))
    return t, h, np.concatenate([np.full(len(part[0]), part[2]) for part in parts])


def directions(rng, n):
    return np.vstack([np.eye(n), rng.normal(size=(6, n))])


@pytest.mark.parametrize('spread', [0.0, 0.3, 0.6])
def test_the_worst_r_keeps_the_error_inside(spread, rng):
    """Equal and unequal K_r; r on the boundary for every direction, at every time."""
    largest = 0.0
    for _ in range(6):
        n = int(rng.integers(1, 6))
        K_r = 8.0 * (1.0 + spread * rng.uniform(-1.0, 1.0, n))
        Q, durations = some_shapes(rng, n, 6), rng.uniform(0.02, 0.2, 6)
        start = rng.choice([0.0, 0.5, 1.0]) * rest_shape(K_r, Q[0])
        shapes = position_shapes(K_r, Q, durations, start)
        for c in directions(rng, n):
            share = largest_share(K_r, Q, durations, shapes, start, c)
            assert share <= 1.0 + 1e-5  # of the integration
            largest = max(largest, share)
    assert largest > 0.85


def test_errors_of_wider_bounds_shrink_after_a_switch(rng):
    """They begin with what the plan before left, and forget it at the rate K_r."""
    K_r, n = np.array([5.0, 7.0, 9.0]), 3
    Q = np.repeat(some_shapes(rng, n, 1), 8, axis=0)
    durations = np.full(8, 0.1)
    wide, own = 4.0 * rest_shape(K_r, Q[0]), rest_shape(K_r, Q[0])
    shapes = position_shapes(K_r, Q, durations, wide)
    assert contains(shapes[:1], wide[None])
    for c in directions(rng, n):
        assert largest_share(K_r, Q, durations, shapes, wide, c) <= 1.0 + 1e-3
    sizes = np.sqrt(np.diagonal(shapes, axis1=1, axis2=2))
    assert np.all(np.diff(sizes, axis=0) < 0.0)
    never = position_shapes(K_r, Q, durations, own)
    assert sizes[-1] == pytest.approx(np.sqrt(np.diagonal(never[-1])), rel=0.1)


def test_equal_rates_and_a_steady_r_are_exact(rng):
    Q = np.repeat(some_shapes(rng, 4, 1), 3, axis=0)
    K_r = np.full(4, 6.0)
    start = rest_shape(K_r, Q[0])
    shapes = position_shapes(K_r, Q, np.full(3, 0.5), start)
    assert shapes == pytest.approx(Q / 36.0, rel=1e-4)


@pytest.mark.parametrize('kind', ['start', 'rates', 'widening'])
def test_what_is_forgotten_is_noticed(kind, rng):
    K_r, Q, durations = np.array([4.0, 9.0]), some_shapes(rng, 2, 6, 3.0), np.full(6, 0.1)
    start = 4.0 * rest_shape(K_r, Q[0])
    if kind == 'start':
        shapes = position_shapes(K_r, Q, durations, np.zeros((2, 2)))
    elif kind == 'rates':
        start = rest_shape(K_r, Q[0])
        shapes = position_shapes(np.full(2, 9.0), Q, np.full(6, 1.0), 0.1 * start)
    else:  # at rest in every step at once
        shapes = np.array([rest_shape(K_r, each) for each in Q])
    worst = [largest_share(K_r, Q, durations, shapes, start, c) for c in directions(rng, 2)]
    assert max(worst) > 1.05


def test_a_step_that_is_narrower_along_one_direction_is_proven(rng):
    """Whatever way it points, also across all joints alike."""
    for d in (np.array([1.0, -1.0]), np.array([1.0, 1.0]), *rng.normal(size=(5, 2))):
        d = d / np.linalg.norm(d)
        Q = 1e-3 * np.array([np.eye(2), np.eye(2) - 0.25 * np.outer(d, d)])
        K_r = np.full(2, 8.0)
        shapes = position_shapes(K_r, Q, np.full(2, 1e-3), rest_shape(K_r, Q[0]))
        assert shapes is not None
        assert contains(1.001 * shapes[1:], rest_shape(K_r, Q[0])[None])


def test_what_cannot_be_proven_is_none(rng):
    Q, durations = some_shapes(rng, 2, 3), np.full(3, 0.1)
    broken = Q.copy()
    broken[1] = np.nan
    assert (
        position_shapes(np.full(2, 5.0), broken, durations, rest_shape(np.ones(2), Q[0])) is None
    )


def test_a_tube_tells_its_sizes_and_lasts_beyond_its_end(rng):
    L = np.tril(rng.normal(size=(3, 2, 2)))
    time = Interval(np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0]))
    tube = error_tube.ErrorTube(time, 2.0 * L, L)
    assert tube.largest_e == pytest.approx(np.linalg.norm(L, axis=2))
    assert tube.largest_r == pytest.approx(2.0 * np.linalg.norm(L, axis=2))
    for t, step in ((0.0, 0), (0.5, 0), (1.5, 1), (2.9, 2), (3.0, 2), (99.0, 2)):
        assert tube.position_shape(t) == pytest.approx(L[step] @ L[step].T)
        assert np.all(np.isfinite(factor(tube.position_shape(t))))
