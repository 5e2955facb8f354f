"""What is stated of a recording and would not count is refused, whoever states it."""

from pathlib import Path

import numpy as np
import pytest

from safe_sysid.api.payload import identify_payload
from safe_sysid.cli.main import main
from safe_sysid.errors import ConfigError, MeasurementError
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.measure.csv_log import Columns, read_csv
from safe_sysid.measure.recording_choice import RecordingChoice, recording_of_choice
from safe_sysid.model.uncertainty import Uncertainty, Width

COMPARED = {
    'confidence': (0.5, '50%'),
    'gain_error': (0.5, '50%'),
    'gains': (Path('config/calibration.yaml'), 'config/calibration.yaml'),
    'inertia_prior': (1.0, '1'),
    'sensor': ('tool0', 'tool0'),
    'sensor_topic': ('/wrench', '/wrench'),
}
ONE_RECORDING = {
    'known_links': ((0.05, 0.0), '5%'),
    'known_friction': (0.2, '20%'),
    'torque_error': ((0.5,), '0.5'),
    'velocity_error': ((0.5,), '0.5'),
    'hold_out': (0.1, '10%'),
    'slosh_force': (5.0, '5'),
    'library': (('dumbbell_4lb',), 'dumbbell_4lb'),
    'known': (Uncertainty(offset=Width((0.0,), (0.3,))), 'offset=0.3'),
}


def option(field):
    return f'--{field.replace("_", "-")}'


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / 'recording.csv'
    header = 'time,q_0,q_1,tau_0,tau_1'
    np.savetxt(path, np.ones((9, 5)), delimiter=',', header=header, comments='')
    return path


@pytest.mark.parametrize('field', COMPARED)
def test_what_counts_against_empty_recordings_is_refused_without(field, recording, capsys):
    value, word = COMPARED[field]
    with pytest.raises(ConfigError, match=f'{option(field)} counts only against .* --empty'):
        identify_payload(recording, 'two_link', RecordingSettings(**{field: value}))
    words = ['identify', str(recording), '--robot', 'two_link', option(field), word]
    assert main(words) == 2
    assert '--empty' in capsys.readouterr().err


def test_a_default_that_is_stated_is_refused_too(recording, capsys):
    words = ['identify', str(recording), '--robot', 'two_link', '--confidence', '95%']
    assert main([*words, '--inertia-prior', '0.1']) == 2
    assert '--confidence, --inertia-prior count only' in capsys.readouterr().err
    assert main([*words[:-2], '--self-test']) == 2
    assert '--self-test is of recordings without the payload' in capsys.readouterr().err


@pytest.mark.parametrize('field', ONE_RECORDING)
def test_what_counts_for_one_recording_is_refused_against_empty_ones(field, recording, capsys):
    value, word = ONE_RECORDING[field]
    settings = RecordingSettings(**{field: value})
    said = f'{option(field)} counts only where nothing is compared'
    with pytest.raises(ConfigError, match=said):
        identify_payload(recording, 'two_link', settings, empty=recording)
    words = ['identify', str(recording), '--empty', str(recording), '--robot', 'two_link']
    assert main([*words, option(field), word]) == 2
    assert said in capsys.readouterr().err


def test_a_topic_of_wrenches_needs_its_sensor(recording):
    settings = RecordingSettings(sensor_topic='/wrench')
    with pytest.raises(ConfigError, match='--sensor LINK'):
        identify_payload(recording, 'two_link', settings, empty=recording)


@pytest.mark.parametrize('columns', [Columns(rate=100.0), Columns(time='time', rate=100.0)])
def test_a_rate_beside_times_is_refused(columns, recording):
    with pytest.raises(MeasurementError, match=r"times are in column 'time', and --rate"):
        read_csv(recording, ('q_0', 'q_1'), columns)


def test_a_rate_of_a_bag_and_of_poses_is_refused(recording, tmp_path):
    timed = RecordingChoice(tmp_path / 'run.mcap', columns=Columns(rate=100.0))
    with pytest.raises(MeasurementError, match='a bag has times'):
        recording_of_choice(timed, ('a', 'b'))
    poses = RecordingChoice(recording, columns=Columns(rate=100.0))
    with pytest.raises(ConfigError, match='--rate is of a table with times'):
        identify_payload(poses, 'two_link', RecordingSettings(poses=True), empty=recording)
