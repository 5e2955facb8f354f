"""Arms with a known truth and rows of their simulated recordings, for tests of fits."""

import numpy as np

from safe_sysid.bench.experiments.calibration import altered, motion_in_limits, simulated_log
from safe_sysid.calibrate.excitation_quality import arm_base_parameters
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.calibrate.torque_rows import torque_rows
from safe_sysid.model.robot_model import RobotModel

CUTOFF = 10.0


class Simulated:
    """One recording of an altered arm, its rows, and what a perfect fit would find."""

    def __init__(self, robot, rng, seconds=20.0, rate=400.0):
        self.model = RobotModel.named(robot)
        self.truth = altered(self.model, rng)
        self.columns = FitColumns(self.model.layout, 0.003)
        self.base = arm_base_parameters(self.model, self.columns, rng)
        motion = motion_in_limits(self.model, rng, seconds, rate)
        self.log = simulated_log(self.truth, motion, rng)
        self.rows = torque_rows(self.model, self.columns, self.log, CUTOFF)
        self.x = self.columns.nominal(self.truth.theta)


def whitened(Y, tau, sigma):
    """Rows of unit variance, one below the other."""
    p = Y.shape[2]
    return (Y / sigma[:, None]).reshape(-1, p), (tau / sigma).ravel()


def rows_of(model, columns, rng, samples, sigma):
    """Rows at random states, with noise of `sigma` per joint, and the true factors."""
    q, qd, qdd = rng.uniform(-1.5, 1.5, size=(3, samples, model.n))
    Y = columns.regressor(model, q, qd, qdd)
    x = columns.nominal(model.theta)
    return Y, Y @ x + sigma * rng.normal(size=(samples, model.n)), x


def relative(a, b):
    """Difference over size."""
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))
