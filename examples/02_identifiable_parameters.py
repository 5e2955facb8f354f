"""Decide which inertial parameters torques can determine at all."""

import safe_sysid as ss

result = ss.identifiable_parameters('kinova_gen3')
print(result)
result.report('identifiable.html')
