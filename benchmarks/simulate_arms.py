"""One second of simulated arms: time per control period, step error, and how far Drake is away."""

import time

import numpy as np
import pinocchio as pin

from safe_sysid.errors import SimulationError
from safe_sysid.model.collision.contact import ContactGauge
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.box import Box
from safe_sysid.simulate.drake import DrakeBody
from safe_sysid.simulate.rigid_body import RigidBody
from safe_sysid.simulate.sensors import SensorSettings
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm

PERIOD, PERIODS, REPEATS = 0.001, 1000, 5
SENSORS = SensorSettings((2e-4,), (1e-3,), (1e-3,), (0.025,), (0.01,), delay=2, loss=0.01)


def best_us(work, count) -> float:
    """Shortest time of one out of `count` in several runs [us]."""
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times) / count * 1e6


def torques_of(model) -> np.ndarray:
    """A second of sines, a fifth of the torque limits."""
    rng = np.random.default_rng(0)
    t = PERIOD * np.arange(PERIODS)
    return 0.2 * model.limits.torque * np.sin(np.outer(t, rng.uniform(3, 20, size=model.n)))


def end_of(body, model) -> np.ndarray:
    """State after the second."""
    state = (np.random.default_rng(1).normal(size=model.n), np.zeros(model.n))
    for torque in torques_of(model):
        state = body.advance(*state, torque, PERIOD)
    return np.array(state)


def run_arm(model) -> None:
    """The second with measure and apply, and all sensor errors."""
    rng = np.random.default_rng(1)
    arm = SimulatedArm(model, rng.normal(size=model.n), rng, ArmSettings(PERIOD, SENSORS))
    for torque in torques_of(model):
        arm.measure()
        arm.apply(torque)


def with_dry_friction(model, coulomb) -> RobotModel:
    """The same arm with as much Coulomb friction on every joint [N m]."""
    theta = model.theta.copy()
    theta[model.layout.joint_entries('Fc')] = coulomb
    return model.with_parameters(theta)


def pinocchio_step(model):
    """One Runge-Kutta step around Pinocchio's forward dynamics; no joint ever stands still."""
    rigid = model.pinocchio()
    data = rigid.createData()
    Fc, Fv, _, beta = model.layout.friction(model.theta)
    q, qd, tau = np.random.default_rng(0).normal(size=(3, model.n))

    def slope(q, qd):
        return pin.aba(rigid, data, q, qd, tau - Fc * np.sign(qd) - Fv * qd - beta)

    def step(h=PERIOD):
        a = slope(q, qd)
        b = slope(q + h / 2 * qd, qd + h / 2 * a)
        c = slope(q + h / 2 * (qd + h / 2 * a), qd + h / 2 * b)
        d = slope(q + h * (qd + h / 2 * b), qd + h * c)
        return q + h * qd + h**2 / 6 * (a + b + c), qd + h / 6 * (a + 2 * b + 2 * c + d)

    return step


def main() -> None:
    """Print a line per arm and figure."""
    kinova = RobotModel.named('kinova_gen3')
    for model in (kinova, with_dry_friction(kinova, 2.0), RobotModel.named('lbr_med7')):
        dry = model.layout.friction(model.theta)[0].max()
        end_of(RigidBody(model), model)
        us = best_us(lambda m=model: run_arm(m), PERIODS)
        error = np.abs(end_of(RigidBody(model), model) - end_of(RigidBody(model, 200), model))
        print(
            f'{model.name}, Fc {dry} N m: {us:.1f} us per period with sensors, '
            f'{1e6 * PERIOD / us:.1f} times real time, step error {error.max():.1e}'
        )
    step = pinocchio_step(kinova)
    count = range(PERIODS)
    us = best_us(lambda: [step() for _ in count], PERIODS)
    print(f'Runge-Kutta step around Pinocchio, no joint ever stands: {us:.1f} us')
    gauge = ContactGauge(kinova, {'box': Box(np.array([0.5, 0, 0.3]), np.full(3, 0.1), np.eye(3))})
    us = best_us(lambda: [gauge.clearance(np.zeros(7)) for _ in range(100)], 100)
    print(f'clearance of {kinova.name} with one box, {len(gauge.pairs)} pairs: {us:.1f} us')
    try:
        drake = DrakeBody(kinova)
    except SimulationError as error:
        print(error)
        return
    us = best_us(lambda: end_of(drake, kinova), PERIODS)
    difference = np.abs(end_of(drake, kinova) - end_of(RigidBody(kinova), kinova)).max()
    print(f'Drake: {us:.1f} us per period, differs by {difference:.1e} after a second')


if __name__ == '__main__':
    main()
