"""An arm written for CasADi, C and acados says what Pinocchio says; theta is data beside it."""

import importlib.util
import shutil
import subprocess
import sys
from types import ModuleType

import casadi
from export.acados_model import AcadosModel
import numpy as np
import pytest
import scipy.integrate
from tiers import slow_after
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


def written_for_acados(folder, robot='two_link'):
    """Module that was written; it imports acados_template."""
    assert main(['export-model', robot, '--format', 'acados', '--out', str(folder)]) == 0
    spec = importlib.util.spec_from_file_location('model', folder / f'{robot}_acados.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


STATE_AND_TORQUE = np.array([0.3, -0.7, 0.5, 1.2]), np.array([3.0, -1.0])


def rate_of(x, tau, theta, width):
    model = ss.casadi_model('two_link')
    qdd = model.smooth_forward_dynamics(x[:2], x[2:], tau, theta, width).full()[:, 0]
    return np.concatenate([x[2:], qdd])


@pytest.fixture
def as_acados(monkeypatch):
    template = ModuleType('acados_template')
    template.AcadosModel = AcadosModel
    monkeypatch.setitem(sys.modules, 'acados_template', template)


@pytest.mark.usefixtures('as_acados')
@pytest.mark.parametrize('robot', ['two_link', 'kinova_gen3'])
def test_the_module_for_acados_is_a_model_as_acados_wants_it(tmp_path, robot):
    module = written_for_acados(tmp_path, robot)
    explicit, implicit, _ = module.model().functions()
    x = np.linspace(-1.0, 1.0, explicit.size1_in(0))
    tau = np.linspace(3.0, -1.0, explicit.size1_in(1))
    rate = explicit(x, tau, module.THETA)
    residual, by_x, by_rate, by_tau = implicit(x, rate, tau, [], module.THETA)
    np.testing.assert_allclose(residual.full(), 0.0, atol=1e-9)
    assert np.linalg.matrix_rank(by_rate.full()) == len(x)
    np.testing.assert_allclose(
        np.linalg.solve(by_rate.full(), -np.hstack([by_x.full(), by_tau.full()])),
        np.hstack([by.full() for by in explicit.jacobian()(x, tau, module.THETA, 0)[:2]]),
        rtol=1e-8,
        atol=1e-8,
    )


@pytest.mark.usefixtures('as_acados')
def test_the_dynamics_for_acados_are_those_of_the_model(tmp_path):
    module, (x, tau) = written_for_acados(tmp_path), STATE_AND_TORQUE
    explicit, _, _ = module.model().functions()
    expected = rate_of(x, tau, module.THETA, module.FRICTION_WIDTH)
    np.testing.assert_allclose(explicit(x, tau, module.THETA).full()[:, 0], expected, rtol=1e-12)


@pytest.mark.nightly
@pytest.mark.parametrize('method', ['ERK', 'IRK'])
def test_acados_integrates_the_model(tmp_path, monkeypatch, method):
    acados = pytest.importorskip('acados_template')
    monkeypatch.chdir(tmp_path)
    module, (x, tau) = written_for_acados(tmp_path), STATE_AND_TORQUE
    simulation = acados.AcadosSim()
    simulation.model, simulation.parameter_values = module.model(), module.THETA
    options = simulation.solver_options
    options.T, options.integrator_type, options.num_stages, options.num_steps = 0.05, method, 4, 20
    solver = acados.AcadosSimSolver(simulation)
    for name, value in (('x', x), ('u', tau), ('p', module.THETA)):
        solver.set(name, value)
    assert solver.solve() == 0
    expected = scipy.integrate.solve_ivp(
        lambda _, at: rate_of(at, tau, module.THETA, module.FRICTION_WIDTH),
        (0.0, 0.05),
        x,
        rtol=1e-11,
        atol=1e-12,
    )
    np.testing.assert_allclose(solver.get('x'), expected.y[:, -1], rtol=0, atol=1e-8)


def test_another_format_is_refused(tmp_path):
    with pytest.raises(ss.SafeSysidError, match="no format 'matlab'"):
        ss.export_model('two_link', tmp_path, 'matlab')


@pytest.mark.skipif(not shutil.which('gcc'), reason='no C compiler')
@pytest.mark.parametrize(
    ('file', 'title'),
    slow_after(
        2,
        [
            ('2 my-arm', 'arm_2_my_arm'),
            ('jac', 'arm_jac'),
            ('6dof_arm', 'arm_6dof_arm'),
            ('a-b', 'a_b'),
        ],
    ),
)
def test_a_file_of_any_name_gives_code_that_compiles(tmp_path, file, title):
    urdf, out = tmp_path / f'{file}.urdf', tmp_path / 'out'
    urdf.write_bytes(ss.load_arm('two_link').urdf.read_bytes())
    for form in ('c', 'acados'):
        assert main(['export-model', str(urdf), '--format', form, '--out', str(out)]) == 0
    subprocess.run(['gcc', '-c', out / f'{title}.c', '-o', tmp_path / 'o'], check=True)
    assert f'{title}_inverse_dynamics(' in (out / f'{title}.h').read_text()
    assert f'{title}_theta[' in (out / f'{title}_theta.h').read_text()
    assert f"built.name = '{title}'" in (out / f'{title}_acados.py').read_text()
