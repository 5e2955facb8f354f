"""A change that torques tell of once no torque is given any more brings no torque back."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from safe_sysid.ros.nodes.identifier_node import IdentifierNode
from safe_sysid.ros.watch.held_changes import HeldChanges, Seen
from safe_sysid.ros.watch.payload_events import IS_LOAD, MAY_BE_TOUCH
from safe_sysid.track.supervisor import Cause, Mode, Signal, Situation, Supervisor

NOTICED = frozenset({Cause.CHANGE_NOTICED})
LOAD = {IS_LOAD: 'True', MAY_BE_TOUCH: 'True'}


def identifier(counts):
    """One whose looks in the background have found a change."""
    node = MagicMock(_counts=counts, _stamp=7000, _since=-1, _samples=0, _refused=0, _fault='')
    node._bad_sample = ''
    node._estimate.end_effector_bounds = SimpleNamespace(lower=[0.0], upper=[1.0])
    node._identifier = SimpleNamespace(
        has_noticed=True, ignored=0, solves_cut_short=0, doubts=(), recognised=dict
    )
    node._events.figures.return_value = {}
    is_known = lambda: SimpleNamespace(sentence='another') if node._knows else None  # noqa: E731
    node._knows, node._events.change = True, is_known
    node._learn_anew = lambda stamp: setattr(node, '_knows', stamp != 7000)
    node._take_late_change = lambda: IdentifierNode._take_late_change(node)
    return node


@pytest.mark.parametrize('counts', [False, True])
def test_what_is_noticed_while_no_torque_is_given_is_a_payload_that_nobody_knows(counts):
    faults = IdentifierNode._condition(identifier(counts)).faults
    assert (Cause.CHANGE_NOTICED in faults) is counts


def moved(*signals):
    """A supervisor and what it makes of changes, after signals at rest."""
    world = SimpleNamespace(figure=lambda _, key: LOAD.get(key))
    world.create_publisher = lambda *_: SimpleNamespace(publish=lambda _: None)
    changes, supervisor = HeldChanges(world, world, 0.5, 2), Supervisor()

    def turn(situation):
        before = supervisor._now
        now = supervisor.step(situation)
        if now.mode is not before.mode:
            changes.left(before.mode, now.mode, situation.signal, 1000)
        return now

    for signal in signals:
        turn(Situation(signal, frozenset(), True))
    return changes, turn


@pytest.mark.parametrize('expects_touch', [False, True])
@pytest.mark.parametrize(
    ('signals', 'goes_on'),
    [
        ((Signal.EXCITE,), True),
        ((Signal.EXCITE, Signal.BRAKE, None), True),
        ((Signal.EXCITE, Signal.BRAKE, None, Signal.STOP), False),
        ((), False),
    ],
)
def test_no_arm_that_had_no_torque_goes_on_by_itself(signals, goes_on, expects_touch):
    """Before a person has asked for torque, the robot may know what it was handed over."""
    changes, turn = moved(*signals)
    assert turn(Situation(None, NOTICED, True)).mode is Mode.FAULT
    seen = Seen(Mode.FAULT, NOTICED, True, '', expects_touch)
    signal = changes.signal(seen, 2000, 0.0)
    assert signal is (Signal.GO_ON if goes_on else None)
    assert (changes.why_it_stays(seen) == 'no torque was given before') is not goes_on
