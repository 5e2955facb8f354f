"""From where controllers count a load: the flange, by the name it has in drivers' URDFs."""

from __future__ import annotations

import numpy as np

from safe_sysid.errors import ConfigError
from safe_sysid.model.arm import Arm

FLANGES = {'ur': 'tool0', 'ur-script': 'tool0', 'franka': 'link8'}  # last words of their names
OF_FILES = {**{to: (name,) for to, name in FLANGES.items()}, 'kuka': ('link_ee', 'tool0')}
SAME = 1e-6  # [m] and of rotations, between two frames that are one


def refuse_other_frame(form: str, arm: Arm, frame: str) -> None:
    """Refuse a payload in a frame that is not the flange, where the arm has one of that name."""
    frames = arm.model.frames
    here = frames.get(frame)
    if form not in OF_FILES or here is None:
        return
    on_it = {name: at for name, at in frames.items() if at.joint == here.joint}
    away = {
        name: float(np.linalg.norm(at.p - here.p))
        for name, at in on_it.items()
        if name.endswith(OF_FILES[form])
    }
    turned = {name: not np.allclose(on_it[name].R, here.R, atol=SAME) for name in away}
    if not away or any(away[name] < SAME and not turned[name] for name in away):
        return
    nearest = min(away, key=lambda name: away[name])
    raise ConfigError(
        f"the payload is in the frame '{frame}', and {form} counts from the flange, "
        f"'{nearest}', {1e3 * away[nearest]:.0f} mm away{', turned' if turned[nearest] else ''}: "
        f'identify with --flange {nearest}'
    )
