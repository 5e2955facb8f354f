"""safe-sysid replay: a bag through the real identifier node gives what identify says of it."""

from contextlib import contextmanager
import dataclasses
from functools import partial
import signal
import subprocess
import sys
import time

from cli.recorded_arm import as_bag, scaled, trial
import numpy as np
import pytest
import rclpy
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from ros.running_node import wait_until
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
import yaml

from safe_sysid.identify.from_recording import (
    SOLVE_PIVOTS,
    SOLVE_SECONDS,
    SOLVES,
    identify_recording,
)
from safe_sysid.identify.payload_prior import prior_of
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.measure.recording_choice import RecordingChoice
from safe_sysid.model.arm import arm_of
from safe_sysid.ros.bridges import replay_bridge
from safe_sysid.ros.bridges.replay_bridge import ReplayBridge
from safe_sysid.ros.messages.codec import JointStateReader, estimate_of
from safe_sysid.ros.messages.qos import EVERY_SAMPLE, STATE
from safe_sysid.ros.process.distributions import single_threaded_executor

GIVE_UP = 300.0  # [s]


@pytest.fixture(scope='module')
def arm():
    return trial()


@pytest.fixture(scope='module')
def bag(arm, tmp_path_factory):
    return as_bag(arm, tmp_path_factory.mktemp('bags') / 'run')


EXACT = RecordingSettings(
    torque_ratio=(0.025,), position_error=(0.0,), velocity_error=(0.0,)
)  # as it was made


@pytest.fixture(scope='module')
def found(bag):
    """What identify finds and knew in between, and the run that has its settings."""
    arm = arm_of('two_link', None)
    result = identify_recording(arm, RecordingChoice(bag), EXACT, lambda *_: None)
    return result.found, result.problem


def settings_of(run, path):
    """The settings of identify as those of the nodes."""
    prior = prior_of(run.arm.model, run.known)
    bounds = prior.end_effector_bounds
    known = {
        'lower': bounds.lower.tolist(),
        'nominal': prior.end_effector.tolist(),
        'upper': bounds.upper.tolist(),
        'ratio': run.known.links,
    }
    observation = {
        name: np.array(value).tolist() if isinstance(value, tuple) else value
        for name, value in dataclasses.asdict(run.observation).items()
        if value is not None
    }
    identifier = {
        'observation': observation,
        'solve': {'pivots': SOLVE_PIVOTS, 'seconds': SOLVE_SECONDS, 'reach': run.known.reach},
        'solve_period': max(0.5, run.seconds / SOLVES),
    }
    blocks = {
        '/**': {'ros__parameters': {'robot': 'two_link', 'prior': known}},
        '/**/identifier': {'ros__parameters': {'identifier': identifier}},
    }
    path.write_text(yaml.safe_dump(blocks))
    return path


class Listener(Node):
    """Hears estimates."""

    def __init__(self, layout):
        super().__init__('listener')
        self._layout = layout
        self.newest = None
        self.create_subscription(Float64MultiArray, 'parameter_estimate', self._hear, STATE)
        self._executor = single_threaded_executor()
        self._executor.add_node(self)

    def _hear(self, msg):
        self.newest = estimate_of(msg, self._layout)

    def listen(self):
        self._executor.spin_once(timeout_sec=0.05)


@contextmanager
def replaying(*arguments):
    """`safe-sysid replay` with these arguments."""
    command = [sys.executable, '-m', 'safe_sysid.cli.main', 'replay', *map(str, arguments)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)


