"""What attacks do to an arm that is read late is as bad as it is described, and no worse."""

from dataclasses import replace
from functools import cache
from itertools import repeat
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.bench.experiments.attacked_arm import AttackedArm
from safe_sysid.bench.experiments.late_arm import (
    PERIOD,
    START,
    gains_of,
    known,
    late_kinova,
    sampling_of,
    truth_of,
)
from safe_sysid.bench.experiments.late_attack import Begin, leaning, random_attack
from safe_sysid.bench.experiments.planning import at_rest
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.dry_friction import DryFriction
from safe_sysid.model.inertia import pseudo_inertia
from safe_sysid.model.signal_facts import DryFrictionFacts
from safe_sysid.simulate.rigid_body import RigidBody
from safe_sysid.track.seen_law import LONGER
from safe_sysid.trajectory.plan import Plan

BEGIN, AWAY = 0.1, np.full(7, 0.1)


@cache
def plans():
    """Return a motion that nobody has certified: attacks ask for no law."""
    model = late_kinova()
    problem = replace(
        at_rest(model, known(model), START, NO_OBSTACLES),
        gains=gains_of(model),
        sampling=sampling_of(model),
    )
    plan = Plan(BEGIN, BEGIN + 1.0, problem.horizon.curve, AWAY)
    return SimpleNamespace(described=problem, plans=(plan,), starts=(BEGIN,), which=lambda _: 0)


def attack_of(seed):
    rng = np.random.default_rng(seed)
    return random_attack(plans(), rng, truth_of(late_kinova(), rng))


def test_times_are_within_what_is_described_and_at_its_ends():
    periods, stamps, delays = [], [], []
    for seed in range(16):
        attack = attack_of(seed)
        sampling = attack.sampling
        periods += [attack.period() for _ in range(200)]
        stamps += [attack.stamp(0.0) for _ in range(200)]
        of_one = [attack.acts_from(0.0) for _ in range(200)]
        assert np.ptp(of_one) <= 2.0 * sampling.jitter
        delays += of_one
    least = sampling.delay - 2.0 * (sampling.jitter + sampling.bias)
    for found, low, high in (
        (periods, PERIOD / LONGER, PERIOD * LONGER),
        (stamps, -sampling.stamp, sampling.stamp),
        (delays, least, sampling.delay),
    ):
        assert low <= min(found) < low + 0.01 * (high - low)
        assert high - 0.01 * (high - low) < max(found) <= high


def test_readings_are_within_half_a_step_and_often_at_its_ends():
    q, sizes = np.linspace(0.1, 0.2, 7), []
    for seed in range(16):
        attack = attack_of(seed)
        off = np.array([attack.read(q) - q for _ in range(100)]) / attack.sampling.step
        sizes.append(np.abs(off).max())
    assert max(sizes) <= 0.5 * (1.0 + 1e-9)
    assert np.median(sizes) > 0.48


@pytest.mark.parametrize('seed', range(4))
def test_an_arm_is_within_its_bounds_and_its_bodies_exist(seed):
    attack = attack_of(seed)
    theta, bounds = attack.truth.theta, plans().described.bounds.bounds
    assert bounds.contains(theta)
    bodies = theta[:70].reshape(7, 10)
    assert np.linalg.eigvalsh(pseudo_inertia(bodies)).min() > 0.0
    ends = np.isclose(theta, bounds.lower) | np.isclose(theta, bounds.upper)
    assert np.all(ends[70:])
    assert np.all(ends[60:64])  # mass and first moment of what is held
    np.testing.assert_allclose(np.abs(attack.zero), attack.sampling.zero)
    before, after = late_kinova().tree.gravity, attack.truth.tree.gravity
    angle = np.arccos(before @ after / (before @ before))
    assert angle == pytest.approx(attack.sampling.tilt, rel=1e-4)


def test_gravity_leans_to_every_side():
    leaned = [leaning(late_kinova(), 0.1, side).tree.gravity for side in (0.0, np.pi)]
    np.testing.assert_allclose(sum(leaned)[:2], 0.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(leaned, axis=1), 9.81)


def energy_of(attack, motion):
    """V by Pinocchio."""
    rigid = attack.truth.pinocchio()
    M = pin.crba(rigid, rigid.createData(), motion.q + attack.zero)
    M = np.triu(M) + np.triu(M, 1).T
    return 0.5 * motion.r @ M @ motion.r


