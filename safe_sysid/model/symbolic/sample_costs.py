"""A CasADi function of one sample of a motion, with derivatives by AD, as costs of many samples.

Arguments go by their names: q, qd, qdd, tau (of theta, with smooth friction), theta, t [s], and R
(3, 3) and p (3) of a link in the base frame. The first result is the cost; others, of any shape,
are limits: they have to be at most 0.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.symbolic.casadi_model import CasadiModel
from safe_sysid.model.symbolic.library import casadi as cs

Function = Any  # casadi.Function, which has no types

WIDTH = 0.05  # [rad/s] in which the sign of Coulomb friction changes, in tau


class CasadiSampleCosts:
    """Costs and excesses over limits of samples; can be sent to other processes."""

    def __init__(self, arm: RobotModel, function: Function, link: str = '') -> None:
        self._function = _with_slopes(arm, function, link)
        self.n = arm.n

    def evaluate(self, states: Array, theta: Array, times: Array) -> tuple[Array, Array]:
        """Return costs and excesses over limits (2, N), and slopes of both (2, 3, N, n)."""
        q, qd, qdd = (rows.T for rows in states)
        values, *slopes = self._function(q, qd, qdd, theta, np.asarray(times)[None])
        by_state = np.array([slope.full() for slope in slopes])  # (6, n, N)
        count = len(times)
        return values.full(), by_state.transpose(0, 2, 1).reshape(2, 3, count, self.n)


def read_function(path: Path) -> Function:
    """Read a `.casadi` file."""
    try:
        return cs.Function.load(str(path))
    except (RuntimeError, OSError) as error:
        raise ConfigError(f'{path} is not a file that casadi.Function.save has written') from error


def _with_slopes(arm: RobotModel, function: Function, link: str) -> Function:
    """Return (q, qd, qdd, theta, t) -> cost and excess, and their slopes in q, qd, qdd."""
    q, qd, qdd = (cs.MX.sym(name, arm.n) for name in ('q', 'qd', 'qdd'))
    theta, t = cs.MX.sym('theta', 14 * arm.n), cs.MX.sym('t')
    model = CasadiModel(arm)
    known = {'q': q, 'qd': qd, 'qdd': qdd, 'theta': theta, 't': t}
    names = function.name_in()
    if 'tau' in names:
        known['tau'] = model.smooth_inverse_dynamics(q, qd, qdd, theta, WIDTH)
    if {'R', 'p'} & set(names):
        known['R'], known['p'] = model.forward_kinematics(link)(q)
    for i, name in enumerate(names):
        if name not in known:
            raise ConfigError(
                f"argument '{name}' of {function.name()} is not known; there are q, qd, qdd, tau, "
                'theta, t, and R and p of a link'
            )
        if known[name].shape != function.size_in(i):
            raise ConfigError(
                f"argument '{name}' of {function.name()} has shape {function.size_in(i)}, "
                f'it is {known[name].shape} for {arm.name}'
            )
    cost, *limits = function.call([known[name] for name in names])
    if cost.shape != (1, 1):
        raise ConfigError(f'the first result of {function.name()} is {cost.shape}, not a number')
    beyond = [cs.fmax(cs.vec(cs.densify(limit)), 0.0) for limit in limits]
    excess = cs.norm_2(cs.vertcat(*beyond, 1e-150)) if beyond else cs.MX(0.0)
    slopes = [
        cs.densify(cs.gradient(y, x)) for y in (cs.densify(cost), excess) for x in (q, qd, qdd)
    ]
    return cs.Function('sample', [q, qd, qdd, theta, t], [cs.vertcat(cost, excess), *slopes])
