"""`safe-sysid calibrate` of robots with closed loops."""

import json

import numpy as np
import pytest
from tiers import slow_after

import safe_sysid as ss
from safe_sysid.bench.experiments.closed_chains import recording, true_chain
from safe_sysid.cli.main import main
from safe_sysid.model.closed_chain.chain import ClosedChain
from safe_sysid.model.facts import facts_path
from safe_sysid.model.robot_model import RobotModel


@pytest.fixture(scope='module')
def linkage():
    rng = np.random.default_rng(31)
    nominal = ClosedChain.named('four_bar')
    true = true_chain(nominal, rng, bodies=False)
    return true, recording((nominal, true), 10.0, rng).log


@pytest.fixture
def table(tmp_path, linkage):
    log = linkage[1]
    values = np.column_stack([np.arange(len(log.q)) / log.rate, log.q, log.tau])
    path = tmp_path / 'linkage.csv'
    np.savetxt(path, values, fmt='%.9g', delimiter=',', header='t,q_0,tau_0', comments='')
    return str(path)


@pytest.mark.slow
def test_motors_of_a_linkage_are_identified(linkage, table, tmp_path, capsys):
    out = tmp_path / 'out'
    which = ['--robot', 'four_bar', '--loops', 'motors']
    assert main(['calibrate', table, *which, '--json', '--out', str(out)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found['labels'] == ['crank.Fc', 'crank.Fv', 'crank.Ia', 'crank.beta']
    layout = linkage[0].model.layout
    truth = [linkage[0].model.theta[layout.labels.index(label)] for label in found['labels']]
    errors = np.abs(np.array(found['x']) - truth) / np.array(found['deviation'])
    assert errors.max() < 4.0
    validation = found['validation']
    assert validation['relative_error_filtered'] < validation['relative_error_nominal']
    assert {path.name for path in out.iterdir()} == {
        'report.md', 'report.html', 'four_bar.yaml', 'four_bar.urdf',
    }  # fmt: skip
    again = RobotModel.from_config(out / 'four_bar.yaml')
    assert again.theta[layout.labels.index('crank.Fv')] == pytest.approx(found['x'][1])


def written(folder, q, tau):
    path = folder / 'rest.csv'
    values = np.column_stack([0.002 * np.arange(len(q)), q, tau])
    np.savetxt(path, values, fmt='%.9g', delimiter=',', header='t,q_0,tau_0', comments='')
    return str(path)


@pytest.mark.parametrize('noise', slow_after(1, [1e-4, 0.0]))
def test_a_motor_that_never_moved_gets_no_figures(noise, tmp_path, rng, capsys):
    q = 0.5 + noise * rng.choice([-1.0, 1.0], 3000)
    path = written(tmp_path, q, 1.0 + noise * rng.normal(size=3000))
    out = tmp_path / 'out'
    arguments = ['calibrate', path, '--robot', 'four_bar', '--loops', '--json', '--out', str(out)]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert found['labels'][:3] == ['crank.Fc', 'crank.Fv', 'crank.Ia']
    assert found['x'][:3] == [None, None, None]
    assert found['cautions'][0].startswith('hardly moved: crank')
    assert found['silent'] == ([] if noise else ['crank.Fc', 'crank.Fv', 'crank.Ia'])
    again = RobotModel.from_config(out / 'four_bar.yaml')
    crank = again.layout.joint_names.index('crank')
    assert not again.layout.friction(again.theta)[:3, crank].any()  # 0 counts as unknown
    assert '- CAUTION: hardly moved: crank' in (out / 'report.md').read_text(encoding='utf-8')


def test_the_report_names_what_can_not_be_separated(table, capsys):
    assert main(['calibrate', table, '--robot', 'four_bar', '--loops', 'everything']) == 0
    page = capsys.readouterr().out
    assert 'a robot with loops (closure)' in page
    assert '11 combinations of 34 parameters' in page
    assert '| crank.Fc |' in page and '| crank.Ia |' not in page  # Ia hides behind Izz


@pytest.mark.parametrize('command', ['identify', 'calibrate-drift'])
def test_commands_for_open_chains_say_which_one_is_for_loops(command, table, capsys):
    assert main([command, table, '--robot', 'four_bar']) == 2
    said = capsys.readouterr().err
    assert f"four_bar has closed loops ['closure']: {command} is for open chains" in said
    assert 'calibrate --loops' in said


def test_loops_of_an_open_arm_are_refused(table, capsys):
    assert main(['calibrate', table, '--robot', 'two_link', '--loops']) == 2
    assert 'two_link has no loops' in capsys.readouterr().err


def test_a_delay_of_torques_is_for_arms_without_loops(table, capsys):
    assert main(['calibrate', table, '--robot', 'four_bar', '--torque-delay=0.01']) == 2
    assert 'four_bar has' in capsys.readouterr().err


def test_torques_behind_the_gears_show_no_friction_of_motors(table, tmp_path, capsys):
    text = facts_path('four_bar').read_text(encoding='utf-8')
    path = tmp_path / 'four_bar.yaml'
    path.write_text(text + 'sensing: {torque: {sensor: link}}\n', encoding='utf-8')
    assert main(['calibrate', table, '--robot', str(path), '--loops']) == 2
    assert 'measured behind the gears' in capsys.readouterr().err


@pytest.mark.slow
def test_the_api_finds_what_the_command_finds(table, capsys):
    assert main(['calibrate', table, '--robot', 'four_bar', '--loops', '--json']) == 0
    printed = json.loads(capsys.readouterr().out)
    said = []
    found = ss.calibrate_closed_chain([table], 'four_bar', progress=lambda *x: said.append(x))
    assert found.as_dict()['x'] == printed['x']
    assert found.relative_error == printed['validation']['relative_error_filtered']
    assert [share for share, _ in said] == sorted(share for share, _ in said) != []
    with pytest.raises(ss.SafeSysidError, match='two_link has no loops'):
        ss.calibrate_closed_chain([table], 'two_link')
