"""A loop that comes with the package runs with certificates for late readings, without ROS."""

import numpy as np
import pytest

import safe_sysid as ss
from safe_sysid.api.loop_file import read_loop, read_simulated_loop
from safe_sysid.share import share_directory
from safe_sysid.track.seen_law import LONGER
from safe_sysid.track.sensed_passivity import SensedPassivityController

LOOPS = share_directory() / 'config' / 'described'
TASKS = {
    'two_link': ([-1.0, 0.5], 5.0),
    'kinova_gen3': ([0.4, 0.35, 0.2, 0.6, 2.8, 0.3, -1.0], 12.0),
}


def test_it_takes_the_two_link_arm_as_it_is_described():
    sampling = read_loop(ss.load_arm('two_link'), LOOPS / 'two_link.yaml').sampling
    assert sampling.age == pytest.approx(LONGER * 0.001)
    np.testing.assert_allclose(sampling.step, 1e-4)


def test_it_takes_the_kinova_as_it_is_described_and_assumes_the_rest_of_a_simulated_one():
    arm, path = ss.load_arm('kinova_gen3'), LOOPS / 'kinova_gen3.yaml'
    loop = read_simulated_loop(arm, path)
    real, simulated = read_loop(arm, path).sampling, loop.sampling
    np.testing.assert_allclose(simulated.step, loop.model.sensors.encoder_resolution)
    assert simulated.delay == real.delay == 0.001
    assert (real.jitter, real.bias, real.slow) == (0.0005, 0.0, 0.002)
    assert simulated.jitter + simulated.bias == pytest.approx(0.0005)
    assert simulated.jitter == 2e-5 and simulated.slow == 0.0


@pytest.mark.nightly
@pytest.mark.parametrize('arm', TASKS)
def test_it_moves_to_its_goal_within_its_bounds(monkeypatch, arm):
    """Errors are those of the plans, no promise is broken, and V is below V_M where it is seen."""
    (goal, seconds), seen, step = TASKS[arm], [], SensedPassivityController.step
    path = LOOPS / f'{arm}.yaml'

    def watched(self, *rest):
        torque = step(self, *rest)
        seen.append(self.least_energy)
        return torque

    monkeypatch.setattr(SensedPassivityController, 'step', watched)
    run = ss.simulate(arm, loop=path, seconds=seconds, goal=np.array(goal))
    record = run.record
    assert not record.fault
    assert len(seen) >= 2000
    assert max(seen) <= read_simulated_loop(ss.load_arm(arm), path).gains.V_M
    assert np.all(np.abs(record.error) <= record.error_bound)
    np.testing.assert_allclose(record.q[-1], goal, atol=0.02)
