"""What a loop says becomes a scene and what is added to it, or a sentence."""

from types import SimpleNamespace

from live.spoken_loop import SpokenLoop
import numpy as np
import pytest

from safe_sysid.live.heard_run import HeardRun
from safe_sysid.live.loop_listener import Parameters


@pytest.fixture
def told():
    """What a page is told."""
    return []


def heard(told, *messages):
    run = HeardRun(told.append)
    for message in messages:
        run.take(message)
    return run


def of_kind(told, kind):
    return [event for event in told if event['kind'] == kind]


def test_a_loop_that_runs_is_drawn_with_its_plan_and_bounds(told):
    loop = SpokenLoop()
    run = heard(told, *loop.hello(), *loop.states(), loop.torque(0.5), loop.sample(0.0))
    for time in (0.5, 1.0):
        run.take(loop.sample(time))
    assert told[0]['kind'] == 'scene'
    assert of_kind(told, 'scene')[0]['arm']['name'] == 'two_link'
    (plan,) = of_kind(told, 'plan')
    (piece,) = plan['part']['occupancy']
    assert piece['ends'][-1] == pytest.approx(2.0, abs=1e-4)
    assert [e['part']['motion']['time'] for e in of_kind(told, 'pose')] == [[0.0], [0.5], [1.0]]
    (bounds,) = of_kind(told, 'bounds')
    inside = loop.estimate.end_effector_bounds
    np.testing.assert_allclose(bounds['bounds']['lower'], inside.lower, rtol=1e-5)
    assert of_kind(told, 'held') and not of_kind(told, 'trouble')
    assert of_kind(told, 'mode')[0]['mode'] == [0.0, 'exciting']


@pytest.mark.slow
def test_what_is_said_before_the_arm_is_known_is_not_lost(told):
    loop = SpokenLoop()
    heard(told, *loop.states(), *loop.hello(), loop.sample(0.0))
    assert {event['kind'] for event in told} >= {'scene', 'plan', 'bounds', 'held', 'mode'}


@pytest.mark.slow
def test_the_same_word_again_tells_nothing(told):
    loop = SpokenLoop()
    run = heard(told, *loop.hello(), loop.sample(0.0), *loop.states())
    before = len(told)
    for message in loop.states()[:2]:
        run.take(message)
    assert len(told) == before


@pytest.mark.slow
def test_distances_are_told_as_soon_as_there_is_an_obstacle(told):
    loop = SpokenLoop()
    run = heard(told, *loop.hello(), loop.sample(0.0))
    run.take(loop.box())
    run.take(loop.sample(0.1))
    first, last = (event['part']['nearest']['names'] for event in of_kind(told, 'pose'))
    assert first == [''] and last[0].endswith('and box/0')
    assert len(of_kind(told, 'boxes')[0]['part']['boxes'][0]['corners']) == 8


@pytest.mark.slow
def test_another_run_is_another_scene(told):
    loop = SpokenLoop()
    run = heard(told, *loop.hello(), *loop.states(), loop.sample(100.0))
    run.take(loop.sample(0.0))
    assert len(of_kind(told, 'scene')) == 2


def test_an_arm_that_nobody_knows_is_a_sentence(told):
    heard(told, Parameters('/planner:\n ros__parameters:\n  robot: nobody\n  payload: ""\n'))
    assert 'nobody' in of_kind(told, 'trouble')[0]['trouble']


def test_samples_of_another_arm_are_left_out(told):
    loop = SpokenLoop()
    sample = loop.sample(0.0)
    sample.data.name[:] = ['a', 'b']
    heard(told, *loop.hello(), sample)
    assert told == []


def test_samples_of_somebody_else_are_not_drawn(told):
    """Nor do their stamps begin another run."""
    loop = SpokenLoop()
    run = heard(told, *loop.hello(), loop.sample(0.0))
    for time in (1000.0, 1000.1):
        run.take(loop.sample(time, source='stranger 2'))
        run.take(loop.sample(time - 999.9))
    assert len(of_kind(told, 'scene')) == 1
    times = [event['part']['motion']['time'] for event in of_kind(told, 'pose')]
    np.testing.assert_allclose(times, [[0.0], [0.1], [0.2]], atol=1e-9)


def changed(message, **fields):
    """A message with other fields."""
    return message._replace(data=SimpleNamespace(**{**vars(message.data), **fields}))


def test_what_makes_no_sense_is_told_and_the_page_goes_on(told):
    loop = SpokenLoop()
    run = heard(told, *loop.hello(), loop.sample(0.0))
    sample, estimate = loop.sample(0.1), loop.states()[1]
    names = sample.data.name
    broken = estimate.data.data.copy()
    cube = loop.box().data.markers[0]
    for odd, words in (
        (changed(sample, position=[]), '0 positions'),
        (changed(sample, name=[*names, names[0]], position=[0.0] * 3), 'one of each joint'),
        (changed(estimate, data=np.full_like(broken, np.nan)), 'not finite'),
        (changed(estimate, data=broken[:5]), '5 numbers'),
        (changed(loop.box(), markers=[with_size(cube, np.nan)]), 'not finite'),
        (changed(loop.states()[3], joint_names=['other']), 'other'),
    ):
        before = len(told)
        run.take(odd)
        (trouble,) = told[before:]
        assert trouble['kind'] == 'trouble' and words in trouble['trouble']
    before = len(told)
    for silent in (
        changed(loop.torque(0.5), data=[0.0, 0.0, np.nan, 1.0]),
        changed(sample, name=[]),
    ):
        run.take(silent)
    run.take(changed(sample, position=[np.nan, 0.0]))
    assert told[before:] == []
    run.take(loop.sample(0.2))
    assert [event['kind'] for event in told[before:]] == ['pose']


def with_size(cube, size):
    scale = SimpleNamespace(x=size, y=0.2, z=0.2)
    return SimpleNamespace(**{**vars(cube), 'scale': scale})
