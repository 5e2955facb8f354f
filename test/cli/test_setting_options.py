"""Options that set a setting say and allow what stands beside its field."""

import argparse
from dataclasses import dataclass
from typing import Annotated

import pytest

from safe_sysid.cli.main import COMMANDS, parser
from safe_sysid.cli.setting_options import add_setting, chosen
from safe_sysid.config import Count, Entries, NotNegative, OneOf, Positive, Settings, Share

Pair = Annotated[tuple[NotNegative, ...], Entries(2, 2)]


@dataclass(frozen=True)
class Choices(Settings):
    speed: Positive = 1.5  # [m/s] of the tip, at most
    tries: Count | None = None  # of the search; none: as many as there is time for
    part: Share | Annotated[str, OneOf(('unknown',))] = 0.25  # of 100% that is known
    widths: tuple[NotNegative, ...] = (0.5, 1.0)  # [N m] joint by joint
    pair: Pair = (1.0, 2.0)
    kind: Annotated[str, OneOf(('soft', 'hard'))] = 'soft'  # of ground
    loud: bool = False  # say more


@pytest.fixture
def line():
    found = argparse.ArgumentParser(prog='line')
    for field in ('speed', 'tries', 'part', 'widths', 'kind', 'loud'):
        add_setting(found, Choices, field, f'--{field}')
    add_setting(found, Choices, 'pair', '--pair', nargs=2)
    return found


def settings(line, *words):
    return Choices(**chosen(line.parse_args(words), Choices))


def test_what_is_not_said_is_left_to_the_fields(line):
    assert settings(line) == Choices()
    assert chosen(line.parse_args(['--speed', '1.5']), Choices) == {'speed': 1.5}


def test_texts_become_values(line):
    said = '--speed 2e1 --tries 3 --part 5% --widths 1,2.5,0 --pair 3 4 --kind hard --loud'
    wanted = Choices(20.0, 3, 0.05, (1.0, 2.5, 0.0), (3.0, 4.0), 'hard', True)
    assert settings(line, *said.split()) == wanted
    assert settings(line, '--part', 'unknown').part == 'unknown'


@pytest.mark.parametrize(
    ('words', 'sentence'),
    [
        ('--speed 0', "argument --speed: '0' has to be above 0 and finite"),
        ('--speed fast', "argument --speed: 'fast' is not a number"),
        ('--speed nan', "'nan' has to be above 0 and finite"),
        ('--tries 2.5', "argument --tries: '2.5' is not a whole number"),
        ('--tries 0', "'0' has to be at least 1"),
        (
            '--part 100%',
            "'100%' has to be at least 0 and less than 1; '100%' has to be one of unk",
        ),
        ('--widths 1,-2', "'-2' has to be at least 0 and finite"),
        ('--kind muddy', "argument --kind: invalid choice: 'muddy'"),
    ],
)
def test_what_is_not_allowed_is_refused_with_what_is(line, words, sentence, capsys):
    with pytest.raises(SystemExit):
        line.parse_args(words.split())
    assert sentence in capsys.readouterr().err


def test_help_has_meaning_unit_and_default(line):
    told = ' '.join(line.format_help().split())
    for sentence in (
        '--speed M/S of the tip, at most [m/s]; default: 1.5',
        'of the search; default: as many as there is time for',
        'of 100% that is known; default: 0.25',
        'joint by joint [N m]; default: 0.5,1',
        '--kind {soft,hard} of ground; default: soft',
        '--loud say more',
    ):
        assert sentence in told


@pytest.mark.parametrize('name', COMMANDS)
def test_every_option_says_what_it_means(name):
    subcommands = next(
        a for a in parser([name])._actions if isinstance(a, argparse._SubParsersAction)
    )
    for action in subcommands.choices[name]._actions:
        assert action.help, f'{name} {action.option_strings or action.dest}'
    assert 'SETTINGS.' not in subcommands.choices[name].format_help()  # a name of ours as a value
