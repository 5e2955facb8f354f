"""Units are said in words where joints slide, which figures in N m and rad do not tell."""

import pytest

from safe_sysid.identify.recorded_assumptions import effort_sentences
from safe_sysid.model.arm import arm_of
from safe_sysid.model.friction import LABELS, units

BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
JOINT = """<joint name="j{i}" type="{kind}"><parent link="l{i}"/><child link="l{n}"/>
  <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="9" velocity="1"/></joint>"""


@pytest.mark.parametrize(
    ('kinds', 'sliding'),
    [(('revolute', 'revolute'), None), (('revolute', 'prismatic'), 'prismatic: j1; ')],
)
def test_joints_that_slide_are_named_with_their_units(kinds, sliding, tmp_path):
    links = [f'<link name="l{i}">{BODY}</inertial></link>' for i in range(3)]
    joints = [JOINT.format(i=i, n=i + 1, kind=kind) for i, kind in enumerate(kinds)]
    path = tmp_path / 'arm.urdf'
    path.write_text(f'<robot name="arm">{"".join(links + joints)}</robot>', encoding='utf-8')
    said = effort_sentences(arm_of(str(path), None))[1:]
    assert said == [] if sliding is None else said[0].startswith(sliding)
    assert all('read N for N m' in sentence for sentence in said)


def test_friction_of_joints_that_slide_has_units_of_force():
    assert dict(zip(LABELS, units(True), strict=True)) == {
        'Fc': 'N', 'Fv': 'N s/m', 'Ia': 'kg', 'beta': 'N',
    }  # fmt: skip
