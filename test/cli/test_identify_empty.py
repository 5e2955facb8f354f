"""`identify LOADED --empty EMPTY`: two files in, a payload with two kinds of interval out."""

import json

from identify.difference.two_recordings import PAYLOAD, TwoLinks
import numpy as np
import pytest

from safe_sysid.cli.main import main


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


def test_the_report_says_what_limits_the_interval_and_what_to_record(files, tmp_path, capsys):
    """Asked for with more confidence, which is a wider interval."""
    page = tmp_path / 'page.html'
    more = ['--html', str(page), '--plots', str(tmp_path / 'plots'), '--json']
    status, text = answer(files, capsys, *more, '--confidence', '0.999')
    found = json.loads(text)
    assert status == 0
    usual = json.loads(answer(files, capsys, '--json', '--confidence', '0.9')[1])
    (lower, upper), (low, high) = (each['payload']['statistical'] for each in (found, usual))
    assert upper[0] - lower[0] > 1.2 * (high[0] - low[0])
    limits = found['limited_by']
    shares = np.array([limits[name] for name in ('noise', 'friction', 'links')])
    assert np.allclose(shares.sum(axis=0), 1.0)
    assert np.all(shares >= -1e-9)
    assert found['record_next']
    html = page.read_text('utf-8')
    for words in ('What is left of the torque', 'velocity [rad/s]', found['record_next'][:40]):
        assert words in html
    assert list((tmp_path / 'plots').glob('*.png'))


def test_exports_name_the_kind_of_their_bounds(files, tmp_path, capsys):
    path, whole = tmp_path / 'payload.script', tmp_path / 'arm.urdf'
    exports = ['--export', f'ur={path}', '--export', f'urdf={whole}', '--export-undetermined']
    status, _ = answer(files, capsys, *exports)
    assert status == 0
    text = path.read_text('utf-8')
    assert 'a statistical interval of 95 %, no bounds' in text
    assert 'certainly' not in text
    mass = float(text.split('set_target_payload(')[1].split(',')[0])
    assert abs(mass - PAYLOAD[0]) < 0.2
    assert '<mass' in whole.read_text('utf-8')


@pytest.mark.slow
def test_the_self_test_is_a_table(files, capsys):
    status, text = answer(files, capsys, '--self-test')
    assert status == 0
    assert 'Self-test: ' in text
    assert 'bodies in empty pieces of 20 s' in text
