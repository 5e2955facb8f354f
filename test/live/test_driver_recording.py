"""A process that listens to a driver, and does not end."""

import importlib.util
import subprocess

import pytest

from safe_sysid.errors import MeasurementError
from safe_sysid.live.driver_recording import record_driver


def test_one_that_does_not_end_is_a_sentence(tmp_path, monkeypatch):
    def run(command, *, timeout, **_):
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(importlib.util, 'find_spec', lambda _: True)
    monkeypatch.setattr(subprocess, 'run', run)
    with pytest.raises(MeasurementError, match='has not ended after 70 s'):
        record_driver(tmp_path / 'bag', ('/states', '/commands'), 10.0)
