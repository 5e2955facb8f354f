"""The Kinova as its encoders, its bus and its drives show and move it, at their stated worst.

Readings are rounded to the step of the encoder, a torque acts one period after its sample for one
period, drives err against r by all that is allowed, and all that is unknown is at its ends.
"""

from dataclasses import replace

import numpy as np

from safe_sysid.model.actuation import Actuation
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.signal_facts import SensingFacts
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm
from safe_sysid.track.described_sampling import described_sampling
from safe_sysid.track.gains import Gains

PERIOD = 0.001
START = np.array([-0.48, 0.05, -0.12, 0.17, 3.12, 0.13, -1.39])
SHARE, COULOMB, OFFSET = 0.01, 0.2, 0.05  # of every figure; [N m]; [N m]
V_M = 0.035


def described(**sensing):
    """The arm with a driver that waits for the next cycle, and drives to 1 %."""
    model = RobotModel.named('kinova_gen3')
    n = model.n
    drives = replace(
        Actuation.exact(n),
        ratio=np.full(n, 0.01),
        delay_periods=(1.0, 1.0),
    )
    facts = SensingFacts(**{'stamp_error': 0.0, 'zero_error': (0.0,)} | sensing)
    sensors = replace(model.sensors, sensing=facts)
    return replace(model, actuation=drives, sensors=sensors, gravity_tilt=0.0)


def known(model):
    spread = SHARE * np.abs(model.theta)
    spread[model.layout.joint_entries('Fc')] = COULOMB
    spread[model.layout.joint_entries('beta')] = OFFSET
    return ParameterEstimate(
        model.layout, model.theta, Interval(model.theta - spread, model.theta + spread)
    )


def gains_of(model):
    drives = model.actuation
    return Gains(np.full(model.n, 5.0), V_M, 1000.0, 0.05, 0.0, drives.absolute, drives.ratio)


def sampling_of(model):
    return described_sampling(model, PERIOD).sampling


def truth_of(model, rng):
    """Bodies that exist, friction and offsets, at ends of their bounds."""
    theta, n = model.theta.copy(), model.n
    for i in range(n):
        theta[model.layout.inertial(i)] *= 1.0 + SHARE * rng.choice([-1.0, 1.0])
    theta[10 * n :] *= 1.0 + SHARE * rng.choice([-1.0, 1.0], 4 * n)
    theta[model.layout.joint_entries('Fc')] = COULOMB
    theta[model.layout.joint_entries('beta')] = OFFSET * rng.choice([-1.0, 1.0], n)
    return model.with_parameters(theta * (1.0 - 1e-12) + model.theta * 1e-12)


class WorstArm:
    """A robot that reads in steps, acts late and errs against r of the plan in force."""

    def __init__(self, truth, start, sampling, gains, rng, late=0):
        self._arm = SimulatedArm(truth, start, rng, ArmSettings(PERIOD))
        self._step, self._gains, self._drives = sampling.step, gains, truth.actuation
        self._waiting = []
        self._lead = round(sampling.delay / PERIOD) + late
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
