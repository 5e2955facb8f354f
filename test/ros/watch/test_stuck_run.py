"""A run that is to end with its task ends with a cause where somebody is not heard any more."""

from safe_sysid.ros.watch.stuck_run import StuckRun

LONGEST = 60.0  # [s]


def heard(*told):
    """What is said after the supervisor told of silent nodes at these times [s]."""
    run = StuckRun(LONGEST)
    for now, silent in told:
        run.hear(silent, now)
    return run


def test_who_is_silent_for_long_is_named():
    run = heard((0.0, ''), (1.0, 'identifier'), (30.0, 'identifier'), (62.0, 'identifier'))
    assert run.cause(60.0) == ''
    assert run.cause(62.0) == 'identifier not heard for 60 s'


def test_who_is_heard_again_is_not():
    run = heard((0.0, 'identifier'), (40.0, ''), (50.0, 'identifier, planner'), (100.0, 'planner'))
    assert run.cause(109.0) == ''
    assert run.cause(111.0) == 'planner not heard for 60 s'


def test_a_supervisor_that_says_nothing_any_more_is_named_too():
    assert StuckRun(LONGEST).cause(1e6) == ''
    run = heard((5.0, ''))
    assert run.cause(5.0 + LONGEST) == ''
    assert run.cause(6.0 + LONGEST) == 'supervisor not heard for 60 s'
