"""Distances and their slopes, which pairs are looked at, and how far a joint can move a point."""

from dataclasses import replace

from excite.excite_problem import rod_arm, rod_problem
import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.excite.observed_columns import random_states
from safe_sysid.model.collision.arm_distances import contacts_of, near_slopes_into
from safe_sysid.model.collision.capsules import Capsules
from safe_sysid.model.collision.contact import ContactGauge
from safe_sysid.model.dynamics.forward_kinematics import joint_frames
from safe_sysid.simulate.random_arm import random_tree


def poses(model, rng, count):
    return random_states(model.limits, rng, count)[0]


def random_contacts(rng, n):
    """A tree with a capsule on every joint and on the base, and all pairs of them."""
    model = random_tree(rng, n, serial=False)
    m = n + 1
    capsules = Capsules(
        tuple(f'body_{j}' for j in range(m)),
        np.arange(-1, n),
        rng.normal(scale=0.2, size=(m, 3)),
        rng.normal(scale=0.2, size=(m, 3)),
        rng.uniform(0.01, 0.05, size=m),
        np.array([(i, j) for i in range(m) for j in range(i + 1, m)]),
    )
    limits = replace(
        model.limits,
        position_lower=np.full(n, -0.5),
        position_upper=np.full(n, 0.5),
    )
    model = replace(model, capsules=capsules, limits=limits)
    return model, contacts_of(model, model, -0.3, rng.uniform(-0.5, 0.5, (50, n)))


def test_distances_are_those_found_by_bisection(rng):
    contacts, (_, model) = rod_problem().contacts, rod_arm()
    pairs = contacts.bodies.pairs
    gauge = ContactGauge(replace(model, capsules=replace(model.capsules, pairs=pairs)))
    q = poses(model, rng, 15)
    expected = np.array([gauge.distances(row) for row in q])
    np.testing.assert_allclose(contacts.distances(q)[:, : len(pairs)], expected, atol=1e-9)


def test_height_over_the_floor_is_that_of_the_lowest_point(rng):
    contacts, (_, model) = rod_problem().contacts, rod_arm()
    q = poses(model, rng, 5)
    gaps = contacts.distances(q)
    for row, pose in zip(gaps, q, strict=True):
        R, p = joint_frames(model, pose)
        for f, i in enumerate(contacts.bodies.over_floor):
            j = model.capsules.joint[i]
            ends = [R[j] @ end[i] + p[j] for end in (model.capsules.a, model.capsules.b)]
            lowest = min(end[2] for end in ends) - model.capsules.radius[i]
            assert row[len(contacts.bodies.pairs) + f] == pytest.approx(lowest, abs=1e-12)


def test_only_bodies_that_keep_their_height_are_not_compared_with_the_floor(rng):
    for _ in range(20):
        model, contacts = random_contacts(rng, 4)
        upright = model.tree.axis.copy()
        upright[rng.integers(4)] = [0.0, 0.0, 1.0]
        turns = np.broadcast_to(np.eye(3), model.tree.R_parent_joint.shape).copy()
        model = replace(model, tree=model.tree._replace(axis=upright, R_parent_joint=turns))
        contacts = contacts_of(model, model, -0.3, np.zeros((1, 4)))
        q = poses(model, rng, 50)
        frames = [joint_frames(model, pose) for pose in q]
        for i in range(1, 5):
            ends = model.capsules.a[i], model.capsules.b[i]
            low = [min((R[i - 1] @ end + p[i - 1])[2] for end in ends) for R, p in frames]
            assert (np.ptp(low) > 1e-9) == (i in contacts.bodies.over_floor)


