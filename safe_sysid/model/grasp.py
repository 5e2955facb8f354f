"""How far from its place a payload may be held, and the shapes of an arm that may hold several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.config import NotNegative, Settings
from safe_sysid.model.payload import Payload
from safe_sysid.model.robot_model import RobotModel


@dataclass(frozen=True)
class GraspError(Settings):
    """How far from its place in its file a payload may be held."""

    displaced: NotNegative = 0.01  # [m]
    turned: NotNegative = 0.0873  # [rad], about the origin of its frame
    weight: NotNegative = 0.02  # share by which all its masses may be off


def holding_any(model: RobotModel, payloads: Sequence[Payload], error: GraspError) -> RobotModel:
    """Return the arm with the shapes of all of these, as large as the grasp error makes them.

    Its parameters are those of the arm as it is, and so is the part of them that it holds.
    """
    whole = model
    for payload in payloads:
        way = farthest(payload, error)
        shapes = {
            name: replace(shape, radius=shape.radius + way)
            for name, shape in payload.shapes.items()
        }
        whole = whole.with_payload(replace(payload, shapes=shapes))
    return replace(whole, theta=model.theta, payload=model.payload)


def farthest(payload: Payload, error: GraspError) -> float:
    """Farthest that a point of a payload may be from where it would be [m]."""
    ends = [np.array(end) for each in payload.shapes.values() for end in (each.a, each.b)]
    radii = [each.radius for each in payload.shapes.values() for _ in range(2)]
    reach = max(float(np.linalg.norm(end)) + r for end, r in zip(ends, radii, strict=True))
    return float(error.displaced + 2.0 * reach * np.sin(0.5 * min(error.turned, np.pi)))
