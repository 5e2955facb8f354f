"""A plan begins only where V <= V_M for every theta; it goes on unless V > V_M for all of them."""

from dataclasses import replace
import itertools

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.dynamics.kinetic_energy import kinetic_energy
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.search.candidates import gentlest
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.random_arm import random_tree
from safe_sysid.track.gains import Gains
from safe_sysid.track.plan_succession import PlanSuccession, SuccessionSettings
from safe_sysid.track.takeover import TrackedArm
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

KINOVA = RobotModel.named('kinova_gen3')
ARM = TrackedArm(KINOVA, Gains(np.full(7, 5.0), V_M=0.02, alpha=25.0))
KNOWN = ParameterEstimate(KINOVA.layout, KINOVA.theta, ratio_bounds(KINOVA.theta, 0.05))
AT = np.array([-0.48, 0.05, -0.12, 0.17, 3.12, 0.13, -1.39])
REST = np.zeros(7)


def plan_at(q, start=0.0, k=REST):
    curve = Bezier(q, REST, REST, 3.0)
    return Plan(start, start, curve, k, KNOWN.bounds, 'name', KNOWN.theta)


def measured(q=AT, qd=REST):
    return JointMeasurement(0, q, qd, REST)


def energy(model, theta, q, qd):
    """1/2 qd' (H + diag(Ia)) qd by Pinocchio."""
    arm = model.with_parameters(theta).pinocchio()
    M = pin.crba(arm, arm.createData(), q)
    M = np.triu(M) + np.triu(M, 1).T
    return 0.5 * qd @ M @ qd


def test_energies_contain_those_of_every_theta_and_are_attained(rng):
    for n in (1, 2, 5, 8):
        model = random_tree(rng, n, serial=False, armature=0.3)
        q, qd = rng.normal(size=(2, n))
        bounds = ratio_bounds(model.theta, 0.3)
        found = kinetic_energy(model, bounds, q, qd)
        corners = rng.choice([0.7, 1.3], size=(50, model.layout.size))
        for corner in corners:
            theta = np.clip(model.theta * corner, bounds.lower, bounds.upper)
            value = energy(model, theta, q, qd)
            assert max(value, 0.0) <= found.upper * (1 + 1e-12)
            assert value >= found.lower * (1 - 1e-12) or found.lower == 0.0
        slope = [
            energy(model, model.theta + step, q, qd) - energy(model, model.theta, q, qd)
            for step in np.eye(model.layout.size)
        ]
        worst = np.where(np.array(slope) > 0.0, bounds.upper, bounds.lower)
        assert energy(model, worst, q, qd) == pytest.approx(float(found.upper), rel=1e-9)


@pytest.mark.parametrize('start', ['first', 'after another'])
@pytest.mark.parametrize('off', [0.002, 0.019])
def test_a_plan_begins_only_as_near_as_its_energy_allows(off, start):
    """19 mrad on the Kinova are 16 times V_M: no certificate is for such an arm."""
    succession = PlanSuccession(ARM, SuccessionSettings())
    first = plan_at(AT)
    if start == 'after another':
        succession.offer(first)
        assert succession.step(0.0, measured(), KNOWN) is first
    q = AT + off
    V = max(
        energy(KINOVA, KNOWN.bounds.lower + share * 2 * KNOWN.bounds.radius, AT, REST + 5 * off)
        for share in (0.0, 0.5, 1.0)
    )
    assert (V > 0.02) == (off > 0.01)
    second = plan_at(q, 9.0)
    succession.offer(second)
    is_followed = succession.step(9.0, measured(), KNOWN) is second
    assert is_followed == (off < 0.01)
    if not is_followed:
        assert 'the tracking error would begin with up to' in succession.refusal


def test_velocity_counts():
    qd = np.zeros(7)
    qd[1] = 0.1  # 1/2 12 kg m^2 (0.1 rad/s)^2 = 0.06 J
    assert 'up to 0.0' in ARM.refusal_to_begin(plan_at(AT), 0.0, measured(qd=qd), KNOWN.bounds)
    assert not ARM.refusal_to_begin(plan_at(AT), 0.0, measured(qd=0.1 * qd), KNOWN.bounds)


def test_an_arm_that_swings_back_is_as_far_off_as_one_at_rest():
    """With de/dt = -K_r e there is no r, but the position error is beyond its certified bound."""
    e = np.full(7, 0.019)
    swinging = measured(AT - e, 5.0 * e)
    assert ARM.refusal_to_begin(plan_at(AT), 0.0, swinging, KNOWN.bounds)


def test_without_error_every_theta_lets_a_plan_begin():
    wide = Interval(KNOWN.bounds.lower - 5.0, KNOWN.bounds.upper + 5.0)
    assert not ARM.refusal_to_begin(plan_at(AT), 0.0, measured(), wide)
    turned = measured(AT + 2 * np.pi * KINOVA.limits.is_continuous)
    assert not ARM.refusal_to_begin(plan_at(AT), 0.0, turned, KNOWN.bounds)


