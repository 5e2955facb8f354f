"""A joint that turns without end is followed through every turn, and no other joint is touched."""

import numpy as np

from safe_sysid.identify.from_recording import identification_problem
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.measure.recording import Samples, recording_of
from safe_sysid.measure.turns import TURN, Turns
from safe_sysid.model.arm import arm_of


def test_a_motion_reported_within_a_turn_comes_back_whole(rng):
    true = np.cumsum(rng.uniform(-3.0, 3.0, size=(400, 3)), axis=0)
    true -= true[0]
    reported = np.pi - np.mod(np.pi - true, TURN)
    turns = Turns(np.array([True, True, True]))
    seen = np.array([turns.step(q) for q in reported])
    assert np.abs(true).max() > 5.0 * TURN
    np.testing.assert_allclose(seen, true, rtol=0.0, atol=1e-10)


def test_a_position_that_does_not_jump_stays_to_the_last_bit(rng):
    turns = Turns(np.array([True, False]))
    for q in rng.uniform(-1.0, 1.0, size=(50, 2)):
        np.testing.assert_array_equal(turns.step(q), q)


def test_a_joint_with_ends_is_left_as_it_is():
    turns = Turns(np.array([False]))
    for q in (3.0, -3.0, 3.0):
        assert turns.step(np.array([q])) == q


def test_a_recording_that_was_reported_within_a_turn_is_identified_from_as_if_it_was_not(rng):
    arm = arm_of('kinova_gen3', None)
    t = 0.002 * np.arange(1500)[:, None]
    position = np.pi + 0.4 * np.sin(t * rng.uniform(1.0, 3.0, size=7))
    position[:, ~arm.model.limits.is_continuous] -= np.pi
    velocity, effort = np.gradient(position, 0.002, axis=0), rng.normal(size=position.shape)
    stamp = np.arange(len(t)) * 2_000_000
    logs = []
    for told in (position, np.pi - np.mod(np.pi - position, TURN)):
        samples = Samples(stamp, told, velocity, effort)
        recording = recording_of('a driver', arm.model.layout.joint_names, samples, ())
        logs.append(identification_problem(arm, recording, RecordingSettings()).log)
    for log in logs:
        assert np.abs(np.diff(log.position, axis=0)).max() < 0.1
    np.testing.assert_allclose(
        np.diff(logs[0].position, axis=0), np.diff(logs[1].position, axis=0), atol=1e-12
    )
