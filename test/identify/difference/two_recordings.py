"""Recordings of an arm that is not as described, empty and with a payload, with a known truth."""

import itertools

import numpy as np

from safe_sysid.bench.experiments.calibration import altered, motion_in_limits
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.identify.difference.against_empty import DifferenceProblem
from safe_sysid.identify.difference.friction_choice import FrictionChoice
from safe_sysid.identify.difference.friction_terms import FrictionTerms
from safe_sysid.model import inertia
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.excited_motion import SimulatedMotion

PAYLOAD = inertia.from_mass_com_inertia(
    np.array(1.5), np.array([0.2, 0.01, 0.02]), np.diag([0.004, 0.006, 0.005])
)
PLAIN = FrictionChoice(FrictionTerms(), 0.0, ())
RATE = 100.0


def coloured(rng, shape, seconds):
    """Noise of variance 1 that is correlated over some seconds."""
    keep = np.exp(-1.0 / (seconds * RATE)) if seconds > 0.0 else 0.0
    noise = rng.normal(size=shape)
    for i in range(1, len(noise)):
        noise[i] = keep * noise[i - 1] + np.sqrt(1.0 - keep**2) * noise[i]
    return noise


class TwoLinks:
    """An altered two-link arm whose friction may grow with its load."""

    def __init__(self, rng, load_friction=0.0, noise=0.02, correlated=0.3):
        self.model = RobotModel.named('two_link')
        self.truth = altered(self.model, rng)
        self.rng, self.load_friction = rng, load_friction
        self.noise, self.correlated = noise, correlated

    def log(self, payload, seconds=30.0):
        """What is recorded of a random motion."""
        return self.log_of(motion_in_limits(self.truth, self.rng, seconds, RATE), payload)

    def log_of_joint_1(self, payload, seconds=30.0):
        """What is recorded while joint 2 stands, held by dry friction as it may be."""
        motion = motion_in_limits(self.truth, self.rng, seconds, RATE)
        q = motion.q * [1.0, 0.0] + [0.0, 0.4]
        log = self.log_of(
            SimulatedMotion(motion.t, q, motion.qd * [1.0, 0.0], motion.qdd * [1.0, 0.0]), payload
        )
        coulomb = self.truth.theta[self.truth.layout.joint_entries('Fc')]
        log.tau[:, 1] += coulomb[1] * self.rng.uniform(-1.0, 1.0)
        return log

    def log_in_phase(self, payload, seconds=30.0):
        """What is recorded while both joints move along one line, with their own time."""
        t = np.arange(round(seconds * RATE)) / RATE
        phase, way = self.rng.uniform(0.0, 6.0), np.array([0.7, -0.5])
        rates = 2.0 * np.pi * np.array([[0.13], [0.31]])
        sines = np.array([np.sin(rates * t + phase), rates * np.cos(rates * t + phase)])
        q, qd = np.array([1.0, 0.3]) @ sines
        qdd = np.array([1.0, 0.3]) @ (-(rates**2) * sines[0])
        return self.log_of(SimulatedMotion(t, *(x[:, None] * way for x in (q, qd, qdd))), payload)

    def log_from_pose_to_pose(self, payload, poses):
        """What is recorded of moves of 2 s and rests as long, where friction is anything."""
        share = np.arange(round(2.0 * RATE)) / (2.0 * RATE)
        moves = (10.0 - 15.0 * share + 6.0 * share**2) * share**3
        ways = [
            np.concatenate([a + (b - a) * moves[:, None], np.tile(b, (len(moves), 1))])
            for a, b in itertools.pairwise(poses)
        ]
        q = np.concatenate(ways)
        qd = np.gradient(q, 1.0 / RATE, axis=0)
        motion = SimulatedMotion(
            np.arange(len(q)) / RATE, q, qd, np.gradient(qd, 1.0 / RATE, axis=0)
        )
        log = self.log_of(motion, payload)
        coulomb = self.truth.theta[self.truth.layout.joint_entries('Fc')]
        for i in range(len(ways)):
            rest = slice((2 * i + 1) * len(moves), (2 * i + 2) * len(moves))
            log.tau[rest] += coulomb * self.rng.uniform(-1.0, 1.0, 2)
        return log

    def log_of(self, motion, payload):
        """What is recorded of a motion."""
        theta, n = self.truth.theta.copy(), self.truth.n
        theta[self.truth.layout.end_effector] += payload
        W = standard_regressor(self.truth, motion.q, motion.qd, motion.qdd)
        bodies = W[:, :, : 10 * n] @ theta[: 10 * n]
        friction = self.load_friction * np.abs(bodies) * np.tanh(motion.qd / 0.01)
        tau = W @ theta + friction
        size = self.noise * np.sqrt(np.mean(tau**2, axis=0))
        return EvenLog(RATE, motion.q, tau + size * coloured(self.rng, tau.shape, self.correlated))

    def problem(self, loaded, empty, friction=PLAIN, gain_error=0.0):
        """Compare one log with others."""
        return DifferenceProblem(
            self.model, [loaded], [[log] for log in empty], ('tool', np.eye(10), 0.0), 5.0, 0.5,
            np.full(2, gain_error), 0.1, 0.95, unit_is_stated=True, friction=friction,
        )  # fmt: skip
