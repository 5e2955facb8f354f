"""Settings of the loop that a bag was recorded with: arm, gains, obstacles, fineness of proofs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import dataclasses
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from safe_sysid.config import from_mapping, nested, parsed_yaml
from safe_sysid.errors import MeasurementError
from safe_sysid.loop_settings import GainSettings, LoopSettings
from safe_sysid.model.assumed_arm import AssumedArm
from safe_sysid.model.collision.obstacles import Obstacles
from safe_sysid.model.collision.world import EMPTY, read_world
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.receding_horizon import PlannerSettings
from safe_sysid.sets.box import Box
from safe_sysid.track.described_sampling import described_sampling
from safe_sysid.track.gains import Gains
from safe_sysid.track.seen_law import Sampling

PARAMETERS = '/recorded/parameters'  # topic on which the recorder writes those of every node


@dataclass(frozen=True, eq=False)
class RecordedSettings:
    """What plans were certified for, besides the parameters of the arm."""

    nodes: Mapping[str, Mapping[str, Any]]  # parameters by node, without slash
    model: RobotModel  # with the shape of what it may hold
    gains: Gains
    boxes: Mapping[str, Box]
    intervals: int  # time steps of a certificate
    degree: int
    duration: float  # [s] of a plan with as many
    sampling: Sampling | None = None  # how certificates took the arm to be seen; None: exactly

    @cached_property
    def obstacle_set(self) -> Obstacles:
        """Obstacles as reachable sets want them."""
        return Obstacles.of(dict(self.boxes))


def recorded_settings(texts: list[str]) -> RecordedSettings:
    """Out of the parameter files of the nodes, as the recorder wrote them."""
    nodes = parameters_by_node(texts)
    if 'planner' not in nodes:
        raise MeasurementError(
            f'{PARAMETERS} has the parameters of {sorted(nodes)}; those of the planner are needed '
            'to certify its plans again'
        )
    said = nodes['planner']
    model = arm_with(said)
    K_r = said['gains.K_r']
    names = ('V_M', 'alpha', 'coulomb_speed', 'sign_speed')
    V_M, alpha, coulomb_speed, sign_speed = (float(said[f'gains.{name}']) for name in names)
    ratio, absolute = model.friction.with_load(model.actuation.ratio, model.actuation.absolute)
    K = np.full(model.n, K_r)
    gains = Gains(K, V_M, alpha, coulomb_speed, sign_speed, absolute, ratio)
    fineness = int(said['planner.intervals']), int(said['planner.degree'])
    duration = float(said['planner.duration'])
    seen = None
    if said.get('sampling', 'ideal') == 'described':
        seen = described_sampling(model, float(said['period'])).sampling
    boxes = read_world(str(said['world']))
    return RecordedSettings(nodes, model, gains, boxes, *fineness, duration, seen)


def parameters_by_node(texts: list[str]) -> dict[str, dict[str, Any]]:
    """Parameters of every node that parameter files are about, without its namespace."""
    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        for node, block in parsed_yaml(text, PARAMETERS).items():
            found[str(node).rpartition('/')[2]] = dict(block['ros__parameters'])
    return {node: {**_DEFAULTS.get(node, {}), **values} for node, values in found.items()}


def _defaults(cls: Any, prefix: str = '') -> Iterator[tuple[str, Any]]:
    """Parameters that have a default, with their names in ROS."""
    for field in dataclasses.fields(cls):
        if field.default is not dataclasses.MISSING:
            yield f'{prefix}{field.name}', field.default


# What was handed to a node that did not live to be asked says nothing of what was left at its
# default.
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    'planner': {
        **dict(_defaults(LoopSettings)),
        **dict(_defaults(GainSettings, 'gains.')),
        **dict(_defaults(PlannerSettings, 'planner.')),
        'world': EMPTY,
        'goal': (),
    }
}


def arm_with(said: Mapping[str, Any]) -> RobotModel:
    """Return the arm that parameters of a node name, with the shape of what it may hold."""
    robot, payload = str(said['robot']), str(said.get('payload', ''))
    path = Path(robot)
    is_file = path.suffix in ('.yaml', '.yml')
    model = RobotModel.from_config(path) if is_file else RobotModel.named(robot)
    if said.get('simulated'):
        assumed = {k: x for k, x in nested(dict(said)).get('assumed', {}).items() if x is not None}
        model = from_mapping(AssumedArm, assumed, f'{PARAMETERS}: assumed').of(model).model
    return model.with_payload(read_payload(payload)) if payload else model
