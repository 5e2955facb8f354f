"""Learning that somebody or something else has ended is no success, however narrow bounds are."""

import pytest
from ros.actions.test_asked import Loop

from safe_sysid.ros.actions.asked import Outcome
from safe_sysid.ros.actions.handling import CARRY, GRASP, WEIGH, Handling
from safe_sysid.ros.actions.identifying import Identifying
from safe_sysid.ros.actions.weighing import Weighing
from safe_sysid.ros.messages.request_topics import LEARNS_TO
from safe_sysid.track.supervisor import Mode

NARROW = [0.4], [0.5]


def identifying(loop, wanted=(), bounds=NARROW):
    loop.says[LEARNS_TO] = str(list(wanted)) if wanted else ''
    return Identifying(loop, wanted, 0.0, lambda: bounds, lambda _: None)


def identifying_to_widths(loop):
    return identifying(loop, [10.0])


def weighing(loop):
    """Light enough by the time at which it is looked at, and not before it learns."""
    known = iter([(0.0, 2.0)] * 2)
    return Weighing(loop, 1.0, 0.0, lambda: next(known, (0.4, 0.5)))


def learns(ask):
    loop = Loop(Mode.HOLDING)
    asked = ask(loop)
    assert asked.step() is None
    loop.mode, loop.rests = Mode.EXCITING, False
    if ask is not weighing:
        assert asked.step() is None
    return loop, asked


@pytest.mark.parametrize('ask', [identifying, identifying_to_widths, weighing])
@pytest.mark.parametrize('at_rest', [Mode.FAULT, Mode.HOLDING, Mode.RELEASING])
@pytest.mark.parametrize('seen', [Mode.BRAKING, Mode.FAULT, None])
def test_what_something_else_has_ended_is_no_success(ask, seen, at_rest):
    """Also where the loop goes on from the fault before anybody looks: that mode is its own."""
    loop, asked = learns(ask)
    if seen is not None:
        loop.mode = seen
        assert asked.step() is None
    loop.mode, loop.rests = at_rest, True
    outcome = asked.step()
    assert not outcome.success
    assert f'ended before it was known: {(seen or at_rest).value}' in outcome.message


@pytest.mark.parametrize('ask', [identifying, identifying_to_widths, weighing])
def test_what_has_settled_is_a_success(ask):
    loop, asked = learns(ask)
    loop.mode, loop.rests = Mode.IDENTIFIED, True
    assert asked.step().success


def test_what_is_braked_for_as_it_is_known_is_a_success_unless_a_fault_comes_meanwhile():
    for comes in (None, Mode.FAULT):
        loop, asked = learns(weighing)
        assert asked.step() is None
        assert asked.step() is None
        assert loop.mode is Mode.BRAKING
        if comes is not None:
            loop.mode = comes
            assert asked.step() is None
        loop.mode, loop.rests = Mode.HOLDING, True
        assert asked.step().success is (comes is None)


def test_what_is_dropped_while_it_is_learnt_is_not_carried():
    """The loop goes on from the fault to holding before the action looks."""
    done, loop = [], Loop(Mode.HOLDING)

    class Said:
        def __init__(self, name):
            done.append(name)

        def step(self):
            return Outcome(True, 'done')

    steps = [(GRASP, lambda: Said(GRASP)), (WEIGH, lambda: identifying(loop))]
    handling = Handling([*steps, (CARRY, lambda: Said(CARRY))])
    for _ in range(2):
        assert handling.step() is None
    loop.mode, loop.rests = Mode.FAULT, False
    assert handling.step() is None
    loop.mode, loop.rests = Mode.HOLDING, True
    message = handling.step().message
    assert message.startswith('weigh: ended before it was known: fault')
    assert done == [GRASP]
