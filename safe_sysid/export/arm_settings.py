"""A calibrated arm as config/robots file: the facts it came with, with other friction values."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from safe_sysid.config import yaml_text
from safe_sysid.model.facts import RobotFacts
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.output_file import write_text

HEADER = """\
# Calibrated {arm}: friction, armature and offset below and the inertias in {urdf} are one fit.
# Of bodies only combinations show in torques; the rest is what the description said before.
# docs/robots.md explains every key.
"""
OF_DRIVES = ('coulomb', 'viscous', 'armature')
BEHIND_GEAR = (
    'Its torques are measured behind the gears: friction and armature are those of before.'
)


def write_settings(
    model: RobotModel, facts: RobotFacts, urdf: str, target: Path, remarks: tuple[str, ...]
) -> None:
    """Facts of the arm with friction and unit of the model, beside the URDF they belong to."""
    if _is_behind_gear(model):
        remarks = (*remarks, BEHIND_GEAR)
    header = HEADER.format(arm=model.name, urdf=urdf) + ''.join(f'# {line}\n' for line in remarks)
    write_text(target, header + settings_text(model, facts, urdf))


def settings_text(model: RobotModel, facts: RobotFacts, urdf: str) -> str:
    """Return facts of an arm with friction of the model and unit of its effort, as YAML."""
    friction, sensors = model.layout.friction(model.theta), model.sensors
    behind_gear = _is_behind_gear(model)
    joints = {
        name: dataclasses.replace(
            facts.joints[name],
            offset=float(friction[3, i]),
            effort_sign=int(sensors.effort_sign[i]),
            effort_scale=float(sensors.effort_scale[i]),
            **({} if behind_gear else dict(zip(OF_DRIVES, friction[:3, i].tolist(), strict=True))),
        )
        for i, name in enumerate(model.layout.joint_names)
    }
    values = dataclasses.asdict(dataclasses.replace(facts, urdf=urdf, joints=joints))
    return yaml_text(_listed(values))


def _is_behind_gear(model: RobotModel) -> bool:
    """Whether the sensor feels nothing of drives: what they need is not what a fit makes of it."""
    return model.sensors.sensing.torque.sensor == 'link'


def _listed(value: object) -> dict[str, object]:
    """Return the mapping with lists in place of tuples, which YAML has no word for."""
    plain = _plain(value)
    assert isinstance(plain, dict)
    return plain


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
