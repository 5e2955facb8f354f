"""Nonlinear MPC in CasADi and Ipopt whose model improves while the arm learns what it holds.

Runs with a dumbbell of 3.6 kg in the hand: the model believes that the hand is empty; it knows
what is held; it begins as the first and takes every new estimate, the nominal values for the model
and the interval for a torque margin. No run builds its controller again: theta and the margin are
parameters. Where Drake is installed, its simulator has the last word.
"""

from importlib.util import find_spec

import casadi as cs
import numpy as np

import safe_sysid as ss
from safe_sysid.identify.from_recording import RecordingSettings
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.drake import DrakeBody
from safe_sysid.simulate.rigid_body import RigidBody
from safe_sysid.simulate.simulated_arm import ArmSettings, SimulatedArm

ARM, PAYLOAD, SECONDS = 'kinova_gen3', 'dumbbell_8lb', 4.0
PERIOD = 0.005  # [s] of torque; the controller plans anew at every REPLAN-th of them
REPLAN, STEPS, STEP = 8, 5, 0.04  # steps of the horizon, of so many seconds
WIDTH = 0.05  # [rad/s] in which the sign of friction changes in the model
START = np.array([-0.48, 0.05, -0.12, 0.17, 3.12, 0.13, -1.39])  # [rad] upright
SWING = np.array([0.5, 0.15, 0.5, 0.25, 0.6, 0.4, 0.6])  # [rad], within torque limits less MOST
RATE = np.pi  # [rad/s]
MOST = 0.03  # of the torque limits is left unused at most, however little is known
KNOWN = RecordingSettings(
    known_links=(0.02, 0.0), known_friction=0.05, payload_mass=6.0, payload_reach=0.25,
    torque_ratio=(0.005,), position_error=(0.0,), velocity_error=(0.0,),
    torque_signal='held_until',
)  # fmt: skip


def reference(t):
    """Position and velocity that are wanted."""
    return START + SWING * (1.0 - np.cos(RATE * t)) / 2.0, SWING * RATE * np.sin(RATE * t) / 2.0


def controller(model):
    """Return a solver: accelerations that track, with torques of theta within their limits."""
    n, limit = model.n, model.arm.limits.torque
    a = cs.MX.sym('a', n, STEPS)
    q0, qd0, wanted = cs.MX.sym('q', n), cs.MX.sym('qd', n), cs.MX.sym('wanted', 2 * n, STEPS)
    theta, margin = cs.MX.sym('theta', 14 * n), cs.MX.sym('margin', n)
    q, qd, cost, torques = q0, qd0, 0, []
    for k in range(STEPS):
        torques.append(model.smooth_inverse_dynamics(q, qd, a[:, k], theta, WIDTH))
        q, qd = q + STEP * qd + 0.5 * STEP**2 * a[:, k], qd + STEP * a[:, k]
        cost += cs.sumsqr(q - wanted[:n, k]) + 0.02 * cs.sumsqr(qd - wanted[n:, k])
        cost += 1e-7 * cs.sumsqr(a[:, k])
    room = cs.repmat(limit - margin, STEPS)
    tau = cs.vertcat(*torques)
    problem = {
        'x': cs.vec(a),
        'p': cs.vertcat(q0, qd0, cs.vec(wanted), theta, margin),
        'f': cost,
        'g': cs.vertcat(room - tau, room + tau),
    }
    quiet = {'print_time': False, 'ipopt': {'print_level': 0, 'sb': 'yes', 'max_iter': 20}}
    return cs.nlpsol('mpc', 'ipopt', problem, quiet)


def margin_of(model, estimate, q, qd):
    """Torque that parameters inside their interval may add, about the state of now, (n,)."""
    W = np.abs(model.standard_regressor(q, qd, np.zeros(model.n)).full())
    spread = np.maximum(estimate.bounds.upper - estimate.theta,
                        estimate.theta - estimate.bounds.lower)  # fmt: skip
    return np.minimum(W @ spread, MOST * model.arm.limits.torque)


def tracked(model, solver, estimate_of, simulator):
    """Follow the reference and return the errors, (samples, n) [rad]."""
    truth = ss.casadi_model(ARM, PAYLOAD).arm
    robot = SimulatedArm(truth, START, np.random.default_rng(1), ArmSettings(PERIOD), simulator)
    errors, plan = [], np.zeros(model.n * STEPS)
    for number in range(round(SECONDS / PERIOD)):
        sample, t = robot.measure(), number * PERIOD
        estimate = estimate_of(t, sample)
        if number % REPLAN == 0:
            ahead = [np.concatenate(reference(t + (k + 1) * STEP)) for k in range(STEPS)]
            margin = margin_of(model, estimate, sample.position, sample.velocity)
            p = np.concatenate([sample.position, sample.velocity, *ahead, estimate.theta, margin])
            found = solver(x0=plan, p=p, lbg=0.0)
            plan = found['x'].full()[:, 0]
        state = sample.position, sample.velocity, plan[: model.n]
        torque = model.smooth_inverse_dynamics(*state, estimate.theta, WIDTH)
        robot.apply(torque.full()[:, 0])
        errors.append(robot.measure().position - reference(t + PERIOD)[0])
    return np.array(errors)


def while_learning(model, solver, simulator):
    """Errors of a run that takes new bounds at the end of every half second."""
    with ss.OnlineIdentifier(ARM, KNOWN, PERIOD) as identifier:

        def learned(t, sample):
            now = identifier.step(t, sample.position, sample.velocity, sample.torque)
            return identifier.finish() if round(t / PERIOD) % 100 == 99 else now

        return tracked(model, solver, learned, simulator)


def main():
    """Print the error of each run."""
    model, held = ss.casadi_model(ARM), ss.casadi_model(ARM, PAYLOAD)
    solver, layout = controller(model), model.arm.layout
    wrong, right = (
        ParameterEstimate(layout, theta, Interval(theta, theta))
        for theta in (model.theta, held.theta)
    )
    runs = {
        'wrong: an empty hand': lambda: tracked(model, solver, lambda *_: wrong, RigidBody),
        'nominal: what is held': lambda: tracked(model, solver, lambda *_: right, RigidBody),
        'identified meanwhile': lambda: while_learning(model, solver, RigidBody),
    }
    if find_spec('pydrake'):
        runs['identified, in Drake'] = lambda: while_learning(model, solver, DrakeBody)
    print(f'{"payload of the model":24} all of {SECONDS:g} s   the last second')
    for name, run in runs.items():
        squares = 1e6 * run() ** 2
        whole, last = (np.sqrt(x.mean()) for x in (squares, squares[-round(1 / PERIOD) :]))
        print(f'{name:24} {whole:6.2f} mrad   {last:6.2f} mrad')


main()
