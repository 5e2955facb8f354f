"""What `safe-sysid bench` can measure: name of a member -> module whose `run` measures it."""

MEMBERS = {
    'model': 'safe_sysid.report.bench_model',
    'identify': 'safe_sysid.report.bench_identify',
    'reach': 'safe_sysid.report.bench_reach',
    'track': 'safe_sysid.report.bench_track',
    'plan': 'safe_sysid.report.bench_plan',
    'ros': 'safe_sysid.report.bench_ros',
    'excite': 'safe_sysid.report.bench_excite',
    'calibrate': 'safe_sysid.report.bench_calibrate',
    'observability': 'safe_sysid.report.bench_observability',
    'constrained': 'safe_sysid.report.bench_constrained',
}
