"""Recordings whose truth is known, and how much of the promised error the truth uses up."""

from dataclasses import replace

import numpy as np
import pinocchio as pin

from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.parameters import ratio_bounds
from safe_sysid.simulate.excited_motion import (
    SimulatedMotion,
    fourier_motion,
    recorded,
    true_torque,
)
from safe_sysid.simulate.random_arm import random_tree

EXACT = {
    'torque_ratio': (0.0,),
    'position_error': (0.0,),
    'velocity_error': (0.0,),
    'longest_step': 1.0,
}


def share_of_promise(observation, theta, layout):
    """|Y_e theta_e + Y_r theta_r - b| / delta of every row, in extended precision."""
    theta = theta.astype(np.longdouble)
    left = observation.Y_e.astype(np.longdouble) @ theta[layout.end_effector]
    left = left + observation.Y_r.astype(np.longdouble) @ theta[layout.rest]
    return np.abs(left - observation.b) / observation.delta


def near_bounds(model):
    """[theta] of an arm that is known to 1 %."""
    return ratio_bounds(model.theta, 0.01)


def exact(**settings):
    """Settings that promise exact measurements."""
    return ObservationSettings(**{**EXACT, **settings})


def smooth_arm(rng, n):
    """Chain without Coulomb friction, whose torque is as smooth as its motion."""
    model = random_tree(rng, n, serial=True, armature=0.3)
    theta = model.theta.copy()
    theta[model.layout.joint_entries('Fc')] = 0.0
    return model.with_parameters(theta)


def sliding_joint(rng, **parameters):
    """One joint that slides, without gravity; only the parameters named are not zero."""
    model = random_tree(rng, 1, serial=True)
    theta = np.zeros(14)
    for name, value in parameters.items():
        theta[model.layout.labels.index(f'j0.{name}')] = value
    tree = model.tree._replace(is_prismatic=np.array([True]), gravity=np.zeros(3))
    return replace(model, tree=tree).with_parameters(theta)


def smooth_recording(rng, model, seconds, period):
    """Exact recording of a smooth motion."""
    motion = fourier_motion(rng, model.n, seconds, period)
    return recorded(motion, true_torque(model, motion))


def jittered(rng, model, seconds, period):
    """Exact recording at uneven times: some samples of a recording four times as dense."""
    motion = fourier_motion(rng, model.n, seconds, period / 4)
    chosen = np.cumsum(rng.integers(1, 8, size=len(motion.t)))
    chosen = chosen[chosen < len(motion.t)]
    part = SimulatedMotion(*(array[chosen] for array in motion))
    return recorded(part, true_torque(model, part))


def held_recording(rng, model, torque, period):
    """Exact recording of an arm whose torque (N, n) is constant between samples."""
    Fc, Fv, _, beta = model.layout.friction(model.theta)
    if Fc.any():
        raise ValueError('Coulomb friction is not smooth enough for Runge-Kutta')
    rigid = model.pinocchio()
    data = rigid.createData()

    def slope(state, tau):
        q, qd = state
        return np.array([qd, pin.aba(rigid, data, q, qd, tau - Fv * qd - beta)])

    states = [np.array([rng.normal(size=model.n), np.zeros(model.n)])]
    for tau in torque[:-1]:
        states.append(runge_kutta(slope, states[-1], tau, period, 4))
    q, qd = np.swapaxes(np.array(states), 0, 1)
    stamp = np.arange(len(torque)) * round(period * 1e9)
    return JointLog(stamp, q, qd, torque)


def runge_kutta(slope, state, tau, period, steps):
    """State after a period of constant torque, classical fourth order."""
    h = period / steps
    for _ in range(steps):
        a = slope(state, tau)
        b = slope(state + h / 2 * a, tau)
        c = slope(state + h / 2 * b, tau)
        d = slope(state + h * c, tau)
        state = state + h / 6 * (a + 2 * b + 2 * c + d)
    return state
