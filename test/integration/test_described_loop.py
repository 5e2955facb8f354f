"""A loop that comes with the package runs with certificates for late readings, without ROS."""

import numpy as np
import pytest

import safe_sysid as ss
from safe_sysid.api.loop_file import read_loop
from safe_sysid.share import share_directory
from safe_sysid.track.sensed_passivity import SensedPassivityController

LOOP = share_directory() / 'config' / 'described' / 'two_link.yaml'


def test_it_takes_the_arm_as_it_is_described():
    sampling = read_loop(ss.load_arm('two_link'), LOOP).sampling
    assert sampling.age == pytest.approx(0.001)
    np.testing.assert_allclose(sampling.step, 1e-4)


@pytest.mark.nightly
def test_it_learns_and_moves_within_its_bounds(monkeypatch):
    """Errors are those of the plans, no promise is broken, and V is below V_M where it is seen."""
    seen, step = [], SensedPassivityController.step

    def watched(self, *rest):
        torque = step(self, *rest)
        seen.append(self.least_energy)
        return torque

    monkeypatch.setattr(SensedPassivityController, 'step', watched)
    run = ss.simulate('two_link', loop=LOOP, seconds=5.0, goal=np.array([-1.0, 0.5]))
    record = run.record
    assert not record.fault
    assert len(seen) >= 2000
    assert max(seen) <= 0.04
    assert np.all(np.abs(record.error) <= record.error_bound)
    np.testing.assert_allclose(record.q[-1], [-1.0, 0.5], atol=0.02)
