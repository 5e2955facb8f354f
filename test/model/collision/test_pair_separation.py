"""Pairs called apart never touch, pairs called touching do, and levers bound every motion."""

from dataclasses import replace
import itertools

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.bench.experiments.reach import random_arm
from safe_sysid.model.collision import pair_separation
from safe_sysid.model.collision.capsules import NO_PAIRS, Capsules
from safe_sysid.model.collision.contact import ContactGauge
from safe_sysid.model.collision.pair_separation import (
    Verdict,
    chain_between,
    gaps,
    levers,
    separation,
)
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.random_arm import random_tree

SHIPPED = ('kinova_gen3', 'lbr_med7', 'two_link')


def limited_arm(rng, n):
    """A chain or tree with a capsule on every body, and limits of all kinds."""
    model = random_arm(rng, n)
    lower = rng.uniform(-4.0, 1.0, n)
    upper = lower + np.where(rng.random(n) < 0.2, 7.0, rng.uniform(0.1, 3.0, n))
    slides = model.tree.is_prismatic
    lower, upper = np.where(slides, 0.1 * lower, lower), np.where(slides, 0.1 * upper, upper)
    limits = replace(model.limits, position_lower=lower, position_upper=upper)
    return replace(model, limits=limits)


def moving_pairs(model):
    """Every pair of capsules that some joint moves against each other, with what is between."""
    for pair in itertools.combinations(range(len(model.capsules.names)), 2):
        chain = chain_between(model.tree, model.limits, model.capsules, pair)
        if len(chain.joints):
            yield pair, chain


def distance(model, pair, q):
    """Of two capsules, by bisection along their axes: not the code under test."""
    capsules = replace(model.capsules, pairs=np.array([pair]))
    return ContactGauge(replace(model, capsules=capsules)).distances(q)[0]


def test_gaps_are_those_of_the_placed_capsules(rng):
    for n in (1, 3, 6):
        model = limited_arm(rng, n)
        q = rng.uniform(model.limits.position_lower, model.limits.position_upper)
        for pair, chain in moving_pairs(model):
            expected = distance(model, pair, q)
            assert gaps(chain, q[None, chain.joints])[0] == pytest.approx(expected, abs=1e-9)


def test_no_joint_moves_a_pair_further_than_its_lever(rng):
    """On trees with prismatic joints, for small and large steps within the limits."""
    for n in (2, 4, 7):
        model = limited_arm(rng, n)
        for _, chain in moving_pairs(model):
            lever, size = levers(chain), (200, len(chain.joints))
            q = rng.uniform(chain.lower, chain.upper, size)
            to = rng.uniform(chain.lower, chain.upper, size)
            to[::2] = np.clip(
                q[::2] + 1e-3 * rng.normal(size=q[::2].shape), chain.lower, chain.upper
            )
            keep = rng.random(size) < 0.5
            to = np.where(keep, q, to)
            change = np.abs(gaps(chain, to) - gaps(chain, q))
            assert (change <= np.abs(to - q) @ lever + 1e-12).all()


def test_a_lever_is_reached(rng):
    """A lever that is never reached would only cost time; one joint and a sphere reach it."""
    tree = random_tree(rng, 1, serial=True).tree._replace(is_prismatic=np.array([False]))
    model = random_tree(rng, 1, serial=True)
    out = np.cross(tree.axis[0], rng.normal(size=3))
    ends = np.array([10 * (tree.R_parent_joint[0] @ out) + tree.p_parent_joint[0], out])
    capsules = Capsules(('far', 'arm'), np.array([-1, 0]), ends, ends, np.full(2, 1e-3), NO_PAIRS)
    chain = chain_between(tree, model.limits, capsules, (0, 1))
    q = np.pi / 2 + np.array([[-1e-4], [1e-4]])
    slope = np.abs(np.diff(gaps(chain, q)))[0] / 2e-4
    assert slope == pytest.approx(levers(chain)[0], rel=0.01)


def test_verdicts_about_random_arms_hold_in_every_pose_tried(rng):
    seen = dict.fromkeys(Verdict, 0)
    for n in (2, 3, 4, 5):
        for _ in range(3):
            model = limited_arm(rng, n)
            for pair, chain in moving_pairs(model):
                found = separation(chain)
                seen[found.verdict] += 1
                if found.verdict is Verdict.TOUCHING:
                    q = np.zeros(n)
                    q[chain.joints] = found.pose
                    assert (found.pose >= chain.lower).all()
                    assert (found.pose <= chain.upper).all()
                    assert distance(model, pair, q) <= 1e-9
                elif found.verdict is Verdict.APART:
                    q = rng.uniform(chain.lower, chain.upper, (3000, len(chain.joints)))
                    assert gaps(chain, q).min() > 0.0
    assert seen[Verdict.APART] > 10
    assert seen[Verdict.TOUCHING] > 10


