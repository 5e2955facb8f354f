"""`identify LOADED --empty EMPTY`: two files in, a payload with two kinds of interval out."""

import argparse
import json

from identify.difference.two_recordings import PAYLOAD, TwoLinks
import numpy as np
import pytest

from safe_sysid.cli.identify import add_arguments, command
from safe_sysid.cli.main import main
from safe_sysid.errors import ConfigError


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    """A loaded and an empty recording of an arm that is not as described."""
    folder = tmp_path_factory.mktemp('pair')
    arm = TwoLinks(np.random.default_rng(1))
    header = ','.join(['time', 'q_0', 'q_1', 'tau_0', 'tau_1'])
    for name, payload in (('loaded', PAYLOAD), ('empty', 0.0 * PAYLOAD)):
        log = arm.log(payload, 50.0)
        table = np.column_stack([np.arange(len(log.q)) / log.rate, log.q, log.tau])
        np.savetxt(folder / f'{name}.csv', table, '%.9g', ',', header=header, comments='')
    return folder


def answer(files, capsys, *more):
    arguments = [str(files / 'loaded.csv'), '--empty', str(files / 'empty.csv'), *more]
    status = main(['identify', *arguments, '--robot', 'two_link'])
    return status, capsys.readouterr().out


def test_the_payload_comes_with_both_intervals(files, capsys):
    status, text = answer(files, capsys, '--json', '--gain-error', '2%')
    found = json.loads(text)
    assert status == 0
    assert found['refused'] is None
    payload = found['payload']
    for kind in ('guaranteed', 'statistical'):
        lower, upper = payload[kind]
        assert lower[0] <= PAYLOAD[0] <= upper[0]
        assert upper[0] - lower[0] < 1.0
    assert payload['confidence'] == 0.95
    assert len(payload['determined']) == 10
    assert any('2 %' in sentence for sentence in found['assumptions'])


def test_a_unit_that_nobody_vouches_for_is_said(files, capsys):
    _, text = answer(files, capsys)
    assert text.startswith('The payload weighs')
    for words in ('guaranteed', '95 %', 'no bound', 'as the settings of the arm state', 'doubled'):
        assert words in text


def test_more_confidence_is_a_wider_interval(files, capsys):
    widths = []
    for confidence in ('0.9', '0.999'):
        found = json.loads(answer(files, capsys, '--json', '--confidence', confidence)[1])
        lower, upper = found['payload']['statistical']
        widths.append(upper[0] - lower[0])
    assert widths[1] > 1.2 * widths[0]


def test_exports_say_that_they_are_for_one_recording(files):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    arguments = [str(files / 'loaded.csv'), '--empty', str(files / 'empty.csv')]
    with pytest.raises(ConfigError, match='not with --empty'):
        command(parser.parse_args([*arguments, '--robot', 'two_link', '--html', 'page.html']))


@pytest.mark.slow
def test_the_self_test_is_a_table(files, capsys):
    status, text = answer(files, capsys, '--self-test')
    assert status == 0
    assert 'Self-test: ' in text
    assert 'bodies in empty pieces of 20 s' in text
