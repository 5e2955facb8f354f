"""An arm written for CasADi, C and acados says what Pinocchio says; theta is data beside it."""

import importlib.util
import shutil
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import casadi
import numpy as np
import pytest
import yaml

import safe_sysid as ss
from safe_sysid.cli.main import main
from safe_sysid.model.dynamics.inverse_dynamics import inverse_dynamics

CALLER = r"""
#include <stdio.h>
#include "two_link.h"
#include "two_link_theta.h"
int main(void) {
  const double q[2] = {0.3, -0.7}, qd[2] = {0.5, 1.2}, qdd[2] = {-2.0, 0.4};
  double tau[2];
  const double* arg[two_link_inverse_dynamics_SZ_ARG] = {q, qd, qdd, two_link_theta};
  double* res[two_link_inverse_dynamics_SZ_RES] = {tau};
  casadi_int iw[two_link_inverse_dynamics_SZ_IW + 1];
  double w[two_link_inverse_dynamics_SZ_W + 1];
  if (two_link_inverse_dynamics(arg, res, iw, w, 0)) return 1;
  printf("%d %.17g %.17g %.17g\n", TWO_LINK_JOINTS, tau[0], tau[1], two_link_theta_upper[0]);
  return 0;
}
"""
STATE = ([0.3, -0.7], [0.5, 1.2], [-2.0, 0.4])


def torque(theta):
    arm = ss.load_arm('two_link').model.with_parameters(theta)
    return inverse_dynamics(arm, *(np.array([x]) for x in STATE))[0]


def written_theta(folder, column='nominal'):
    values = yaml.safe_load((folder / 'theta.yaml').read_text())['theta'].values()
    return np.array([value[column] for value in values])


@pytest.mark.skipif(not (shutil.which('gcc') and shutil.which('cmake')), reason='no C compiler')
def test_c_code_is_built_by_its_cmake_file_and_called(tmp_path):
    arguments = ['export-model', 'two_link', '--format', 'c', '--with-bounds']
    assert main([*arguments, '--out', str(tmp_path)]) == 0
    (tmp_path / 'caller.c').write_text(CALLER)
    lists = tmp_path / 'CMakeLists.txt'
    lists.write_text(
        lists.read_text()
        + 'add_executable(caller caller.c)\ntarget_link_libraries(caller two_link_model)\n'
    )
    build = tmp_path / 'build'
    for command in (['cmake', '-S', tmp_path, '-B', build], ['cmake', '--build', build]):
        subprocess.run(command, check=True, capture_output=True)
    said = subprocess.run([build / 'caller'], check=True, capture_output=True, text=True).stdout
    joints, *numbers = said.split()
    assert joints == '2'
    np.testing.assert_allclose(
        np.array(numbers[:2], dtype=float), torque(written_theta(tmp_path)), rtol=1e-12
    )
    assert float(numbers[2]) == written_theta(tmp_path, 'upper')[0]


def test_casadi_files_are_functions_and_theta_is_named(tmp_path):
    paths = ss.export_model('two_link', tmp_path)
    inverse = casadi.Function.load(str(tmp_path / 'inverse_dynamics.casadi'))
    theta = written_theta(tmp_path)
    near = {'rtol': 1e-12, 'atol': 1e-12}
    np.testing.assert_allclose(inverse(*STATE, theta).full()[:, 0], torque(theta), **near)
    data = yaml.safe_load((tmp_path / 'theta.yaml').read_text())
    assert tuple(data['theta']) == ss.load_arm('two_link').model.layout.labels
    assert 'lower' not in next(iter(data['theta'].values()))
    names = {path.stem for path in paths}
    assert {'forward_dynamics', 'momentum_regressors'} <= names
    assert any(name.startswith('forward_kinematics_') for name in names)


def test_bounds_of_an_estimate_contain_the_nominal_theta_that_is_written(tmp_path):
    main(['export-model', 'two_link', '--with-bounds', '--out', str(tmp_path)])
    lower, theta, upper = (written_theta(tmp_path, name) for name in ('lower', 'nominal', 'upper'))
    assert np.all((lower <= theta) & (theta <= upper))
    assert np.any(lower < upper)


def test_the_module_for_acados_has_explicit_and_implicit_dynamics(tmp_path, monkeypatch):
    main(['export-model', 'two_link', '--format', 'acados', '--out', str(tmp_path)])
    template = ModuleType('acados_template')  # acados itself is not needed to look at the model
    template.AcadosModel = SimpleNamespace
    monkeypatch.setitem(sys.modules, 'acados_template', template)
    spec = importlib.util.spec_from_file_location('model', tmp_path / 'two_link_acados.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = module.model()
    both = casadi.Function(
        'both', [model.x, model.xdot, model.u, model.p], [model.f_expl_expr, model.f_impl_expr]
    )
    q, qd, tau = [0.3, -0.7], [0.5, 1.2], [3.0, -1.0]
    rate = both([*q, *qd], np.zeros(4), tau, module.THETA)[0].full()[:, 0]
    np.testing.assert_array_equal(rate[:2], qd)
    left = both([*q, *qd], rate, tau, module.THETA)[1].full()
    np.testing.assert_allclose(left, 0.0, atol=1e-10)
    model = ss.casadi_model('two_link')
    qdd = model.smooth_forward_dynamics(q, qd, tau, model.theta, module.FRICTION_WIDTH)
    np.testing.assert_allclose(rate[2:], qdd.full()[:, 0], rtol=1e-12)


def test_another_format_is_refused(tmp_path):
    with pytest.raises(ss.SafeSysidError, match="no format 'matlab'"):
        ss.export_model('two_link', tmp_path, 'matlab')
