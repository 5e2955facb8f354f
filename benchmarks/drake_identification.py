"""An arm in Drake, driven by a deliberately wrong model, is identified and judged on other motion.

A KUKA LBR Med 7 whose bodies, friction and rotors differ from the description follows Fourier
motions under computed torque with masses that are wrong by up to 30 %. Positions and torques of
the second period are recorded at 1 kHz with encoder and torque noise; velocities and accelerations
are computed from positions. Usage: python benchmarks/drake_identification.py [plot.svg]
"""

from pathlib import Path
import sys
import time

import numpy as np

from safe_sysid.bench.experiments.calibration import altered, motion_in_limits
from safe_sysid.calibrate.calibration import calibrate, consistency
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.log_cholesky_fit import log_cholesky_fit
from safe_sysid.calibrate.settings import CalibrationSettings
from safe_sysid.calibrate.torque_rows import torque_rows
from safe_sysid.calibrate.validation import torque_error
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.figures import Axes, line_plot
from safe_sysid.simulate.drake import DrakeBody

SEED, PERIOD, RATE = 4, 10.0, 1000.0
KP, KD = 400.0, 40.0  # [1/s^2], [1/s]
CREEP = 0.02  # [rad/s] Coulomb friction in the plant is Fc tanh(qd / creep)
ROTOR = 0.1  # [kg m^2] what the wrong model takes for the inertia of every rotor
ENCODER_NOISE = 2e-5  # [rad]
TORQUE_NOISE = np.array([0.3, 0.3, 0.3, 0.3, 0.1, 0.1, 0.1])  # [N m]


def wrong(model, rng) -> RobotModel:
    """The description, bodies up to 30 % too heavy or too light, equal rotors, no friction."""
    theta = model.theta.copy()
    for i in range(model.n):
        theta[model.layout.inertial(i)] *= rng.uniform(0.7, 1.3)
    theta[10 * model.n :] = 0.0
    theta[model.layout.joint_entries('Ia')] = ROTOR
    return model.with_parameters(theta)


def followed(truth, believed, motion) -> tuple[np.ndarray, np.ndarray]:
    """Positions and torques when computed torque with a believed model follows a motion."""
    body = DrakeBody(truth, CREEP)
    friction = believed.layout.friction(believed.theta)
    smooth = believed.theta.copy()
    smooth[believed.layout.joint_entries('Fc')] = 0.0
    q, qd = motion.q[0].copy(), motion.qd[0].copy()
    positions, torques = np.empty_like(motion.q), np.empty_like(motion.q)
    for k in range(len(motion.t)):
        wanted = motion.qdd[k] + KP * (motion.q[k] - q) + KD * (motion.qd[k] - qd)
        tau = standard_regressor(believed, q[None], qd[None], wanted[None])[0] @ smooth
        tau += friction[0] * np.tanh(motion.qd[k] / CREEP)  # of the wish: no chatter
        positions[k], torques[k] = q, tau
        q, qd = body.advance(q, qd, tau, 1.0 / RATE)
    return positions, torques


def recording(truth, believed, rng) -> tuple[EvenLog, float]:
    """Second of two periods with noise, and the rms tracking error [rad]."""
    motion = motion_in_limits(truth, rng, 2 * PERIOD, RATE)
    q, tau = followed(truth, believed, motion)
    second = slice(round(PERIOD * RATE), None)
    off = float(np.sqrt(np.mean((q - motion.q)[second] ** 2)))
    # a torque held for 1 ms acts half of that later than the position it belongs to
    acting = 0.5 * (tau[1:] + tau[:-1])
    acting = np.vstack([acting[:1], acting])
    noisy = acting + TORQUE_NOISE * rng.normal(size=tau.shape)
    seen = q + ENCODER_NOISE * rng.normal(size=q.shape)
    return EvenLog(RATE, seen[second], noisy[second]), off


def losses(found, model, rows) -> np.ndarray:
    """Mean of r' Sigma^-1 r along the path of the log-Cholesky fit; n where only noise is left."""
    path = log_cholesky_fit(found.fit.data, consistency(model, found.columns, found.settings)).path
    return np.array([np.mean(np.sum(((rows.tau - rows.Y @ x) / found.fit.sigma) ** 2, axis=1))
                     for x in path])  # fmt: skip


def main() -> None:
    """Print what was identified and how well it predicts; draw both losses if asked to."""
    rng = np.random.default_rng(SEED)
    model = RobotModel.named('lbr_med7')
    truth, believed = altered(model, rng), wrong(model, rng)
    begin = time.perf_counter()
    training, off = recording(truth, believed, rng)
    judged, _ = recording(truth, believed, rng)
    print(f'simulated 40 s in {time.perf_counter() - begin:.1f} s; tracking with the wrong model '
          f'{1e3 * off:.2f} mrad rms')  # fmt: skip
    begin = time.perf_counter()
    found = calibrate(model, [training], [judged], CalibrationSettings(creep=CREEP))
    print(f'identified in {time.perf_counter() - begin:.2f} s; refused: {found.refused}')
    rows = torque_rows(model, found.columns, judged, found.settings.cutoff)
    true_error = torque_error(rows, found.columns.nominal(truth.theta))
    wrong_error = torque_error(rows, found.columns.nominal(believed.theta))
    print('validation rms [N m], filtered at 10 Hz')
    for name, error in (
        ('wrong model', wrong_error), ('identified', found.validation), ('truth', true_error),
    ):  # fmt: skip
        print(f'  {name:<12}', '  '.join(f'{x:8.4f}' for x in error.rms))
    print(f'identified over truth: {found.validation.relative / true_error.relative:.3f}')
    identified = model.with_parameters(found.theta)
    _, off = recording(truth, identified, rng)
    print(f'tracking with the identified model {1e3 * off:.3f} mrad rms')
    fitted = torque_rows(model, found.columns, training, found.settings.cutoff)
    curves = {'training': losses(found, model, fitted), 'validation': losses(found, model, rows)}
    for name, curve in curves.items():
        print(f'{name} loss: {curve[0]:.3g} at the description, {curve[-1]:.3g} after '
              f'{len(curve) - 1} steps ({model.n} if only noise were left)')  # fmt: skip
    if len(sys.argv) > 1:
        steps = np.arange(len(curves['training']))
        axes = Axes('step of the log-Cholesky fit', 'loss', y_scale='log')
        line_plot(Path(sys.argv[1]), steps, curves, axes)


if __name__ == '__main__':
    main()
