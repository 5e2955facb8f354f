"""Many starts in other processes: the same result as here, errors that arrive, nothing left."""

import socket
from types import SimpleNamespace

from excite.excite_problem import small_problem
import numpy as np
import pytest

from safe_sysid.errors import BoundError, ConfigError
from safe_sysid.excite import multi_start
from safe_sysid.excite.design import design_problem, search, warm_up
from safe_sysid.excite.multi_start import NoMotionError, design
from safe_sysid.excite.settings import Effort, read_settings
from safe_sysid.model.robot_model import RobotModel

LONG = 300.0  # [s] that are never used up


@pytest.mark.slow
def test_two_processes_find_what_one_finds_here():
    problem = small_problem()
    warm_up(problem)
    seen = []
    found = design(problem, 'kappa', Effort(LONG, 2, 2, seed=4), seen.append)
    here = [one for start in (0, 1) for one in search(problem, 'kappa', 4, start)]
    best = min((one for one in here if one is not None), key=lambda one: one.goal)
    np.testing.assert_allclose(found.motion.x, best.x, rtol=1e-6, atol=1e-9)
    assert found.certificate.holds
    assert seen[-1].finished == 2
    conditions = [each.best.condition for each in found.history]
    assert conditions == sorted(conditions, reverse=True)
    assert found.history[-1].cpu > 0.0


def test_time_that_is_too_short_is_an_error_that_says_so():
    with pytest.raises(NoMotionError, match='after 0 starts in .*give it more time'):
        design(small_problem(), 'kappa', Effort(0.01, None, 1, seed=0), lambda _: None)


class StillStarting:
    """A process of a busy machine, which has not read anything yet."""

    def __init__(self, _):
        self.socket, self._theirs = socket.socketpair()
        self._theirs.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        self.socket.settimeout(5.0)  # ends the test where somebody waits for a reader
        self.process = SimpleNamespace(terminate=lambda: None)

    def close(self):
        self.socket.close()
        self._theirs.close()


def test_nobody_waits_beyond_the_time_for_processes_that_still_start(monkeypatch):
    monkeypatch.setattr(multi_start, 'Worker', StillStarting)
    with pytest.raises(NoMotionError, match='no process had begun to search.*busy'):
        design(small_problem(), 'kappa', Effort(0.3, None, 2, seed=0), lambda _: None)


@pytest.mark.slow
def test_an_error_in_another_process_arrives_here():
    arm = RobotModel.named('two_link')
    problem = design_problem(arm, arm, read_settings())  # with a floor through its middle
    with pytest.raises(BoundError, match='no pose of two_link'):
        design(problem, 'kappa', Effort(LONG, 2, 1, seed=0), lambda _: None)


def test_an_unknown_criterion_is_refused_before_anything_runs():
    with pytest.raises(ConfigError, match="no criterion 'speed'"):
        design(small_problem(), 'speed', Effort(LONG, 1, 1, seed=0), lambda _: None)


@pytest.mark.parametrize(
    ('effort', 'words'),
    [
        ((0.0, None, 1, 0), 'seconds is 0.0'),
        ((1.0, None, 0, 0), 'processes is 0'),
        ((1.0, 0, 1, 0), 'starts is 0'),
        ((1.0, 1, 1, -1), 'seed is -1'),
    ],
)
def test_efforts_out_of_range_are_refused(effort, words):
    with pytest.raises(ConfigError, match=words):
        Effort(*effort)
