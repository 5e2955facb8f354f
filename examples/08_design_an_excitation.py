"""Design an excitation trajectory and record the arm along it, in simulation."""

import safe_sysid as ss
from safe_sysid.excite.settings import Effort

effort = Effort(seconds=300.0, starts=1, processes=1, seed=1)  # the same on every machine
motion = ss.design_excitation('kinova_gen3', effort=effort)
print(motion)
motion.export('excitation')
ss.simulate_recording('excited.csv', 'kinova_gen3', motion=motion)
