"""What commands print for a person fits 80 columns: helps, tables, findings."""

from cli.recorded_arm import as_table, trial
import pytest

from safe_sysid.cli import output
from safe_sysid.cli.doctor import command as doctor
from safe_sysid.cli.doctor.findings import passed, warning
from safe_sysid.cli.main import COMMANDS, main
from safe_sysid.experiment.result_table import ResultTable
from safe_sysid.report import terminal_lines
from safe_sysid.report.figures_text import as_table as figures_as_table

LONG = 'one thing that was found, and another one, '
JOINTS = [f'lbr_iiwa_joint_{i}' for i in range(1, 8)]


@pytest.fixture(autouse=True)
def terminal_of_80_columns(monkeypatch):
    monkeypatch.setenv('COLUMNS', '80')
    monkeypatch.setattr(output, 'terminal_width', terminal_lines.terminal_width)


def printed(capsys):
    """Lines of standard output."""
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize('words', [[], ['--help'], *([name, '--help'] for name in COMMANDS)])
def test_no_help_has_longer_lines(words, capsys):
    try:
        assert main(words) == 0
    except SystemExit as ending:
        assert ending.code == 0
    lines = printed(capsys)
    assert max(map(len, lines)) <= 80
    assert len(lines) > 3


def test_summaries_of_commands_go_on_below_themselves_and_are_whole(capsys):
    assert main([]) == 0
    lines = printed(capsys)
    for name, command in COMMANDS.items():
        at = next(i for i, line in enumerate(lines) if line.startswith(f'    {name} '))
        below = lines[at + 1] if at + 1 < len(lines) else ''
        summary = lines[at][26:] + (f' {below.strip()}' if below.startswith(26 * ' ') else '')
        assert summary == command.HELP


def test_an_identified_payload(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    as_table(trial(), tmp_path / 'log.csv')
    assert main(['identify', 'log.csv', '--robot', 'two_link']) == 0
    lines = printed(capsys)
    assert max(map(len, lines)) <= 80
    assert 'The bounds hold if' in lines


def test_identifiable_parameters_of_a_long_arm(capsys):
    assert main(['identifiability', 'kinova_gen3', '--tolerance', '1e-7']) == 0
    assert max(map(len, printed(capsys))) <= 80


def test_findings_of_the_doctor(monkeypatch, capsys):
    found = [passed('item', 5 * LONG), warning('other item', LONG, 4 * LONG)]
    monkeypatch.setattr(doctor, 'examine', lambda *_: iter(found))
    assert main(['doctor']) == 0
    lines = printed(capsys)
    assert max(map(len, lines)) <= 80
    begin = [line for line in lines if not line.startswith('      ')]
    assert [line.partition(':')[0] for line in begin[:-1]] == ['PASS  item', 'WARN  other item']
    assert len(lines) > 6


def test_figures_of_a_result(capsys):
    figures = {'joint_names': JOINTS, 'widths': [0.123456789] * 20, 'said': 6 * LONG,
               'trials': [dict.fromkeys(JOINTS, 1.5)] * 2}  # fmt: skip
    output.print_wrapped(figures_as_table(figures))
    lines = printed(capsys)
    assert max(map(len, lines)) <= 80
    assert sum(line.count('0.1235') for line in lines) == 20


def test_a_table_of_an_experiment():
    rows = [(str(i), *(f'{i}.{j}' for j in range(7))) for i in range(3)]
    table = ResultTable('heading', ('trial', *JOINTS), tuple(map(tuple, rows)), ())
    assert max(map(len, table.as_text().splitlines())) > 80
    text = table.as_text(80)
    assert max(map(len, text.splitlines())) <= 80
    assert text.count('trial') == len(text.split('\n\n')) > 1
    for entry in (*JOINTS, '2.6'):
        assert text.split().count(entry) == 1
