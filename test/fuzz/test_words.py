"""Command lines and launch arguments with any words end in a choice, or in a sentence."""

from dataclasses import replace

from fuzz.limits import soon
from fuzz.searched import searched, some_or
from hypothesis import given
from hypothesis import strategies as st
import pytest

from safe_sysid.bringup.processes import BACKENDS, Choices, processes_of
from safe_sysid.cli import main as command
from safe_sysid.errors import SafeSysidError

VALUES = st.sampled_from(
    [
        *('', '-', '--', '-1', '0', '1e999', 'nan', 'inf', '٣', 'true', 'null', '[]', '{}', '[1'),
        *('a=b', '=', 'a:=b', ':=', ':=1', 'planner:=1', 'planner:x:=', 'x:y:=2', '@nowhere'),
        *('two_link', 'kinova_gen3', '/dev/null', '/', '..', '~', 'no.csv', 'ß\u202e', 'x' * 5000),
        *('\n', '%s', '{joint}', '{0.__class__}', '$HOME', '`id`', 'mass=1', 'csv=/dev/full'),
    ]
)
SEARCH = some_or(30, 9000)


def options_of(name):
    """Every option of a command as its help has it."""
    named = command.parser([name])
    (choices,) = (action for action in named._actions if action.dest == 'subcommand')
    return [word for action in choices.choices[name]._actions for word in action.option_strings]


@SEARCH
@pytest.mark.parametrize('name', sorted(command.COMMANDS))
def test_a_command_line_is_understood_or_refused_in_two_lines(name, search, capsys):
    words = st.one_of(st.sampled_from(options_of(name)), VALUES)

    @searched(search.shared(len(command.COMMANDS)))
    @given(st.lists(words, max_size=7))
    def one(given_words):
        capsys.readouterr()
        try:
            with soon():
                command._options([name, *given_words])
        except SystemExit as ending:
            said = capsys.readouterr()
            if ending.code == 0:  # --help or --version
                assert said.out
                return
            assert ending.code == 2
            assert said.err.startswith('safe-sysid'), said.err
            assert 'Traceback' not in said.err
            assert len(said.err) < 20_000

    one()


@SEARCH
def test_what_is_to_be_started_is_known_or_refused(search, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fields = {
        **dict.fromkeys(('robot', 'config', 'world', 'payload', 'record', 'bag'), VALUES),
        'lockstep': st.booleans(),
        'once': st.booleans(),
        'extra': st.lists(VALUES, max_size=3).map(tuple),
    }
    chosen = st.dictionaries(st.sampled_from(sorted(fields)), st.none(), max_size=4).flatmap(
        lambda names: st.fixed_dictionaries({name: fields[name] for name in names})
    )

    @searched(search)
    @given(st.sampled_from([*sorted(BACKENDS), 'nothing', '']), chosen)
    def one(name, given_choices):
        try:
            with soon():
                processes = processes_of(name, replace(Choices(), **given_choices))
        except (SafeSysidError, OSError) as error:  # the command makes a sentence of both
            assert str(error).strip()
        else:
            assert processes

    one()
