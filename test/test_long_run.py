"""What `tools/long_run.py` says of memory and cycles of a long run."""

import importlib.util
from pathlib import Path

from measure.bag.bags import STORE
import pytest
from rosbags.rosbag2 import Writer

TOOL = Path(__file__).parent.parent / 'tools' / 'long_run.py'
SPEC = importlib.util.spec_from_file_location('long_run', TOOL)
long_run = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(long_run)

SETTLE = 300.0  # [s]
STATUS, KEY, ARRAY = (
    STORE.types[f'diagnostic_msgs/msg/{name}']
    for name in ('DiagnosticStatus', 'KeyValue', 'DiagnosticArray')
)
HEADER = STORE.types['std_msgs/msg/Header']
TIME = STORE.types['builtin_interfaces/msg/Time']


def memory(*sizes, begin=0.0):
    """Of one process, a size for each minute."""
    return {('planner', 7): [(begin + 60.0 * i, size) for i, size in enumerate(sizes)]}


def test_what_a_process_has_in_its_first_minutes_does_not_count(capsys):
    assert long_run.is_flat(memory(10, 90, 90, 90, 90, *[91.0] * 30), SETTLE)
    assert '5.0 to 34.0 min: 91.0 91.0' in capsys.readouterr().out


@pytest.mark.parametrize('minute', range(6, 35))
def test_memory_that_was_too_much_at_any_time_is_growth(minute, capsys):
    sizes = [91.0] * 35
    sizes[minute] = 97.0  # and none of it is there in the end
    assert not long_run.is_flat(memory(*sizes), SETTLE)
    assert 'at most +6.0' in capsys.readouterr().out


def test_a_process_that_was_started_again_is_not_as_before():
    assert not long_run.is_flat(memory(*[50.0] * 20, begin=SETTLE + 60.0), SETTLE)


@pytest.mark.parametrize(('last', 'is_quick'), [(410.0, True), (1200.0, False)])
def test_cycles_may_not_become_slow(last, is_quick, capsys):
    slow = [(60.0 * i, 5000.0, 9000.0) for i in range(5)]  # before it counts
    then = [(300.0 + i, 400.0 + (last - 400.0) * i / 600.0, 1000.0 + i) for i in range(600)]
    assert long_run.is_as_quick(slow + then, SETTLE) is is_quick
    said = capsys.readouterr().out.splitlines()
    assert len(said) == long_run.PARTS
    assert said[0].startswith('cycles from 5.0 min: median 4') and '1099 us' in said[0]


def test_nothing_is_said_of_cycles_that_nobody_recorded(tmp_path, capsys):
    assert long_run.recorded_cycles(tmp_path) == []
    assert 'cannot be read as a rosbag' in capsys.readouterr().out
    assert long_run.is_as_quick([], SETTLE)


def test_cycles_are_those_of_the_recorded_diagnostics(tmp_path):
    kind = 'diagnostic_msgs/msg/DiagnosticArray'
    with Writer(tmp_path / 'bag', version=9) as writer:
        topic = writer.add_connection('/diagnostics', kind, typestore=STORE)
        for i in range(3):
            values = [KEY(long_run.MEDIAN, str(400 + i)), KEY(long_run.LONGEST, '900')]
            found = [STATUS(0, 'controller', '', '', values), STATUS(0, 'planner', '', '', [])]
            message = ARRAY(HEADER(TIME(i, 0), ''), found)
            writer.write(topic, 10**18 + i * 10**9, STORE.serialize_cdr(message, kind))
    assert long_run.recorded_cycles(tmp_path / 'bag') == [
        (0.0, 400.0, 900.0), (1.0, 401.0, 900.0), (2.0, 402.0, 900.0)
    ]  # fmt: skip


def test_the_recording_of_a_long_run_goes_on_in_files_that_fill_up():
    assert 'recorder:file_size:=32.0' in long_run.FOR_EVER
