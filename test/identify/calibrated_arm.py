"""Rows of the calibration of an arm whose links are not as described, with errors of a promise."""

from dataclasses import replace

import numpy as np

from safe_sysid.bench.experiments.calibration import motion_in_limits
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.identify.calibrated_rows import calibrated_rows
from safe_sysid.identify.difference.friction_terms import FrictionTerms
from safe_sysid.identify.difference.guaranteed import Promise
from safe_sysid.identify.difference.guaranteed_friction import factor_of
from safe_sysid.identify.difference.link_rows import link_rows
from safe_sysid.identify.difference.rows import rows_of, stretch_of
from safe_sysid.identify.difference.shared_fit import payload_prior, shared_fit
from safe_sysid.identify.difference.spectral_blocks import spectral_blocks
from safe_sysid.identify.momentum_observation import ObservationSettings, observe
from safe_sysid.identify.payload_estimator import PayloadEstimator, SolveSettings
from safe_sysid.model.arm_knowledge import ArmKnowledge
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.promised_links import CalibratedArm
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.excited_motion import recorded, true_torque

MASS, REACH = 1.0, 0.3  # [kg] and [m] of a payload at most
BODY = np.array([0.5, 0.1, 0.0, 0.0, *(0.001, 0.0, 0.021, 0.0, 0.0, 0.021)])
BLOCK = 5.0  # [s]
NEARLY = 0.9  # of the promise
RATIO = 0.005  # error of torques in the loop, as a share
NEVER = 1e4  # [s] no solve is cut short where a machine is busy
SETTINGS = ObservationSettings(
    window=100,
    longest_step=0.0015,
    position_error=(0.0,),
    velocity_error=(0.0,),
    torque_ratio=(RATIO,),
)


class CalibratedArmCase:
    """An arm within its prior, its calibration, and what it measures with a payload."""

    def __init__(self, rng, robot='two_link', seconds=40.0):
        self.rng, self.model = rng, RobotModel.named(robot)
        layout = self.model.layout
        known = ArmKnowledge(0.05, 0.0, 0.05).bounds(self.model)
        self.hand = known[layout.end_effector]
        share = rng.uniform(0.05, 0.95, layout.size)
        self.theta = known.lower + share * (known.upper - known.lower)
        largest = np.array([MASS, *(MASS * REACH,) * 3, *(MASS * REACH**2,) * 6])
        least = np.where(np.isin(np.arange(10), [0, 4, 6, 9]), 0.0, -largest)
        lower, upper = known.lower.copy(), known.upper.copy()
        lower[layout.end_effector] += least
        upper[layout.end_effector] += largest
        self.prior = ParameterEstimate(layout, self.model.theta, Interval(lower, upper))
        held = self.theta.copy()
        held[layout.end_effector] += BODY
        self.loaded = self.model.with_parameters(held)
        motion = motion_in_limits(self.model, rng, seconds, 100.0)
        nothing = EvenLog(100.0, motion.q, np.zeros_like(motion.q))
        stretch = stretch_of(self.model, nothing, 5.0, 0, loaded=False)
        self.rows = rows_of(self.model, [stretch], FrictionTerms())
        self.rows = replace(self.rows, counts=np.ones_like(self.rows.counts))
        self.blocks = spectral_blocks(self.rows, BLOCK)
        size = 0.01 * np.sqrt(np.mean((self.rows.Y @ self.theta) ** 2, axis=0))
        K = len(self.blocks.transform)
        self.promise = Promise(np.broadcast_to(size, (K, len(size))), len(self.blocks.rows), BLOCK)
        self.factor = factor_of(self.promise)

    @property
    def truth(self):
        """theta_e with the payload."""
        return self.loaded.theta[self.model.layout.end_effector]

    def at_random(self):
        """Signs of errors."""
        return self.rng.choice([-1.0, 1.0], (len(self.blocks.rows), *self.promise.delta.shape))

    def along(self, entry):
        """Signs of what an entry of theta does, the worst for it."""
        pull = self.blocks.of(self.rows.Y[:, :, entry])
        return np.sign(pull) + (pull == 0.0)

    def links(self, signs, theta=None, felt=None, gain=1.0, size=NEARLY):
        """Rows of a calibration with these errors; of another arm; as a sensor feels it."""
        theta = self.theta if theta is None else theta
        torque = self.rows.Y @ (theta if felt is None else theta * felt)
        for block, of_block in zip(self.blocks.rows, signs, strict=True):
            error = size * self.factor * of_block * self.promise.delta
            torque[block] += self.blocks.transform.T @ error
        rows = replace(self.rows, tau=torque / gain)
        fit = shared_fit(rows, payload_prior(MASS, REACH, 0.1), 1e-6)
        return link_rows(self.blocks, rows, fit, self.promise, self.factor)

    def log(self, seconds):
        """What the loop measures while the payload is held, errors of torques at random."""
        motion = motion_in_limits(self.model, self.rng, seconds, 1000.0)
        torque = true_torque(self.loaded, motion)
        read = torque / (1.0 + RATIO * self.rng.uniform(-1.0, 1.0, torque.shape))
        return recorded(motion, read)

    def measured(self, seconds):
        """Rows of that."""
        return observe(self.model, self.prior.bounds, SETTINGS, self.log(seconds))

    def estimator(self, links=None, errors=None, **settings):
        """What computes bounds; with what a calibration knows, if given."""
        chosen = SolveSettings(seconds=NEVER, fit_seconds=NEVER, **settings)
        estimator = PayloadEstimator(self.model, self.prior, chosen)
        if links is not None:
            torques = SETTINGS.torques(self.model) if errors is None else errors
            arm = CalibratedArm(links, self.hand)
            estimator.calibrate(calibrated_rows(arm, self.prior, torques, chosen.earlier_rows))
        return estimator

    def solution(self, measured, links=None, errors=None, **settings):
        """Bounds from rows of the loop."""
        estimator = self.estimator(links, errors, **settings)
        estimator.add(measured)
        return estimator.solve()


def holds(solution, truth):
    """Whether bounds contain the truth; a contradiction says that they do not."""
    return solution.contradiction is None and solution.bounds.contains(truth)
