"""Outputs that can't be written: the result is printed before that, and is followed by a sentence.

A device that is always full stands for a file; in a folder another folder has the file's name.
"""

import os
from pathlib import Path
import subprocess
import sys

import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.api.simulated_recording import simulate_recording
from safe_sysid.bench import runner
from safe_sysid.bench.plots import PLOTS, LinePlot
from safe_sysid.cli import warm_up
from safe_sysid.cli.demo import demonstration, outcome, report, tables
from safe_sysid.cli.demo.runs import DemoChoices
from safe_sysid.cli.main import COMMANDS, main, parser
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.figures import Axes
from safe_sysid.share import share_directory

FULL = '/dev/full'
URDF = str(share_directory() / 'urdf' / 'two_link.urdf')
EXPORT = ('--export', f'urdf={FULL}')
QUICK = ('--seconds', '300', '--starts', '1', '--processes', '1', '--unproven-contact')
ARM = ('--robot', 'two_link')
NAMES = RobotModel.named('two_link').layout.joint_names


@pytest.fixture(scope='module')
def tables_of_arms(tmp_path_factory):
    """Recordings by what the arm does in them."""
    folder = tmp_path_factory.mktemp('recordings')
    paths = {name: folder / f'{name}.csv' for name in ('MOVED', 'LOADED', 'STILL')}
    simulate_recording(paths['MOVED'], 'two_link')
    simulate_recording(paths['LOADED'], 'two_link', 'dumbbell_8lb', seed=2)
    columns = [f'{name}.{what}' for what in ('position', 'velocity', 'effort') for name in NAMES]
    rows = np.column_stack([np.arange(0.0, 10.0, 0.005), np.zeros((2000, len(columns)))])
    header = ','.join(['time', *columns])
    np.savetxt(paths['STILL'], rows, '%.12g', ',', header=header, comments='')
    return {name: str(path) for name, path in paths.items()}


def carried_out(words):
    """Status of a command, and what it prints."""
    line = [sys.executable, '-m', 'safe_sysid.cli', *words]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert 'Traceback' not in done.stderr
    return done.returncode, done.stdout, done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ('words', 'shown'),
    slow_after(
        1,
        [
            (('commission', 'STILL', *ARM, '--proposal', FULL), 'rate: DIFFERS'),
            (('identify', 'MOVED', *ARM, '--html', FULL), 'two_link, '),
            (('identify', 'MOVED', *ARM, '--export-undetermined', *EXPORT), 'two_link, '),
            (
                ('calibrate-gains', 'MOVED', 'LOADED', *ARM, '--mass', '3.6', '--out', FULL),
                'effort_scale',
            ),
            (('excite', 'two_link', *QUICK, '--html', FULL), 'condition'),
        ],
    ),
)
def test_a_file_that_a_full_disk_does_not_take_costs_no_result(words, shown, tables_of_arms):
    status, printed, said = carried_out([tables_of_arms.get(word, word) for word in words])
    assert status == 2
    assert shown in printed
    assert said == f"safe-sysid: '{FULL}': No space left on device"


@pytest.mark.parametrize(
    ('words', 'in_the_way', 'shown'),
    slow_after(
        1,
        [
            (
                ('export-gazebo', 'two_link', '--distribution', 'jazzy', '--out'),
                'two_link.gazebo.yaml',
                '',
            ),
            (('export-model', 'two_link', '--out'), 'theta.yaml', ''),
            (('new-arm', URDF, '--kind', 'direct', '--out'), 'two_link.yaml', ''),
            (('identify', 'MOVED', *ARM, '--plots'), 'bounds_over_time.svg', 'two_link, '),
            (('calibrate', 'MOVED', *ARM, '--out'), 'report.md', '## Recordings'),
            (('excite', 'two_link', *QUICK, '--out'), 'excitation.yaml', 'condition'),
        ],
    ),
)
def test_a_folder_that_cannot_be_written_costs_no_result(
    words, in_the_way, shown, tables_of_arms, tmp_path
):
    (tmp_path / 'out' / in_the_way).mkdir(parents=True)
    words = [tables_of_arms.get(word, word) for word in words]
    status, printed, said = carried_out([*words, str(tmp_path / 'out')])
    assert status == 2
    assert shown in printed
    assert said.startswith('safe-sysid: ') and in_the_way in said
    assert [path.name for path in (tmp_path / 'out').iterdir()] == [in_the_way]