@pytest.mark.slow
def test_in_lockstep_the_node_estimates_what_identify_does(found, bag, arm, tmp_path):
    """To rounding, whatever else the machine does; identify goes on to the last row.

    The node can't know that a recording ends: rows after its last solve wait for more.
    """
    outcome, run = found
    settings = settings_of(run, tmp_path / 'two_link.yaml')
    rclpy.init()
    try:
        listener = Listener(run.arm.model.layout)
        arguments = (bag, '--robot', 'two_link', '--config', settings, '--lockstep')
        with replaying(*arguments) as process:
            deadline = time.monotonic() + GIVE_UP
            while process.poll() is None:
                assert time.monotonic() < deadline
                listener.listen()
            assert process.returncode == 0, process.stderr.read()
    finally:
        rclpy.try_shutdown()
    place = run.arm.model.layout.end_effector
    told, known = listener.newest.estimate, outcome.series
    assert listener.newest.stamp == run.log.stamp[-1]
    assert known.time[-1] == pytest.approx(run.seconds)  # what came of the rows at the end
    same = {'rtol': 1e-9, 'atol': 1e-12}
    np.testing.assert_allclose(told.theta[place], known.nominal[-2], **same)
    np.testing.assert_allclose(told.bounds.lower[place], known.lower[-2], **same)
    np.testing.assert_allclose(told.bounds.upper[place], known.upper[-2], **same)
    assert (told.bounds.lower[place] <= arm.truth).all()
    assert (arm.truth <= told.bounds.upper[place]).all()
    assert (told.bounds.lower[place] <= outcome.bounds.lower).all()
    assert (outcome.bounds.upper <= told.bounds.upper[place]).all()
    assert told.bounds.upper[place][0] - told.bounds.lower[place][0] < 1.0  # of 10 kg


@pytest.mark.slow
def test_a_recording_that_contradicts_the_model_ends_it_with_status_1_and_the_reason(
    found, tmp_path
):
    """Torques twice as large as those of the arm, which is more than was promised of them."""
    _, run = found
    settings = settings_of(run, tmp_path / 'two_link.yaml')
    bag = as_bag(scaled(trial(seconds=1.5), 2.0), tmp_path / 'doubled')
    arguments = (bag, '--robot', 'two_link', '--config', settings, '--lockstep')
    with replaying(*arguments) as process:
        assert process.wait(GIVE_UP) == 1
        said = process.stderr.read()
    assert 'the identifier gave up: ' in said
    assert 'joint_1' in said and 'Bounds fall back to the prior' in said


class Clock:
    """In place of the module time of the player."""

    now = 0.0  # [s]

    def monotonic(self):
        return self.now


def test_in_real_time_every_sample_is_told_when_it_is_due_and_none_before(tmp_path, monkeypatch):
    """By a clock that the test sets; the first sample may be told before the listener is known."""
    short, clock = trial(seconds=0.4), Clock()
    bag = as_bag(short, tmp_path / 'short')
    monkeypatch.setattr(replay_bridge, 'time', clock)
    settings = tmp_path / 'replay.yaml'
    known = {name: [0.0] * 10 for name in ('lower', 'nominal', 'upper')}
    chosen = {'robot': 'two_link', 'prior': known, 'speed': 0.2, 'bag': str(bag)}
    settings.write_text(yaml.safe_dump({'/**': {'ros__parameters': chosen}}))
    rclpy.init(args=['--ros-args', '--params-file', str(settings)])
    try:
        player, listener, heard, meetings = ReplayBridge(), Node('listener'), [], []
        executor = single_threaded_executor()
        executor.add_node(player)
        executor.add_node(listener)
        matched = SubscriptionEventCallbacks(matched=meetings.append)
        listener.create_subscription(
            JointState, 'joint_states', heard.append, EVERY_SAMPLE, event_callbacks=matched
        )

        def spin():
            executor.spin_once(timeout_sec=0.01)

        def told_so_far(count):
            return len(heard) >= count

        wait_until(lambda: meetings and player._began is not None, 'the player', spin)
        reader = JointStateReader(short.model.layout.joint_names)
        log, missed = short.log, None
        for clock.now in (0.5, 0.51, 1.25, 1.999, 2.0):  # a fifth of their pace
            wait_until(lambda: heard, 'a sample', spin)
            if missed is None:
                first = reader.measurement(heard[0])
                missed = int(np.any(first.position != log.position[0]))
            due = int(np.sum(log.stamp - log.stamp[0] <= round(clock.now * 0.2e9)))
            wait_until(partial(told_so_far, due - missed), f'samples of {clock.now} s', spin)
            for _ in range(10):
                spin()
            assert len(heard) == due - missed
            for i, sample in enumerate(map(reader.measurement, heard), start=missed):
                assert sample.stamp - first.stamp == log.stamp[i] - log.stamp[missed]
                np.testing.assert_array_equal(sample.position, log.position[i])
                np.testing.assert_array_equal(sample.torque, log.torque[i])
        assert player.exit_status is None
        clock.now = 10.0  # nobody else is there to have a word
        wait_until(lambda: player.exit_status == 0, 'the end of the recording', spin)
    finally:
        rclpy.try_shutdown()
