"""Let a simulated arm learn what it holds while every motion is certified."""

import safe_sysid as ss

run = ss.simulate('kinova_gen3', payload='dumbbell_8lb', seconds=5.0)
print(run)
run.report('run.html')
