"""A gripper beyond `tip` is part of a payload, with the arm as described and as calibrated."""

from types import SimpleNamespace

import numpy as np
import pytest

from safe_sysid.bench.experiments.calibration import altered
from safe_sysid.errors import ConfigError
from safe_sysid.export.calibrated_arm import write_closed_chain_arm
from safe_sysid.export.gazebo import write_gazebo
from safe_sysid.export.hand_over import body_of
from safe_sysid.export.payload import exported
from safe_sysid.export.payload_controllers import refuse_short
from safe_sysid.identify.payload_in_frame import payload_of
from safe_sysid.model import inertia
from safe_sysid.model.arm import arm_of
from safe_sysid.model.arm_knowledge import ArmKnowledge
from safe_sysid.sets.interval import Interval

HELD = inertia.from_mass_com_inertia(
    np.array(2.0), np.array([0.02, -0.03, 0.1]), np.diag([0.01, 0.012, 0.008])
)


def rewritten(arm, theta, folder):
    """The arm read back from the files of a fit of it."""
    fit = SimpleNamespace(
        theta=lambda _: theta,
        separability=SimpleNamespace(sentences=list),
        drives=SimpleNamespace(cautions=tuple),
        unknown_drives=lambda n: np.zeros((3, n), dtype=bool),
    )
    folder.mkdir()
    write_closed_chain_arm(folder, arm, fit)
    return arm_of(str(folder / f'{arm.model.name}.yaml'), None)


def payload(arm, own):
    """What is said to be held when HELD is, with an arm whose last body is `own`."""
    frame = arm.model.frames[arm.facts.tip]
    whole = own + inertia.moved(HELD, frame.R, frame.p)
    bounds = Interval.from_center_radius(whole, 1e-9 * np.ones(10))
    return payload_of(arm, whole, bounds, arm.facts.tip, ArmKnowledge(links=0.0))


@pytest.mark.parametrize('robot', ['panda', 'kinova_gen3', 'z1', 'so101'])
def test_a_calibrated_arm_gives_the_payload_of_the_described_one(robot, tmp_path, rng):
    arm = arm_of(robot, None)
    described = payload(arm, arm.model.own_end_effector)
    assert described.mass > 2.005
    theta = altered(arm.model, rng).theta
    theta[arm.model.layout.end_effector] = 1.05 * arm.model.own_end_effector
    again = rewritten(arm, theta, tmp_path / 'out')
    assert again.model.theta[again.model.layout.end_effector] == pytest.approx(
        theta[arm.model.layout.end_effector], abs=1e-9
    )
    assert not again.facts.gripper_in_tip
    body = payload(again, theta[arm.model.layout.end_effector])
    assert body.nominal == pytest.approx(described.nominal, abs=1e-7)
    assert body.bounds.contains(described.nominal)
    assert body.contains == described.contains


def test_files_for_gazebo_give_the_payload_of_the_described_arm(tmp_path):
    arm = arm_of('panda', None)
    settings = write_gazebo(arm, 'jazzy', 0.001, tmp_path / 'out')[2]
    again = arm_of(str(settings), None)
    body = payload(again, again.model.own_end_effector)
    expected = payload(arm, arm.model.own_end_effector)
    assert body.nominal == pytest.approx(expected.nominal, abs=1e-7)


def test_where_the_last_body_is_none_without_the_gripper_a_payload_says_so(tmp_path):
    arm = arm_of('panda', None)
    theta = arm.model.theta.copy()
    theta[arm.model.layout.end_effector] *= 0.3  # less than its gripper
    again = rewritten(arm, theta, tmp_path / 'out')
    body = payload(again, theta[arm.model.layout.end_effector])
    assert body.mass == pytest.approx(2.0, abs=1e-7)
    assert body.contains.endswith('without what was on the flange at calibration')
    for to in ('ur', 'ur-script', 'kuka', 'abb'):
        with pytest.raises(ConfigError, match=f'^{to} is told of all that is behind the flange'):
            refuse_short(to, body)
    for to in ('franka', 'moveit', 'mjcf', 'inertia'):
        refuse_short(to, body)
    refuse_short('ur', payload(arm, arm.model.own_end_effector))
    told = {
        'payload': {
            **{kind: getattr(body.bounds, kind).tolist() for kind in ('lower', 'upper')},
            'nominal': body.nominal.tolist(),
            'frame': body.frame,
            'contains': body.contains,
        }
    }
    assert body_of(told, 'inertia').contains == body.contains
    with pytest.raises(ConfigError, match='gripper_in_tip'):
        body_of(told, 'ur')
    found = SimpleNamespace(payload=body, unstated=())
    with pytest.raises(ConfigError, match='gripper_in_tip'):
        exported('ur', found, again)
    text = (tmp_path / 'out' / 'panda.yaml').read_text(encoding='utf-8')
    assert '# The last body is none without what the URDF has beyond the tip' in text
    assert 'gripper_in_tip: true' in text
    twice = rewritten(again, theta, tmp_path / 'twice')  # from its own files
    assert payload(twice, theta[arm.model.layout.end_effector]).contains == body.contains
