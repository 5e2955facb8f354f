"""The Kinova of `bench/experiments/late_arm.py` as a robot that does its worst.

Readings are rounded to the step of the encoder, a torque acts one period after its sample for one
period, drives err against r by all that is allowed, and all that is unknown is at its ends.
"""

from dataclasses import replace

import numpy as np

from safe_sysid.bench.experiments.late_arm import PERIOD
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm


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
