"""Identify what an arm holds from recordings with and without it (here simulated ones)."""

import safe_sysid as ss

ss.simulate_recording('empty.csv', 'kinova_gen3', seed=2)
ss.simulate_recording('loaded.csv', 'kinova_gen3', payload='dumbbell_8lb')
result = ss.identify_payload('loaded.csv', 'kinova_gen3', empty=['empty.csv'])
print(result)
result.report('payload.html')
