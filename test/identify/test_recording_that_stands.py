"""An arm that stands shows next to nothing of what it holds, and `identify` says just that."""

import numpy as np
import pinocchio as pin
import pytest
from tiers import slow_after

import safe_sysid as ss
from safe_sysid.errors import MeasurementError


def recorded(path, motion):
    """Recording of the two-link arm, its torques those of gravity."""
    arm = ss.load_arm('two_link').model
    model = arm.pinocchio()
    data = model.createData()
    t = 0.01 * np.arange(300)
    q = np.array([0.3, 0.3]) + motion * np.sin(0.5 * t)[:, None]
    tau = [pin.computeGeneralizedGravity(model, data, each) for each in q]
    header = 'time,q_0,q_1,tau_0,tau_1'
    table = np.column_stack([t, q, tau])
    np.savetxt(path, table, '%.17g', ',', header=header, comments='')
    return path


@pytest.mark.parametrize('motion', slow_after(1, [1e-5, 0.0]))
def test_of_an_arm_that_stands_it_is_said_that_nothing_moved(motion, tmp_path):
    found = ss.identify_payload(recorded(tmp_path / 'still.csv', motion), 'two_link')
    assert found.as_dict()['caution'].startswith('no joint moved by more than its readings err')
    assert 'times better' not in str(found)


def test_no_part_without_an_end_ends_at_infinity(tmp_path):
    path = recorded(tmp_path / 'still.csv', 0.5)
    with pytest.raises(MeasurementError, match=r'0 samples after 20 s; .* lasts 2\.990 s'):
        ss.identify_payload(path, 'two_link', ss.RecordingSettings(begin=20.0))
