"""What is proven of a motion holds between all samples; mutants of the proof are found out."""

from dataclasses import replace

from excite.excite_problem import rod_arm, rod_problem, small_problem
import numpy as np
import pytest

from safe_sysid.excite import certificate
from safe_sysid.excite.certificate import certify, limit_shares, proven_distance, torque_share
from safe_sysid.excite.design import random_start
from safe_sysid.model.dynamics.inverse_dynamics import inverse_dynamics
from safe_sysid.trajectory.bspline import SplineBasis
from safe_sysid.trajectory.fourier import FourierBasis
from safe_sysid.trajectory.motion_basis import Motion

BASES = (FourierBasis(10.0, 5), FourierBasis(1.0, 8), SplineBasis(6.0, 10), SplineBasis(0.7, 20))


def motions(rng, joints, count):
    """Slow and fast ones about poses where the arm is stretched out, up to wild ones."""
    for _ in range(count):
        basis = BASES[rng.integers(len(BASES))]
        x = rng.normal(size=(joints, basis.count)) * 10.0 ** rng.uniform(-2.0, 0.0)
        x[:, 0] = rng.uniform(-0.6, 0.6, size=joints)
        yield Motion(basis, x)


def times(motion, rate):
    return np.linspace(0.0, motion.basis.duration, int(rate * motion.basis.duration) + 1)


@pytest.mark.parametrize(
    ('count', 'rate'), [(8, 1000.0), pytest.param(100, 5000.0, marks=pytest.mark.nightly)]
)
def test_nothing_comes_nearer_than_proven(count, rate, rng):
    contacts = rod_problem().contacts
    for motion in motions(rng, 7, count):
        q = motion.states(times(motion, rate))[0]
        measured = contacts.nearest(q)[0]
        proven, _ = proven_distance(contacts, motion, measured - 0.002)
        assert proven <= measured + 1e-12


def test_a_distance_that_is_kept_is_proven(rng):
    """The proof is not vacuous: 5 mm less than what 1 kHz finds is proven."""
    contacts = rod_problem().contacts
    for motion in motions(rng, 7, 6):
        required = contacts.nearest(motion.states(times(motion, 1000.0))[0])[0] - 0.005
        assert proven_distance(contacts, motion, required)[0] >= required


@pytest.mark.parametrize('part', [0.1, 0.8])
def test_narrow_pairs_keep_their_share_of_what_is_proven(part, rng):
    """Nothing less of one pair, and all of what is asked for of the others."""
    contacts = rod_problem().contacts
    is_less = 0
    for motion in motions(rng, 7, 6):
        gaps = contacts.distances(motion.states(times(motion, 1000.0))[0]).min(axis=0)
        pair = int(np.argmin(gaps))
        share = np.ones(len(gaps))
        share[pair] = part
        narrow = replace(contacts, share=share)
        proven, _ = proven_distance(narrow, motion, (gaps / share).min() - 0.002)
        assert np.all(proven * share <= gaps + 1e-12)
        assert narrow.narrow(proven) == {contacts.names[pair]: share[pair] * proven}
        is_less += proven > gaps[pair] > 0.0
    assert is_less > 1


def test_a_proof_that_forgets_a_joint_is_found_out(rng):
    """Mutant: no motion between the middles of the cells."""
    problem = rod_problem()
    bodies = problem.contacts.bodies
    mutant = replace(problem.contacts, bodies=bodies._replace(reach=np.zeros_like(bodies.reach)))
    overlooked = 0
    for motion in motions(rng, 7, 8):
        measured = problem.contacts.nearest(motion.states(times(motion, 1000.0))[0])[0]
        overlooked += proven_distance(mutant, motion, -np.inf)[0] > measured + 1e-6
    assert overlooked > 2


