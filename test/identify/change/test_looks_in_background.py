"""What is looked at in another process: requests wait for room, samples do not."""

import pickle
import socket
import time

import numpy as np
import pytest

from safe_sysid.bench.experiments.changing_payload import ROWS
from safe_sysid.identify.change import looks_in_background
from safe_sysid.identify.change.change_test import ChangeSettings
from safe_sysid.identify.change.change_watch import LooksAtOnce
from safe_sysid.identify.change.looks_in_background import LONGEST_MESSAGE, LooksInBackground
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.excited_motion import fourier_motion, true_torque

MODEL = RobotModel.named('two_link')
PRIOR = ParameterEstimate(MODEL.layout, MODEL.theta, ratio_bounds(MODEL.theta, 0.5))
BODY = Interval(np.zeros(10), np.ones(10))
PATIENCE = 120.0  # [s]


class NoWorker:
    """The other end of a socket, which reads when it is told to."""

    def __init__(self, *_):
        self.socket, self._other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._other.setblocking(False)

    def read(self, most=None):
        """Kinds of messages that are there, up to so many."""
        kinds = []
        while most is None or len(kinds) < most:
            try:
                kinds.append(pickle.loads(self._other.recv(LONGEST_MESSAGE))[0])
            except BlockingIOError:
                break
        return kinds

    def close(self):
        self.socket.close()
        self._other.close()


@pytest.fixture
def looks(monkeypatch):
    monkeypatch.setattr(looks_in_background, 'Worker', NoWorker)
    looking = LooksInBackground(MODEL, PRIOR, ROWS, ChangeSettings())
    yield looking
    looking.close()


def test_a_request_is_not_lost_where_there_is_no_room_and_comes_before_later_samples(looks):
    batch = np.arange(50) * 1_000_000, np.zeros((50, 3, 7))
    for _ in range(400):  # nobody reads them
        looks.add(batch)
    looks.suspect()
    looks.new_payload(BODY, 50_000_000)
    looks.trust()
    looks.add(batch)
    before = looks._worker.read()
    assert before[0] == 'begin'
    assert set(before[1:]) == {'add'}
    looks.add(batch)
    assert looks._worker.read() == ['suspect', 'new_payload', 'trust', 'add']


def test_a_process_notices_what_is_picked_as_one_that_looks_at_once_does(rng):
    motion = fourier_motion(rng, MODEL.n, 4.0, 0.001)
    held = MODEL.theta.copy()
    held[MODEL.layout.end_effector] += [1.0, *np.zeros(9)]  # [kg]
    torque = true_torque(MODEL, motion)
    later = true_torque(MODEL.with_parameters(held), motion)
    torque[2000:] = later[2000:]
    samples = np.stack([motion.q, motion.qd, torque], axis=1)
    at_once = LooksAtOnce(MODEL, PRIOR, ROWS, ChangeSettings())
    beside = LooksInBackground(MODEL, PRIOR, ROWS, ChangeSettings())
    try:
        deadline = time.monotonic() + PATIENCE
        for first in range(0, len(samples) - ROWS.window, ROWS.window):
            part = slice(first, first + ROWS.window)
            batch = motion.stamp[part], samples[part]
            at_once.add(batch)
            while not beside._send(('add', 0, batch)):  # none is left out here
                assert time.monotonic() < deadline
        expected = at_once.judged()
        assert expected is not None
        assert 2_000_000_000 <= expected.noticed <= 2_300_000_000
        while (found := beside.found()) is None or str(found) != str(expected):
            assert time.monotonic() < deadline, (str(found), str(expected))
        beside.new_payload(PRIOR.end_effector_bounds, int(motion.stamp[-1]))
        assert beside.found() is None
    finally:
        beside.close()
