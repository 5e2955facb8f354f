"""A known mass gives every drive its unit and its sign."""

import numpy as np
import pytest

from safe_sysid.bench.experiments.calibration import altered, motion_in_limits, simulated_log
from safe_sysid.calibrate.drive_gain import drive_gains
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.excitation_quality import arm_base_parameters
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.torque_rows import torque_rows
from safe_sysid.errors import MeasurementError
from safe_sysid.model import inertia
from safe_sysid.model.robot_model import RobotModel

LOAD = inertia.from_mass_com_inertia(np.array(3.0), np.array([0.02, 0.01, 0.1]), 0.01 * np.eye(3))


def recorded(model, rng, gain):
    log = simulated_log(model, motion_in_limits(model, rng, 20.0, 200.0), rng)
    return EvenLog(log.rate, log.q, log.tau / gain)


def test_gains_and_signs_are_found_within_their_deviations():
    model = RobotModel.named('lbr_med7')
    columns, scores = FitColumns(model.layout, 0.003), []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        truth = altered(model, rng)
        theta = truth.theta.copy()
        theta[model.layout.end_effector] += LOAD
        gain = rng.choice([-1, 1], 7) * rng.uniform(2.0, 50.0, 7)
        logs = [recorded(x, rng, gain) for x in (truth, truth.with_parameters(theta))]
        rows = [torque_rows(model, columns, log, 10.0) for log in logs]
        known = np.zeros(columns.size)
        known[model.layout.end_effector] = LOAD
        found = drive_gains(arm_base_parameters(model, columns, rng), *rows, known)
        assert found.gain == pytest.approx(gain, rel=0.01)
        assert np.array_equal(found.sign, np.sign(gain))
        assert not found.undecided.any()
        scores.append((found.gain - gain) / found.deviation)
    assert 0.5 < np.sqrt(np.mean(np.square(scores))) < 1.6


def test_a_body_without_weight_is_refused(rng):
    model = RobotModel.named('two_link')
    columns = FitColumns(model.layout, 0.003)
    rows = torque_rows(model, columns, recorded(model, rng, np.ones(2)), 10.0)
    base = arm_base_parameters(model, columns, rng)
    with pytest.raises(MeasurementError, match='it weighs nothing'):
        drive_gains(base, rows, rows, np.zeros(columns.size))
