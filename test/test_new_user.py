"""As a new user: from a URDF that does not come with the package to a plan and a payload."""

import re

import pytest
from test_own_arm_page import BLOCK, ROOT, said_by

LINK = """<link name="{name}"><inertial><mass value="{mass}"/><origin xyz="{x} 0 0"/>
  <inertia ixx="{roll}" iyy="{I}" izz="{I}" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="{x} 0 0" rpy="0 1.5708 0"/>
  <geometry><cylinder radius="{r}" length="{l}"/></geometry></collision></link>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="{xyz}"/><axis xyz="{axis}"/>
  <limit lower="{lower}" upper="{upper}" effort="{effort}" velocity="2.4"/></joint>"""
MOST_COMMANDS = 10


def described():
    """A column that turns, shoulder, elbow and wrist: nobody built it."""
    links = [('upper', 3.0, 0.2, 0.045, 0.4), ('fore', 1.5, 0.18, 0.04, 0.36),
             ('hand', 0.6, 0.05, 0.03, 0.1)]  # fmt: skip
    parts = [
        '<link name="stand"><collision><origin xyz="0 0 0.15"/><geometry>'
        '<box size="0.16 0.16 0.3"/></geometry></collision></link>',
        '<link name="column"><inertial><mass value="4"/><origin xyz="0 0 0.05"/>'
        '<inertia ixx="0.02" iyy="0.02" izz="0.015" ixy="0" ixz="0" iyz="0"/></inertial>'
        '<collision><origin xyz="0 0 0.05"/><geometry><sphere radius="0.09"/></geometry>'
        '</collision></link>',
        *(LINK.format(name=n, mass=m, x=x, r=r, l=length, I=m * length**2 / 12,
                      roll=m * r**2 / 2)
          for n, m, x, r, length in links),
        JOINT.format(name='pan', parent='stand', child='column', xyz='0 0 0.36', axis='0 0 1',
                     lower=-2.8, upper=2.8, effort=60),
        JOINT.format(name='lift', parent='column', child='upper', xyz='0 0 0.1', axis='0 -1 0',
                     lower=-0.4, upper=2.5, effort=140),
        JOINT.format(name='elbow', parent='upper', child='fore', xyz='0.42 0 0', axis='0 -1 0',
                     lower=-2.3, upper=2.3, effort=70),
        JOINT.format(name='wrist', parent='fore', child='hand', xyz='0.38 0 0', axis='0 -1 0',
                     lower=-1.8, upper=1.8, effort=25),
    ]  # fmt: skip
    return f'<robot name="my_arm">{"".join(parts)}</robot>'


@pytest.mark.nightly
def test_a_robot_from_elsewhere_is_made_planned_for_and_identified_by_the_page_alone(
    tmp_path, monkeypatch
):
    (tmp_path / 'my_arm.urdf').write_text(described(), encoding='utf-8')
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall((ROOT / 'docs' / 'own_arm.md').read_text('utf-8'))
    assert sum(len(text.splitlines()) if kind == 'bash' else 1 for kind, text in blocks) <= (
        MOST_COMMANDS
    )
    made, examined, moved, planned, identified = (said_by(text, kind) for kind, text in blocks)
    assert 'identification: yes' in made
    assert 'FAIL  capsules' not in examined
    assert 'condition' in moved
    assert (tmp_path / 'motion' / 'excitation.csv').is_file()
    assert 'the goal is reached' in planned
    lower, _, upper = map(float, re.search(r'  m +(\S+) +(\S+) +(\S+)  kg', identified).groups())
    assert lower < 0.6 + 2.0 < upper  # hand and payload
