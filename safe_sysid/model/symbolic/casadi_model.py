"""CasadiModel: kinematics, dynamics, regressors and friction of an arm as CasADi functions.

theta is an argument, 14 entries per joint as everywhere here (`model/parameters.py`): an estimate
that improves is a new number and not a new model. With theta, q (n,), qd, qdd and tau in SI units,

    inverse_dynamics    H qdd + C qd + g + F, F = Fc sign(qd) + Fv qd + Ia qdd + beta
    mass_matrix, bias   M = H + diag(Ia), C qd + g (no friction)
    forward_dynamics    qdd of a torque, by M = L' D L

sign(0) is 0: where a joint sticks, forward_dynamics knows nothing of what holds it. Functions
whose name begins with `smooth` have tanh(qd / width) for sign(qd), width in rad/s (or m/s).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from safe_sysid.arrays import Array
from safe_sysid.errors import ModelError
from safe_sysid.model.closed_chain.loop_closure import Loops
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.symbolic import mass_matrix, recursions
from safe_sysid.model.symbolic.frames import frame_jacobian, frame_pose, loop_gap
from safe_sysid.model.symbolic.library import SX
from safe_sysid.model.symbolic.library import casadi as cs
from safe_sysid.model.symbolic.recursions import SymbolicTree
from safe_sysid.model.symbolic.regrouping import Regrouping

Function = Any  # casadi.Function, which has no types
_Width = dict[str, SX]  # the further argument of smooth functions


@dataclass(frozen=True, eq=False)
class CasadiModel:
    """An arm as CasADi functions, each built when it is first used."""

    arm: RobotModel
    loops: Loops | None = None  # of a robot with loops
    _of_links: dict[tuple[str, str], Function] = field(default_factory=dict, repr=False)

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.arm.n

    @property
    def theta(self) -> Array:
        """Nominal theta, (14 n,), payload included."""
        return self.arm.theta

    @property
    def labels(self) -> tuple[str, ...]:
        """Name of every entry of theta."""
        return self.arm.layout.labels

    @property
    def links(self) -> tuple[str, ...]:
        """Links that poses can be asked of."""
        return tuple(self.arm.frames)

    @cached_property
    def inverse_dynamics(self) -> Function:
        """(q, qd, qdd, theta) -> tau."""
        return self._inverse_dynamics('inverse_dynamics', *self._symbols.exact)

    @cached_property
    def smooth_inverse_dynamics(self) -> Function:
        """(q, qd, qdd, theta, width) -> tau."""
        return self._inverse_dynamics('smooth_inverse_dynamics', *self._symbols.smooth)

    @cached_property
    def forward_dynamics(self) -> Function:
        """(q, qd, tau, theta) -> qdd."""
        return self._forward_dynamics('forward_dynamics', *self._symbols.exact)

    @cached_property
    def smooth_forward_dynamics(self) -> Function:
        """(q, qd, tau, theta, width) -> qdd."""
        return self._forward_dynamics('smooth_forward_dynamics', *self._symbols.smooth)

    @cached_property
    def mass_matrix(self) -> Function:
        """(q, theta) -> M (n, n), rotors included."""
        s = self._symbols
        return _function('mass_matrix', {'M': self._mass}, q=s.q, theta=s.theta)

    @cached_property
    def bias(self) -> Function:
        """(q, qd, theta) -> C qd + g."""
        s = self._symbols
        return _function('bias', {'bias': self._bias}, q=s.q, qd=s.qd, theta=s.theta)

    @cached_property
    def gravity(self) -> Function:
        """(q, theta) -> g."""
        s, still = self._symbols, cs.SX.zeros(self.n)
        return _function('gravity', {'g': self._rigid(still, still)}, q=s.q, theta=s.theta)

    @cached_property
    def friction(self) -> Function:
        """(qd, qdd, theta) -> F, rotors included."""
        return self._friction('friction', *self._symbols.exact)

    @cached_property
    def smooth_friction(self) -> Function:
        """(qd, qdd, theta, width) -> F."""
        return self._friction('smooth_friction', *self._symbols.smooth)

    @cached_property
    def standard_regressor(self) -> Function:
        """(q, qd, qdd) -> W (n, 14 n) with W theta the torque."""
        s = self._symbols
        W = recursions.slotine_li_regressor(self._tree, s.qd, s.qd, s.qdd, cs.sign(s.qd))
        return _function('standard_regressor', {'W': W}, q=s.q, qd=s.qd, qdd=s.qdd)

    @cached_property
    def slotine_li_regressor(self) -> Function:
        """(q, qd, qd_a, qdd_a) -> W_s (n, 14 n)."""
        s, qd_a = self._symbols, cs.SX.sym('qd_a', self.n)
        W = recursions.slotine_li_regressor(self._tree, s.qd, qd_a, s.qdd, cs.sign(s.qd))
        return _function(
            'slotine_li_regressor', {'W_s': W}, q=s.q, qd=s.qd, qd_a=qd_a, qdd_a=s.qdd
        )

    @cached_property
    def momentum_regressors(self) -> Function:
        """(q, qd) -> W_m and W_c (n, 14 n), of momentum H qd and of its rate."""
        s = self._symbols
        W_m, W_c = recursions.momentum_regressors(self._tree, s.qd, cs.sign(s.qd))
        return _function('momentum_regressors', {'W_m': W_m, 'W_c': W_c}, q=s.q, qd=s.qd)

    @cached_property
    def loop_closure(self) -> Function:
        """(q, qd) -> gap c (m,), Jacobian J (m, n) and bias dJ/dt qd of a robot with loops."""
        if self.loops is None:
            raise ModelError(f'{self.arm.name} is an open chain: it has no loops to close')
        s = self._symbols
        c = loop_gap(self._tree, self.loops)
        J = cs.jacobian(c, s.q)
        bias = cs.jtimes(cs.mtimes(J, s.qd), s.q, s.qd)
        return _function('loop_closure', {'c': c, 'J': J, 'bias': bias}, q=s.q, qd=s.qd)

    def forward_kinematics(self, link: str) -> Function:
        """Return (q) -> rotation R (3, 3) and origin p (3,) of a link in the base frame."""
        return self._of_link('forward_kinematics', link)

    def jacobian(self, link: str) -> Function:
        """Return (q) -> J (6, n): velocity of the link's origin, then its angular velocity."""
        return self._of_link('jacobian', link)

    def functions(self) -> Iterator[Function]:
        """All functions that need no link."""
        names = [
            name
            for name, member in vars(type(self)).items()
            if isinstance(member, cached_property) and not name.startswith('_')
        ]
        for name in names:
            if name != 'loop_closure' or self.loops is not None:
                yield getattr(self, name)

    def _of_link(self, name: str, link: str) -> Function:
        if link not in self.arm.frames:
            raise ModelError(f"{self.arm.name} has no link '{link}', its links are {self.links}")
        if (name, link) not in self._of_links:
            self._of_links[name, link] = self._built_of_link(name, link)
        return self._of_links[name, link]

    def _built_of_link(self, name: str, link: str) -> Function:
        frame, title = self.arm.frames[link], f'{name}_{identifier_of(link)}'
        if name == 'jacobian':
            J = frame_jacobian(self._tree, frame)
            return _function(title, {'J': J}, q=self._symbols.q)
        R, p = frame_pose(self._tree, frame)
        return _function(title, {'R': R, 'p': p}, q=self._symbols.q)

    def _inverse_dynamics(self, name: str, sign: SX, width: _Width) -> Function:
        s = self._symbols
        tau = self._rigid(s.qd, s.qdd) + s.friction(sign) + s.rotors
        return _function(name, {'tau': tau}, q=s.q, qd=s.qd, qdd=s.qdd, theta=s.theta, **width)

    def _forward_dynamics(self, name: str, sign: SX, width: _Width) -> Function:
        s = self._symbols
        driving = s.tau - s.friction(sign) - self._bias
        qdd = mass_matrix.accelerations(self._regrouped[0], self._mass, driving)
        return _function(name, {'qdd': qdd}, q=s.q, qd=s.qd, tau=s.tau, theta=s.theta, **width)

    def _friction(self, name: str, sign: SX, width: _Width) -> Function:
        s = self._symbols
        F = s.friction(sign) + s.rotors
        return _function(name, {'F': F}, qd=s.qd, qdd=s.qdd, theta=s.theta, **width)

    def _rigid(self, qd: SX, qdd: SX) -> SX:
        tree, theta = self._regrouped
        return recursions.rigid_torque(tree, qd, qdd, theta)

    @cached_property
    def _bias(self) -> SX:
        return self._rigid(self._symbols.qd, cs.SX.zeros(self.n))

    @cached_property
    def _mass(self) -> SX:
        return mass_matrix.mass_matrix(*self._regrouped)

    @cached_property
    def _symbols(self) -> _Symbols:
        return _Symbols(self.n)

    @cached_property
    def _tree(self) -> SymbolicTree:
        return SymbolicTree(self.arm.tree, self._symbols.q)

    @cached_property
    def _regrouped(self) -> tuple[SymbolicTree, SX]:
        """Tree and theta of fewer entries, of which torques are the same."""
        regrouping, s = Regrouping(self.arm.tree), self._symbols
        return SymbolicTree(regrouping.tree, s.q), regrouping.theta(s.theta)


