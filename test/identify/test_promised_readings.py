"""What a recording is promised where nobody states the errors of its velocities."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.errors import MeasurementError
from safe_sysid.identify.from_recording import (
    ASSUMED,
    identification_problem,
    identify_recording,
    in_si,
    nobody_stated,
)
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.measure.recording import Samples, recording_of
from safe_sysid.measure.recording_choice import RecordingChoice
from safe_sysid.model.arm import arm_of
from safe_sysid.model.sensing import reading_errors
from safe_sysid.model.signal_facts import VelocityFacts

PERIOD = 0.001  # [s]
STEP = 3.49e-4  # [rad] of the Kinova's encoders


def central(told):
    return np.gradient(told, PERIOD, axis=0)


def backward(told):
    return np.diff(told, axis=0, prepend=told[:1] - (told[1] - told[0])) / PERIOD


@pytest.mark.parametrize('differences', [central, backward])
def test_velocities_made_of_the_positions_are_not_taken_for_exact(differences):
    arm = arm_of('kinova_gen3', None)
    t = PERIOD * np.arange(2000)
    rate = np.linspace(1.0, 3.0, 7)
    q, qd = 0.5 * np.sin(np.outer(t, rate)), 0.5 * rate * np.cos(np.outer(t, rate))
    told = STEP * np.round(q / STEP)
    velocity = differences(told)
    stamp = np.round(t * 1e9).astype(np.int64)
    samples = Samples(stamp, told, velocity, np.zeros_like(told))
    recording = recording_of('made up', arm.model.layout.joint_names, samples, ())
    problem = identification_problem(arm, recording, RecordingSettings())
    promised = np.array(problem.observation.velocity_error)
    assert (np.abs(velocity - qd)[1:-1].max(axis=0) <= promised).all()


def slow_recording(arm):
    t = PERIOD * np.arange(2000)
    rate = np.linspace(1.0, 3.0, arm.model.n)
    q, qd = 0.5 * np.sin(np.outer(t, rate)), 0.5 * rate * np.cos(np.outer(t, rate))
    samples = Samples(np.round(t * 1e9).astype(np.int64), q, qd, np.zeros_like(q))
    return recording_of('made up', arm.model.layout.joint_names, samples, ())


@pytest.mark.parametrize('stated', [None, (1e-4,)])
def test_backlash_stamps_and_zeros_that_are_stated_are_part_of_positions(stated):
    arm = arm_of('kinova_gen3', None)
    sensing = replace(arm.model.sensors.sensing, position_error=stated, backlash=None)
    more = replace(sensing, backlash=(0.03,), stamp_error=0.002, zero_error=(0.01,))
    found = []
    for each in (replace(sensing, stamp_error=None), more):
        model = replace(arm.model, sensors=replace(arm.model.sensors, sensing=each))
        chosen = replace(arm, model=model)
        found.append(identification_problem(chosen, slow_recording(chosen), RecordingSettings()))
    before, after = (np.array(each.observation.position_error) for each in found)
    V = arm.model.limits.velocity
    np.testing.assert_allclose(after - before, 0.015 + 0.002 * V, rtol=1e-9)
    assert set(found[1].observation.zero_error) == {0.01}
    given = RecordingSettings(position_error=(0.001,))  # of all causes
    problem = identification_problem(chosen, slow_recording(chosen), given)
    assert set(problem.observation.position_error) == {0.001}


LATE = VelocityFacts(source='driver', lag=0.05)


def stating(**facts):
    arm = arm_of('kinova_gen3', None)
    sensors = arm.model.sensors
    sensing = replace(sensors.sensing, **{'velocity': None, 'velocity_error': None} | facts)
    model = replace(arm.model, sensors=replace(sensors, sensing=sensing))
    return replace(arm, model=model)


@pytest.mark.parametrize(
    ('facts', 'said'),
    [
        ({'velocity': LATE}, 'by the causes that sensing.velocity'),
        ({'velocity': LATE, 'stamp_error': None}, 'stamps assumed within 0.1 ms'),
        ({'velocity_error': (0.5,)}, 'as sensing.velocity_error'),
    ],
)
def test_what_the_file_of_the_arm_states_of_velocities_counts_in_a_recording(facts, said):
    arm = stating(**facts)
    problem = identification_problem(arm, slow_recording(arm), RecordingSettings())
    promised = np.array(problem.observation.velocity_error)
    np.testing.assert_allclose(promised, reading_errors(arm.model, PERIOD).velocity)
    assert said in problem.velocity_source
    assert not any('velocities are off' in each for each in problem.sensing)


@pytest.mark.parametrize('every', [1, 5, 10])
def test_differences_of_a_driver_that_was_faster_than_the_recording_are_bounded(every):
    """Of coarse encoders: what their settings say at the period of the recording is too little."""
    arm = stating(velocity=VelocityFacts())
    step, n = 2 * np.pi / 4096, arm.model.n
    sensors = replace(arm.model.sensors, encoder_resolution=np.full(n, step))
    arm = replace(arm, model=replace(arm.model, sensors=sensors))
    whole = slow_recording(arm)
    read = step * np.round(whole.position / step)
    told = backward(read)
    thinned = replace(
        whole,
        stamp=whole.stamp[::every],
        position=read[::every],
        velocity=told[::every],
        effort=whole.effort[::every],
        timing=replace(whole.timing, period=every * PERIOD),
    )
    problem = identification_problem(arm, thinned, RecordingSettings())
    off = np.abs(told - whole.velocity)[::every][1:].max(axis=0)
    assert (problem.observation.velocity_error >= off).all()
    assert any('how far apart the positions are' in each for each in problem.sensing)


@pytest.mark.parametrize('robot', ['iiwa14', 'lbr_med7'])
def test_steps_that_nobody_stated_do_not_widen_velocities_of_differences(robot):
    """Steps of 1 mrad would be assumed of an arm; a recording shows its own."""
    arm, step = arm_of(robot, None), 1e-5
    whole = slow_recording(arm)
    read = step * np.round(whole.position / step)
    told = backward(read)
    recording = replace(whole, position=read, velocity=told)
    promised = np.array(
        identification_problem(arm, recording, RecordingSettings()).observation.velocity_error
    )
    assert (promised >= np.abs(told - whole.velocity)[1:].max(axis=0)).all()
    assert (promised < 0.1).all()


@pytest.mark.parametrize(
    ('facts', 'is_stated'),
    [
        ({'velocity': LATE, 'stamp_error': 0.0}, True),
        ({'velocity': LATE, 'stamp_error': None}, False),
        ({'velocity': VelocityFacts(), 'stamp_error': 0.0}, False),
        ({'velocity_error': (0.5,), 'stamp_error': None}, True),
    ],
)
def test_an_error_of_velocities_with_an_assumed_part_is_not_stated(facts, is_stated):
    arm = stating(**facts)
    problem = identification_problem(arm, slow_recording(arm), RecordingSettings())
    named = nobody_stated(RecordingSettings(), problem)
    assert (ASSUMED['velocity_error'] not in named) is is_stated


def test_a_lag_that_is_stated_is_promised_at_the_acceleration_limit():
    arm = stating(velocity=LATE)
    problem = identification_problem(arm, slow_recording(arm), RecordingSettings())
    promised = np.array(problem.observation.velocity_error)
    assert (promised >= 0.05 * arm.model.limits.acceleration).all()


def test_the_error_of_this_recording_counts_more_than_that_of_the_file():
    arm = stating(velocity=LATE)
    given = RecordingSettings(velocity_error=(0.01,))
    problem = identification_problem(arm, slow_recording(arm), given)
    assert set(problem.observation.velocity_error) == {0.01}
    assert '--velocity-error' in problem.velocity_source


def test_differences_of_positions_are_not_the_velocities_of_the_driver():
    found = []
    for facts in ({}, {'velocity': LATE}, {'velocity_error': (1e-9,)}):
        arm = stating(**facts)
        without = replace(slow_recording(arm), velocity=None)
        problem = identification_problem(arm, without, RecordingSettings())
        found.append(problem.observation.velocity_error)
        assert problem.velocity_source == 'central differences of the positions'
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize('times', [180.0 / np.pi, 30.0 / np.pi, -1.0, 0.0])
def test_velocities_that_are_not_of_the_positions_are_left_out(times):
    arm = arm_of('kinova_gen3', None)
    told = slow_recording(arm)
    wrong = replace(told, velocity=times * told.velocity)
    taken = in_si(wrong, arm, RecordingSettings())
    assert taken.velocity is None
    assert 'the slope of the positions' in '; '.join(taken.remarks) or times == 0.0
    assert 'no velocity: central differences of the positions' in taken.remarks
    with pytest.raises(MeasurementError, match=r'--velocity-error promises 0\.01'):
        in_si(wrong, arm, RecordingSettings(velocity_error=(0.01,)))
    stated = RecordingSettings(velocity_error=(1e3,))
    assert in_si(wrong, arm, stated).velocity is wrong.velocity
    assert in_si(told, arm, RecordingSettings()) is told


def test_positions_beyond_limits_that_no_unit_explains_are_a_remark():
    arm = arm_of('two_link', None)
    told = slow_recording(arm)
    beyond = replace(told, position=told.position + 1.5 * arm.model.limits.position_upper)
    taken = in_si(beyond, arm, RecordingSettings())
    assert taken.position is beyond.position and taken.velocity is beyond.velocity
    assert 'positions of joint_1, joint_2 are beyond 1.2 times' in '; '.join(taken.remarks)


def test_positions_in_degrees_are_refused_before_torque_is_asked(tmp_path):
    arm = arm_of('two_link', None)
    told = slow_recording(arm)
    path = tmp_path / 'degrees.csv'
    columns = [told.seconds(), *np.degrees(2.0 * told.position).T, *np.ones((2, len(told)))]
    header = 'time,q_0,q_1,tau_0,tau_1'
    np.savetxt(path, np.column_stack(columns), delimiter=',', header=header, comments='')
    with pytest.raises(MeasurementError, match='degrees.csv: .* within them as degrees'):
        identify_recording(arm, RecordingChoice(path), RecordingSettings(), lambda *_: None)