@pytest.mark.parametrize('robot', SHIPPED)
def test_pairs_of_shipped_arms_that_count_as_apart_never_touch(robot, rng):
    coal = pytest.importorskip('coal')
    model = RobotModel.named(robot)
    arm, capsules = model.pinocchio(), model.capsules
    lower = np.maximum(model.limits.position_lower, -np.pi)
    upper = np.minimum(model.limits.position_upper, np.pi)
    shapes = [
        coal.Capsule(r, float(np.linalg.norm(b - a)))
        for a, b, r in zip(capsules.a, capsules.b, capsules.radius, strict=True)
    ]
    for q in rng.uniform(lower, upper, (300, model.n)):
        data = arm.createData()
        pin.forwardKinematics(arm, data, q)
        placed = [in_coal(coal, capsules, data, i) for i in range(len(shapes))]
        for i, j in capsules.apart:
            result = coal.DistanceResult()
            request = coal.DistanceRequest()
            gap = coal.distance(shapes[i], placed[i], shapes[j], placed[j], request, result)
            assert gap > 0.0, (capsules.names[i], capsules.names[j])


def in_coal(coal, capsules, data, i):
    """Pose of a capsule, which coal has along z about the origin."""
    pose = data.oMi[int(capsules.joint[i]) + 1]
    a, b = pose.act(capsules.a[i]), pose.act(capsules.b[i])
    length = np.linalg.norm(b - a)
    along = (b - a) / length if length > 0 else np.array([0.0, 0.0, 1.0])
    turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), along).matrix()
    return coal.Transform3s(turn, (a + b) / 2)


def pin_and_hole(gap):
    """A sphere on a bar of two joints, and one on the base that it meets at one pose only."""
    arm = RobotModel.named('two_link')
    base = np.array([0.9 * np.cos(1.0), 0.0, -0.9 * np.sin(1.0)]) * (1.0 + 0.04 / 0.9 + gap)
    ends = np.array([base, [0.5, 0.0, 0.0]])
    radius = np.full(2, 0.02)
    return replace(
        arm, capsules=Capsules(('pin', 'tip'), np.array([-1, 1]), ends, ends, radius, NO_PAIRS)
    )


@pytest.mark.parametrize('gap', [-1e-5, 1e-4])
def test_a_contact_that_samples_miss_is_found(gap):
    """Nine tenths of a metre of arm touch at full stretch, in a millionth of the poses."""
    model = pin_and_hole(gap)
    chain = chain_between(model.tree, model.limits, model.capsules, (0, 1))
    rng = np.random.default_rng(1)
    assert gaps(chain, rng.uniform(chain.lower, chain.upper, (10_000, 2))).min() > 0.0
    verdict = separation(chain).verdict
    assert (verdict is Verdict.APART) == (gap > 0.0)


def test_limits_beyond_half_a_turn_are_not_cut():
    """Where a joint gets to more than half a turn, that is where it gets to."""
    model = pin_and_hole(-0.01)
    chain = chain_between(model.tree, model.limits, model.capsules, (0, 1))
    touching = separation(chain).pose
    for turn in (-2.0 * np.pi, 0.0, 2.0 * np.pi):
        near = touching + np.array([turn, 0.0])
        limits = replace(model.limits, position_lower=near - 0.2, position_upper=near + 0.2)
        chain = chain_between(model.tree, limits, model.capsules, (0, 1))
        assert separation(chain).verdict is Verdict.TOUCHING


def test_a_joint_without_end_or_too_little_time_decides_nothing(rng, monkeypatch):
    model = limited_arm(rng, 3)
    slides = model.tree._replace(is_prismatic=np.ones(3, dtype=bool))
    endless = replace(model.limits, position_upper=np.full(3, np.inf))
    chain = chain_between(slides, endless, model.capsules, (0, 3))
    assert separation(chain).verdict is Verdict.UNDECIDED
    arm = pin_and_hole(1e-4)
    chain = chain_between(arm.tree, arm.limits, arm.capsules, (0, 1))
    monkeypatch.setattr(pair_separation, 'MOST_BOXES', 10)
    assert separation(chain).verdict is Verdict.UNDECIDED
