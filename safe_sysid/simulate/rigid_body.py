"""RigidBody: forward dynamics of an arm with friction, armature and offset."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import SimulationError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.dry_friction import NOT_FINITE, NOT_POSITIVE_DEFINITE, OK, UNDECIDED
from safe_sysid.simulate.integration import (
    TOO_MANY_EVENTS,
    TOO_STIFF,
    IntegratedBodies,
    advance,
    settle,
)

SENTENCES = {
    NOT_POSITIVE_DEFINITE: 'the mass matrix is not positive definite: no arm has such parameters',
    UNDECIDED: 'it could not be decided which joints at rest begin to slide',
    TOO_MANY_EVENTS: 'joints stop and break away more than a thousand times in one period',
    TOO_STIFF: 'viscous friction stops a joint so fast that a period would take more than a '
    'thousand steps: give it armature, less viscous friction or a shorter period',
    NOT_FINITE: 'the state is not finite any more: use more steps per period',
}


class RigidBody:
    """An arm whose state follows from its torque.

    Its joints have no end stops, and it goes through what it touches: leaving a limit has to show
    in what is measured, not to be prevented here.
    """

    def __init__(self, model: RobotModel, steps: int = 1) -> None:
        if steps < 1:
            raise SimulationError(f'{steps} steps per control period; at least 1 is needed')
        phi = model.theta[: 10 * model.n].reshape(model.n, 10)
        self._name = model.name
        self._steps = steps
        self._bodies = IntegratedBodies(model.tree, phi.copy(), joint_friction(model))

    def advance(self, q: Array, qd: Array, torque: Array, seconds: float) -> tuple[Array, Array]:
        """Position and velocity after some time with constant torque."""
        state = np.array([q, qd])
        self._check(advance(self._bodies, state, torque, seconds, self._steps))
        return state[0], state[1]

    def set_coulomb(self, coulomb: Array) -> None:
        """Take other figures of Coulomb friction (n,) [N m] from now on."""
        self._bodies.friction[0] = coulomb

    def acceleration(self, q: Array, qd: Array, torque: Array) -> Array:
        """Acceleration now, with as much dry friction as joints at rest need."""
        point = np.zeros((4, len(q)))
        point[0], point[1] = q, qd
        self._check(settle(self._bodies, torque, point, np.zeros(len(q))))
        return np.asarray(point[2])

    def _check(self, status: int) -> None:
        if status != OK:
            raise SimulationError(f'{self._name} can not be simulated: {SENTENCES[status]}')


def joint_friction(model: RobotModel) -> Array:
    """Rows Fc, Fv, Ia, beta of an arm (4, n), the first three not negative."""
    friction: Array = model.layout.friction(model.theta).copy()
    for row, name in ((0, 'Fc'), (1, 'Fv'), (2, 'Ia')):
        for joint in np.flatnonzero(friction[row] < 0.0):
            raise SimulationError(
                f'{name} of {model.layout.joint_names[joint]} is {friction[row, joint]}; '
                'it has to be 0 or more'
            )
    return friction
