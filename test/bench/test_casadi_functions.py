"""Figures of CasADi functions: every function has one, as CasADi and as C."""

import shutil

import pytest

from safe_sysid.bench.casadi_functions import casadi_figures
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.symbolic.casadi_model import CasadiModel


@pytest.mark.slow
@pytest.mark.skipif(shutil.which('gcc') is None, reason='no C compiler')
def test_every_function_is_timed_as_casadi_and_as_c(rng):
    arm = RobotModel.named('two_link')
    figures = casadi_figures(arm, rng, lambda _: None)
    names = {function.name() for function in CasadiModel(arm).functions()}
    assert names == figures['casadi_us'].keys() == figures['c_us'].keys()
    assert names == figures['casadi_operations'].keys()
    assert figures['pinocchio_us'].keys() == figures['casadi_to_pinocchio'].keys()
    assert figures['pinocchio_us'].keys() < names
    assert figures['casadi_build_s'] > 0.0


@pytest.mark.parametrize(
    ('name', 'most'),
    [('inverse_dynamics', 950), ('mass_matrix', 650), ('forward_dynamics', 1500)],
)
def test_a_seven_joint_arm_takes_few_operations(name, most):
    function = getattr(CasadiModel(RobotModel.named('kinova_gen3')), name)
    assert function.n_instructions() < most
