"""`safe-sysid bench`: what surrounds the figures of a member, as JSON and as a table."""

import json
import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from safe_sysid.bench import runner as bench
from safe_sysid.bench import settings
from safe_sysid.bench.settings import BenchSettings
from safe_sysid.cli.main import main
from safe_sysid.errors import ConfigError

SETTINGS = BenchSettings(trials=None, seed=1, quick=True, plots=None)


@pytest.fixture
def dice(monkeypatch):
    """A member that throws dice, says what it does and prints where it should not."""
    member = SimpleNamespace(asked=[])

    def run(settings, progress):
        member.asked.append(settings)
        progress('throwing')
        sys.stdout.write('a library prints this\n')
        os.write(1, b'and compiled code prints this\n')
        throws = np.random.default_rng(settings.seed).integers(1, 7, settings.trials or 10)
        return {'mean': throws.mean(), 'worst': np.float64('nan'), 'throws': throws}

    monkeypatch.setitem(bench.RUNS, 'dice', run)
    monkeypatch.setattr(settings, 'MEMBERS', (*settings.MEMBERS, 'dice'))
    return member


@pytest.mark.usefixtures('dice')
def test_json_is_one_object_alone_on_standard_output(capfd):
    assert main(['bench', 'dice', '--trials', '4', '--seed', '3', '--quick', '--json']) == 0
    printed = capfd.readouterr()
    figures = json.loads(printed.out)
    throws = np.random.default_rng(3).integers(1, 7, 4)
    assert figures['throws'] == throws.tolist()
    assert figures['mean'] == throws.mean()
    assert figures['worst'] is None
    assert (figures['bench'], figures['seed'], figures['quick']) == ('dice', 3, True)
    assert figures['cpu_count'] >= 1
    assert figures['versions']['numpy'] == np.__version__
    for said in ('throwing', 'a library prints this', 'and compiled code prints this'):
        assert said in printed.err


def test_the_member_gets_what_the_command_line_says(dice, tmp_path, capfd):
    main(['bench', 'dice', '--trials', '7', '--seed', '5', '--plots', str(tmp_path / 'new')])
    assert dice.asked == [BenchSettings(7, 5, False, tmp_path / 'new')]
    assert (tmp_path / 'new').is_dir()
    assert 'mean' in capfd.readouterr().out


def test_an_unknown_member_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"no benchmark 'nope', there are \['model'"):
        bench.run('nope', SETTINGS, print)


@pytest.mark.parametrize(('trials', 'seed'), [(0, 1), (3, -1)])
def test_settings_out_of_range_are_refused(trials, seed):
    with pytest.raises(ConfigError, match='at least'):
        BenchSettings(trials, seed, False, None)


def test_every_member_is_the_file_of_its_name():
    assert tuple(bench.RUNS) == settings.MEMBERS
    for name, run in bench.RUNS.items():
        assert run.__module__ == f'safe_sysid.bench.{name}'
