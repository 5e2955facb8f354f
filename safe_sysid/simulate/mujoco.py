"""MujocoBody: the same forward dynamics by MuJoCo, as a third opinion.

MuJoCo does everything: its equations, armature, viscous friction as damping, the offset as an
applied force, and one step of its Runge-Kutta rule of order four per millisecond, or its implicit
rule where that would be unstable. Coulomb friction is a constraint there, made as hard as a step
allows: in the step in which a joint would turn round it is less than Fc, in others it is Fc. So
steps are 0.1 ms where there is any; a joint that should stand still creeps by less than 1e-6
rad/s.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import SimulationError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.rigid_body import joint_friction

STEP = 1e-3  # [s] of the explicit rule at most
IMPLICIT_STEP = 5e-4  # [s]
DRY_STEP = 1e-4  # [s] of both where friction is dry
STIFF = 0.5  # decay of a velocity within a step, from which on the implicit rule is taken
SOLREF = (2.0 * DRY_STEP, 1.0)  # time constant [s], damping of the constraint of dry friction
SOLIMP = (0.9999, 0.9999, 1e-3, 0.5, 2.0)  # how hard it is
STANDING = 1e-5  # [rad/s] by which a joint creeps less that should stand
LEAST_INERTIA = 1e-6  # [kg m^2]
SMALL = 0.01  # [m] radius of gyration of a point mass
LARGEST = 1e6  # [rad, rad/s] of a state that is still taken for one


@dataclass(frozen=True)
class Swinging:
    """A point mass that is not fixed to the last link, as a liquid or a flexible body is not.

    A pendulum hangs from `place`; on springs it is held there, as far as gravity lets it.
    """

    mass: float  # [kg]
    frequency: float  # [Hz] of small motions
    place: tuple[float, float, float]  # [m] in the frame of the last joint
    damping: float = 0.02  # share of the critical one
    pendulum: bool = True


class MujocoBody:
    """An arm in MuJoCo, with the interface of `RigidBody`, and what may swing at its tip."""

    def __init__(self, model: RobotModel, swinging: Swinging | None = None) -> None:
        self._take(model, _compiled(model, swinging))
        self.set_coulomb(joint_friction(model)[0])

    @classmethod
    def of_file(cls, model: RobotModel, mjcf: Path) -> MujocoBody:
        """Return the arm that an MJCF describes, its joints found by their names.

        Bodies, armature, friction, stops and contacts are those of the file, and so is what the
        arm holds; gravity and offsets are those of the settings. Actuators have no effect.
        """
        body = cls.__new__(cls)
        body._take(model, _read(model, mjcf))
        return body

    def _take(self, model: RobotModel, compiled: Any) -> None:
        mujoco = _mujoco()
        self._name = model.name
        self._model, self._data = compiled, mujoco.MjData(compiled)
        self._step = mujoco.mj_step
        names = model.layout.joint_names
        joints = [compiled.joint(name).id for name in names]
        self._q, self._qd = compiled.jnt_qposadr[joints], compiled.jnt_dofadr[joints]
        self._beta = joint_friction(model)[3]
        self._explicit, self._implicit = (
            int(rule)
            for rule in (mujoco.mjtIntegrator.mjINT_RK4, mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
        )
        compiled.opt.gravity = model.tree.gravity
        # a state out of range is an error here, not a reason to begin anew; and what follows from
        # a state must not depend on the one before
        off = mujoco.mjtDisableBit
        for flag in (off.mjDSBL_AUTORESET, off.mjDSBL_WARMSTART, off.mjDSBL_ACTUATION):
            compiled.opt.disableflags |= int(flag)
        compiled.dof_solref[:], compiled.dof_solimp[:] = SOLREF, SOLIMP
        every = np.asarray(compiled.dof_damping, dtype=float).reshape(compiled.nv, -1)[:, 0]
        damping = every[self._qd]
        armature = np.asarray(compiled.dof_armature, dtype=float)[self._qd]
        # H is at least diag(armature), so no velocity decays faster than the worst Fv / Ia
        with np.errstate(divide='ignore', invalid='ignore'):
            self._decay = float(np.max(np.where(damping > 0.0, damping / armature, 0.0)))
        self._is_dry = bool(np.any(compiled.dof_frictionloss))
        self._is_stiff = bool(np.any(compiled.geom_contype)) or compiled.nv > len(names)

    def advance(self, q: Array, qd: Array, torque: Array, seconds: float) -> tuple[Array, Array]:
        """Position and velocity after some time with constant torque."""
        model, data = self._model, self._data
        is_implicit = self._is_stiff or self._decay * min(seconds, STEP) > STIFF
        model.opt.integrator = self._implicit if is_implicit else self._explicit
        longest = IMPLICIT_STEP if is_implicit else STEP
        if self._is_dry:
            longest = min(longest, DRY_STEP)
        steps = max(1, int(np.ceil(seconds / longest - 1e-9)))
        model.opt.timestep = seconds / steps
        data.qpos[self._q], data.qvel[self._qd] = q, qd
        data.qfrc_applied[self._qd] = torque - self._beta
        self._step(model, data, steps)
        position, velocity = data.qpos[self._q], data.qvel[self._qd]
        if not max(np.abs(position).max(), np.abs(velocity).max()) < LARGEST:  # nan as well
            raise SimulationError(
                f'MuJoCo can not go on with {self._name}: its state is {position} rad and '
                f'{velocity} rad/s; at most {LARGEST:g} are taken for a state'
            )
        return np.array(position), np.array(velocity)

    def let_hang(self, q: Array) -> None:
        """Let the pendulum at the tip, if there is one, hang at rest at a pose."""
        mujoco, model, data = _mujoco(), self._model, self._data
        balls = np.flatnonzero(model.jnt_type == int(mujoco.mjtJoint.mjJNT_BALL))
        data.qpos[self._q] = q
        mujoco.mj_kinematics(model, data)
        for joint in balls:
            link = data.xmat[model.body_parentid[model.jnt_bodyid[joint]]].reshape(3, 3)
            down = link.T @ model.opt.gravity / np.linalg.norm(model.opt.gravity)
            first = int(model.jnt_qposadr[joint])
            turn = np.array([1.0 - down[2], down[1], -down[0], 0.0])  # of -z to where down is
            data.qpos[first : first + 4] = turn / max(float(np.linalg.norm(turn)), 1e-9)

    def set_coulomb(self, coulomb: Array) -> None:
        """Take other figures of Coulomb friction (n,) [N m] from now on."""
        self._model.dof_frictionloss[self._qd] = coulomb
        self._is_dry = bool(np.any(self._model.dof_frictionloss))


def creep_of(model: RobotModel, bounds: Interval) -> Array:
    """Return the velocities [rad/s] by which friction is wrong after the step of a turn, (n,).

    It is -Fc instead of Fc at most, and no joint has less inertia than its armature and the body
    behind it, within these bounds.
    """
    layout = model.layout
    coulomb = bounds[layout.joint_entries('Fc')].magnitude
    inertia = bounds[layout.joint_entries('Ia')].lower + _about_axes(model, bounds)
    creep: Array = np.maximum(
        2.0 * DRY_STEP * coulomb / np.maximum(inertia, LEAST_INERTIA), STANDING
    )
    return creep


def _about_axes(model: RobotModel, bounds: Interval) -> Array:
    """Least inertia [kg m^2, kg] of each body for its own joint alone, (n,)."""
    least = np.zeros(model.n)
    for i, (x, y, z) in enumerate(np.asarray(model.tree.axis).tolist()):
        body = bounds[model.layout.inertial(i)]
        about = np.array([[x * x, 2 * x * y, y * y, 2 * x * z, 2 * y * z, z * z]])
        turned = body if model.tree.is_prismatic[i] else about @ body[4:]
        least[i] = max(float(turned.lower[0]), 0.0)
    return least


class MjcfArm:
    """The arm of an MJCF for a `SimulatedArm`, which holds what is in the file, for good."""

    def __init__(self, mjcf: Path) -> None:
        self._mjcf = mjcf
        self._theta: Array | None = None

    def __call__(self, model: RobotModel) -> MujocoBody:
        """Return its body; parameters that have changed since are not in the file."""
        if self._theta is not None and not np.array_equal(self._theta, model.theta):
            raise SimulationError(
                f'{model.name} can not hold something else: what it is and holds is said by '
                f'{self._mjcf}; put it there'
            )
        self._theta = model.theta
        return MujocoBody.of_file(model, self._mjcf)


def _mujoco() -> Any:
    """Import MuJoCo, which is an extra."""
    try:
        import mujoco
    except ImportError as error:
        raise SimulationError(
            'MuJoCo is not installed, and only this simulator needs it: pip install '
            f"'.[mujoco]' in the checkout ({error})"
        ) from error
    mujoco.set_mju_user_warning(_say_nothing)
    return mujoco


def _say_nothing(warning: str) -> None:
    """Write no file, as MuJoCo would; a state out of range is an error of `advance`."""


def _compiled(model: RobotModel, swinging: Swinging | None) -> Any:
    """Bodies and joints of an arm, with armature and viscous friction."""
    mujoco, tree, friction = _mujoco(), model.tree, joint_friction(model)
    spec = mujoco.MjSpec()
    spec.compiler.balanceinertia = False
    spec.compiler.boundmass = spec.compiler.boundinertia = 0.0
    bodies = [spec.worldbody]  # the base, then body i at i + 1
    for i, name in enumerate(model.layout.joint_names):
        body = bodies[int(tree.parent[i]) + 1].add_body(name=f'{name} body')
        body.pos, body.quat = tree.p_parent_joint[i], _quaternion(mujoco, tree.R_parent_joint[i])
        body.explicitinertial = True
        body.mass, body.ipos, body.fullinertia = _about_centre(model, i)
        kind = mujoco.mjtJoint.mjJNT_SLIDE if tree.is_prismatic[i] else mujoco.mjtJoint.mjJNT_HINGE
        body.add_joint(name=name, type=kind, axis=tree.axis[i])
        bodies.append(body)
    if swinging is not None:
        _hang(mujoco, bodies[model.layout.tip + 1], swinging, tree.gravity)
    try:
        compiled = spec.compile()
    except ValueError as error:
        raise SimulationError(f'{model.name} can not be simulated by MuJoCo: {error}') from error
    dofs = [int(compiled.jnt_dofadr[compiled.joint(name).id]) for name in model.layout.joint_names]
    compiled.dof_armature[dofs] = friction[2]
    compiled.dof_damping.reshape(compiled.nv, -1)[dofs, 0] = friction[1]
    mujoco.mj_setConst(compiled, mujoco.MjData(compiled))
    return compiled


def _hang(mujoco: Any, link: Any, swinging: Swinging, gravity: Array) -> None:
    """Fix a point mass to a link by a ball joint and a rod, or by three springs."""
    body = link.add_body(name='swinging', pos=swinging.place)
    body.explicitinertial, body.mass = True, swinging.mass
    rate = 2.0 * np.pi * swinging.frequency
    drag = 2.0 * swinging.damping * rate
    body.fullinertia = [SMALL**2 * swinging.mass] * 3 + [0.0] * 3
    if swinging.pendulum:
        length = float(np.linalg.norm(gravity)) / rate**2
        body.ipos = [0.0, 0.0, -length]
        drag *= swinging.mass * length**2
        body.add_joint(name='swinging', type=mujoco.mjtJoint.mjJNT_BALL, damping=float(drag))
        return
    for name, axis in zip('xyz', np.eye(3), strict=True):
        body.add_joint(
            name=f'swinging {name}', type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis,
            stiffness=swinging.mass * rate**2, damping=drag * swinging.mass,
        )  # fmt: skip


def _read(model: RobotModel, mjcf: Path) -> Any:
    """Arm of a file, which has our joints and no other."""
    mujoco = _mujoco()
    try:
        compiled = mujoco.MjModel.from_xml_path(str(mjcf))
    except ValueError as error:
        raise SimulationError(f'{mjcf} can not be read by MuJoCo: {error}') from error
    there = [compiled.joint(i).name for i in range(compiled.njnt)]
    if sorted(there) != sorted(model.layout.joint_names) or compiled.nv != model.n:
        raise SimulationError(
            f'{mjcf} has the joints {there}; {model.name} needs '
            f'{list(model.layout.joint_names)} with one axis each, and no other: weld the others'
        )
    return compiled


def _about_centre(model: RobotModel, i: int) -> tuple[float, Array, Array]:
    """Mass, centre and inertia about it (xx, yy, zz, xy, xz, yz) of body i."""
    m, x, y, z, xx, xy, yy, xz, yz, zz = model.theta[model.layout.inertial(i)]
    if not m > 0.0:
        raise SimulationError(
            f'mass of the body on {model.layout.joint_names[i]} is {m} kg; MuJoCo needs more '
            'than 0'
        )
    c = np.array([x, y, z]) / m
    about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    inertia = about - m * (c @ c * np.eye(3) - np.outer(c, c))
    return m, c, inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]


def _quaternion(mujoco: Any, R: Array) -> Array:
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(R).ravel())
    return quaternion
