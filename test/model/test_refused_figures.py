"""Figures that nothing real has are refused with their name, their value and their unit."""

import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.model.collision.world import read_world
from safe_sysid.model.facts import facts_path, read_facts
from safe_sysid.model.payload import Placement


@pytest.mark.parametrize(
    ('old', 'new', 'message'),
    [
        (
            'effort_scale: 1.0',
            'effort_scale: 0',
            r'effort_scale is 0\.0, it has to be above 0 and at most 1e\+09 '
            r"\(\[N m per unit of the driver's effort\]\)$",
        ),
        (
            'armature: 0.1',
            'armature: 1e308',
            r'armature is 1e\+308, .* at most 1e\+09 \(\[kg m\^2',
        ),
        ('coulomb: 0.5', 'coulomb: 1e308', r'coulomb is 1e\+308, .* \(\[N m\]\)$'),
        ('0.0, -9.81]', '0.0, -1e308]', r'gravity is .* at least -1000 and at most 1000 .*m/s'),
        ('0.0, -9.81]', '0.0, -9810]', r'gravity is \(0\.0, 0\.0, -9810\.0\), it has to be'),
    ],
)
def test_no_arm_has_such_a_figure(old, new, message, tmp_path):
    text = facts_path('two_link').read_text(encoding='utf-8')
    assert old in text
    path = tmp_path / 'arm.yaml'
    path.write_text(text.replace(old, new, 1), encoding='utf-8')
    with pytest.raises(ConfigError, match=message):
        read_facts(path)


def test_angles_of_more_than_a_turn_are_taken_for_degrees(tmp_path):
    path = tmp_path / 'world.yaml'
    box = 'obstacles: {wall: {center: [1, 0, 0], size: [1, 1, 1], rpy: [%s, 0, 0]}}'
    for angle in ('6.283185307179586', '-3.2'):
        path.write_text(box % angle)
        assert list(read_world(str(path))) == ['wall']
    path.write_text(box % '90')
    with pytest.raises(ConfigError, match=r'rpy is \(90\.0, .* at most 6\.2832 \(\[rad\], no deg'):
        read_world(str(path))
    with pytest.raises(ConfigError, match='no degrees'):
        Placement('tool0', (0.0, 0.0, 0.0), (0.0, 0.0, 180.0))
