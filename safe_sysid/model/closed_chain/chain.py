"""ClosedChain: a robot whose loops make its passive joints follow from the actuated ones.

With c(q) = 0 and J = dc/dq, columns of the actuated (a) and the passive joints (u),

    G_u = -inv(J_u) J_a,    qd = G qd_a,    qdd = G qdd_a + [0; -inv(J_u) dJ/dt qd]

A configuration is used only if Newton's method closes it to 1e-12 m, inside the limits of all
joints and with J_u regular. Whether it is the only one there is for `assembly_modes.py`.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import AnyArray, Array, IntArray
from safe_sysid.errors import ModelError, SafeSysidError
from safe_sysid.model.closed_chain.closure_newton import (
    ClosureJoints,
    differentiate,
    follow,
    newton,
)
from safe_sysid.model.closed_chain.loop_closure import Loops, gap_into, loops_of
from safe_sysid.model.dynamics.regressors import checked_rows, standard_regressor
from safe_sysid.model.facts import ClosedChainFacts, facts_path, read_facts
from safe_sysid.model.robot_model import RobotModel

REGULAR = 1e-3  # [m/rad] least singular value of J_u: below it joints move without closing loops
CONTINUATION = (1, 12)  # steps from the home configuration, until one arrives


class ClosureError(SafeSysidError):
    """A configuration can't be closed, or not in one way only; names the loop and the joints."""


@dataclass(frozen=True, eq=False)
class ClosedMotion:
    """States of all joints that close the loops, and how they depend on the actuated ones."""

    q: Array  # (N, n) [rad]
    qd: Array  # (N, n)
    qdd: Array  # (N, n)
    G: Array  # (N, n, n_a), qd = G qd_a


@dataclass(frozen=True, eq=False)
class Closures:
    """What Newton's method made of configurations of the actuated joints."""

    q: Array  # (N, n), the last iterate where it failed
    steps: IntArray  # (N,) of Newton from the start that arrived, -1: none did
    inside: AnyArray  # (N,) bool: within the limits of all joints
    least_singular_value: Array  # (N,) of J_u [m/rad]
    orientation: Array  # (N,) sign of det J_u, which no motion changes but through singular ones

    @property
    def usable(self) -> AnyArray:
        """(N,) bool: closed, inside all limits, and J_u regular."""
        good: AnyArray = (self.steps >= 0) & self.inside & (self.least_singular_value >= REGULAR)
        return good


