"""Closed chains move as Pinocchio's constrained dynamics says, and keep their energy."""

import numpy as np
import pinocchio as pin
import pytest

from safe_sysid.errors import SimulationError
from safe_sysid.model.closed_chain.chain import ClosedChain
from safe_sysid.simulate.closed_chain import ClosedChainBody, Servo


@pytest.fixture(scope='module')
def digit():
    return ClosedChain.named('digit_left_leg')


def without_friction(chain, keep):
    """The same chain with the rows of friction parameters that are kept, others 0."""
    theta, layout = chain.model.theta.copy(), chain.model.layout
    for kind in ('Fc', 'Fv', 'Ia', 'beta'):
        if kind not in keep:
            theta[layout.joint_entries(kind)] = 0.0
    changed = ClosedChain.named(chain.model.name)
    changed.model = chain.model.with_parameters(theta)
    return changed


def pinocchio_acceleration(chain, q, qd, torque):
    """Acceleration of all joints, with a force in each loop: H qdd - J' f = tau - h, c'' = 0."""
    model = chain.model.pinocchio()
    ends = [
        [
            model.addFrame(
                pin.Frame(
                    f'{loop}{end}', int(b) + 1, pin.SE3(np.eye(3), x), pin.FrameType.OP_FRAME
                )
            )
            for end, b, x in zip('ab', body, point, strict=True)
        ]
        for loop, (body, point) in enumerate(zip(chain.loops.body, chain.loops.point, strict=True))
    ]
    data = model.createData()
    H, load = pin.crba(model, data, q).copy(), pin.nonLinearEffects(model, data, q, qd).copy()
    pin.computeJointJacobians(model, data, q)
    pin.forwardKinematics(model, data, q, qd, 0.0 * qd)
    pin.updateFramePlacements(model, data)
    world = pin.LOCAL_WORLD_ALIGNED
    J = [[pin.getFrameJacobian(model, data, f, world)[:3] for f in pair] for pair in ends]
    moved = [
        [pin.getFrameClassicalAcceleration(model, data, f, world).linear for f in pair]
        for pair in ends
    ]
    J = np.concatenate([a - b for a, b in J])
    bias = np.concatenate([a - b for a, b in moved])
    Fc, Fv, _, beta = chain.model.layout.friction(chain.model.theta)
    tau = -Fc * np.tanh(qd / 0.01) - Fv * qd - beta - load
    tau[chain.actuated] += torque
    whole = np.block([[H, -J.T], [J, np.zeros((len(J), len(J)))]])
    return np.linalg.solve(whole, np.concatenate([tau, -bias]))[: len(q)]


def test_accelerations_are_those_of_pinocchio_with_multipliers(digit, rng):
    limits = digit.model.limits
    lower, upper = (x[digit.actuated] for x in (limits.position_lower, limits.position_upper))
    tried = digit.attempt(rng.uniform(lower, upper, (40, 6)))
    body = ClosedChainBody(digit)
    for q in tried.q[tried.usable]:
        qd_a, torque = rng.normal(size=6), 20.0 * rng.normal(size=6)
        motion = digit.expand(q[None], qd_a, np.zeros(6))
        other = pinocchio_acceleration(digit, q, motion.qd[0], torque)
        ours = body.acceleration(q, qd_a, torque)
        np.testing.assert_allclose(ours, other[digit.actuated], atol=1e-8)


def test_motor_torque_of_the_regressor_gives_the_acceleration_back(digit, rng):
    q_a, v, a = 0.1 * rng.normal(size=(3, 6))
    chain = without_friction(digit, ('Fv', 'Ia', 'beta'))
    motion = chain.expand(chain.close(q_a), v, a)
    torque = chain.regressor(motion)[0] @ chain.model.theta
    np.testing.assert_allclose(
        ClosedChainBody(chain).acceleration(motion.q[0], v, torque), a, atol=1e-9
    )


def test_energy_stays_without_friction():
    chain = without_friction(ClosedChain.named('four_bar'), ('Ia',))
    model = chain.model.pinocchio()
    data = model.createData()
    states = ClosedChainBody(chain, steps=2).replay(
        chain.close(np.array([[0.3]]))[0], np.array([4.0]), np.zeros((1500, 1)), 1e-3
    )
    energy = []
    for q_a, qd_a in states[::50]:
        motion = chain.expand(chain.close(q_a), qd_a, 0.0 * qd_a)
        kinetic = pin.computeKineticEnergy(model, data, motion.q[0], motion.qd[0])
        kinetic += 0.5 * model.armature @ motion.qd[0] ** 2
        energy.append(kinetic + pin.computePotentialEnergy(model, data, motion.q[0]))
    assert np.ptp(states[:, 0]) > 3.0
    assert np.ptp(energy) < 1e-8 * abs(energy[0])


def test_a_servo_holds_a_reference(digit):
    times = 1e-3 * np.arange(600)
    q_a = 0.15 * (1 - np.cos(3.0 * times))[:, None] * np.array([1, -1, 1, -1, 1, -1])
    v, a = np.gradient(q_a, 1e-3, axis=0), np.zeros_like(q_a)
    a = np.gradient(v, 1e-3, axis=0)
    feedforward = digit.regressor(digit.expand(digit.follow(q_a), v, a)) @ digit.model.theta
    servo = Servo(
        feedforward,
        np.full(6, 200.0),
        np.full(6, 10.0),
        digit.model.limits.torque[digit.actuated],
    )
    states, torque = ClosedChainBody(digit).track(np.stack([q_a, v], axis=1), servo, 1e-3)
    assert np.abs(states[:, 0] - q_a).max() < 0.02
    assert np.abs(torque - feedforward).max() < 10.0
    weak = ClosedChainBody(digit).track(
        np.stack([q_a, v], axis=1), servo._replace(limit=np.full(6, 1.0)), 1e-3
    )
    assert np.abs(weak[1]).max() == 1.0


def test_where_loops_do_not_close_the_simulation_says_so(digit):
    q = digit.close(np.zeros(6))[0]
    push = np.zeros((1000, 6))
    push[:, 4:] = 40.0  # both toes the same way: the foot rolls until a rod is straight
    with pytest.raises(SimulationError, match='can not be simulated beyond sample'):
        ClosedChainBody(digit).replay(q, np.zeros(6), push, 1e-3)
