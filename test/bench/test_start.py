"""How long commands take: what is promised is there, and a command that fails is no figure."""

import sys

import pytest

from safe_sysid.bench import runner as bench
from safe_sysid.bench import start
from safe_sysid.bench.settings import BenchSettings
from safe_sysid.errors import SafeSysidError


@pytest.mark.nightly
def test_the_promised_figures_are_there():
    figures = bench.run('start', BenchSettings(quick=True), lambda _: None)
    for name in ('import', 'help', 'missing_file', 'identify_minute', 'doctor', 'first_plan'):
        assert figures['cpu_s'][name] > 0.0
        assert figures[f'{name}_s'] > 0.0
    assert figures.keys() >= {'warm_up_s', 'aims', 'load'}


def test_a_command_is_timed_to_its_end():
    spent = start._command((sys.executable, '-c', 'sum(range(3_000_000))'), (0,))
    assert spent.cpu > 0.0
    assert spent.wall > 0.0


def test_a_command_that_ends_otherwise_is_no_figure():
    with pytest.raises(SafeSysidError, match='ended with status 3: no idea'):
        start._command(
            (sys.executable, '-c', 'import sys; print("no idea", file=sys.stderr); sys.exit(3)'),
            (0,),
        )


def test_a_command_that_ends_in_a_traceback_is_no_figure_whatever_its_status():
    with pytest.raises(SafeSysidError, match='ended with status 1: Traceback'):
        start._command((sys.executable, '-c', 'raise ValueError'), start.FINDINGS)


@pytest.mark.parametrize(
    ('said', 'tells'),
    [
        ('{"plan": "new plan, smallest margin 1 N m"}', True),
        ('{"plan": "no plan satisfies every constraint"}', False),
        ('{"mode": "exciting"}', False),
        ('{"mass": [0.0, 1.0, 2.0]}', False),
        ('safe-sysid: on ROS domain 3', False),
    ],
)
def test_the_first_plan_is_what_the_monitor_calls_one(said, tells):
    assert start._tells(said) is tells
