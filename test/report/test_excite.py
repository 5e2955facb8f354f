"""`safe-sysid excite` writes files that can be read, and says when a motion is poor."""

import json

import numpy as np
import pytest

from safe_sysid.config import read_yaml
from safe_sysid.report.bench import BenchSettings
from safe_sysid.report.bench_excite import run
from safe_sysid.report.cli import main
from safe_sysid.report.excite_trials import feature_point_figures
from safe_sysid.share import share_directory

NO_FLOOR = 'floor: null'


@pytest.fixture
def settings(tmp_path):
    """The choices of the package without a floor, through which the two-link arm swings."""
    text = (share_directory() / 'config' / 'excitation.yaml').read_text(encoding='utf-8')
    path = tmp_path / 'settings.yaml'
    path.write_text(text.replace('floor: 0.0', NO_FLOOR), encoding='utf-8')
    return path


def excite(settings, *more):
    effort = ['--seconds', '300', '--starts', '1', '--processes', '1']
    return main(['excite', 'two_link', '--settings', str(settings), *effort, *more])


def test_files_hold_the_motion_that_was_proven(settings, tmp_path, capsys):
    out = tmp_path / 'out'
    assert excite(settings, '--json', '--out', str(out)) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures['condition'] < 100.0
    assert figures['columns'] == len(figures['chosen_columns'])
    assert figures['clearance_at_1_kHz_m'] >= figures['proven']['distance_m'] >= 0.01
    table = np.genfromtxt(out / 'excitation.csv', delimiter=',', names=True)
    trajectory = read_yaml(out / 'excitation.yaml')
    assert trajectory['joint_names'] == ['joint_1', 'joint_2']
    assert len(trajectory['points']) == len(table) == 1001
    for row, point in zip(table, trajectory['points'], strict=True):
        stamp = point['time_from_start']
        assert stamp['sec'] + 1e-9 * stamp['nanosec'] == pytest.approx(row['time'], abs=1e-9)
        assert point['positions'][1] == pytest.approx(row['position_joint_2'], abs=1e-9)
        assert point['accelerations'][0] == pytest.approx(row['acceleration_joint_1'], abs=1e-9)
    for end in (trajectory['points'][0], trajectory['points'][-1]):
        np.testing.assert_allclose(end['velocities'] + end['accelerations'], 0.0, atol=1e-9)
    slope = np.gradient(table['position_joint_1'], table['time'])
    np.testing.assert_allclose(slope[1:-1], table['velocity_joint_1'][1:-1], atol=2e-3)
    assert (out / 'excitation.svg').stat().st_size > 1000


def test_a_trajectory_is_a_ros_message(settings, tmp_path):
    messages = pytest.importorskip('trajectory_msgs.msg', reason='needs the ROS extra')
    durations = pytest.importorskip('builtin_interfaces.msg', reason='needs the ROS extra')
    assert excite(settings, '--out', str(tmp_path)) == 0
    read = read_yaml(tmp_path / 'excitation.yaml')
    message = messages.JointTrajectory(joint_names=read.pop('joint_names'))
    for point in read.pop('points'):
        point['time_from_start'] = durations.Duration(**point['time_from_start'])
        message.points.append(messages.JointTrajectoryPoint(**point))
    assert not read
    assert message.points[-1].time_from_start.sec == 10


def test_poor_excitation_is_said_and_changes_the_status(settings, capsys):
    text = settings.read_text(encoding='utf-8')
    settings.write_text(text.replace('poor_condition: 100.0', 'poor_condition: 2.0'))
    assert excite(settings) == 1
    assert 'warning: poor excitation: the condition number is' in capsys.readouterr().err


def test_misuse_is_a_sentence(settings, capsys):
    assert main(['excite', 'two_link', '--seconds', '300', '--starts', '1']) == 2
    assert 'no pose of two_link' in capsys.readouterr().err
    assert excite(settings, '--payload', 'rod_tool') == 2
    assert "does not say how 'two_link' holds it" in capsys.readouterr().err
    assert excite(settings, '--seed', '-1') == 2
    assert 'seed is -1' in capsys.readouterr().err


def test_feature_points_need_their_inflation():
    figures = feature_point_figures(1, 3000)
    assert figures['contacts'] > 0.0
    assert figures['overlooked_with_inflation'] == 0
    assert figures['refused_though_clear'] > 0.0
    assert figures['inflation_mm'] > 45.0


@pytest.mark.slow
def test_bench_excite_says_what_was_agreed(tmp_path):
    figures = run(BenchSettings(trials=4, seed=1, quick=True, plots=tmp_path), lambda _: None)
    assert {'kappa_5s', 'kappa_20s', 'clearance_violations', 'criteria'} <= figures.keys()
    assert figures['designs'] == 4
    assert figures['clearance_violations'] == 0
    assert figures['not_proven'] == 0
    by_name = {row['minimised']: row for row in figures['criteria']}
    assert by_name['kappa']['condition'] < by_name['D']['condition']
    assert by_name['D']['log_determinant'] > by_name['kappa']['log_determinant']
    assert (tmp_path / 'excite_condition.svg').exists()
