"""A Kinova that is read in steps and moved late, known well, as a robot that does its worst.

Readings are rounded to the step of the encoder, a torque acts one period after its sample for one
period, drives err against r by all that is allowed, and all that is unknown is at its ends. What
`bench/experiments/late_attack.py` does besides needs more of the tube than far ways leave.
"""

from dataclasses import replace

import numpy as np

from safe_sysid.bench.experiments.late_arm import PERIOD
from safe_sysid.model.actuation import Actuation
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.signal_facts import SensingFacts
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm

SHARE, COULOMB, OFFSET = 0.01, 0.2, 0.05  # of every figure; [N m]; [N m]
RATIO = 0.01  # of torques, by which drives are off


def seen_kinova():
    """Arm whose stamps, zeros and base are right, and whose delay is a period."""
    model = RobotModel.named('kinova_gen3')
    drives = replace(
        Actuation.exact(model.n),
        ratio=np.full(model.n, RATIO),
        delay_periods=(1.0, 1.0),
        jitter=0.0,
    )
    sensing = SensingFacts(stamp_error=0.0, zero_error=(0.0,))
    sensors = replace(model.sensors, sensing=sensing)
    return replace(model, actuation=drives, sensors=sensors, gravity_tilt=0.0)


def known_to_a_percent(model):
    """Bounds of a good calibration."""
    spread = SHARE * np.abs(model.theta)
    spread[model.layout.joint_entries('Fc')] = COULOMB
    spread[model.layout.joint_entries('beta')] = OFFSET
    bounds = Interval(model.theta - spread, model.theta + spread)
    return ParameterEstimate(model.layout, model.theta, bounds)


def truth_within(model, rng):
    """Arm whose bodies can exist, with all that is unknown at ends of these bounds."""
    n, theta = model.n, model.theta.copy()
    for i in range(n):
        theta[model.layout.inertial(i)] *= 1.0 + SHARE * rng.choice([-1.0, 1.0])
    theta[10 * n :] *= 1.0 + SHARE * rng.choice([-1.0, 1.0], 4 * n)
    theta[model.layout.joint_entries('Fc')] = COULOMB
    theta[model.layout.joint_entries('beta')] = OFFSET * rng.choice([-1.0, 1.0], n)
    return model.with_parameters(theta * (1.0 - 1e-12) + model.theta * 1e-12)


class WorstArm:
    """A robot that reads in steps, acts late and errs against r of the plan in force."""

    def __init__(self, truth, start, sampling, gains, rng):
        self._arm = SimulatedArm(truth, start, rng, ArmSettings(PERIOD))
        self._step, self._gains, self._drives = sampling.step, gains, truth.actuation
        self._waiting = []
        self._lead = round(sampling.delay / PERIOD)
        self.truths, self.torques = [], []
        self.plan = None

    @property
    def truth(self):
        return self._arm.truth

    def measure(self):
        truth = self._arm.truth
        q = self._step * np.rint(truth.position / self._step)
        return replace(truth, position=q)

    def attach(self, payload):
        self._arm.attach(payload)

    def coarsen(self, times):
        self._step = times * self._step

    def lose(self, samples):
        """Hold a torque for so many periods more, in which nobody is asked."""
        for _ in range(samples):
            self._arm.apply(self.torques[-1])

    def stand(self):
        self._arm.stand()

    def apply(self, torque):
        if not self._waiting:
            self._waiting = [torque] * self._lead
        self._waiting.append(torque)
        commanded = self._waiting.pop(0)
        truth = self._arm.truth
        self.truths.append(truth)
        self.torques.append(torque)
        acting = commanded - self._drives.error(commanded) * np.sign(self._r(truth))
        self._arm.apply(acting)

    def _r(self, truth):
        if self.plan is None:
            return np.zeros_like(truth.position)
        q_d, qd_d, _ = self.plan.desired(max(1e-9 * truth.stamp, self.plan.start_time))
        return qd_d - truth.velocity + self._gains.K_r * (q_d - truth.position)
