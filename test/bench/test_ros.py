"""The figures of round trips between processes come with the keys that are promised."""

import json
import subprocess
import sys

import pytest


@pytest.mark.nightly
def test_bench_ros_prints_what_it_measured():
    command = [sys.executable, '-m', 'safe_sysid.cli.main', 'bench', 'ros', '--quick', '--json']
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    perception = figures['perception']
    assert perception['boxes'] == 200
    assert perception['seconds_per_plan'] > 0.0
    assert sum(perception['searches'].values()) >= perception['plans']
    cost = perception['cost']
    assert cost['search_cpu_s'] < 2.0 * cost['search_cpu_s_one_box']
    assert 0.0 < cost['message_cpu_s'] < cost['search_cpu_s']
    for at_rate in (figures, figures['at_500_hz']):
        assert at_rate['samples'] >= 0.9 * at_rate['rate_hz'] * at_rate['seconds']
        trips = at_rate['round_trip_ms']
        assert 0.0 < trips['p50'] <= trips['p99'] <= trips['p999'] <= trips['max']
        assert 0 <= at_rate['late_cycles'] <= at_rate['samples']
        assert 0 <= at_rate['lost_samples'] <= at_rate['samples']
        assert set(at_rate['cpu_share']) == {
            'identifier',
            'planner',
            'controller',
            'supervisor',
            'builtin_sim_bridge',
        }
        assert all(share > 0.0 for share in at_rate['cpu_share'].values())
