"""Plan a motion beside a shelf that is proven safe, and prove it again in another world."""

import safe_sysid as ss

goal = [0.4, 0.35, 0.2, 0.6, 2.8, 0.3, -1.0]  # [rad]
motion = ss.plan('kinova_gen3', goal=goal, world='shelf', payload='dumbbell_4lb')
print(motion)
motion.export('motion')
print('among nothing:', ss.certify(motion, world={}))
