"""Calibrations predict as well as the truth does, and say when a recording teaches too little."""

from dataclasses import replace

import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.bench.experiments.calibration import (
    altered,
    motion_in_limits,
    simulated_log,
    trial,
)
from safe_sysid.calibrate.calibration import calibrate
from safe_sysid.calibrate.consistency import ellipsoids_of
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.settings import CalibrationSettings
from safe_sysid.calibrate.torque_rows import torque_rows
from safe_sysid.calibrate.validation import torque_error
from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.model.inertia import pseudo_inertia
from safe_sysid.model.robot_model import RobotModel

SETTINGS = CalibrationSettings()
MODEL = RobotModel.named('two_link')


@pytest.mark.parametrize('robot', slow_after(1, ['lbr_med7', 'kinova_gen3']))
def test_held_out_torque_is_predicted_nearly_as_by_the_truth(robot):
    rng = np.random.default_rng(3)
    one = trial(RobotModel.named(robot), rng, 20.0, 500.0, SETTINGS)
    found = one.calibration
    assert one.ratio_to_truth < 1.05
    assert found.refused is None
    assert found.validation_base.relative / found.validation.relative == pytest.approx(
        1.0, abs=0.05
    )
    assert found.validation_nominal.relative > 10.0 * found.validation.relative
    assert np.mean(np.abs(one.standard_scores) < 2.0) > 0.85
    assert found.theta.shape == (98,)


def test_joints_in_phase_are_refused_although_they_are_fitted_well():
    rng = np.random.default_rng(0)
    truth = altered(MODEL, rng)
    motion = motion_in_limits(truth, rng, 20.0, 200.0)
    one = {name: getattr(motion, name)[:, :1] @ np.ones((1, 2)) for name in ('q', 'qd', 'qdd')}
    log = simulated_log(truth, motion._replace(**one), rng)
    found = calibrate(MODEL, [log], [], SETTINGS)
    assert 'all joints in phase' in str(found.refused)
    assert 'identify LOADED --empty' in str(found.refused)
    assert found.training.relative < 0.05


def test_a_motion_that_is_too_small_for_its_noise_is_refused():
    rng = np.random.default_rng(0)
    truth = altered(MODEL, rng)
    motion = motion_in_limits(truth, rng, 8.0, 200.0)
    log = simulated_log(truth, motion, rng)
    noisy = EvenLog(log.rate, log.q, log.tau + 60.0 * rng.normal(size=log.tau.shape))
    found = calibrate(MODEL, [noisy], [], SETTINGS)
    assert 'torques of other motions in the same range are uncertain by' in str(found.refused)
    assert 'most at joint_' in str(found.refused)


def test_what_is_held_out_is_not_fitted():
    rng = np.random.default_rng(0)
    log = simulated_log(altered(MODEL, rng), motion_in_limits(MODEL, rng, 20.0, 200.0), rng)
    spoiled = EvenLog(log.rate, log.q, log.tau.copy())
    spoiled.tau[-1500:] += 30.0
    settings = replace(SETTINGS, held_out=0.4)
    clean, other = (calibrate(MODEL, [x], [], settings) for x in (log, spoiled))
    assert clean.x == pytest.approx(other.x)
    assert other.validation.relative > 5.0 * clean.validation.relative
    judged = calibrate(MODEL, [log.part(0.0, 0.6)], [log.part(0.6, 1.0)], settings)
    assert judged.validation.relative == pytest.approx(clean.validation.relative)