def test_torque_stays_below_its_proven_share(rng):
    for problem in (rod_problem(), small_problem()):
        for motion in motions(rng, problem.model.n, 2):
            states = motion.states(times(motion, 300.0))
            tau = inverse_dynamics(problem.model, *states)
            share = float((np.abs(tau) / problem.model.limits.torque).max())
            proven, _ = torque_share(problem.model, motion)
            assert proven >= min(share, 1.0)
            if share > 1.0:
                assert proven > 1.0


@pytest.mark.slow
def test_a_torque_that_is_kept_is_proven():
    problem = rod_problem()
    motion = problem.motion(random_start(problem, np.random.default_rng(3)))
    tau = inverse_dynamics(problem.model, *motion.states(times(motion, 500.0)))
    used = (np.abs(tau) / problem.model.limits.torque).max(axis=0)
    tight = replace(problem.model.limits, torque=problem.model.limits.torque * used * 1.002)
    model = replace(problem.model, limits=tight)
    assert 0.99 < torque_share(model, motion)[0] <= 1.0
    broken = replace(problem.model.limits, torque=problem.model.limits.torque * used * 0.999)
    assert torque_share(replace(problem.model, limits=broken), motion)[0] > 1.0


def test_limits_are_used_no_more_than_said(rng):
    _, model = rod_arm()
    limits = model.limits
    center = 0.5 * (limits.position_lower + limits.position_upper)
    radius = 0.5 * (limits.position_upper - limits.position_lower)
    for motion in motions(rng, 7, 20):
        q, qd, qdd = motion.states(times(motion, 2000.0))
        shares = (np.abs(q - center) / radius, np.abs(qd) / limits.velocity,
                  np.abs(qdd) / limits.acceleration)  # fmt: skip
        for used, said in zip(shares, limit_shares(motion, limits), strict=True):
            assert (used.max(axis=0) <= said).all()


def test_each_part_says_what_failed():
    problem = rod_problem()
    x = random_start(problem, np.random.default_rng(5))
    good = certify(problem.model, problem.contacts, problem.motion(x), 0.01)
    assert good.holds and good.distance >= 0.01
    fast = replace(x_motion := problem.motion(x), x=np.column_stack([x[:, 0], 30.0 * x[:, 1:]]))
    words = ' '.join(certify(problem.model, problem.contacts, fast, 0.01).failures)
    for part in ('are required', 'velocity of joint', 'acceleration of joint', 'torque of joint'):
        assert part in words
    far = certify(problem.model, problem.contacts, x_motion, 10.0)
    assert not far.holds
    assert '10000.00 mm are required' in far.failures[0]


def test_cells_cover_all_times():
    middles, half = certificate._first_cells(3.333)
    for _ in range(3):
        order = np.argsort(middles)
        ends = middles[order] - half, middles[order] + half
        assert ends[0][0] <= 0.0 and ends[1][-1] >= 3.333
        assert (ends[1][:-1] >= ends[0][1:]).all()
        middles, half = certificate._halved(middles, half)


@pytest.mark.parametrize('missing', [2, 3])
def test_a_torque_proof_without_motion_inside_cells_is_found_out(monkeypatch, missing):
    """Mutant: cells are points; then a torque above its limit between two middles passes."""
    problem = small_problem()
    basis = FourierBasis(0.5, 12)
    rng = np.random.default_rng(missing)
    motion = Motion(basis, 0.02 * rng.normal(size=(2, basis.count)))
    tau = np.abs(inverse_dynamics(problem.model, *motion.states(times(motion, 2e4))))
    limits = replace(problem.model.limits, torque=tau.max(axis=0) * 0.999)
    model = replace(problem.model, limits=limits)
    assert torque_share(model, motion)[0] > 1.0
    monkeypatch.setattr(certificate, '_cell_torques', _at_points(certificate._cell_torques))
    assert torque_share(model, motion)[0] <= 1.0


def _at_points(original):
    def mutant(model, motion, middles, _, bounds):
        return original(model, motion, middles, 0.0, bounds)

    return mutant
