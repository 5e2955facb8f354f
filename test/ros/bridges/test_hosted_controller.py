"""A controller in the process of its bridge cannot take the bridge down with it."""

import numpy as np
import pytest

from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.ros.bridges import hosted_controller
from safe_sysid.ros.bridges.hosted_controller import HostedController
from safe_sysid.track.guarded_torque import Command

SAMPLE = JointMeasurement(1, *np.zeros((3, 2)))


class Faulty:
    """Answers twice, and then fails."""

    def __init__(self, answer):
        self._answer, self.taken = answer, 0

    def take(self, measurement, _):
        self.taken += 1
        self._answer(Command(np.zeros(2), measurement.stamp))
        if self.taken > 1:
            raise ZeroDivisionError('no such row')


def test_what_a_controller_raises_ends_its_answers_and_not_the_bridge(monkeypatch, capsys):
    monkeypatch.setattr(hosted_controller, 'ControllerNode', Faulty)
    answers = []
    hosted = HostedController(answers.append)
    for _ in range(2):
        hosted.take(SAMPLE)
    assert hosted.trouble == (
        "the controller in this process has failed: ZeroDivisionError('no such row'); "
        'the guard brakes'
    )
    said = capsys.readouterr()
    assert 'no such row' in said.out + said.err
    hosted.take(SAMPLE)
    assert hosted.node.taken == 2


@pytest.mark.parametrize('error', [KeyboardInterrupt, SystemExit])
def test_what_ends_a_process_ends_it(monkeypatch, error):
    class Ending(Faulty):
        def take(self, *_):
            raise error

    monkeypatch.setattr(hosted_controller, 'ControllerNode', Ending)
    with pytest.raises(error):
        HostedController(lambda _: None).take(SAMPLE)