def test_stribeck_velocity_is_found_where_there_is_one():
    rng = np.random.default_rng(1)
    truth = altered(MODEL, rng)
    motion = motion_in_limits(truth, rng, 30.0, 200.0)
    log = simulated_log(truth, motion, rng)
    columns = FitColumns(MODEL.layout, 1e-6, stribeck_velocity=0.2)
    x = np.zeros(columns.size)
    x[28:] = 1.5
    extra = columns.regressor(MODEL, motion.q, motion.qd, motion.qdd) @ x
    stuck = EvenLog(log.rate, log.q, log.tau + extra)
    settings = replace(SETTINGS, stribeck_velocities=(0.05, 0.2, 0.8))
    found = calibrate(MODEL, [stuck], [], settings)
    assert found.columns.stribeck_velocity == 0.2
    assert found.x[28:] == pytest.approx([1.5, 1.5], rel=0.1)
    plain = calibrate(MODEL, [stuck], [], SETTINGS)
    assert plain.columns.stribeck_velocity is None
    assert found.validation.relative < 0.7 * plain.validation.relative


def test_bounds_of_masses_and_a_period_are_kept():
    rng = np.random.default_rng(2)
    log = simulated_log(altered(MODEL, rng), motion_in_limits(MODEL, rng, 20.0, 200.0), rng)
    free = calibrate(MODEL, [log], [], replace(SETTINGS, period=10.0, harmonics=5))
    assert free.validation.relative == pytest.approx(
        calibrate(MODEL, [log], [], SETTINGS).validation.relative, rel=0.2
    )
    masses = [free.x[MODEL.layout.inertial(i).start] for i in range(2)]
    bounds = replace(SETTINGS, largest_mass=0.8 * max(masses), capsule_margin=0.02)
    bound = calibrate(MODEL, [log], [], bounds)
    for i in range(2):
        assert bound.x[MODEL.layout.inertial(i).start] <= 0.8 * max(masses) + 1e-6
        J = pseudo_inertia(bound.x[MODEL.layout.inertial(i)])
        assert np.trace(J @ ellipsoids_of(MODEL, 0.02)[i]) >= -1e-6
    with pytest.raises(ConfigError, match='largest_mass is -1'):
        CalibrationSettings(largest_mass=-1.0)


def test_ellipsoids_hold_the_capsules_and_their_margin(rng):
    capsules, margin = MODEL.capsules, 0.02
    for k in np.flatnonzero(capsules.joint >= 0):
        Q = ellipsoids_of(MODEL, margin)[capsules.joint[k]]
        for _ in range(200):
            d = rng.normal(size=3)
            along = rng.uniform()
            axis = along * capsules.a[k] + (1.0 - along) * capsules.b[k]
            point = np.array(
                [*(axis + (capsules.radius[k] + margin) * d / np.linalg.norm(d)), 1.0]
            )
            assert point @ Q @ point > 0.0


def test_errors_are_given_against_filtered_and_recorded_torque(rng):
    truth = altered(MODEL, rng)
    log = simulated_log(truth, motion_in_limits(MODEL, rng, 10.0, 200.0), rng)
    columns = FitColumns(MODEL.layout, 0.003)
    rows = torque_rows(MODEL, columns, log, 5.0)
    error = torque_error(rows, columns.nominal(truth.theta))
    off = rows.recorded - rows.Y @ truth.theta
    assert error.rms_recorded == pytest.approx(np.sqrt(np.mean(off**2, axis=0)))
    assert error.relative_recorded == pytest.approx(
        np.linalg.norm(off) / np.linalg.norm(rows.recorded)
    )
    assert error.relative < error.relative_recorded


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(ConfigError, match='cutoff is 0'):
        CalibrationSettings(cutoff=0.0)
    with pytest.raises(ConfigError, match='held_out is 1.0'):
        CalibrationSettings(held_out=1.0)
    rng = np.random.default_rng(0)
    log = simulated_log(MODEL, motion_in_limits(MODEL, rng, 5.0, 200.0), rng)
    with pytest.raises(MeasurementError, match='nothing is held out'):
        calibrate(MODEL, [log], [], CalibrationSettings(held_out=0.0))
    with pytest.raises(ConfigError, match=r"coupling \['joint_1', 'elbow'\]: no joint 'elbow'"):
        calibrate(MODEL, [log], [], CalibrationSettings(couplings=(('joint_1', 'elbow'),)))
