"""Recordings in which nothing was measured, or nothing moved, end in a sentence."""

import json

import numpy as np
import pytest

from safe_sysid.cli.main import main
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.excited_motion import fourier_motion, true_torque

COLUMNS = [f'joint_{i}.{kind}' for kind in ('position', 'velocity', 'effort') for i in (1, 2)]
NOTHING = {
    'effortless': 'is 0 in all 3000 samples and joints',
    'zero': 'is 0 in all 3000 samples and joints',
    'stuck': 'never changes in any joint while positions do, in 3000 samples',
}


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    """A recording, the same with efforts of 0 or ones that stay, all 0, and of an arm at rest."""
    arm, rng = RobotModel.named('two_link'), np.random.default_rng(3)
    motion = fourier_motion(rng, 2, seconds=6.0, period=0.002, base=0.4)
    moved = np.column_stack([motion.q, motion.qd, true_torque(arm, motion)])
    tables = {
        'moved': moved,
        'effortless': np.where(np.arange(6) < 4, moved, 0.0),
        'zero': 0.0 * moved,
        'stuck': np.where(np.arange(6) < 4, moved, 9.0),
        'stood': np.tile([0.3, -0.2, 0.0, 0.0, 9.0, 3.0], (len(moved), 1)),
    }
    paths, folder = {}, tmp_path_factory.mktemp('tables')
    for name, table in tables.items():
        paths[name] = str(folder / f'{name}.csv')
        rows = np.column_stack([motion.t, table])[:3000]
        header = ','.join(['time', *COLUMNS])
        np.savetxt(paths[name], rows, '%.9g', ',', header=header, comments='')
    return paths


@pytest.mark.parametrize('silent', NOTHING)
@pytest.mark.parametrize(
    'arguments',
    [
        ['identify', '{silent}', '--empty', '{moved}'],
        ['identify', '{moved}', '--empty', '{silent}'],
        ['identify', '{silent}'],
        ['calibrate', '{silent}'],
        ['calibrate-gains', '{silent}', '{moved}', '--mass', '1.5', '--out', '{out}'],
        ['calibrate-gains', '{moved}', '{silent}', '--mass', '1.5', '--out', '{out}'],
    ],
)
def test_efforts_that_say_nothing_are_named(arguments, silent, files, tmp_path, capsys):
    out = tmp_path / 'gains.yaml'
    names = {**files, 'silent': files[silent], 'out': str(out)}
    given = [word.format(**names) for word in arguments]
    assert main([*given, '--robot', 'two_link']) == 2
    sentence = f'{files[silent]}: the effort {NOTHING[silent]}: nothing was measured'
    assert sentence in capsys.readouterr().err
    assert not out.exists()


def test_an_arm_that_stood_is_refused_with_a_report(files, tmp_path, capsys):
    out = tmp_path / 'out'
    arguments = ['calibrate', files['stood'], '--robot', 'two_link', '--json', '--out', str(out)]
    assert main(arguments) == 1
    found = json.loads(capsys.readouterr().out)
    assert found['refused'].startswith('poorly excited')
    assert {path.suffix for path in out.iterdir()} <= {'.md', '.html', '.png'}
    assert '**Refused.** poorly excited' in (out / 'report.md').read_text(encoding='utf-8')


@pytest.mark.parametrize('pair', [('stood', 'moved'), ('moved', 'stood')])
def test_an_arm_that_stood_says_nothing_of_a_payload(pair, files, capsys):
    loaded, empty = (files[name] for name in pair)
    assert main(['identify', loaded, '--empty', empty, '--robot', 'two_link']) == 2
    assert 'are too few' in (said := capsys.readouterr().err) or 'are left behind' in said


@pytest.mark.filterwarnings('error')
def test_a_table_of_poses_without_rows_is_refused(files, tmp_path, capsys):
    path = tmp_path / 'header.csv'
    path.write_text(','.join(COLUMNS) + '\n', encoding='utf-8')
    assert (
        main(['identify', str(path), '--empty', files['moved'], '--robot', 'two_link', '--poses'])
        == 2
    )
    assert 'header.csv: 0 poses; 4 or more are needed' in capsys.readouterr().err
