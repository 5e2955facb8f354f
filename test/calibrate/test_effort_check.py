"""Torques of the right sign go through, whatever the masses are; wrong signs and orders don't."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.bench.experiments.calibration import altered, motion_in_limits, simulated_log
from safe_sysid.calibrate import effort_check as effort_check_file
from safe_sysid.calibrate.calibration import calibrate
from safe_sysid.calibrate.effort_check import EffortError, effort_check
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.settings import CalibrationSettings
from safe_sysid.calibrate.torque_rows import torque_rows
from safe_sysid.model.robot_model import RobotModel

ARMS = ('two_link', 'lbr_med7', 'kinova_gen3')
CUTOFF = 10.0


@cache
def rows_of(robot, seed, keep_friction=1.0):
    """Rows of an arm that is not as described: bodies, friction and offsets."""
    rng = np.random.default_rng(seed)
    model = RobotModel.named(robot)
    truth = altered(model, rng)
    theta = truth.theta.copy()
    theta[10 * model.n :] *= keep_friction
    motion = motion_in_limits(model, rng, 20.0, 200.0)
    log = simulated_log(truth.with_parameters(theta), motion, rng)
    columns = FitColumns(model.layout, 0.003)
    return model, columns, torque_rows(model, columns, log, CUTOFF)


def checked(model, columns, rows, gains):
    return effort_check(model, columns, [replace(rows, tau=rows.tau * np.asarray(gains))])


def refused(model, columns, rows, gains):
    with pytest.raises(EffortError) as error:
        checked(model, columns, rows, gains)
    return str(error.value)


@pytest.mark.parametrize('robot', ARMS)
@pytest.mark.parametrize('seed', slow_after(1, range(2)))
def test_a_wrong_sign_of_any_one_joint_or_of_all_is_refused_and_named(robot, seed):
    """Also of joints about a vertical axis, on which no weight acts: friction tells."""
    model, columns, rows = rows_of(robot, seed)
    names = model.layout.joint_names
    assert (checked(model, columns, rows, 1.0).sign == 1.0).all()
    told = refused(model, columns, rows, -1.0)
    signs = model.sensors.effort_sign
    assert f'--torque-sign={-int(signs[0])}, ' in told
    assert f'effort_sign: {-int(signs[0])} for all joints' in told
    for joint, name in enumerate(names):
        gains = np.ones(model.n)
        gains[joint] = -1.0
        told = refused(model, columns, rows, gains)
        assert f'axes, {name} (friction -0.' in told or f'axes, {name} (friction -1.' in told
        assert [other for other in names if f'{other} (' in told] == [name]
        wanted = ','.join(str(int(x)) for x in signs * gains)
        assert f'--torque-sign={wanted}, or effort_sign: {-int(signs[joint])} for {name}' in told


@pytest.mark.parametrize('robot', ARMS)
@pytest.mark.parametrize('seed', range(2))
def test_without_friction_the_right_sign_goes_through_and_weight_tells_the_wrong_one(robot, seed):
    model, columns, rows = rows_of(robot, seed, keep_friction=0.0)
    check = checked(model, columns, rows, 1.0)
    assert np.abs(check.friction).max() < 0.2
    assert (check.sign >= 0.0).all()
    if not (check.sign > 0.0).any():
        assert robot == 'two_link'  # light enough for noise and inertia to hide its weight
        return
    told = refused(model, columns, rows, -1.0)
    assert '-0.8 or less is refused where friction does not tell' in told
    assert f'effort_sign: {-int(model.sensors.effort_sign[0])} for all joints' in told


@pytest.mark.parametrize('robot', ARMS)
def test_masses_far_from_the_truth_do_not_refuse_the_right_sign(robot):
    """Bodies five times as heavy as described, with their centres turned about."""
    for seed in range(2):
        model, columns, rows = rows_of(robot, seed)
        rng = np.random.default_rng(seed)
        theta = model.theta.copy()
        for i in range(model.n):
            theta[model.layout.inertial(i)] *= rng.uniform(0.2, 5.0)
        check = checked(model.with_parameters(theta), columns, rows, 1.0)
        assert (check.sign == 1.0).all()


@pytest.mark.parametrize('robot', ['lbr_med7', 'kinova_gen3'])
def test_a_rotor_that_is_most_of_the_torque_is_no_reason_to_doubt_the_order(robot, rng):
    """As behind a high gear; effort errs by 2 % of all that, and no figure of it is right."""
    model, columns, rows = rows_of(robot, 0)
    rotors = rows.Y[:, :, model.layout.joint_entries('Ia')]
    tau = rows.tau + rotors @ rng.uniform(5.0, 15.0, model.n)
    tau = tau * (1.0 + 0.02 * rng.uniform(-1.0, 1.0, tau.shape))
    check = effort_check(model, columns, [replace(rows, tau=tau)])
    assert check.cautions() == ()
    assert (check.sign == 1.0).all()


def test_another_scale_is_a_caution_with_its_cure():
    model, columns, rows = rows_of('lbr_med7', 0)
    assert checked(model, columns, rows, 1.0).cautions() == ()
    (said,) = checked(model, columns, rows, 0.04).cautions()
    assert 'A2 (friction' in said and 'A4 (friction' in said
    assert 'divide effort_scale of these joints' in said and 'effort.kind' in said


def test_joints_in_another_order_are_named():
    for robot, seed in (('two_link', 1), ('lbr_med7', 0), ('kinova_gen3', 4)):
        model, columns, rows = rows_of(robot, seed)
        names = model.layout.joint_names
        one, other = (0, 1) if model.n == 2 else (1, 3)
        order = np.arange(model.n)
        order[[one, other]] = other, one
        exchanged = replace(rows, tau=rows.tau[:, order])
        with pytest.raises(EffortError, match='joints in another order') as error:
            effort_check(model, columns, [exchanged])
        assert f'torque of {names[one]} has correlation' in str(error.value)
        assert f'torque of {names[other]} ' in str(error.value)


def test_gravity_that_points_the_wrong_way_is_not_taken_for_a_wrong_sign():
    model, columns, rows = rows_of('kinova_gen3', 0)
    hanging = replace(model, tree=model.tree._replace(gravity=-model.tree.gravity))
    rng = np.random.default_rng(0)
    truth = altered(hanging, rng)
    log = simulated_log(truth, motion_in_limits(model, rng, 20.0, 200.0), rng)
    rows = torque_rows(model, columns, log, CUTOFF)
    told = refused(model, columns, rows, 1.0)
    assert told.startswith('weight pulls the other way than friction')
    assert 'gravity in the settings points the wrong way' in told
    assert 'effort_sign' not in told


def test_calibrate_refuses_before_it_fits_and_cautions_about_what_it_can_not_explain(rng):
    """A payload picked up half-way: what is held out is not the arm that was fitted."""
    model = RobotModel.named('two_link')
    truth = altered(model, rng)
    motion = motion_in_limits(model, rng, 20.0, 200.0)
    log = simulated_log(truth, motion, rng)
    settings = CalibrationSettings()
    with pytest.raises(EffortError, match='joint_1'):
        calibrate(model, [EvenLog(log.rate, log.q, -log.tau)], [], settings)
    assert calibrate(model, [log], [], settings).cautions() == ()
    theta = truth.theta.copy()
    theta[truth.layout.end_effector] *= 1.5
    heavier = simulated_log(truth.with_parameters(theta), motion, rng)
    (said,) = calibrate(model, [log], [heavier], settings).cautions()
    assert 'off by more than 4 times what the fit explains' in said
    assert 'joint_1' in said and 'N m' in said


def test_columns_that_depend_on_each_other_have_a_basis_whatever_numpy_svd_does(rng, monkeypatch):
    """Divide and conquer has ended without a result on columns of a real recording."""

    def without_result(*_, **__):
        raise np.linalg.LinAlgError('SVD did not converge')

    few = rng.normal(size=(50, 3))
    columns = few @ rng.normal(size=(3, 8))
    monkeypatch.setattr(np.linalg, 'svd', without_result)
    basis = effort_check_file._basis(columns)
    assert basis.shape == (50, 3)
    np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(basis @ (basis.T @ few), few, atol=1e-10)
