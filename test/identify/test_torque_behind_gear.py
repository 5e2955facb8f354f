"""What a sensor behind the gear is compared with: links alone, neither friction nor rotors."""

from dataclasses import replace
import json

from cli.recorded_arm import Trial, as_table
import numpy as np
import pinocchio as pin
import pytest
import yaml

from safe_sysid.cli.main import main
from safe_sysid.identify.effort_plausibility import implausible
from safe_sysid.identify.held_out import held_out
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.measure.smooth_log import SmoothLog
from safe_sysid.model.arm_knowledge import ArmKnowledge
from safe_sysid.model.facts import facts_path, read_facts, urdf_path
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval


def arm(sensor):
    """Two links with drives that need far more torque than the links."""
    model = RobotModel.named('two_link')
    theta = model.theta.copy()
    model.layout.friction(theta)[:3] = [[15.0, 9.0], [12.0, 7.0], [30.0, 12.0]]
    facts = model.sensors.sensing
    sensing = replace(facts, torque=replace(facts.torque, sensor=sensor))
    sensors = replace(model.sensors, sensing=sensing)
    return replace(model.with_parameters(theta), sensors=sensors)


def motion_of_links(model):
    """Ten seconds, and the torque that Pinocchio says the links need."""
    seconds = np.linspace(0.0, 10.0, 1001)[:, None]
    rate = np.array([1.0, 1.3])
    q, qd = np.sin(seconds * rate), rate * np.cos(seconds * rate)
    qdd = -(rate**2) * q
    chain = model.pinocchio()
    chain.armature = np.zeros(model.n)
    data = chain.createData()
    torque = np.array([pin.rnea(chain, data, *x) for x in zip(q, qd, qdd, strict=True)])
    return SmoothLog(seconds[:, 0], q, qd, qdd, torque, torque)


def test_torque_without_friction_is_plausible_behind_the_gear_alone():
    part = motion_of_links(arm('link'))
    assert implausible(arm('link'), part, ArmKnowledge()) is None
    assert 'is a fraction of what' in implausible(arm('motor'), part, ArmKnowledge())


def test_held_out_torque_behind_the_gear_is_predicted_without_friction():
    part = motion_of_links(arm('link'))
    shares = {}
    for sensor in ('link', 'motor'):
        model = arm(sensor)
        exactly = Interval(model.theta, model.theta)
        found = held_out(model, exactly, part, 6.0, 5.0).validation(model.theta)
        shares[sensor] = [
            each.filtered for each in (found.as_described, found.within, found.identified)
        ]
    assert max(shares['link']) < 1e-9
    assert min(shares['motor']) > 1.0


@pytest.mark.parametrize(('signal', 'is_refused'), [('sampled', False), ('held', True)])
def test_a_recording_behind_the_gear_has_bounds_unless_it_is_of_commands(
    signal, is_refused, tmp_path, capsys
):
    """Commands move the drives, too, wherever the sensor is."""
    model, facts = arm('link'), yaml.safe_load(facts_path('two_link').read_text())
    facts['sensing']['torque']['sensor'] = 'link'
    facts['urdf'] = str(urdf_path(facts_path('two_link'), read_facts(facts_path('two_link'))))
    for i, joint in enumerate(facts['joints'].values()):
        joint['coulomb'], joint['viscous'], joint['armature'] = np.array(
            model.layout.friction(model.theta)[:3, i]
        ).tolist()
    settings = tmp_path / 'geared.yaml'
    settings.write_text(yaml.safe_dump(facts, sort_keys=False))
    part = motion_of_links(model)
    log = JointLog((part.seconds * 1e9).astype(np.int64), part.q, part.qd, part.torque)
    table = as_table(Trial(model, log, model.theta[model.layout.end_effector]), tmp_path / 'a.csv')
    asked = ['identify', table, '--robot', settings, '--torque-signal', signal, '--json']
    main([str(x) for x in (*asked, '--velocity-error', '0')])
    found = json.loads(capsys.readouterr().out)
    assert (found['refused'] is not None) == is_refused
    if is_refused:
        assert 'is a fraction of what' in found['refused']
    else:
        assert found['validation']['relative_error_filtered'] < 0.05