class ClosedChain:
    """A fully actuated robot with loops: as many loop equations as passive joints."""

    def __init__(self, model: RobotModel, facts: ClosedChainFacts) -> None:
        names = model.layout.joint_names
        self.model = model
        self.loop_names = tuple(facts.loops)
        home = np.array([facts.home.get(name, 0.0) for name in names])
        self.loops: Loops = loops_of(model, facts.loops, home)
        passive = [i for i, name in enumerate(names) if name in facts.passive]
        self.passive: IntArray = np.array(passive, dtype=np.int64)
        self.actuated: IntArray = np.delete(np.arange(model.n), self.passive)
        self.massless: IntArray = np.array(
            [names.index(name) for name in facts.massless], dtype=np.int64
        )
        self._check_massless()
        self.joints = ClosureJoints(model.tree, self.loops, self.actuated, self.passive)
        self._check_count()
        self.home = self._closed_home(home)
        self._home_slope = self.transmission(self.home[None])[0][self.passive]

    @staticmethod
    def named(robot: str) -> ClosedChain:
        """Return a closed chain that comes with the package, such as `digit_left_leg`."""
        facts = read_facts(facts_path(robot))
        if facts.closed_chain is None:
            raise ModelError(f'{robot} is an open chain: its YAML has no closed_chain')
        return ClosedChain(RobotModel.named(robot), facts.closed_chain)

    def with_parameters(self, theta: Array) -> ClosedChain:
        """Return the same chain with other parameters."""
        other = copy.copy(self)
        other.model = self.model.with_parameters(theta)
        return other

    def gap(self, q: Array) -> tuple[Array, Array]:
        """Gap of the loops (m,) and its Jacobian (m, n) at q (n,)."""
        m, n = len(self.loops.loop), self.model.n
        c, J = np.empty(m), np.empty((m, n))
        gap_into(self.model.tree, self.loops, np.asarray(q, dtype=float), c, J)
        return c, J

    def close(self, q_a: Array) -> Array:
        """q (N, n) of independent configurations q_a (N, n_a); an error if one can't be closed."""
        closures = self.attempt(q_a)
        bad = np.flatnonzero(~closures.usable)
        if bad.size:
            raise self._refusal(closures, int(bad[0]))
        return closures.q

    def follow(self, q_a: Array) -> Array:
        """q (N, n) along a motion q_a (N, n_a); each sample starts from the one before."""
        rows = checked_rows(q_a, len(self.actuated), 'q_a')
        first = self.close(rows[:1])[0]
        q, steps = follow(self.joints, first, rows)
        closures = self._judged(q, steps)
        bad = np.flatnonzero(~closures.usable)
        if bad.size:
            raise self._refusal(closures, int(bad[0]))
        self._check_passage(closures)
        return np.asarray(q)

    def attempt(self, q_a: Array) -> Closures:
        """Closures of independent configurations, whatever becomes of them.

        Newton starts from a linear prediction from home; where that ends outside the limits, from
        a path to there.
        """
        rows = checked_rows(q_a, len(self.actuated), 'q_a')
        q = np.empty((len(rows), self.model.n))
        steps = np.full(len(rows), -1, dtype=np.int64)
        for sample, row in enumerate(rows):
            for pieces in CONTINUATION:
                q[sample], steps[sample] = self._continued(row, pieces)
                if steps[sample] >= 0 and self.is_inside(q[sample]):
                    break
        q[:, self.actuated] = rows
        return self._judged(q, steps)

    def transmission(self, q: Array) -> Array:
        """G (N, n, n_a) with qd = G qd_a, at closed configurations q (N, n)."""
        rows = checked_rows(q, self.model.n, 'q')
        still = np.zeros((len(rows), len(self.actuated)))
        return self._differentiated(rows, still, still).G

    def expand(self, q: Array, qd_a: Array, qdd_a: Array) -> ClosedMotion:
        """States of all joints at closed configurations q (N, n)."""
        n_a = len(self.actuated)
        return self._differentiated(
            checked_rows(q, self.model.n, 'q'),
            checked_rows(qd_a, n_a, 'qd_a'),
            checked_rows(qdd_a, n_a, 'qdd_a'),
        )

    def regressor(self, motion: ClosedMotion) -> Array:
        """G' W (N, n_a, 14 n): torque of the motors, linear in theta."""
        W = standard_regressor(self.model, motion.q, motion.qd, motion.qdd)
        columns = W.reshape(len(motion.q), self.model.n, -1)
        return np.asarray(np.swapaxes(motion.G, 1, 2) @ columns)

    def _check_count(self) -> None:
        names = self.model.layout.joint_names
        equations, passive = len(self.loops.loop), len(self.passive)
        if equations != passive:
            raise ModelError(
                f'{self.model.name}: {passive} passive joints '
                f'({", ".join(names[i] for i in self.passive)}) but {equations} equations of '
                f'loops ({", ".join(self.loop_names)}); a robot can only be identified if there '
                'are as many of one as of the other. A loop of kind planar has two'
            )
        for joint in self.passive:
            if not self._moves(joint):
                raise ModelError(
                    f"{self.model.name}: passive joint '{names[joint]}' moves no loop; actuate it "
                    'or close the loop that it belongs to'
                )

    def _check_massless(self) -> None:
        for joint in self.massless:
            if (mass := self.model.theta[self.model.layout.inertial(int(joint))][0]) > 0.0:
                raise ModelError(
                    f"{self.model.name}: joint '{self.model.layout.joint_names[joint]}' is listed "
                    f'as massless, but the URDF has {mass:g} kg on it; take it from that list'
                )

    def _moves(self, joint: int) -> bool:
        """Whether a joint is on the way from the base to exactly one end of some loop."""
        return any(self._carries(joint, a) != self._carries(joint, b) for a, b in self.loops.body)

    def _carries(self, joint: int, body: int) -> bool:
        while body >= 0:
            if body == joint:
                return True
            body = int(self.model.tree.parent[body])
        return False

    def _closed_home(self, home: Array) -> Array:
        q: Array = home.copy()
        if newton(self.joints, q) < 0:
            c, _ = self.gap(q)
            raise ClosureError(
                f'{self._gap_sentence(c)} at home '
                f'({self.sentence(q, self.actuated)}). Correct its points, or give '
                'closed_chain.home a guess that is near a closed configuration'
            )
        return q

    def _continued(self, q_a: Array, pieces: int) -> tuple[Array, int]:
        """Newton on the way from home to q_a; steps of the last piece."""
        q, steps = self.home.copy(), 0
        slope = self._home_slope
        way = (q_a - self.home[self.actuated]) / pieces
        for piece in range(pieces):
            if piece:
                slope = self.transmission(q[None])[0][self.passive]
            q[self.actuated] = q_a if piece == pieces - 1 else q[self.actuated] + way
            q[self.passive] += slope @ way
            steps = newton(self.joints, q)
            if steps < 0:
                break
        return q, steps

    def _differentiated(self, q: Array, qd_a: Array, qdd_a: Array) -> ClosedMotion:
        singular, qd, qdd, G = differentiate(self.joints, q, qd_a, qdd_a)
        if singular >= 0:
            raise self._refusal(self._judged(q, np.zeros(len(q), dtype=np.int64)), singular)
        return ClosedMotion(q, qd, qdd, G)

    def _judged(self, q: Array, steps: IntArray) -> Closures:
        J_u = np.array([self.gap(row)[1][:, self.passive] for row in q])
        least = np.linalg.svd(J_u, compute_uv=False)[:, -1]
        inside = np.array([self.is_inside(row) for row in q])
        return Closures(q, steps, inside, least, np.linalg.slogdet(J_u)[0])

    def _check_passage(self, closures: Closures) -> None:
        """Refuse a motion that is singular between samples: what it became behind is a guess."""
        passed = np.flatnonzero(closures.orientation != closures.orientation[0])
        if passed.size:
            sample, joints = int(passed[0]), np.isin(np.arange(self.model.n), self.passive)
            raise ClosureError(
                f'{self.model.name}: loop {self.loops_of_joints(joints)} is singular between '
                f'samples {sample - 1} and {sample}, near '
                f'{self.sentence(closures.q[sample], self.actuated)}; in which way it closes '
                'behind that does not follow from the motors. Leave such configurations out of '
                'the recording'
            )

    def is_inside(self, q: Array) -> bool:
        """Whether q (n,) is within the limits of all joints."""
        limits = self.model.limits
        return bool(np.all((limits.position_lower <= q) & (q <= limits.position_upper)))

    def _refusal(self, closures: Closures, sample: int) -> ClosureError:
        q = closures.q[sample]
        c, J = self.gap(q)
        where = f'in sample {sample} at {self.sentence(q, self.actuated)}'
        if closures.steps[sample] < 0:
            return ClosureError(f'{self._gap_sentence(c)} {where}: no such configuration')
        limits = self.model.limits
        outside = (q < limits.position_lower) | (q > limits.position_upper)
        if np.any(outside):
            joint = int(np.flatnonzero(outside)[0])
            return ClosureError(
                f'{self.model.name}: loop {self.loops_of_joints(outside)} closes only outside '
                f'the limits {where}: {self.model.layout.joint_names[joint]} would be at '
                f'{q[joint]:.4f}, allowed is [{limits.position_lower[joint]:.4f}, '
                f'{limits.position_upper[joint]:.4f}] rad'
            )
        direction = np.linalg.svd(J[:, self.passive])[2][-1]
        moved = np.zeros(self.model.n, dtype=bool)
        moved[self.passive[np.abs(direction) > 0.1]] = True
        least = closures.least_singular_value[sample]
        return ClosureError(
            f'{self.model.name}: loop {self.loops_of_joints(moved)} is singular {where}: its '
            f'passive joints hardly open it, least singular value {least:.1e} m/rad, it has to be '
            f'{REGULAR} or more'
        )

    def _gap_sentence(self, c: Array) -> str:
        row = int(np.argmax(np.abs(c)))
        name = self.loop_names[self.loops.loop[row]]
        return f'{self.model.name}: loop {name} stays open by {abs(c[row]):.2e} m'

    def loops_of_joints(self, joints: AnyArray) -> str:
        """Names of the loops that joints (n,) bool are part of."""
        some = [int(joint) for joint in np.flatnonzero(joints)]
        names = [
            name
            for name, (a, b) in zip(self.loop_names, self.loops.body, strict=True)
            if any(self._carries(joint, a) != self._carries(joint, b) for joint in some)
        ]
        return ', '.join(names)

    def sentence(self, q: Array, joints: IntArray) -> str:
        """Names and positions of some joints."""
        names = self.model.layout.joint_names
        return ', '.join(f'{names[j]} {q[j]:.4f}' for j in joints)
