"""Identify what an arm holds from a recording (here a simulated one)."""

import safe_sysid as ss

ss.simulate_recording('recording.csv', 'kinova_gen3', payload='dumbbell_8lb')
result = ss.identify_payload('recording.csv', 'kinova_gen3')
print(result)
result.report('payload.html')
