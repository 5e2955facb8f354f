"""Listening to a driver that is not there leaves nothing in the way of the next try."""

import sys

import pytest

pytest.importorskip('rclpy')
from safe_sysid.ros.probes import heard_driver


def test_where_nobody_speaks_there_is_no_bag(tmp_path, monkeypatch, capsys):
    folder = tmp_path / 'bag'
    monkeypatch.setattr(heard_driver, 'PATIENCE', 0.1)
    monkeypatch.setattr(sys, 'argv', ['', str(folder), '1.0', '/joint_states', '/commands'])
    assert heard_driver.main() == 1
    said = capsys.readouterr()
    assert 'no state came on /joint_states' in said.err and not said.out
    assert not folder.exists()
