"""A known push is found again, a true model does not drift, a wrong one does."""

import numpy as np
import pytest

from safe_sysid.bench.experiments.calibration import altered, motion_in_limits, simulated_log
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.external_torque import (
    drift,
    drift_of,
    external_torque,
    past_dead_zone,
    wrench,
)
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.settings import AdmittanceSettings
from safe_sysid.calibrate.torque_rows import MOTION, motion_of
from safe_sysid.errors import ConfigError
from safe_sysid.model.dynamics.forward_kinematics import tip_jacobian
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.excited_motion import SimulatedMotion

MED = RobotModel.named('lbr_med7')
COLUMNS = FitColumns(MED.layout, 0.003)


def test_dead_zone_is_continuous_and_odd():
    F = np.linspace(-3, 3, 601)
    beyond = past_dead_zone(F, np.array(1.0))
    assert np.abs(np.diff(beyond)).max() <= 0.01 + 1e-12
    assert beyond == pytest.approx(-beyond[::-1])
    assert beyond[[0, 300, -1]] == pytest.approx([-2.0, 0.0, 2.0])


def test_a_known_push_is_returned(rng):
    truth = altered(MED, rng)
    motion = motion_in_limits(MED, rng, 10.0, 200.0)
    log = simulated_log(truth, motion, rng)
    push = np.array([20.0, -10.0, 15.0, 1.0, -0.5, 0.8])
    pulse = slice(800, 1200)
    tau = log.tau.copy()
    for k in range(pulse.start, pulse.stop):
        tau[k] += tip_jacobian(MED, motion.q[k]).T @ push
    moved = motion_of(EvenLog(log.rate, log.q, tau), MOTION * 10.0)
    residual = external_torque(MED, COLUMNS, moved, COLUMNS.nominal(truth.theta), 10.0)
    quiet, pushed = np.r_[200:600], np.r_[900:1100]
    found = wrench(MED, moved.q[pushed], residual[pushed], 1e-3)
    rest = wrench(MED, moved.q[quiet], residual[quiet], 1e-3)
    deviation = np.sqrt(np.mean(rest**2, axis=0))
    assert (np.abs(found.mean(axis=0) - push) < 3.0 * deviation + 0.02 * np.abs(push)).all()


@pytest.mark.slow
def test_the_true_model_does_not_drift_in_a_slow_sweep_and_another_one_does(rng):
    truth = altered(MED, rng)
    fast = motion_in_limits(MED, rng, 10.0, 1000.0)
    slow = SimulatedMotion(5.0 * fast.t, fast.q, fast.qd / 5.0, fast.qdd / 25.0)
    log = simulated_log(truth, slow, rng)
    motion = motion_of(log, MOTION * 5.0)
    settings = AdmittanceSettings()
    good = drift_of(truth, motion, COLUMNS, COLUMNS.nominal(truth.theta), 5.0, settings)
    bad = drift_of(MED, motion, COLUMNS, COLUMNS.nominal(MED.theta), 5.0, settings)
    assert good.per_minute < 1e-3 < bad.per_minute
    assert bad.active > 0.5
    enough = AdmittanceSettings(dead_zone=tuple(bad.smallest_dead_zone + 1e-9))
    quiet = drift_of(MED, motion, COLUMNS, COLUMNS.nominal(MED.theta), 5.0, enough)
    assert (quiet.path, quiet.active) == (0.0, 0.0)


def test_drift_by_hand():
    F = np.zeros((100, 6))
    F[:50, 0] = 3.0
    found = drift(F, 100.0, AdmittanceSettings())
    assert found.displacement[0] == pytest.approx(0.5 * 0.01)
    assert found.path == pytest.approx(0.005)
    assert found.per_minute == pytest.approx(0.3)
    assert found.active == 0.5
    assert found.smallest_dead_zone[0] == 3.0
    with pytest.raises(ConfigError, match='a list of 6'):
        AdmittanceSettings(dead_zone=(1.0,))


def test_a_standing_arm_is_not_blamed_for_its_friction():
    theta = MED.theta.copy()
    theta[MED.layout.joint_entries('Fc')] = 1.0
    truth = MED.with_parameters(theta)
    x = COLUMNS.nominal(truth.theta)
    q = np.tile(0.3 * np.arange(7.0), (400, 1))
    still = motion_of(EvenLog(100.0, q, np.zeros_like(q)), 10.0)
    holding = COLUMNS.regressor(truth, q, 0 * q, 0 * q) @ x
    settings = AdmittanceSettings()
    stuck, pushed = (
        drift_of(truth, still.__class__(100.0, q, 0 * q, 0 * q, holding + extra), COLUMNS, x, 5.0,
                 settings)
        for extra in (0.9, 5.0)
    )  # fmt: skip
    assert stuck.path == 0.0
    assert pushed.path > 0.0
