"""A joint that is held in the settings and moves in the recording is said to do so."""

from dataclasses import replace
import json

from cli.recorded_arm import as_table, trial
import numpy as np
import yaml

from safe_sysid.cli.main import main
from safe_sysid.identify.held_elsewhere import held_elsewhere
from safe_sysid.measure.csv_log import Columns
from safe_sysid.measure.recording_choice import RecordingChoice, positions_of_others
from safe_sysid.model.arm import arm_of
from safe_sysid.model.arm_knowledge import ArmKnowledge
from safe_sysid.model.facts import facts_path, urdf_path

FINGER = """<joint name="finger" type="prismatic"><parent link="link_2"/><child link="pad"/>
<axis xyz="0 1 0"/><limit lower="0" upper="0.1" effort="1" velocity="1"/></joint>
<link name="pad"><inertial><mass value="0.02"/>
<inertia ixx="1e-5" iyy="1e-5" izz="1e-5" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def arm_holding(held, urdf):
    """Two links, without the joints that are held."""
    shipped = arm_of('two_link', None)
    kept = {name: x for name, x in shipped.facts.joints.items() if name not in held}
    acting = {name: shipped.facts.actuation[name] for name in kept}
    facts = replace(shipped.facts, joints=kept, actuation=acting, held=held)
    return replace(shipped, facts=facts, urdf=urdf or shipped.urdf)


def test_a_held_joint_that_is_elsewhere_is_named():
    arm = arm_holding({'joint_2': 0.1}, None)
    for ends, is_said in (((0.1, 0.1), False), ((0.0999, 0.1001), False), ((0.0, 0.2), True)):
        said = held_elsewhere(arm, {'joint_2': np.array(ends)}, ArmKnowledge(links=0.01))
        assert bool(said) == is_said
    assert said[0].startswith("joint 'joint_2' is held at 0.1 in the settings, and the recording ")
    assert 'from 0 to 0.2' in said[0]


def test_fingers_may_be_elsewhere_as_far_as_bodies_are_known(tmp_path):
    urdf = tmp_path / 'gripper.urdf'
    urdf.write_text(urdf_path(facts_path('two_link'), arm_holding({}, None).facts).read_text())
    urdf.write_text(urdf.read_text().replace('</robot>', FINGER))
    arm, fingers = arm_holding({'finger': 0.02}, urdf), {'finger': np.array([0.0, 0.04])}
    assert not held_elsewhere(arm, fingers, ArmKnowledge(links=0.05))
    assert held_elsewhere(arm, fingers, ArmKnowledge(links=1e-5))


def test_columns_found_by_number_belong_to_the_arm(tmp_path):
    path = tmp_path / 'a.csv'
    rows = np.column_stack([np.arange(5) * 0.01, *np.arange(15.0).reshape(3, 5)])
    np.savetxt(path, rows, '%g', ',', header='time,q_0,tau_0,grip.position', comments='')
    found = positions_of_others(RecordingChoice(path), ['grip', 'q', 'wrist'])
    assert list(found) == ['grip']
    np.testing.assert_array_equal(found['grip'].position[:, 0], np.arange(10.0, 15.0))
    by_number = RecordingChoice(path, columns=Columns(position='q_{i}'))
    assert positions_of_others(by_number, ['grip']) == {}


def test_identify_cautions_of_a_held_joint_that_moves(tmp_path, capsys):
    settings = yaml.safe_load(facts_path('two_link').read_text())
    for per_joint in ('joints', 'actuation'):
        del settings[per_joint]['joint_2']
    settings |= {'held': {'joint_2': 0.1}, 'urdf': str(arm_of('two_link', None).urdf)}
    settings['friction']['static'] = [0.5]
    (tmp_path / 'one.yaml').write_text(yaml.safe_dump(settings, sort_keys=False))
    given = trial()
    table = as_table(given, tmp_path / 'a.csv')
    main(['identify', str(table), '--robot', str(tmp_path / 'one.yaml'), '--json'])
    caution = json.loads(capsys.readouterr().out)['caution']
    q = given.log.position[:, 1]
    assert "'joint_2' is held at 0.1 in the settings" in caution
    assert f'from {q.min():.4g} to {q.max():.4g}' in caution
