"""What docs/hardware.md says of topics and parameters is what the bridges have."""

from dataclasses import fields
from pathlib import Path

import pytest

from safe_sysid.bringup.processes import BACKENDS
from safe_sysid.export.gazebo import RELEASES
from safe_sysid.ros.bridges.lbr_fri_bridge import LbrFriSettings
from safe_sysid.ros.bridges.ros2_control_bridge import Ros2ControlSettings
from safe_sysid.track.obey_probe import ProbeSettings

PAGE = (Path(__file__).parents[3] / 'docs' / 'hardware.md').read_text(encoding='utf-8')


@pytest.mark.parametrize('settings', [Ros2ControlSettings, LbrFriSettings])
def test_topics_of_bridges_are_on_the_page(settings):
    default = {field.name: field.default for field in fields(settings)}
    for name in ('states', 'commands'):
        assert f'`{default[name]}`' in PAGE


def test_ways_and_figures_of_the_probe_are_on_the_page():
    for way in ('kinova', 'lbr_fri', 'gazebo_sim'):
        assert way in BACKENDS
        assert f'`{way}' in PAGE
    probe = ProbeSettings()
    said = (
        f'changes by {probe.ramp:g} N m/s',
        f'turned by {1e3 * probe.seen:g} mrad',
        f'{100 * probe.share:g} % of its torque limit or {probe.time:g} s',
        f'by {1e3 * probe.far:g} mrad while',
    )
    for sentence in said:
        assert sentence in PAGE
    trusted = BACKENDS['gazebo_sim'].parameters['ros2_control_bridge']['probe.driver']
    assert trusted == 'trusted'


def test_plugins_of_every_release_are_on_the_page():
    for release in RELEASES.values():
        for name in (release.hardware, release.system_file, release.system_name):
            assert f'`{name}`' in PAGE
