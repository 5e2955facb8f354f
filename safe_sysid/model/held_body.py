"""Ten parameters of what an arm holds, in the frame of theta_e, and whether a prior has them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError
from safe_sysid.model.inertia import LABELS, UNITS, from_mass_com_inertia, moved
from safe_sysid.model.payload import Payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

ROUNDING = 1e-9  # share by which sums of stated figures may miss a prior that has them
TINY = 1e-30  # that of sums of zeros


def placed(model: RobotModel, payload: Payload) -> Array:
    """Ten parameters of a payload in the frame of theta_e, held where its file says."""
    link, R, p = payload.placed_on(model.name)
    frame = model.frames[link]
    body = from_mass_com_inertia(np.array(payload.mass), payload.com, payload.inertia)
    return moved(body, frame.R @ R, frame.R @ p + frame.p)


def refuse_beyond(
    prior: Interval, own: Interval, empty: RobotModel, held: Mapping[str, Payload | None]
) -> None:
    """Refuse what may be held, by its name in the settings, and is not within the prior.

    `own` are bounds on theta_e of the hand of the `empty` arm; with None nothing else is held.
    """
    for name, payload in held.items():
        bounds = own
        if payload is not None:
            body = placed(empty, payload)
            bounds = own + Interval(body, body)
        below, above = prior.lower - bounds.lower, bounds.upper - prior.upper
        away = ROUNDING * np.maximum(np.abs(bounds.lower), np.abs(bounds.upper)) + TINY
        beyond = [
            f'{LABELS[i]} is {bounds.lower[i]:.6g} to {bounds.upper[i]:.6g} {UNITS[i]}, the prior '
            f'says {prior.lower[i]:.6g} to {prior.upper[i]:.6g}'
            for i in range(len(LABELS))
            if below[i] > away[i] or above[i] > away[i]
        ]
        if beyond:
            raise ConfigError(
                f'{name} is beyond the prior, which would void every bound: with the empty hand '
                f'{"; ".join(beyond)}. Allowed: a prior (lower, nominal, upper) that contains all '
                'that may be held, or something else to hold'
            )
