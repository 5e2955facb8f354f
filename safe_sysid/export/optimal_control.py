"""An arm for optimal control elsewhere: CasADi files, C code with CMake, a model for acados."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from safe_sysid.config import yaml_text
from safe_sysid.errors import ConfigError
from safe_sysid.model.symbolic.c_code import casadi_text, write_c
from safe_sysid.model.symbolic.casadi_model import CasadiModel, title_of
from safe_sysid.output_file import filled_folder, write_text
from safe_sysid.sets.interval import Interval

Function = Any  # casadi.Function, which has no types

CMAKE = """\
# The model of {name} as a C library. Every function has the arguments of CasADi's C code
# (arg, res, iw, w, mem), matrices are dense, column by column; {name}.h has sizes of iw and w.
cmake_minimum_required(VERSION 3.10)
project({name}_model C)
add_library({name}_model {name}.c)
set_target_properties({name}_model PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories({name}_model PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
target_link_libraries({name}_model PUBLIC m)
"""
ACADOS = '''\
"""Model of {name} for acados: x = (q, qd), u = tau, p = theta; SI units."""

from pathlib import Path

from acados_template import AcadosModel
import casadi
import numpy as np

FRICTION_WIDTH = 0.01  # [rad/s] in which the sign of Coulomb friction changes
{arrays}

def model() -> AcadosModel:
    """Return the model; parameter values are THETA until another estimate is known."""
    folder = Path(__file__).parent
    forward = casadi.Function.load(str(folder / 'smooth_forward_dynamics.casadi'))
    inverse = casadi.Function.load(str(folder / 'smooth_inverse_dynamics.casadi'))
    q, qd, qdd, tau = (casadi.SX.sym(name, {joints}) for name in ('q', 'qd', 'qdd', 'tau'))
    q_rate, theta = casadi.SX.sym('q_rate', {joints}), casadi.SX.sym('theta', len(THETA))
    built = AcadosModel()
    built.name = '{name}'
    built.x, built.xdot, built.u = casadi.vertcat(q, qd), casadi.vertcat(q_rate, qdd), tau
    built.p = theta
    built.f_expl_expr = casadi.vertcat(qd, forward(q, qd, tau, theta, FRICTION_WIDTH))
    torque = inverse(q, qd, qdd, theta, FRICTION_WIDTH)
    built.f_impl_expr = casadi.vertcat(q_rate - qd, torque - tau)
    return built
'''


def write_model(
    form: str, folder: Path, model: CasadiModel, links: Sequence[str], bounds: Interval | None
) -> list[Path]:
    """Write an arm in one format, with theta and, where they are given, its bounds as data."""
    if form not in WRITERS:
        raise ConfigError(f"no format '{form}' of a model, there are {list(WRITERS)}")
    data = folder / 'theta.yaml'
    with filled_folder(folder):
        write_text(data, _theta_yaml(model, bounds))
        return [*WRITERS[form](folder, model, links, bounds), data]


def _functions(model: CasadiModel, links: Sequence[str]) -> list[Function]:
    of_links = [
        function
        for link in links
        for function in (model.forward_kinematics(link), model.jacobian(link))
    ]
    return [*model.functions(), *of_links]


def _write_casadi(
    folder: Path, model: CasadiModel, links: Sequence[str], _: Interval | None
) -> list[Path]:
    return _saved(folder, _functions(model, links))


def _saved(folder: Path, functions: Iterable[Function]) -> list[Path]:
    paths = []
    for function in functions:
        paths.append(folder / f'{function.name()}.casadi')
        write_text(paths[-1], casadi_text(function))
    return paths


def _write_c(
    folder: Path, model: CasadiModel, links: Sequence[str], bounds: Interval | None
) -> list[Path]:
    name = title_of(model.arm.name)
    paths = [folder / 'CMakeLists.txt', folder / f'{name}_theta.h']
    write_text(paths[0], CMAKE.format(name=name))
    write_text(paths[1], _theta_header(name, model, bounds))
    return [*write_c(_functions(model, links), folder, name), *paths]


def _write_acados(
    folder: Path, model: CasadiModel, _: Sequence[str], bounds: Interval | None
) -> list[Path]:
    name = title_of(model.arm.name)
    arrays = ''.join(
        f'{title} = np.array({values.tolist()})\n' for title, values in _arrays(model, bounds)
    )
    path = folder / f'{name}_acados.py'
    write_text(path, ACADOS.format(name=name, joints=model.n, arrays=arrays))
    needed = [model.smooth_forward_dynamics, model.smooth_inverse_dynamics]
    return [path, *_saved(folder, needed)]


WRITERS: dict[str, Callable[..., list[Path]]] = {
    'casadi': _write_casadi,
    'c': _write_c,
    'acados': _write_acados,
}


def _arrays(model: CasadiModel, bounds: Interval | None) -> list[tuple[str, Any]]:
    nominal = [('THETA', model.theta)]
    if bounds is None:
        return nominal
    return [*nominal, ('THETA_LOWER', bounds.lower), ('THETA_UPPER', bounds.upper)]


def _theta_yaml(model: CasadiModel, bounds: Interval | None) -> str:
    entries = {}
    for i, (label, unit) in enumerate(zip(model.labels, model.arm.layout.units, strict=True)):
        entry: dict[str, object] = {'unit': unit, 'nominal': float(model.theta[i])}
        if bounds is not None:
            entry |= {'lower': float(bounds.lower[i]), 'upper': float(bounds.upper[i])}
        entries[label] = entry
    joints = list(model.arm.layout.joint_names)
    return yaml_text({'arm': model.arm.name, 'joints': joints, 'theta': entries})


def _theta_header(name: str, model: CasadiModel, bounds: Interval | None) -> str:
    guard = f'{name.upper()}_THETA_H'
    lines = [
        f'/* theta of {name}, entries as in theta.yaml, SI units */',
        f'#ifndef {guard}',
        f'#define {guard}',
        f'#define {name.upper()}_JOINTS {model.n}',
    ]
    for title, values in _arrays(model, bounds):
        numbers = ', '.join(repr(float(value)) for value in values)
        lines.append(f'static const double {name}_{title.lower()}[{len(values)}] = {{{numbers}}};')
    return '\n'.join([*lines, '#endif', ''])
