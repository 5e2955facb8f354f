"""Motions of simulated bodies under torque that is held, for the tests beside."""

import numpy as np


def without_coulomb(model, times=0.0):
    """The same arm with its Coulomb friction multiplied."""
    theta = model.theta.copy()
    theta[model.layout.joint_entries('Fc')] *= times
    return model.with_parameters(theta)


def sines(rng, n, periods, seconds, amplitude):
    """Torque of every period, (periods, n)."""
    t = seconds * np.arange(periods)
    return amplitude * np.sin(np.outer(t, rng.uniform(3.0, 20.0, size=n)))


def motion(body, q, qd, torques, seconds):
    """States at the ends of all periods, (periods + 1, 2, n)."""
    states = [np.array([q, qd])]
    for torque in torques:
        states.append(np.array(body.advance(*states[-1], torque, seconds)))
    return np.array(states)
