"""Columns of a fit give the torque of Pinocchio, of a coupled motor and of Stribeck friction."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.errors import ConfigError
from safe_sysid.model.dynamics.inverse_dynamics import inverse_dynamics
from safe_sysid.model.robot_model import RobotModel

MODEL = RobotModel.named('two_link')


def test_columns_give_the_torque_of_independent_inverse_dynamics(rng):
    q, qd, qdd = rng.normal(size=(3, 40, 2))
    columns = FitColumns(MODEL.layout, 1e-9)
    Y = columns.regressor(MODEL, q, qd, qdd)
    assert columns.nominal(MODEL.theta) @ Y.reshape(-1, columns.size).T == pytest.approx(
        inverse_dynamics(MODEL, q, qd, qdd).ravel()
    )


def test_a_joint_that_slides_stands_at_a_third_of_the_figure():
    tree = MODEL.tree._replace(is_prismatic=np.array([False, True]))
    model, still = replace(MODEL, tree=tree), np.zeros((1, 2))
    Y = FitColumns(MODEL.layout, 0.003).regressor(model, still, np.array([[0.003, 0.001]]), still)
    coulomb = MODEL.layout.joint_entries('Fc')
    assert np.diag(Y[0, :, coulomb]) == pytest.approx(np.tanh([1.0, 1.0]))


def test_a_coupled_motor_loads_both_joints(rng):
    columns = FitColumns(MODEL.layout, 1e-6, couplings=((0, 1),))
    q, qd, qdd = rng.normal(size=(3, 1, 2))
    x = np.zeros(columns.size)
    x[28:] = [0.5, 0.2, 0.1]
    rate, acceleration = qd.sum(), qdd.sum()
    torque = 0.5 * np.sign(rate) + 0.2 * rate + 0.1 * acceleration
    assert (columns.regressor(MODEL, q, qd, qdd) @ x)[0] == pytest.approx([torque, torque])
    assert columns.labels[28:] == (
        'joint_2.coupled_Fc',
        'joint_2.coupled_Fv',
        'joint_2.coupled_Ia',
    )
    assert set(range(28, 31)) <= set(columns.nonnegative)


def test_stribeck_friction_fades_with_speed():
    columns = FitColumns(MODEL.layout, 1e-6, stribeck_velocity=0.1)
    qd = np.array([[0.05, -0.2]])
    Y = columns.regressor(MODEL, np.zeros((1, 2)), qd, np.zeros((1, 2)))
    assert np.diag(Y[0, :, 28:]) == pytest.approx([np.exp(-0.25), -np.exp(-4.0)])
    assert not set(range(28, 30)) & set(columns.nonnegative)


def test_only_friction_and_armature_are_never_negative():
    labels = {
        FitColumns(MODEL.layout, 0.1).labels[i] for i in FitColumns(MODEL.layout, 0.1).nonnegative
    }
    assert labels == {f'joint_{j}.{x}' for j in (1, 2) for x in ('Fc', 'Fv', 'Ia')}


def test_nonsense_is_refused():
    with pytest.raises(ConfigError, match='creep is 0'):
        FitColumns(MODEL.layout, 0.0)
    with pytest.raises(ConfigError, match='two joints of the arm needed'):
        FitColumns(MODEL.layout, 0.1, couplings=((1, 1),))
    with pytest.raises(ConfigError, match='Stribeck velocity is -1'):
        FitColumns(MODEL.layout, 0.1, stribeck_velocity=-1.0)
