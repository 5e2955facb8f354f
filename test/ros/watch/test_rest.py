"""An arm rests where its velocities or its positions say so, and not where it turns round."""

import numpy as np
import pytest

from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.plan.awaited_mode import AwaitedMode
from safe_sysid.ros.nodes.supervisor_node import SupervisorNodeSettings
from safe_sysid.ros.watch.rest import SETTLED, STANDING, Rest

SPEED = 0.02  # [rad/s]
STEP, PERIOD = 1e-3, 0.005  # [rad] of an encoder, [s]


def rests(position, velocity, seconds, is_simulated_time_still=False):
    """Whether an arm is taken to rest at any time of a motion, looked at every period."""
    rest, found = Rest(SPEED), []
    for now in np.arange(0.0, seconds, PERIOD):
        stamp = 0 if is_simulated_time_still else round(1e9 * now)
        q, qd = np.array([0.0, position(now)]), np.array([0.0, velocity(now)])
        rest.see(JointMeasurement(stamp, q, qd, np.zeros(2)), now)
        found.append(rest.is_still(now))
    return found


def test_an_arm_rests_whose_velocities_are_differences_of_encoder_steps():
    """It stands where its encoder changes between two steps, so that it never reads as slow."""
    reads = iter(STEP * (np.arange(1000) % 2))
    found = rests(lambda _: next(reads), lambda _: STEP / PERIOD, 2.0)
    assert found[-1]
    assert not any(found[: round(STANDING / PERIOD)])


@pytest.mark.parametrize('is_still', [False, True])
def test_an_arm_that_is_slow_rests_though_simulated_time_stands_still(is_still):
    found = rests(lambda _: 0.0, lambda _: 0.5 * SPEED, 1.0, is_still)
    assert found[-1]
    assert not any(found[: round(SETTLED / PERIOD)])


def test_an_arm_in_motion_does_not_rest_while_simulated_time_stands_still():
    assert not any(rests(lambda _: 0.0, lambda _: 0.3, 3.0, is_simulated_time_still=True))


@pytest.mark.parametrize('frequency', [0.1, 0.5, 1.0, 5.0, 10.1])
def test_an_arm_that_swings_never_rests_by_its_positions(frequency):
    """As slow as it may be where it turns round; velocities of no use."""
    amplitude = 1.01 * SPEED * SETTLED
    if frequency < 0.5:
        amplitude = 1.3 * SPEED * SETTLED / (1.0 - np.cos(np.pi * frequency * STANDING))
    found = rests(lambda t: amplitude * np.cos(2.0 * np.pi * frequency * t), lambda _: 1.0, 20.0)
    assert not any(found)


def test_a_sample_that_makes_no_sense_begins_it_anew():
    rest, still = Rest(SPEED), JointMeasurement(0, np.zeros(2), np.zeros(2), np.zeros(2))
    rest.see(still, 0.0)
    assert rest.is_still(1.0)
    rest.forget()
    assert not rest.is_still(1.0)


@pytest.mark.parametrize('share', [0.0, 0.5, 0.99, 1.01, 2.0])
def test_lockstep_waits_for_the_next_mode_just_where_the_supervisor_sees_rest(share):
    """Where it did not, how many samples there are until then would depend on the machine."""
    speed = SupervisorNodeSettings.rest_speed
    sample = JointMeasurement(0, np.zeros(2), np.array([0.0, share * speed]), np.zeros(2))
    rest = Rest(speed)
    rest.see(sample, 1.0)
    assert AwaitedMode().keeps(sample, is_done=True) == rest.is_still(1.0 + 1.01 * SETTLED)
