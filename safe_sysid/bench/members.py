"""What `safe-sysid bench` can measure: name of a member -> module whose `run` measures it."""

MEMBERS = {
    'model': 'safe_sysid.bench.model',
    'identify': 'safe_sysid.bench.identify',
    'reach': 'safe_sysid.bench.reach',
    'track': 'safe_sysid.bench.track',
    'plan': 'safe_sysid.bench.plan',
    'ros': 'safe_sysid.bench.ros',
    'excite': 'safe_sysid.bench.excite',
    'calibrate': 'safe_sysid.bench.calibrate',
    'identifiability': 'safe_sysid.bench.identifiability',
    'falsify': 'safe_sysid.bench.falsify',
    'constrained': 'safe_sysid.bench.constrained',
}
FORMER = {'observability': 'identifiability'}  # names that are accepted until 0.2
