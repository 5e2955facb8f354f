"""What an arm holds in an excitation motion: what is said, else what its settings say."""

from dataclasses import replace

import pytest

import safe_sysid as ss
from safe_sysid.api import excitation
from safe_sysid.excite.settings import read_settings
from safe_sysid.share import share_directory


@pytest.fixture
def held(monkeypatch):
    """Names of what motions were asked for with."""
    seen = []

    def noted(_arm, payload, *_others):
        seen.append(payload and payload.name)

    monkeypatch.setattr(excitation, 'design_trajectory', noted)
    return seen


def settings_file(folder, payload):
    text = (share_directory() / 'config' / 'excitation.yaml').read_text(encoding='utf-8')
    path = folder / 'excitation.yaml'
    path.write_text(text.replace("payload: ''", f'payload: {payload}'), encoding='utf-8')
    return path


def test_the_gripper_of_the_settings_is_in_the_hand_unless_something_else_is_named(
    held, tmp_path, monkeypatch
):
    tool = (share_directory() / 'config/payloads/rod_tool.yaml').read_text(encoding='utf-8')
    (tmp_path / 'gripper.yaml').write_text(tool, encoding='utf-8')
    monkeypatch.chdir('/')
    beside = read_settings(settings_file(tmp_path, 'gripper.yaml'))
    ss.design_excitation('two_link', settings=beside)
    ss.design_excitation('two_link', 'dumbbell_8lb', settings=beside)
    ss.design_excitation('two_link', settings=read_settings(settings_file(tmp_path, 'rod_tool')))
    ss.design_excitation('two_link', settings=replace(beside, payload=''))
    ss.design_excitation('two_link')
    assert held == ['gripper', 'dumbbell_8lb', 'rod_tool', None, None]
