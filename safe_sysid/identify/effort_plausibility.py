"""Whether an effort signal is counted the way the arm's description says, before bounds are asked.

The identifier's own signal check refuses only what no payload within the prior can explain. With
little known before, a payload that pulls upwards could explain a sign that is inverted; a person
would not believe it, and neither does this check. It is evidence, not proof, and it only refuses.
"""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import AnyArray
from safe_sysid.measure.effort_correlation import INVERTED, gain_and_correlation, loud
from safe_sysid.measure.smooth_log import SmoothLog
from safe_sysid.model.arm_knowledge import ArmKnowledge
from safe_sysid.model.dynamics.felt_regressor import felt_regressor
from safe_sysid.model.robot_model import RobotModel

QUIET = 1.0 / 3.0  # torque below that share of it is in another unit: payloads don't help so much


def implausible(model: RobotModel, part: SmoothLog, known: ArmKnowledge) -> str | None:
    """Return a sentence about joints whose torque can't be what the description takes it for.

    Friction of which nobody says anything, or in a placeholder only, predicts no torque.
    """
    W = felt_regressor(model, part.q, part.qd, part.qdd)
    predicted = W @ known.relied_on(model)
    size, measured = np.linalg.norm(predicted, axis=0), np.linalg.norm(part.torque, axis=0)
    gain, correlation = gain_and_correlation(predicted, part.torque)
    tells = loud(predicted)
    names = model.layout.joint_names

    def listed(joints: AnyArray) -> str:
        each = (
            f'{names[j]} {gain[j]:.3g} times (correlation {correlation[j]:.3f})' for j in joints
        )
        return ', '.join(each)

    inverted = np.flatnonzero(tells & (correlation <= INVERTED))
    if inverted.size:
        return _inverted(model, inverted, listed(inverted))
    quiet = np.flatnonzero(tells & (measured < QUIET * size))
    if quiet.size:
        return (
            'assumption A3 does not hold: the measured torque is a fraction of what the '
            f'description of {model.name} predicts, {listed(quiet)}: the effort signal is a '
            'current, another unit, or a torque without gravity. Give effort_scale in the '
            'settings of the arm; no bounds are published'
        )
    return None


def _inverted(model: RobotModel, joints: AnyArray, listed: str) -> str:
    sign = -int(model.sensors.effort_sign[joints[0]])
    return (
        'assumption A3 does not hold: the measured torque is a negative multiple of what the '
        f'description of {model.name} predicts, {listed}: the effort signal is counted against '
        f'the joint axes. Say --torque-sign {sign}, or set effort_sign: {sign} in the settings of '
        'the arm; no bounds are published'
    )