def test_slopes_agree_with_differences_also_on_trees_with_prismatic_joints(rng):
    cases = [(rod_problem().contacts, poses(rod_arm()[1], rng, 60))]
    for n in (3, 6):
        _, contacts = random_contacts(rng, n)
        cases.append((contacts, rng.uniform(-0.5, 0.5, (60, n))))
    for contacts, q in cases:
        gaps = np.empty((len(q), len(contacts.names)))
        slopes = np.zeros((*gaps.shape, q.shape[1]))
        near_slopes_into(contacts.bodies, np.ascontiguousarray(q), np.inf, gaps, slopes)
        off = np.empty_like(slopes)
        for j in range(q.shape[1]):
            h = 1e-6 * np.eye(q.shape[1])[j]
            change = contacts.distances(q + h) - contacts.distances(q - h)
            off[..., j] = change / 2e-6 - slopes[..., j]
        smooth = np.abs(off).max(axis=-1)  # nearest points jump in a few poses
        assert np.quantile(smooth[gaps > 1e-3], 0.98) < 1e-6


def test_the_tool_is_checked_against_everything_two_joints_away():
    contacts, (bare, model) = rod_problem().contacts, rod_arm()
    assert contacts.left_out == ()
    for link in bare.capsules.names[:6]:
        for part in ('fixture', 'rod'):
            assert f'{link} and rod_tool.{part}' in contacts.names
    assert 'rod_tool.rod and the floor' in contacts.names
    assert 'link_0 and the floor' not in contacts.names
    listed = {(model.capsules.names[i], model.capsules.names[j]) for i, j in bare.capsules.pairs}
    assert all(f'{first} and {second}' in contacts.names for first, second in listed)


def test_pairs_that_always_overlap_are_named_not_hidden(rng):
    bare, model = rod_arm()
    radius = model.capsules.radius.copy()
    radius[-1] = 2.0
    fat = replace(model, capsules=replace(model.capsules, radius=radius))
    contacts = contacts_of(bare, fat, None, poses(model, rng, 20))
    assert 'link_0 and rod_tool.rod' in contacts.left_out
    assert 'link_0 and rod_tool.rod' not in contacts.names


def test_less_is_asked_of_pairs_that_no_pose_moves_apart(rng):
    bare, model = rod_arm()
    q = poses(model, rng, 50)
    contacts = contacts_of(bare, model, 0.0, q)
    widest = contacts.distances(q).max(axis=0)
    count = len(contacts.bodies.pairs)
    distance = 1.01 * np.sort(widest[:count])[2]
    share = contacts.sharing(distance, q).share
    less = np.flatnonzero(share < 1.0)
    assert list(less) == sorted(np.argsort(widest[:count])[:3])
    assert np.all(share[less] * distance < widest[less])
    high = contacts_of(bare, model, 10.0, q)  # a floor that everything is below
    assert np.all(high.sharing(distance, q).share[count:] == 1.0)


def test_no_pose_moves_a_point_further_than_its_reach(rng):
    """The bound of the certificate: |d(q + turn) - d(q)| <= sum of reach x |turn|."""
    cases = [(rod_problem().contacts, poses(rod_arm()[1], rng, 200))]
    for n in (2, 5):
        _, contacts = random_contacts(rng, n)
        cases.append((contacts, rng.uniform(-0.4, 0.4, (200, n))))
    for contacts, q in cases:
        for size in (1e-3, 0.1):
            turn = rng.uniform(-size, size, q.shape)
            turn[::2] *= rng.random((len(q[::2]), q.shape[1])) < 0.3
            change = np.abs(contacts.distances(q + turn) - contacts.distances(q))
            assert (change <= np.abs(turn) @ contacts.bodies.reach.T + 1e-12).all()


def test_an_endless_prismatic_joint_is_refused(rng):
    for _ in range(20):
        model, _ = random_contacts(rng, 4)
        if model.tree.is_prismatic[:3].any() and (model.tree.parent >= 0).any():
            endless = replace(model.limits, position_upper=np.full(4, np.inf))
            carried = [
                j for j in range(4)
                if model.tree.parent[j] >= 0 and model.tree.is_prismatic[j]
            ]  # fmt: skip
            below = [j for j in carried if not model.tree.is_prismatic[model.tree.parent[j]]]
            if below:
                break
    with pytest.raises(BoundError, match='prismatic joint without position limits'):
        contacts_of(
            replace(model, limits=endless), replace(model, limits=endless), None, np.zeros((1, 4))
        )
