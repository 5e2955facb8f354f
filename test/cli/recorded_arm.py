"""Recordings of the two-link arm with a payload, whose truth is known, as files."""

from dataclasses import dataclass, replace

from measure.bag.bags import Bag
import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model import inertia
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.excited_motion import fourier_motion, recorded, true_torque

TORQUE_RATIO = 0.025
LINKS = 0.05
PAYLOAD = inertia.from_mass_com_inertia(
    np.array(1.5), np.array([0.45, 0.01, 0.02]), np.diag([0.004, 0.006, 0.005])
)


@dataclass(frozen=True, eq=False)
class Trial:
    """What was recorded, and the truth."""

    model: RobotModel
    log: JointLog
    truth: Array  # (10,) of everything that the last joint moves


def trial(seconds=3.0, seed=3, period=0.002, payload=PAYLOAD):
    """Errors of links and torques within 5 % and 2.5 %."""
    rng = np.random.default_rng(seed)
    nominal = RobotModel.named('two_link')
    layout, theta = nominal.layout, nominal.theta.copy()
    theta[layout.rest] *= 1.0 + LINKS * 0.99 * rng.uniform(-1.0, 1.0, len(layout.rest))
    theta[layout.end_effector] += payload
    truth = nominal.with_parameters(theta)
    motion = fourier_motion(rng, 2, seconds, period, base=0.4)
    torque = true_torque(truth, motion)
    measured = torque / (1.0 + TORQUE_RATIO * rng.uniform(-1.0, 1.0, torque.shape))
    return Trial(nominal, recorded(motion, measured), theta[layout.end_effector])


def scaled(given, factor):
    return replace(given, log=replace(given.log, torque=factor * given.log.torque))


def as_bag(given, path, storage='mcap'):
    """The joints in another order than the arm has them."""
    bag, order = Bag(), [1, 0]
    names = [given.model.layout.joint_names[i] for i in order]
    log = given.log
    for i in range(len(log)):
        bag.add(
            log.stamp[i] + 1_700_000_000_000_000_000,
            names,
            *(x[i, order] for x in (log.position, log.velocity, log.torque)),
        )
    return bag.write(path, storage)


def as_table(given, path):
    log, names = given.log, given.model.layout.joint_names
    columns = [f'{n}.{what}' for what in ('position', 'velocity', 'effort') for n in names]
    rows = np.column_stack([log.stamp * 1e-9, log.position, log.velocity, log.torque])
    np.savetxt(path, rows, '%.17g', ',', header=','.join(['time', *columns]), comments='')
    return path
