"""A caution where what was said of an arm predicts badly, and none where it only was not much."""

import contextlib
from dataclasses import replace
import io
import json
from types import SimpleNamespace

from cli.recorded_arm import as_table, trial
import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.cli.main import main
from safe_sysid.identify.identification import caution

MORE_FRICTION = np.array([3.0, 1.5])  # [N m s/rad] than anybody has told


@pytest.fixture(scope='module')
def table(tmp_path_factory):
    arm = trial()
    log = replace(arm.log, torque=arm.log.torque + MORE_FRICTION * arm.log.velocity)
    return as_table(replace(arm, log=log), tmp_path_factory.mktemp('tables') / 'log.csv')


@pytest.fixture(scope='module')
def pushed(tmp_path_factory):
    """A recording of an arm at which somebody pushes."""
    arm = trial()
    seconds = (arm.log.stamp - arm.log.stamp[0]) * 1e-9
    push = 15.0 * np.sin(2.0 * np.pi * seconds[:, None] * [1.3, 2.1])
    log = replace(arm.log, torque=arm.log.torque + push)
    return as_table(replace(arm, log=log), tmp_path_factory.mktemp('pushed') / 'log.csv')


@pytest.fixture(scope='module')
def halved(tmp_path_factory):
    """A recording whose driver tells half of each velocity."""
    arm = trial()
    log = replace(arm.log, velocity=0.5 * arm.log.velocity)
    return as_table(replace(arm, log=log), tmp_path_factory.mktemp('halved') / 'log.csv')


def identify(table, *arguments):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        status = main(['identify', str(table), '--robot', 'two_link', '--json', *arguments])
    assert status == 0
    return json.loads(text.getvalue())


def test_friction_that_nobody_claims_to_know_is_no_reason_for_a_caution(table):
    found = identify(table, '--known-friction', 'unknown')
    errors = {
        name: prediction['relative_error_filtered']
        for name, prediction in found['validation']['predictions'].items()
    }
    assert errors['identified'] > 3.0 * errors['best_fit']
    assert errors['within'] < 1.5 * errors['best_fit']
    assert found['caution'] is None


def test_friction_that_is_not_what_was_said_is_one(table):
    found = identify(table, '--known-friction', '10%', '--torque-noise', '12')
    assert 'fitted within what was said of links, friction and payload' in found['caution']


@pytest.mark.parametrize(('within', 'is_doubted'), [(2e-5, False), (2e-2, True)])
def test_what_a_filter_leaves_of_exact_torques_is_none(within, is_doubted):
    errors = {'within': within, 'best_fit': 0.5 * within}
    validation = SimpleNamespace(**{k: SimpleNamespace(filtered=v) for k, v in errors.items()})
    found = SimpleNamespace(has_moved=True, elsewhere=(), refused=None, validation=validation)
    assert (caution(found) is not None) == is_doubted


def test_torque_that_no_parameters_explain_is_one_whatever_is_known(pushed):
    found = identify(pushed, '--known-friction', 'unknown', '--torque-noise', '60')
    assert '% of the torque unexplained' in found['caution']


@pytest.mark.parametrize(
    ('friction', 'is_told'), slow_after(1, [('unknown', True), ('1%', False)])
)
def test_where_defaults_leave_the_mass_open_another_way_to_weigh_is_told(
    friction, is_told, tmp_path
):
    text, known = io.StringIO(), ['--known-friction', friction]
    log = as_table(trial(), tmp_path / 'log.csv')
    with contextlib.redirect_stdout(text):
        assert main(['identify', str(log), '--robot', 'two_link', *known]) == 0
    assert 'these are defaults' in text.getvalue()
    assert ('without the payload (--empty' in text.getvalue()) == is_told


def test_velocities_that_are_not_what_was_promised_of_them_are_refused(halved, capsys):
    """Positions show it, and bounds that rest on such velocities may exclude what is held."""
    arguments = ['identify', str(halved), '--robot', 'two_link', '--velocity-error']
    assert main([*arguments, '0.002']) == 2
    told = capsys.readouterr().err
    assert '0.5 times the slope of the positions' in told
    assert '--velocity-error promises 0.002' in told
    assert main([*arguments, '5.0']) == 0
