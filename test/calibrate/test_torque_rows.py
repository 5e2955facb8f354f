"""Rows hold for the true parameters whatever the filter, and know the colour of their noise."""

import numpy as np
import pytest

from safe_sysid.bench.experiments.calibration import motion_in_limits
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.torque_rows import (
    joined,
    periodic_motion_of,
    torque_rows,
    whole_steps,
)
from safe_sysid.errors import MeasurementError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.excited_motion import true_torque

MODEL = RobotModel.named('two_link')
COLUMNS = FitColumns(MODEL.layout, 0.003)


def frictionless():
    theta = MODEL.theta.copy()
    theta[MODEL.layout.joint_entries('Fc')] = 0.0
    return MODEL.with_parameters(theta)


@pytest.mark.parametrize('rate', [100.0, 1000.0])
@pytest.mark.parametrize('cutoff', [2.0, 10.0])
def test_true_parameters_explain_filtered_torque(rng, rate, cutoff):
    truth = frictionless()
    motion = motion_in_limits(truth, rng, 10.0, rate)
    tau = true_torque(truth, motion)
    rows = torque_rows(truth, COLUMNS, EvenLog(rate, motion.q, tau), cutoff)
    off = rows.tau - rows.Y @ truth.theta
    assert np.abs(off).max() < 2e-3 * np.abs(tau).max()
    assert 2.0 * cutoff < rows.rate <= 10.0 * cutoff


def test_recorded_torque_stays_as_it_was(rng):
    motion = motion_in_limits(MODEL, rng, 10.0, 100.0)
    tau = true_torque(MODEL, motion) + rng.normal(size=motion.q.shape)
    rows = torque_rows(MODEL, COLUMNS, EvenLog(100.0, motion.q, tau), 5.0)
    assert all(np.any(np.all(tau == row, axis=1)) for row in rows.recorded)


def test_noise_is_as_correlated_as_predicted(rng):
    motion = motion_in_limits(MODEL, rng, 10.0, 500.0)
    log = EvenLog(500.0, motion.q, true_torque(MODEL, motion))
    rows = torque_rows(MODEL, COLUMNS, log, 10.0)
    predicted = rows.correlation(3)
    noises = [rows.noise(rng) for _ in range(60)]
    white = [EvenLog(500.0, motion.q, rng.normal(size=motion.q.shape)) for _ in range(60)]
    behind = [torque_rows(MODEL, COLUMNS, x, 10.0).tau for x in white]
    for e in (noises, behind):
        variance = np.mean([np.mean(x**2) for x in e])
        measured = [np.mean([np.mean(x[k:] * x[: len(x) - k]) for x in e]) for k in range(4)]
        assert np.array(measured) / variance == pytest.approx(predicted, abs=0.04)
    assert np.var(np.concatenate(noises)) == pytest.approx(1.0, rel=0.05)


def test_recordings_are_joined_and_short_ones_refused(rng):
    motion = motion_in_limits(MODEL, rng, 10.0, 100.0)
    log = EvenLog(100.0, motion.q, true_torque(MODEL, motion))
    rows = torque_rows(MODEL, COLUMNS, log, 5.0)
    assert len(joined([rows, rows])) == 2 * len(rows)
    with pytest.raises(MeasurementError, match='too short for a cut-off of 1'):
        torque_rows(MODEL, COLUMNS, log.part(0.0, 0.15), 1.0)


def test_recordings_at_different_rates_are_not_mixed(rng):
    rows = []
    for rate in (100.0, 120.0):
        motion = motion_in_limits(MODEL, rng, 10.0, rate)
        log = EvenLog(rate, motion.q, true_torque(MODEL, motion))
        rows.append(torque_rows(MODEL, COLUMNS, log, 5.0))
    with pytest.raises(MeasurementError, match='need the same sampling rate'):
        joined(rows)


def test_derivatives_of_a_periodic_motion_are_those_of_its_series(rng):
    motion = motion_in_limits(MODEL, rng, 20.0, 100.0)
    noisy = motion.q + 1e-4 * rng.normal(size=motion.q.shape)
    found = periodic_motion_of(EvenLog(100.0, noisy, noisy), 10.0, 5)
    assert found.qd == pytest.approx(motion.qd, abs=1e-4)
    assert found.qdd == pytest.approx(motion.qdd, abs=1e-3)


@pytest.mark.parametrize('rate', [999.995, 1000.0, 1000.005])
def test_clocks_that_differ_by_millionths_give_rows_at_one_rate(rate):
    assert whole_steps(rate, 200.0) == 5
    assert whole_steps(rate / 5.0, 25.0) == 8
