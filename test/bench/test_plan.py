"""`safe-sysid bench plan` says what was agreed, and the figures of a small run are consistent."""

import pytest

from safe_sysid.bench.runner import run
from safe_sysid.bench.settings import BenchSettings

KEYS = {
    'starts',
    'certified_bare',
    'certified_conservative',
    'can_stand_still_bare',
    'can_stand_still_conservative',
    'first_plan_s_median',
    'first_plan_s_p95',
    'cpu_s_median',
    'budget_overruns',
    'recertify_ms',
    'falsified',
    'cond_Y',
    'cond_Y_random',
    'half_widths',
}


@pytest.mark.nightly
def test_a_small_run(tmp_path):
    figures = run(
        'plan', BenchSettings(trials=1, seed=0, quick=True, plots=tmp_path), lambda _: None
    )
    assert figures.keys() >= KEYS
    assert figures['starts'] == 3
    assert figures['certified_bare'] == figures['can_stand_still_bare']
    assert figures['falsified'] == 0
    assert figures['truth_outside'] == 0
    assert '56.7' in figures['torque_limits']
    for name, widths in figures['half_widths'].items():
        assert widths.shape == (10,)
        assert (tmp_path / f'widths_{name}.png').exists()
