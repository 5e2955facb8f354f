"""Hulls called apart never meet, also where a hundred thousand samples would miss it."""

import coal
from model.collision.hull_distance import box
import numpy as np
import pytest

from safe_sysid.model.collision.hull_separation import HullPair, surface_contacts
from safe_sysid.model.collision.meshes import convex_hull
from safe_sysid.model.collision.pair_separation import Chain, Verdict, placed


def turned(rng):
    return np.linalg.qr(rng.normal(size=(3, 3)))[0] * 1.0


def chain_of(rng, prismatic, carried=0, spread=0.3):
    m = len(prismatic)
    axis = rng.normal(size=(m, 3))
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    R = np.array([turned(rng) for _ in range(m)])
    R *= np.sign(np.linalg.det(R))[:, None, None]
    half = np.where(prismatic, 0.1, rng.uniform(0.2, 1.5, m))
    p = rng.normal(scale=spread, size=(m, 3))
    return Chain(
        np.arange(m), carried, R, p, axis, np.array(prismatic), np.zeros((4, 3)), 0.0, -half, half
    )


def oracle(chain, first, second, positions):
    """Smallest distance of the hulls by coal, with placements by hand."""
    shapes, least = [convex_hull(points, 'x') for points in (first, second)], np.inf
    split = len(chain.p) - chain.carried
    for q in positions:
        frames = []
        for joints in (range(split), range(split, len(chain.p))):
            T = np.eye(4)
            for k in joints:
                step = np.eye(4)
                step[:3, :3], step[:3, 3] = chain.R[k], chain.p[k]
                move = np.eye(4)
                if chain.is_prismatic[k]:
                    move[:3, 3] = q[k] * chain.axis[k]
                else:
                    K = np.cross(np.eye(3), chain.axis[k])
                    move[:3, :3] += np.sin(q[k]) * K + (1 - np.cos(q[k])) * K @ K
                T = T @ step @ move
            frames.append(coal.Transform3s(T[:3, :3], T[:3, 3]))
        found = coal.distance(
            shapes[0], frames[0], shapes[1], frames[1], coal.DistanceRequest(),
            coal.DistanceResult(),
        )  # fmt: skip
        least = min(least, found)
    return least


@pytest.mark.parametrize('carried', [0, 1])
def test_gaps_are_distances_in_place_and_verdicts_hold(carried, rng):
    seen = set()
    for trial in range(12):
        chain = chain_of(rng, list(rng.random(2) < 0.3), carried, 0.05 + 0.15 * (trial % 3))
        first, second = (rng.normal(scale=0.08, size=(12, 3)) for _ in range(2))
        pair = HullPair(chain, [first[:6], first[6:]], [second])
        q = chain.lower + (chain.upper - chain.lower) * rng.random((40, 2))
        parts = (first[:6], first[6:])
        least = min(oracle(chain, part, second, q) for part in parts)
        assert pair.gaps(q).min() == pytest.approx(least, abs=3e-5) or least <= 0.0
        verdict = pair.separation().verdict
        seen.add(verdict)
        if verdict is Verdict.APART:
            assert least > 0.0
    assert {Verdict.APART, Verdict.TOUCHING} <= seen


def test_a_contact_in_a_thousandth_of_the_poses_is_not_called_apart(rng):
    """A needle meets a small block only where both joints are within a few hundredths."""
    axis = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    limit = np.array([1.5, 1.5])
    p = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0]])
    chain = Chain(
        np.arange(2), 0, np.stack([np.eye(3)] * 2), p, axis, np.zeros(2, dtype=bool),
        np.zeros((4, 3)), 0.0, -limit, limit,
    )  # fmt: skip
    needle = 1e-3 * rng.normal(size=(8, 3)) + np.linspace(0, 1, 8)[:, None] * [0.5, 0.0, 0.0]
    for gap, expected in (
        (-0.003, {Verdict.TOUCHING, Verdict.UNDECIDED}),
        (0.01, {Verdict.APART}),
    ):
        tip = needle[:, 0].max() + 0.5
        block = 0.01 * np.array([[x, y, z] for x in (0, 2) for y in (-1, 1) for z in (-1, 1)])
        pair = HullPair(chain, [needle], [block + np.array([tip + gap, 0.013, -0.017])])
        assert pair.separation().verdict in expected


def test_frames_are_where_points_go(rng):
    chain = chain_of(rng, [False, True, False], carried=1)
    q = rng.random((5, 3))
    for which in (0, 1):
        R, _ = placed(chain, q, which)
        np.testing.assert_allclose(
            R @ R.transpose(0, 2, 1), np.tile(np.eye(3), (5, 1, 1)), atol=1e-12
        )


def test_surfaces_meet_where_triangles_do_and_not_where_only_hulls_do(rng):
    """A rod in the mouth of a U is inside its hull, and touches nothing."""
    chain = chain_of(rng, [True], spread=0.0)._replace(
        R=np.eye(3)[None], p=np.zeros((1, 3)), axis=np.array([[1.0, 0.0, 0.0]])
    )
    u = np.concatenate([box((0, 0, 0), (0.3, 0.1, 0.05)), box((-0.25, 0, 0.2), (0.05, 0.1, 0.2)),
                        box((0.25, 0, 0.2), (0.05, 0.1, 0.2))])  # fmt: skip
    rod = box((0, 0, 0.2), (0.02, 0.3, 0.02))
    positions = np.array([[0.0], [0.1], [0.185], [0.25], [0.4]])
    hulls = HullPair(chain, [u.reshape(-1, 3)], [rod.reshape(-1, 3)]).gaps(positions)
    assert (hulls < 0.0).tolist() == [True, True, True, True, False]
    assert surface_contacts(chain, u, rod, positions).tolist() == [False, False, True, True, False]