def test_a_plan_goes_on_unless_the_promise_is_broken_for_sure():
    succession = PlanSuccession(ARM, SuccessionSettings())
    first = plan_at(AT)
    succession.offer(first)
    assert succession.step(0.0, measured(), KNOWN) is first
    second = Plan(4.0, 4.0, first.curve_from(4.0, 3.0), REST + 0.1, KNOWN.bounds, '', KNOWN.theta)
    off = np.zeros(7)
    off[1] = 0.0105  # some theta in its bounds have more than V_M, others less
    possible = kinetic_energy(KINOVA, KNOWN.bounds, AT, 5.0 * off)
    assert possible.upper > 0.02 > possible.lower
    succession.offer(second)
    assert succession.step(4.0, measured(AT - off), KNOWN) is second
    third = replace(second, start_time=5.0, switch_time=5.0, curve=second.curve_from(5.0, 3.0))
    succession.offer(third)
    at = third.desired(5.0)
    beyond = JointMeasurement(0, at[0] - 2 * off, at[1], REST)
    assert succession.step(5.0, beyond, KNOWN) is second
    assert 'so an assumption is false; joint_2 is 0.021 rad' in succession.refusal
    assert 'with `sampling: ideal`, for period, delay and encoder steps' in succession.refusal


def test_all_corners_are_within_what_is_refused(rng):
    """Brute force over theta: no plan begins with V > V_M for any theta in its bounds."""
    rotors = np.arange(KINOVA.layout.size)[KINOVA.layout.joint_entries('Ia')]
    entries = np.concatenate([[0, 10, 20, 30], rotors])
    begun = 0
    for _ in range(40):
        scale = 10 ** rng.uniform(-3.0, -1.5)
        off, qd = scale * rng.normal(size=7), 5 * scale * rng.normal(size=7)
        if ARM.refusal_to_begin(plan_at(AT), 0.0, measured(AT - off, qd), KNOWN.bounds):
            continue
        begun += 1
        for signs in itertools.product((-1.0, 1.0), repeat=3):
            theta = KNOWN.bounds.center.copy()
            for i, entry in enumerate(entries):
                theta[entry] += signs[i % 3] * KNOWN.bounds.radius[entry]
            assert energy(KINOVA, theta, AT - off, -qd + 5.0 * off) <= 0.02
            assert energy(KINOVA, theta, AT - off, 5.0 * off) <= 0.02
    assert begun > 5


def late_to(first, then, t):
    """Plans, of which the second was told just before a time and after a sample of its own."""
    succession = PlanSuccession(ARM, SuccessionSettings(), 0.0015)
    succession.in_force = first
    assert succession.step(t - 0.001, measured(), KNOWN) is first
    succession.offer(then)
    return succession


def late_takeover(rng, *, is_stop):
    """A plan that takes over 4 ms late from one in motion, V then, and whether it was taken.

    The arm has V = 0.9999 V_M, for the heaviest bodies, on the plan before, in the direction in
    which r jumps.
    """
    first, start = plan_at(AT, k=rng.uniform(-1.0, 1.0, 7)), 1.2
    curve = first.curve_from(start, 0.3 if is_stop else 3.0)
    k = gentlest(curve) if is_stop else rng.uniform(-1.0, 1.0, 7)
    then = Plan(start, start, curve, k, KNOWN.bounds, 'name', KNOWN.theta)
    t = start + 0.004
    before, after = (np.array(plan.desired(t)) for plan in (first, then))
    jump = after[1] - before[1] + 5.0 * (after[0] - before[0])
    most = float(kinetic_energy(KINOVA, KNOWN.bounds, before[0], jump).upper)
    r = jump * np.sqrt(0.9999 * 0.02 / most)
    succession = late_to(first, then, t)
    taken = succession.step(t, measured(before[0], before[1] - r), KNOWN) is then
    V = kinetic_energy(KINOVA, KNOWN.bounds, before[0], r + jump)
    return taken, float(V.upper) / 0.02, float(V.lower) / 0.02, succession.refusal


def test_a_plan_that_comes_late_is_refused_where_v_may_be_too_large_with_it(rng):
    """For all theta V is not above V_M, so that nothing else says so."""
    for _ in range(8):
        taken, most, least, said = late_takeover(rng, is_stop=False)
        assert least < 1.0 < most
        assert not taken
        assert 'the next plan came late, and the tracking error has up to 0.02' in said


def test_a_stop_that_comes_late_is_followed_all_the_same(rng):
    """It is no longer than the plan that would be followed else."""
    worst = 0.0
    for _ in range(8):
        taken, most, least, _ = late_takeover(rng, is_stop=True)
        assert least < 1.0 < most < 1.05
        assert taken
        worst = max(worst, most)
    assert worst > 1.001


def test_a_plan_that_comes_late_to_an_arm_near_its_plan_is_followed():
    first = plan_at(AT, k=np.full(7, 0.5))
    then = Plan(1.2, 1.2, first.curve_from(1.2, 3.0), REST, KNOWN.bounds, 'name', KNOWN.theta)
    q, qd, _ = first.desired(1.204)
    succession = late_to(first, then, 1.204)
    assert succession.step(1.204, measured(q, qd), KNOWN) is then
