"""`safe-sysid excite` writes files that can be read, and says when a motion is poor."""

import contextlib
import io
import json

import numpy as np
import pytest

from safe_sysid.bench.experiments.excitation import feature_point_figures
from safe_sysid.bench.runner import run
from safe_sysid.bench.settings import BenchSettings
from safe_sysid.cli.main import main
from safe_sysid.config import allowed_values, read_yaml
from safe_sysid.excite import excitation_trajectory
from safe_sysid.excite.criteria import STAGES
from safe_sysid.excite.design import BASES
from safe_sysid.excite.settings import ExcitationAim, ExcitationSettings
from safe_sysid.model.friction import LABELS
from safe_sysid.share import share_directory

EFFORT = ('--seconds', '300', '--starts', '1', '--processes', '1')


@pytest.fixture(scope='module')
def written(tmp_path_factory):
    """Status, JSON and folder of one run, without the floor through which the arm swings."""
    out = tmp_path_factory.mktemp('out')
    text = (share_directory() / 'config' / 'excitation.yaml').read_text(encoding='utf-8')
    settings = out / 'settings.yaml'
    settings.write_text(text.replace('floor: 0.0', 'floor: null'), encoding='utf-8')
    arguments = ['excite', 'two_link', '--settings', str(settings), *EFFORT, '--json']
    answer = io.StringIO()
    with contextlib.redirect_stdout(answer):
        status = main([*arguments, '--out', str(out), '--html', str(out / 'page.html')])
    return status, json.loads(answer.getvalue()), out


@pytest.mark.slow
def test_files_hold_the_motion_that_was_proven(written):
    status, figures, out = written
    assert status == 0
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
    page = (out / 'page.html').read_text(encoding='utf-8')
    assert 'Condition number' in page and 'Accelerations' in page
    head = (out / 'excitation.yaml').read_text(encoding='utf-8').split('joint_names')[0]
    distance = 1e3 * figures['proven']['distance_m']
    assert f'come nearer than {distance:.1f} mm' in head and 'WARNING' not in head


@pytest.mark.slow
def test_a_trajectory_is_a_ros_message(written):
    messages = pytest.importorskip('trajectory_msgs.msg', reason='needs the ROS extra')
    durations = pytest.importorskip('builtin_interfaces.msg', reason='needs the ROS extra')
    read = read_yaml(written[2] / 'excitation.yaml')
    message = messages.JointTrajectory(joint_names=read.pop('joint_names'))
    points = read.pop('points')
    assert {frozenset(point) for point in points} == {frozenset(points[0])}
    for point in (*points[:10], points[-1]):  # all of a kind, and messages check every number
        point['time_from_start'] = durations.Duration(**point['time_from_start'])
        message.points.append(messages.JointTrajectoryPoint(**point))
    assert not read
    assert message.points[-1].time_from_start.sec == 10


@pytest.mark.slow
def test_a_urdf_alone_is_said_to_lack_facts(capsys):
    urdf = share_directory() / 'urdf' / 'two_link.urdf'
    assert main(['excite', str(urdf), *EFFORT]) == 1
    said = capsys.readouterr().err
    assert 'stands alone: accelerations' in said
    assert 'no collision capsules, so nothing is proven about contact' in said


def test_no_file_claims_what_is_not_proven(tmp_path, capsys, monkeypatch):
    """Without capsules nothing is written, and that is said before the search."""
    urdf = share_directory() / 'urdf' / 'two_link.urdf'
    out = tmp_path / 'out'
    with monkeypatch.context() as patched:
        patched.setattr(excitation_trajectory, 'design', lambda *_: pytest.fail('it searched'))
        assert main(['excite', str(urdf), *EFFORT, '--out', str(out)]) == 2
    said = capsys.readouterr().err
    assert 'no file is written, as the motion is not proven free of contact' in said
    assert 'no collision capsules' in said and '--unproven-contact' in said
    assert not out.exists()


@pytest.mark.slow
def test_a_file_on_demand_begins_with_what_is_not_proven(tmp_path, capsys):
    urdf = share_directory() / 'urdf' / 'two_link.urdf'
    demanded = ['--out', str(tmp_path), '--unproven-contact']
    assert main(['excite', str(urdf), *EFFORT, *demanded]) == 1
    assert 'warning: two_link has no collision capsules' in capsys.readouterr().err
    for name in ('excitation.csv', 'excitation.yaml'):
        text = (tmp_path / name).read_text(encoding='utf-8')
        assert text.startswith('# WARNING, NOT proven free of contact, written because of --unpr')
        assert 'no collision capsules' in text.splitlines()[0]
        assert 'inf mm' not in text and 'come nearer than' not in text
    assert len(read_yaml(tmp_path / 'excitation.yaml')['points']) == 1001


def test_misuse_is_a_sentence(capsys):
    with_floor = str(share_directory() / 'config' / 'excitation.yaml')
    for more, words in (
        (['two_link', '--settings', with_floor], 'no pose of two_link'),
        (['two_link', '--payload', 'rod_tool'], "does not say how 'two_link' holds it"),
    ):
        assert main(['excite', *more, *EFFORT]) == 2
        assert words in capsys.readouterr().err


def test_a_seed_below_0_is_misuse(capsys):
    with pytest.raises(SystemExit) as ending:
        main(['excite', 'two_link', '--seed', '-1'])
    assert ending.value.code == 2
    assert "argument --seed: '-1' has to be at least 0" in capsys.readouterr().err


def test_settings_allow_what_there_is():
    allowed = allowed_values(ExcitationAim) | allowed_values(ExcitationSettings)
    assert allowed['criterion'].values == tuple(STAGES)
    assert allowed['basis'].values == tuple(BASES)
    assert allowed['friction'].values == LABELS


@pytest.mark.slow
def test_feature_points_need_their_inflation():
    figures = feature_point_figures(1, 3000)
    assert figures['contacts'] > 0.0
    assert figures['overlooked_with_inflation'] == 0
    assert figures['refused_though_clear'] > 0.0
    assert figures['inflation_mm'] > 45.0


@pytest.mark.nightly
def test_bench_excite_says_what_was_agreed(tmp_path):
    figures = run(
        'excite', BenchSettings(trials=4, seed=1, quick=True, plots=tmp_path), lambda _: None
    )
    assert {'kappa_5s', 'kappa_20s', 'clearance_violations', 'criteria'} <= figures.keys()
    assert figures['designs'] == 4
    assert figures['clearance_violations'] == 0
    assert figures['not_proven'] == 0
    by_name = {row['minimised']: row for row in figures['criteria']}
    assert by_name['kappa']['condition'] < by_name['D']['condition']
    assert by_name['D']['log_determinant'] > by_name['kappa']['log_determinant']
    assert (tmp_path / 'excite_condition.svg').exists()
