"""Find out how heavy a payload may be before a certified motion is not certified any more."""

import numpy as np

import safe_sysid as ss
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.sets.interval import Interval

goal = [0.4, 0.35, 0.2, 0.6, 2.8, 0.3, -1.0]  # [rad]
motion = ss.plan('kinova_gen3', goal=goal, payload='dumbbell_4lb')
known = motion.loop.prior
place = known.layout.end_effector
for share in (1.0, 1.1, 1.3, 2.0):
    body = share * known.theta[place]  # heavier, of the same shape
    theta, lower, upper = known.theta.copy(), known.bounds.lower.copy(), known.bounds.upper.copy()
    theta[place], spread = body, 0.05 * np.abs(body)
    lower[place], upper[place] = body - spread, body + spread
    bounds = ParameterEstimate(known.layout, theta, Interval(lower, upper))
    print(f'{body[0]:.2f} kg: {ss.certify(motion, bounds=bounds)}')