class _Symbols:
    """Arguments of the functions."""

    def __init__(self, n: int) -> None:
        self.q, self.qd, self.qdd, self.tau = (
            cs.SX.sym(name, n) for name in ('q', 'qd', 'qdd', 'tau')
        )
        self.theta, width = cs.SX.sym('theta', 14 * n), cs.SX.sym('width')
        self.exact: tuple[SX, _Width] = (cs.sign(self.qd), {})
        self.smooth: tuple[SX, _Width] = (cs.tanh(self.qd / width), {'width': width})
        self.rotors = recursions.friction_rows(self.theta, n)[2] * self.qdd

    def friction(self, sign: SX) -> SX:
        """Return friction without the rotors, of one of the two signs of velocities."""
        return recursions.friction(self.theta, sign, self.qd)


def _function(name: str, results: dict[str, SX], **arguments: SX) -> Function:
    shared = cs.cse(list(results.values()))
    return cs.Function(name, list(arguments.values()), shared, list(arguments), list(results))


def identifier_of(link: str) -> str:
    """Return a name that CasADi and C accept behind another one."""
    kept = ''.join(letter if letter.isalnum() and letter.isascii() else ' ' for letter in link)
    return '_'.join(kept.split()) or 'link'


def title_of(arm: str) -> str:
    """Return a name of an arm that code in C and Python may begin with."""
    title = identifier_of(arm)
    return title if cs.Function.check_name(title) else f'arm_{title}'
