"""What a user of Python passes wrongly is an error in words, and nothing is taken from it."""

from pathlib import Path

import numpy as np
import pytest
from tiers import slow_after

import safe_sysid as ss
from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.export.payload import body_between, undetermined
from safe_sysid.share import share_directory

DUMBBELL = share_directory() / 'config' / 'payloads' / 'dumbbell_4lb.yaml'
REST = [0.0, 0.0]
NAN = float('nan')


def test_a_payload_is_a_name_a_file_or_a_path():
    by_name, by_text, by_path = (
        ss.casadi_model('two_link', payload=payload).theta
        for payload in ('dumbbell_4lb', str(DUMBBELL), Path(DUMBBELL))
    )
    np.testing.assert_array_equal(by_path, by_name)
    np.testing.assert_array_equal(by_text, by_name)


@pytest.mark.parametrize(
    ('ask', 'sentence'),
    [
        (lambda: ss.casadi_model('two_link', payload=3), 'payload is 3'),
        (lambda: ss.plan('two_link', payload=3), 'payload is 3'),
        (lambda: ss.plan('two_link', goal='ab'), "goal is 'ab', .* 2 finite numbers"),
        (lambda: ss.plan('two_link', goal={'a': 1}), 'goal is {.*}, it has to be 2'),
        (lambda: ss.plan('two_link', goal=[0.0, NAN]), 'goal is .*nan.* 2 finite numbers'),
        (lambda: ss.plan('two_link', start=[1j, 0.0]), 'start is .* 2 finite numbers'),
        (lambda: ss.plan('two_link', seconds=NAN), 'seconds is nan, .* at least 0'),
        (lambda: ss.plan('two_link', seconds=-1), 'seconds is -1, .* at least 0'),
        (lambda: ss.simulate('two_link', seconds=NAN), 'seconds is nan, .* above 0'),
        (lambda: ss.simulate('two_link', goal='ab'), "goal is 'ab'"),
        (lambda: ss.simulate('two_link', loop='/dev'), '/dev: is a folder, and has to be a loop'),
        (lambda: ss.largest_payload('two_link', goal=None), 'goal is None, .* 2 finite numbers'),
        (lambda: ss.largest_payload('two_link', goal=[1.0]), 'goal is .* 2 finite numbers'),
        (lambda: ss.identify_payload('x.csv', 'two_link', {'a': 1}), 'RecordingSettings, or None'),
        (lambda: ss.identify_payload(None, 'two_link'), 'recording is None'),
        (lambda: ss.identify_payload('x.csv', 'two_link', empty=3), 'empty is 3'),
        (lambda: ss.plan('two_link', cost=3), 'cost is 3, .* of `own_cost`'),
        (lambda: ss.plan('two_link', loop=3), 'path is 3, it has to be the name of a file'),
        (lambda: ss.certify(None), 'motion is None, it has to be what `plan` returns'),
        (lambda: ss.own_cost('two_link', 3), r'function is 3, .* casadi\.Function'),
        (lambda: ss.design_excitation('two_link', aim='E'), "aim is 'E', .* ExcitationAim"),
        (lambda: ss.design_excitation('two_link', settings={'a': 1}), 'ExcitationSettings'),
        (lambda: ss.RecordingSettings(payload_mass='3'), "payload_mass is '3', .* above 0"),
        (lambda: ss.identifiable_parameters('two_link').report(None), 'path is None'),
        (lambda: ss.OnlineIdentifier('two_link', {'a': 1}), 'RecordingSettings, or None'),
        (lambda: ss.load_arm('two_link', 3), 'path is 3'),
        (lambda: ss.load_arm(ss.load_arm('two_link'), 'x.yaml'), 'was loaded with its own'),
        (lambda: ss.plan('two_link', payload=np.zeros(3)), 'payload is array'),
        (lambda: ss.calibrate_arm('x.csv', 'two_link', settings={}), 'CalibrationSettings, or'),
        (lambda: ss.calibrate_arm('x.csv', 'two_link', gains=3), 'path is 3'),
        (lambda: ss.calibrate_arm('x.csv', 'two_link', progress=3), 'progress is 3, .* function'),
        (
            lambda: ss.calibrate_closed_chain('x.csv', 'four_bar', settings=3),
            'ClosedChainSettings',
        ),
        (lambda: ss.identifiable_parameters('two_link', {}), 'question is {}, .* Question, or'),
        (lambda: ss.run_experiment('table3', {}), 'settings is {}, .* ExperimentSettings'),
        (lambda: ss.run_experiment([]), 'no experiment'),
        (lambda: ss.design_excitation('two_link', effort=3), 'effort is 3, .* Effort, or None'),
        (lambda: ss.design_excitation('two_link', watch=3), 'watch is 3, .* a function or None'),
        (lambda: ss.export_model('two_link', 'x', form=[]), 'form'),
        (
            lambda: ss.export_model('two_link', 'x', bounds=3),
            'bounds is 3, .* what `OnlineIdentifier',
        ),
        (lambda: ss.new_arm('x.urdf', None), 'settings is None, it has to be NewArmSettings'),
        (lambda: ss.RecordingSettings(poses=1), 'poses is 1, it has to be True or False'),
        (lambda: ss.RecordingSettings(flange=3), 'flange is 3, it has to be a text'),
        (lambda: ss.RecordingSettings(known=3), 'known is 3, it has to be of the class Uncert'),
        (lambda: ss.RecordingSettings(begin=None), 'begin is None, it has to be at least 0'),
        (lambda: ss.RecordingSettings(torque_signal=np.zeros(2)), 'one of sampled, held'),
        (lambda: ss.RecordingSettings(library=(3,)), 'library is .3,., it has to be a text'),
        (lambda: ss.OnlineIdentifier('two_link', period=NAN), 'period is nan'),
        (lambda: ss.OnlineIdentifier('two_link', period='x'), "period is 'x'"),
    ],
)
def test_what_is_no_argument_is_a_sentence(ask, sentence):
    with pytest.raises(ConfigError, match=sentence):
        ask()


