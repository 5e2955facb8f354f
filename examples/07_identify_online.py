"""Identify a payload sample by sample, as a driver delivers them."""

import numpy as np

import safe_sysid as ss

ss.simulate_recording('stream.csv', 'kinova_gen3', payload='dumbbell_6lb', motion=5.0)
stream = np.loadtxt('stream.csv', delimiter=',', skiprows=1)

with ss.OnlineIdentifier('kinova_gen3') as identifier:
    known = None
    for t, *row in stream:
        q, qd, tau = np.split(np.array(row), 3)
        estimate = identifier.step(t, q, qd, tau)
        if estimate is not known:
            known, bounds = estimate, estimate.end_effector_bounds
            print(f'{t:.2f} s: {bounds.lower[0]:.2f} to {bounds.upper[0]:.2f} kg')
    identifier.finish()
    print(f'at the end: {identifier.lower[0]:.2f} to {identifier.upper[0]:.2f} kg')
