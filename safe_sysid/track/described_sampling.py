"""How an arm is seen and moved, by its settings; the one place that makes a `Sampling` of them.

    step      twice the error of a position at rest: of the encoder's step, or as it is stated
    zero      of the joints, tilt of gravity, stamps: as `model/sensing.py` has them
    delay     largest of `command`; of half of what is between least and largest, its jitter may
              be anew for each command, and the rest is a constant, the bias
    slow      time constant of the drives; the same for all of them
    older     share OLDER of what commands can differ by, twice the torque limit
    window    of readings, 50 ms or as many as the observer keeps

What nobody stated is wide there, and said. What the law does not allow for is refused, stated or
not: time constants that differ from joint to joint, slew limits, backlash, a hold other than a
period.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.errors import ConfigError
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import backlash, read_error, stamp_error, tilt_error, zero_error
from safe_sysid.track.error_observer import LENGTH, SPARE
from safe_sysid.track.seen_law import OLDER, Sampling

WINDOW = 0.05  # [s]
ALIKE = 'all joints follow commands with the same time constant, at most that of actuation'
OF_DRIVES = 'the error of the drives (friction: static, load)'


@dataclass(frozen=True, eq=False)
class DescribedSampling:
    """Sampling of an arm, and what is assumed as nobody stated it."""

    sampling: Sampling | None  # None: read exactly, and torques act at once
    sentences: tuple[str, ...]


def described_sampling(model: RobotModel, period: float) -> DescribedSampling:
    """Return the sampling for a period [s] of the loop, or a refusal that says why not."""
    _refuse_what_is_not_covered(model, period)
    sentences = [*model.actuation.assumed, *model.friction.assumed(OF_DRIVES)]
    largest = model.actuation.delays(period)[1]
    jitter, bias = model.actuation.off_middle(period)
    step = 2.0 * read_error(model, sentences)
    stamp, tilt = stamp_error(model, sentences), tilt_error(model, sentences)
    zero = zero_error(model, sentences)
    if model.actuation.held(period) == 0.0 and not (
        largest or stamp or tilt or step.any() or zero.any() or model.actuation.bandwidth.any()
    ):
        return DescribedSampling(None, tuple(sentences))
    slow = float(model.actuation.bandwidth.max(initial=0.0))
    older = 2.0 * OLDER * model.limits.torque if slow else 0.0 * zero
    if slow:
        sentences.append(ALIKE)
    times = period, largest, jitter, period, stamp
    seen = Sampling(step, *times, zero, tilt, slow, older, bias)
    window = max(2.0 * period, min(WINDOW, (LENGTH - SPARE) * period - seen.age))
    sampling = replace(seen, window=window)
    return DescribedSampling(sampling, tuple(sentences))


def _refuse_what_is_not_covered(model: RobotModel, period: float) -> None:
    """Name what the settings of an arm say, or leave open, that no certificate contains."""
    drives, names = model.actuation, model.layout.joint_names
    slowest, fastest = int(np.argmax(drives.bandwidth)), int(np.argmin(drives.bandwidth))
    if drives.bandwidth[slowest] > drives.bandwidth[fastest]:
        _refuse(
            model,
            f'{names[slowest]} follows a command with a time constant of '
            f'{1e3 * drives.bandwidth[slowest]:g} ms, {names[fastest]} with '
            f'{1e3 * drives.bandwidth[fastest]:g} ms',
            'actuation: the same bandwidth on all joints',
        )
    limited = np.flatnonzero(np.isfinite(drives.slew))
    if len(limited):
        j = limited[0]
        _refuse(
            model, f'{names[j]} changes its torque by {drives.slew[j]:g} N m/s at most', 'no slew'
        )
    play = np.flatnonzero(backlash(model) > 0.0)
    if len(play):
        j = play[0]
        _refuse(model, f'{names[j]} has a play of {backlash(model)[j]:g} rad', 'no backlash')
    held = drives.held(period)
    if held not in (0.0, period):
        _refuse(
            model,
            f'a torque is held for {1e3 * held:g} ms and samples come every {1e3 * period:g} ms',
            'the period as hold, or 0 where torques follow the law all the time',
        )


def _refuse(model: RobotModel, what: str, allowed: str) -> None:
    raise ConfigError(
        f'{model.name}: {what}; no certificate for an arm that is read late contains that, so '
        f'there is no plan. Allowed: {allowed}; or sampling: ideal, which takes readings and '
        'torques as exact'
    )
