"""DrakeBody: the same forward dynamics by Drake, as a second opinion.

Drake does everything: its multibody equations, armature as reflected rotor inertia, viscous
friction as joint damping, and an error-controlled integrator. The one thing it does differently is
Coulomb friction: Fc tanh(qd / creep) in place of Fc sign(qd), so that a joint that should stand
still creeps by up to `creep`, and there is no instant at which it breaks away.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import SimulationError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.rigid_body import joint_friction

CREEP = 1e-3  # [rad/s]
ACCURACY = 1e-10  # of one integration step, in Drake's sense
LONGEST_STEP = 0.01  # [s]


class DrakeBody:
    """An arm in Drake, with the interface of `RigidBody`."""

    def __init__(self, model: RobotModel, creep: float = CREEP) -> None:
        if not 0.0 < creep < np.inf:
            raise SimulationError(f'creep is {creep} rad/s; it has to be more than 0')
        drake = _drake()
        builder = drake.DiagramBuilder()
        plant, joints = _plant(drake, builder, model)
        known = builder.AddSystem(drake.Multiplexer([2 * model.n, model.n, model.n]))
        friction = builder.AddSystem(_after_friction(drake, model, joints, creep))
        builder.Connect(plant.get_state_output_port(), known.get_input_port(0))
        builder.ExportInput(known.get_input_port(1), 'torque')
        builder.ExportInput(known.get_input_port(2), 'coulomb')
        builder.Connect(known.get_output_port(), friction.get_input_port())
        builder.Connect(
            friction.get_output_port(), plant.get_applied_generalized_force_input_port()
        )
        diagram = builder.Build()
        self._plant = plant
        self._order = np.array([joint.velocity_start() for joint in joints])
        self._simulator = drake.Simulator(diagram)
        self._torque = diagram.get_input_port(0)
        self._torque.FixValue(self._simulator.get_mutable_context(), np.zeros(model.n))
        self._coulomb = diagram.get_input_port(1)
        self.set_coulomb(joint_friction(model)[0])
        integrator = drake.ResetIntegratorFromFlags(self._simulator, 'runge_kutta5', LONGEST_STEP)
        integrator.set_target_accuracy(ACCURACY)
        self._simulator.Initialize()

    def advance(self, q: Array, qd: Array, torque: Array, seconds: float) -> tuple[Array, Array]:
        """Position and velocity after some time with constant torque."""
        inside = self._set(q, qd)
        root = self._simulator.get_mutable_context()
        self._torque.FixValue(root, torque)
        try:
            self._simulator.AdvanceTo(root.get_time() + seconds)
        except RuntimeError as error:
            raise SimulationError(f'Drake can not go on: {error}') from error
        position = self._plant.GetPositions(inside)[self._order]
        velocity = self._plant.GetVelocities(inside)[self._order]
        return np.array(position), np.array(velocity)

    def set_coulomb(self, coulomb: Array) -> None:
        """Take other figures of Coulomb friction (n,) [N m] from now on."""
        self._coulomb.FixValue(self._simulator.get_mutable_context(), coulomb)

    def mass_matrix(self, q: Array) -> Array:
        """H(q), armature included."""
        H = self._plant.CalcMassMatrix(self._set(q, np.zeros(len(q))))
        return np.array(H[np.ix_(self._order, self._order)])

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Torque of a motion with everything but Coulomb friction and offset."""
        inside = self._set(q, qd)
        forces = _drake().MultibodyForces(self._plant)
        self._plant.CalcForceElementsContribution(inside, forces)
        acceleration = np.empty(len(q))
        acceleration[self._order] = qdd
        torque = self._plant.CalcInverseDynamics(inside, acceleration, forces)
        return np.array(torque[self._order])

    def _set(self, q: Array, qd: Array) -> Any:
        inside = self._plant.GetMyMutableContextFromRoot(self._simulator.get_mutable_context())
        position, velocity = np.empty(len(q)), np.empty(len(q))
        position[self._order], velocity[self._order] = q, qd
        self._plant.SetPositions(inside, position)
        self._plant.SetVelocities(inside, velocity)
        return inside


def _drake() -> Any:
    """Import everything of Drake, which is an extra."""
    try:
        import pydrake.all
    except ImportError as error:
        raise SimulationError(
            'Drake is not installed, and only this simulator needs it: pip install '
            f"'.[drake]' in the checkout ({error})"
        ) from error
    return pydrake.all


def _plant(drake: Any, builder: Any, model: RobotModel) -> tuple[Any, list[Any]]:
    """Multibody plant of an arm, and its joints in the order of the arm."""
    tree, friction = model.tree, joint_friction(model)
    plant = builder.AddSystem(drake.MultibodyPlant(0.0))
    bodies = [plant.world_body()]  # the base, then body i at i + 1
    joints = []
    for i, name in enumerate(model.layout.joint_names):
        body = plant.AddRigidBody(f'{name} body', _inertia(drake, model, i))
        below = bodies[int(tree.parent[i]) + 1].body_frame()
        pose = drake.RigidTransform(
            drake.RotationMatrix(tree.R_parent_joint[i]), tree.p_parent_joint[i]
        )
        frame = plant.AddFrame(drake.FixedOffsetFrame(f'{name} frame', below, pose))
        kind = drake.PrismaticJoint if tree.is_prismatic[i] else drake.RevoluteJoint
        joint = plant.AddJoint(
            kind(name, frame, body.body_frame(), tree.axis[i], damping=friction[1, i])
        )
        rotor = plant.AddJointActuator(f'{name} rotor', joint)
        rotor.set_default_rotor_inertia(friction[2, i])
        rotor.set_default_gear_ratio(1.0)
        bodies.append(body)
        joints.append(joint)
    plant.mutable_gravity_field().set_gravity_vector(tree.gravity)
    plant.Finalize()
    return plant, joints


def _inertia(drake: Any, model: RobotModel, i: int) -> Any:
    """Inertia of body i about the origin of its joint frame."""
    m, x, y, z, xx, xy, yy, xz, yz, zz = model.theta[model.layout.inertial(i)]
    if not m > 0.0:
        raise SimulationError(
            f'mass of the body on {model.layout.joint_names[i]} is {m} kg; Drake needs more than 0'
        )
    unit = drake.UnitInertia(xx / m, yy / m, zz / m, xy / m, xz / m, yz / m)
    return drake.SpatialInertia(m, np.array([x, y, z]) / m, unit, skip_validity_check=True)


def _after_friction(drake: Any, model: RobotModel, joints: list[Any], creep: float) -> Any:
    """System from Drake's state and the torque to the torque less Coulomb friction and offset."""
    n = model.n
    beta = joint_friction(model)[3]
    known = drake.MakeVectorVariable(
        4 * n, 'x'
    )  # positions and velocities in Drake's order, torque, Coulomb friction
    left = np.empty(n, dtype=object)
    for j, joint in enumerate(joints):
        place = joint.velocity_start()
        dry = known[3 * n + j] * drake.tanh(known[n + place] / creep)
        left[place] = known[2 * n + j] - dry - beta[j]
    # Drake asks every continuous system for its state, and ends the process where there is none
    idle, still = drake.MakeVectorVariable(1, 'idle'), np.array([drake.Expression(0.0)])
    return drake.SymbolicVectorSystem(state=idle, dynamics=still, input=known, output=left)