def test_r_stays_as_it_is_until_the_first_torque_acts_with_v_nearly_at_its_limit():
    attack = attack_of(3)
    arm, first = AttackedArm(plans(), attack, RigidBody), BEGIN + 7e-4
    arm.come_to(first)
    long_before, before, then = (arm.before(first - left) for left in (0.05, 1e-6, 0.0))
    np.testing.assert_allclose(long_before.r, then.r)
    np.testing.assert_allclose((then.e - before.e) / 1e-6, then.r - 5.0 * then.e, rtol=1e-4)
    V_M = attack.described.gains.V_M
    assert energy_of(attack, then) == pytest.approx(0.999 * V_M)
    assert arm.energy(then) == pytest.approx(0.999 * V_M)


def test_r_drifts_evenly_before_the_first_torque():
    attack, drift = attack_of(3), np.linspace(-2.0, 3.0, 7)
    arm = AttackedArm(
        plans(), replace(attack, begin=attack.begin._replace(drift=drift)), RigidBody
    )
    arm.come_to(BEGIN)
    motions = [arm.before(BEGIN - left) for left in (0.05, 0.05 - 1e-6, 0.0)]
    earlier, next_one, then = motions
    np.testing.assert_allclose(earlier.r, then.r - 0.05 * drift)
    np.testing.assert_allclose(then.e, attack.begin.e)
    np.testing.assert_allclose(
        (next_one.e - earlier.e) / 1e-6, earlier.r - 5.0 * earlier.e, rtol=1e-4, atol=1e-6
    )


def torque_at_rest(model):
    rigid = model.pinocchio()
    return pin.computeGeneralizedGravity(rigid, rigid.createData(), START)


def moved(attack, seconds=2e-3):
    """Last state of an arm that is held by the torque that its figures say."""
    arm = AttackedArm(plans(), attack, RigidBody)
    arm.come_to(BEGIN)
    arm.before(BEGIN)
    arm.take(torque_at_rest(attack.described.model))
    return list(arm.until(BEGIN + seconds)), arm


def test_drives_err_against_r_in_parts_of_a_period():
    attack = attack_of(3)
    exact = replace(attack.described.gains, torque_ratio=0.0, torque_error=0.0)
    right = replace(attack, described=replace(attack.described, gains=exact))
    (wrong, arm), (without, _) = moved(attack), moved(right)
    assert np.all(np.diff([motion.t for motion in wrong]) <= PERIOD / 2 + 1e-12)
    assert wrong[-1].t == pytest.approx(BEGIN + 2e-3)
    gained = arm.energy(wrong[-1]) - arm.energy(without[-1])
    off = attack.described.gains
    held = np.abs(torque_at_rest(late_kinova()))
    power = np.abs(wrong[0].r) @ (off.torque_ratio * held + off.torque_error)
    assert gained == pytest.approx(2e-3 * power, rel=0.05)


def test_a_joint_sticks_as_long_as_less_than_its_friction_at_rest_pushes_it():
    attack = attack_of(3)
    sticks = DryFriction(DryFrictionFacts(static=(50.0,)))
    described = replace(attack.described, model=replace(late_kinova(), friction=sticks))
    resting = Begin(np.zeros(7), np.ones(7), 1e-12)
    stuck = replace(attack, described=described, begin=resting)
    motions, _ = moved(stuck, seconds=5e-3)
    assert np.abs(motions[-1].qd).max() == 0.0
    freely, _ = moved(replace(attack, begin=resting), seconds=5e-3)
    assert np.abs(freely[-1].qd).max() > 1e-5


def test_a_slow_drive_comes_to_its_command():
    attack = replace(attack_of(3), slow=1e-3, delays=repeat(np.ones(1)))
    arm = AttackedArm(plans(), attack, RigidBody)
    arm.come_to(BEGIN)
    arm.before(BEGIN)
    arm.take(np.zeros(7))
    list(arm.until(BEGIN + 1e-3))
    arm.take(np.ones(7))
    list(arm.until(BEGIN + 2e-3))
    np.testing.assert_allclose(arm.followed, 1.0 - np.exp(-1.0))
