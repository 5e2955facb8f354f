"""Torque regressors of a log: the compiled batch against Pinocchio called for every sample."""

import time

import numpy as np
import pinocchio as pin

from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel

SAMPLES, REPEATS = 5000, 7


def seconds(work) -> float:
    """Shortest time of several runs, after one to warm up."""
    work()
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def main() -> None:
    """Print microseconds per sample of both, their ratio, and how far they differ."""
    model = RobotModel.named('kinova_gen3')
    P = model.pinocchio()
    data = P.createData()
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, SAMPLES, model.n))

    def by_pinocchio():
        return np.array(
            [
                pin.computeJointTorqueRegressor(P, data, *state).copy()
                for state in zip(q, qd, qdd, strict=True)
            ]
        )

    ours = standard_regressor(model, q, qd, qdd)[:, :, : 10 * model.n]
    difference = np.abs(ours - by_pinocchio()).max()
    batch = seconds(lambda: standard_regressor(model, q, qd, qdd)) / SAMPLES * 1e6
    loop = seconds(by_pinocchio) / SAMPLES * 1e6
    print(f'batch {batch:.2f} us, Pinocchio in a loop {loop:.2f} us per sample')
    print(f'ratio {loop / batch:.1f}, largest difference of an entry {difference:.1e}')


if __name__ == '__main__':
    main()