def refused_in_the_end(words, reason):
    """Carry out a command here, whose last work is refused by the system."""
    options = parser(words).parse_args(words)
    with pytest.raises(OSError, match=reason):
        COMMANDS[words[0]].command(options)


def test_a_plot_that_cannot_be_drawn_costs_no_figures(monkeypatch, tmp_path, capfd):
    def run(_, __):
        line = np.arange(3.0)
        plot = LinePlot('line.svg', line, {'line': line}, Axes('x', 'y'))
        return {'slope': 1.0, PLOTS: [plot]}

    monkeypatch.setitem(runner.RUNS, 'model', run)
    (tmp_path / 'line.svg').mkdir()
    refused_in_the_end(['bench', 'model', '--plots', str(tmp_path)], 'Is a directory')
    assert 'slope' in capfd.readouterr().out
    assert main(['bench', 'model', '--plots', str(tmp_path / 'new')]) == 0
    assert [path.name for path in (tmp_path / 'new').iterdir()] == ['line.svg']
    assert PLOTS not in capfd.readouterr().out


@pytest.mark.parametrize('form', [[], ['--json']])
def test_a_report_that_cannot_be_written_costs_no_demo(form, monkeypatch, tmp_path, capfd):
    def full(*_):
        raise OSError(28, 'No space left on device')

    choices = DemoChoices('builtin_sim', 'dumbbell_8lb', tmp_path)
    monkeypatch.setattr(demonstration, 'choices_of', lambda *_: choices)
    monkeypatch.setattr(demonstration, 'demonstrate', lambda *_: None)
    monkeypatch.setattr(warm_up, 'warmed_up', lambda: None)
    monkeypatch.setattr(tables, 'tables', lambda _: 'what was promised')
    monkeypatch.setattr(outcome, 'figures', lambda *_: {'what was promised': True})
    monkeypatch.setattr(report, 'write_report', full)
    refused_in_the_end(['demo', *form], 'No space left')
    assert 'what was promised' in capfd.readouterr().out


NOT_UTF_8 = b'log_\xff.csv'


@pytest.mark.slow
def test_a_name_that_is_not_utf_8_costs_no_result(tables_of_arms, tmp_path):
    table = bytes(tmp_path) + b'/' + NOT_UTF_8
    Path(os.fsdecode(table)).write_bytes(Path(tables_of_arms['MOVED']).read_bytes())
    page = str(tmp_path / 'page.html')
    status, printed, said = carried_out(['identify', table, *ARM, '--html', page])
    assert status == 2
    assert 'two_link, ' in printed
    assert said.startswith(r"safe-sysid: '\udcff' in ") and 'give that another name' in said
    assert not Path(page).exists()


@pytest.mark.parametrize(
    ('error', 'said'),
    [
        (MemoryError(), 'safe-sysid: there is not enough memory; free some, or'),
        (MemoryError('9 TiB'), 'safe-sysid: there is not enough memory (9 TiB); free'),
        (UnicodeEncodeError('utf-8', 'a\udcffb', 1, 2, 'surrogates'), r"'\udcff' in 'a\udcffb'"),
    ],
)
def test_what_no_command_foresees_is_a_sentence(error, said, monkeypatch, capsys):
    def fail(_):
        raise error

    monkeypatch.setattr(COMMANDS['completion'], 'command', fail)
    assert main(['completion', 'bash']) == 2
    assert said in capsys.readouterr().err
