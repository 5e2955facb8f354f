"""What is known before of an inertia is about the centre of mass, wherever that is."""

import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.api.payload import identify_payload
from safe_sysid.identify.difference.centred_prior import centred_fit
from safe_sysid.identify.difference.rows import DifferenceRows
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.inertia import from_mass_com_inertia
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.excited_motion import fourier_motion, true_torque

ARM = RobotModel.named('two_link')
FAR = from_mass_com_inertia(
    np.array(1.5), np.array([0.45, 0.0, 0.0]), np.diag([0.003, 0.004, 0.005])
)
KINDS = ('position', 'velocity', 'effort')


def loaded(body):
    theta = ARM.theta.copy()
    theta[ARM.layout.end_effector] += body
    return ARM.with_parameters(theta)


def table(path, names, columns):
    np.savetxt(path, columns, '%.9g', ',', header=','.join(names), comments='')
    return path


def moving(path, model, rng, seconds):
    """Torques of a motion that are wrong by up to 2.5 %."""
    motion = fourier_motion(rng, 2, seconds=seconds, period=0.004, base=0.4)
    torque = true_torque(model, motion)
    measured = torque / (1.0 + 0.025 * rng.uniform(-1.0, 1.0, torque.shape))
    names = ['time', *(f'joint_{i}.{kind}' for kind in KINDS for i in (1, 2))]
    return table(path, names, np.column_stack([motion.t, motion.q, motion.qd, measured]))


def resting(path, model, rng, poses):
    q = rng.uniform(-2.5, 2.5, (poses, 2))
    still = np.zeros_like(q)
    tau = standard_regressor(model, q, still, still) @ model.theta
    tau += rng.uniform(-0.3, 0.3, tau.shape)
    names = [f'joint_{i}.{kind}' for kind in ('position', 'effort') for i in (1, 2)]
    return table(path, names, np.column_stack([q, tau]))


@pytest.mark.parametrize('record', [moving, resting])
def test_a_moment_that_nothing_shows_is_not_said_to_be_small(record, tmp_path, rng):
    """Izz of a body 45 cm away is 0.309 kg m^2; it was 0 +- 0.196, beside 0.25 guaranteed."""
    held = record(tmp_path / 'held.csv', loaded(FAR), rng, 40 if record is resting else 6.0)
    empty = record(tmp_path / 'empty.csv', ARM, rng, 60 if record is resting else 20.0)
    settings = RecordingSettings(poses=record is resting)
    found = identify_payload(held, 'two_link', settings, empty=empty)
    assert found.statistical is not None
    for given in (x for x in (found.statistical, found.guaranteed) if x is not None):
        assert np.all((given.lower <= FAR) & (given.upper >= FAR))
    assert found.recorded.found.nominal[9] == pytest.approx(FAR[9], rel=0.1)
    assert any('about its centre of mass are 0 to 0.1 kg m²' in x for x in found.assumptions)


def gravity_rows(rng, body, noise, far):
    """Rows of an arm whose every joint sees the weight alone, empty and loaded."""
    N = 400
    Y_L = np.zeros((N, 2, 10))
    Y_L[:, :, :4] = rng.normal(size=(N, 2, 4))
    Y_L[:, :, 4:] = far * rng.normal(size=(N, 2, 6))
    Y = rng.normal(size=(N, 2, 3))
    held = np.arange(N) >= N // 2
    tau = Y @ np.array([1.0, -2.0, 0.5]) + (Y_L @ body) * held[:, None]
    tau += noise * rng.normal(size=tau.shape)
    zeros = np.zeros(N, dtype=np.int64)
    counts = np.ones((N, 2), dtype=bool)
    return DifferenceRows(Y, Y_L, tau, counts, held, zeros, zeros, 0.1 * np.arange(N), 10.0)


@pytest.mark.parametrize('far', slow_after(2, [0.01, 0.3, 0.0]))
def test_the_pull_of_the_prior_is_within_its_own_deviation(far, rng):
    """Whatever inertias show: not at all, a little, or well."""
    missed = 0
    for _ in range(60):
        body = from_mass_com_inertia(
            np.array(rng.uniform(1.0, 6.0)), rng.uniform(-0.4, 0.4, 3), np.diag([0.03, 0.04, 0.05])
        )
        fit, prior = centred_fit(gravity_rows(rng, body, 0.1, far), (10.0, 1.0), 0.1, 0.0)
        deviation = np.sqrt(np.diag(fit.covariance)[-10:] + fit.shrinkage(prior) ** 2)
        missed += int((np.abs(fit.phi - body) > 3.5 * deviation).any())
    assert missed <= 1


def test_where_nothing_is_held_inertias_are_0(rng):
    fit, prior = centred_fit(gravity_rows(rng, np.zeros(10), 0.1, 0.0), (10.0, 1.0), 0.1, 0.0)
    assert fit.phi[4:] == pytest.approx(0.0, abs=1e-9)
    assert prior[4:] == pytest.approx(0.1)


def test_an_unknown_inertia_stays_unknown(rng):
    prior = centred_fit(gravity_rows(rng, FAR, 0.1, 0.3), (10.0, 1.0), np.inf, 0.0)[1]
    assert np.isinf(prior[4:]).all()