def test_lists_arrays_single_values_and_texts_are_taken_as_what_they_stand_for():
    said = ss.RecordingSettings(
        torque_error=[0.1, 0.2], torque_ratio=np.array([0.1, 0.2]), position_error=0,
        library='dumbbell_4lb', gains='gains.yaml',
    )  # fmt: skip
    assert said.torque_error == (0.1, 0.2)
    assert said.torque_ratio == (0.1, 0.2)
    assert said.position_error == (0,)
    assert said.library == ('dumbbell_4lb',)
    assert said.gains == Path('gains.yaml')


@pytest.mark.parametrize(
    ('wrong', 'sentence'),
    [
        ({'motion': NAN}, 'motion is nan, .* above 0'),
        ({'motion': -1}, 'motion is -1'),
        ({'motion': 'x'}, "motion is 'x'"),
        ({'torque_error': NAN}, 'torque_error is nan'),
        ({'torque_error': -1}, 'torque_error is -1'),
        ({'torque_error': 1.0}, 'torque_error is 1.0, .* less than 1'),
        ({'seed': -1}, 'seed is -1, .* whole number'),
        ({'seed': 1.5}, 'seed is 1.5, .* whole number'),
        ({'payload': 3}, 'payload is 3'),
    ],
)
def test_no_recording_is_written_of_what_cannot_be(tmp_path, wrong, sentence):
    path = tmp_path / 'x.csv'
    with pytest.raises(ConfigError, match=sentence):
        ss.simulate_recording(path, 'two_link', **wrong)
    assert not path.exists()


def test_times_and_rates_of_a_motion_are_numbers():
    motion = ss.plan('two_link', start=[-1.4, 0.3], goal=[-1.3, 0.3])
    for t in (NAN, None, 'x', [0.0]):
        with pytest.raises(ConfigError, match='t is .*, it has to be a finite number'):
            motion.desired(t)
    for rate in (0.0, -1.0, NAN, None):
        with pytest.raises(ConfigError, match='rate is .*, it has to be a number above 0'):
            motion.sampled(rate)


@pytest.mark.parametrize('form', ['nope', [], np.zeros(2)])
def test_what_is_no_format_is_refused_before_anything_is_asked_of_it(form):
    with pytest.raises(ConfigError, match='no export'):
        undetermined(form, None)
    with pytest.raises(ConfigError, match='no export'):
        body_between(form, None)


BAD = {
    'nan': (0.5, [NAN, 0.0], REST, REST),
    'short': (0.5, [0.0], REST, REST),
    'two rows': (0.5, [REST], REST, REST),
    'text': (0.5, 'ab', REST, REST),
    'for ever': (1e300, REST, REST, REST),
    'none': (0.5, REST, None, REST),
    'complex': (0.5, REST, REST, [1j, 0.0]),
    'ragged': (0.5, REST, [[1.0], 2.0], REST),
    'no time': (NAN, REST, REST, REST),
    'time without end': (float('inf'), REST, REST, REST),
    'time in words': ('1', REST, REST, REST),
}


@pytest.mark.parametrize('period', slow_after(1, [0.01, None]))
def test_a_bad_sample_is_refused_at_once_and_costs_no_good_one(period):
    with ss.OnlineIdentifier('two_link', period=period) as identifier:
        identifier.step(0.0, REST, REST, REST)
        for name, sample in BAD.items():
            with pytest.raises(MeasurementError):
                identifier.step(*sample)
                pytest.fail(name)
        if period is None:
            with pytest.raises(MeasurementError, match='not after the sample before'):
                identifier.step(0.0, REST, REST, REST)
        for k in range(1, 60):
            identifier.step(0.01 * k, np.float32(REST), REST, REST)
        assert np.all(identifier.lower <= identifier.upper)


def test_a_closed_identifier_takes_nothing():
    identifier = ss.OnlineIdentifier('two_link')
    identifier.step(0.0, REST, REST, REST)
    identifier.close()
    identifier.close()
    for ask in (
        lambda: identifier.step(0.01, REST, REST, REST),
        identifier.finish,
        identifier.new_payload,
    ):
        with pytest.raises(ConfigError, match='this identifier is closed'):
            ask()
    assert np.all(identifier.lower <= identifier.upper)


@pytest.mark.parametrize('seed', range(3))
def test_a_simulated_arm_is_recorded_within_its_limits(tmp_path, seed):
    arm = ss.load_arm('kinova_gen3')
    ss.simulate_recording(tmp_path / 'x.csv', arm, motion=20.0, seed=seed)
    rows = np.loadtxt(tmp_path / 'x.csv', delimiter=',', skiprows=1)
    q, qd, limits = rows[:, 1:8], rows[:, 8:15], arm.model.limits
    assert np.all((q >= limits.position_lower) & (q <= limits.position_upper))
    assert np.all(np.abs(qd) <= limits.velocity)
    steps = np.diff(q, axis=0) / np.diff(rows[:, :1], axis=0)
    np.testing.assert_allclose(steps, 0.5 * (qd[1:] + qd[:-1]), atol=1e-4)


def test_settings_of_a_recording_are_a_name_of_the_package():
    assert ss.RecordingSettings(payload_mass=6.0).payload_mass == 6.0
