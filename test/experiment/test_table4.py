"""Table IV: a window of one sample tells as much as the torque regressor does."""

import pytest

from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.stacking import table4
from safe_sysid.experiment.trial import result_of, row_of

WINDOWS = table4.WINDOWS


def made_up(base, of_torque, of_momentum):
    return {'base_hz': base, 'condition_W': of_torque} | {
        f'condition_Y_{h}': of_momentum for h in WINDOWS
    }


def test_a_correlation_is_of_the_motions_of_one_frequency():
    up = [made_up(0.5, float(i), 2.0 * i + 1.0) for i in range(4)]
    down = [made_up(2.0, float(i), -float(i)) for i in range(4)]
    (table,) = table4.tables(up + down)
    assert [row[1] for row in table.rows] == ['1.0000', '-1.0000', '1.0000']
    assert table.rows[-1][0] == 'theirs'


@pytest.mark.slow
def test_a_motion_comes_out_the_same():
    spec, *_ = table4.trials(ExperimentSettings(quick=True))
    once, again = (row_of(table4.trial, spec)[0] for _ in range(2))
    assert once['status'] == 'ok', once['reason']
    assert result_of(once) == result_of(again)
    assert once['condition_Y_1'] == pytest.approx(once['condition_W'], rel=0.1)
