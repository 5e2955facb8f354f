"""An answer that came counts, whatever becomes of the process that gave it."""

from pathlib import Path

import pytest

from safe_sysid.api import robot_description
from safe_sysid.errors import ConfigError, ModelError
from safe_sysid.live import driver_hand_over, driver_recording

PROBE = 'live.falls_at_its_end'


@pytest.fixture(autouse=True)
def falling(monkeypatch):
    monkeypatch.setenv('PYTHONPATH', str(Path(__file__).parents[1]))
    for each in (robot_description, driver_hand_over, driver_recording):
        monkeypatch.setattr(each, 'PROBE', PROBE)


def test_a_driver_that_was_told_was_told():
    assert driver_hand_over.hand_over({'name': 'payload'}, 1.0) == {'success': True}


def test_a_recording_that_is_complete_is_taken(tmp_path):
    driver_recording.record_driver(tmp_path / 'bag', ('/joint_states', '/command'), 1.0)


def test_a_description_that_was_read_is_taken():
    assert robot_description._text_of('/robot_description', 1.0) == '{"success": true}'


def test_a_process_without_an_answer_is_a_failure():
    with pytest.raises(ConfigError, match='silent'):
        driver_hand_over._answer([PROBE, 'silent', '1.0'], '', 1.0, 'silent')
    with pytest.raises(ModelError, match='the process that reads it ended'):
        robot_description._text_of('silent', 1.0)
