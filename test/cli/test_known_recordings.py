"""Public recordings of real arms: what the command says about each, and why."""

import contextlib
import io
import json

from cli.known_data import med7_table, recorded, tx40_table
import pytest

from safe_sysid.cli.main import main

KNOWN = [
    *('--known', 'coulomb=1', '--known', 'viscous=1', '--known', 'armature=0.1'),
    *('--known', 'offset=0.5', '--torque-ratio', '2.5%', '--velocity-error', '0.005'),
]  # said of an arm of which a URDF says nothing


def identify(*arguments):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        status = main(['identify', *map(str, arguments), '--json'])
    return status, json.loads(text.getvalue())


def best_fit(found):
    return found['validation']['predictions']['best_fit']['relative_error_filtered']


@pytest.fixture(scope='module')
def med7():
    return recorded('kuka_med7_tian/measurements_with_ext_tau_1_dgr.csv')


def test_the_inverted_sign_of_the_med7_is_noticed(med7):
    status, found = identify(med7, '--robot', 'lbr_med7', '--rate', 100, '--torque-sign', 1)
    assert status == 1
    assert 'A2 -1.' in found['refused'] and '(correlation -0.99' in found['refused']
    assert '--torque-sign -1' in found['refused']
    assert best_fit(found) < 0.05


@pytest.mark.nightly
def test_told_of_it_the_med7_gets_bounds_that_predict(med7):
    """By its settings or by the command line, the answer is the same."""
    arguments = [med7, '--robot', 'lbr_med7', '--rate', 100, '--to', 40]
    arguments += ['--known-friction', 'unknown', '--payload-reach', 0.25]
    status, found = identify(*arguments)
    assert status == 0
    assert found['lower'][0] < 3.0 < found['upper'][0]
    again = identify(*arguments, '--torque-sign', -1)[1]
    assert (again['lower'], again['upper']) == (found['lower'], found['upper'])


@pytest.mark.nightly
def test_permuted_columns_of_the_med7_are_found_by_name_and_stale_samples_counted(tmp_path):
    table = med7_table(tmp_path / 'med7.csv')
    status, found = identify(table, '--robot', 'lbr_med7', '--torque-sign', 1)
    assert status == 1
    assert 'A2 -1.' in found['refused']
    assert 'exactly like the sample before' in ' '.join(found['recording'])


@pytest.mark.nightly
def test_who_says_that_the_ur10_is_well_known_is_doubted():
    """Its currents are no torques to 2.5 %."""
    urdf = recorded('ros2bag_unisa/ur10_robot.urdf')
    arguments = [recorded('ros2bag_unisa/ur10_exciting_trajectory.db3'), '--robot', urdf]
    status, found = identify(*arguments)
    assert status == 0 and not any(found['determined'])
    assert found['caution'] is None
    assert best_fit(found) < 0.1
    status, found = identify(*arguments, *KNOWN)
    assert status == 0
    assert 'fitted within what was said' in found['caution']


@pytest.mark.nightly
def test_the_panda_gets_bounds_once_its_friction_is_known():
    bag = recorded('ros2bag_unisa/panda_exciting_trajectory.db3')
    arguments = [bag, '--robot', recorded('ros2bag_unisa/panda_arm.urdf')]
    arguments += ['--joint-names', 'fer_joint{n}', '--payload-reach', 0.3]
    status, found = identify(*arguments)
    assert status == 0 and found['upper'][0] > 9.0
    assert best_fit(found) < 0.04
    status, found = identify(*arguments, *KNOWN)
    assert status == 0
    assert found['upper'][0] < 6.0


@pytest.mark.nightly
def test_the_coupled_wrist_of_the_tx40_raises_a_caution(tmp_path):
    table = tx40_table(tmp_path / 'tx40.csv')
    arguments = [table, '--robot', recorded('tx40_figaroh/tx40_mdh_modified.urdf')]
    status, found = identify(*arguments, '--payload-mass', 5, '--payload-reach', 0.2)
    assert status == 0 and '% of the torque unexplained' in found['caution']
    assert found['validation']['filter_hz'] == 10.0
    status, found = identify(*arguments, *KNOWN)
    assert status == 1 and 'A1, A2 or A3 does not hold: measurements of' in found['refused']
