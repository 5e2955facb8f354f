"""What a driver makes of commands, and when, from a recording of both.

Torques are those told some time before, as they are or beside gravity, times a gain. A delay that
a recording does not tell to two sample times is not named: commands that hardly change show none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array

LONGEST = 0.05  # [s] of a delay that is looked for
TOLD = 1.0  # [N m] of a command that tells gain and sign
SURE = 3.0  # standard errors


@dataclass(frozen=True)
class Delay:
    """Of one signal behind another."""

    seconds: float
    error: float  # [s] at least, of 3 standard errors


@dataclass(frozen=True)
class CommandGain:
    """What a joint makes of a command."""

    gain: float  # torque of the joint per command; nan where too little was told
    rest: float  # [N m] of the torque that is left unexplained
    adds_gravity: bool | None  # whether the driver adds what holds the bare arm; None: not seen


def command_delay(
    came: Array, torque: Array, gravity: Array, told_at: Array, told: Array
) -> Delay | None:
    """Return how much later than a command its torque (N, n) comes; None where none changes."""
    step = float(np.median(np.diff(came)))
    if step <= 0.0 or len(told_at) < 3:
        return None
    lags = round(LONGEST / step) + 1
    late = came > told_at[0] + LONGEST + step
    if np.count_nonzero(late) < 10:
        return None
    rests = np.zeros(lags)
    for lag in range(lags):
        place = np.searchsorted(told_at, came[late] - lag * step, side='right') - 1
        for j in range(told.shape[1]):
            columns = [told[place, j], gravity[late, j], np.ones(len(place))]
            rests[lag] += _share_left(np.stack(columns, axis=1), torque[late, j])
    return _lowest(rests, int(np.count_nonzero(late)), step)


def command_gains(
    came: Array, torque: Array, gravity: Array, told_at: Array, told: Array, delay: float
) -> list[CommandGain]:
    """Return what every joint makes of what it was told so long before."""
    late = came > told_at[0] + delay if len(told_at) else came < -np.inf
    if not late.any():
        return []
    place = np.searchsorted(told_at, came[late] - delay, side='right') - 1
    command, found = told[place], []
    for j in range(told.shape[1]):
        c, as_it_is, beside = command[:, j], torque[late, j], (torque - gravity)[late, j]
        fits = [_gain(c, as_it_is), _gain(c, beside)]
        adds = fits[1][1] < fits[0][1]
        gain, rest = fits[adds]
        has_weight = np.abs(gravity[late, j]).max() >= TOLD
        found.append(CommandGain(gain, rest, bool(adds) if has_weight else None))
    return found


def _share_left(columns: Array, torque: Array) -> float:
    """Share of the variance of a torque that columns do not explain."""
    basis = np.linalg.svd(columns, full_matrices=False)[0]
    left = torque - basis @ (basis.T @ torque)
    return float(left @ left) / max(1e-12, float(np.var(torque)) * len(torque))


def _gain(command: Array, torque: Array) -> tuple[float, float]:
    """Gain of a command, and the root mean square that is left of the torque."""
    size = float(command @ command)
    gain = float(command @ torque) / size if size > 0.0 else 0.0
    left = float(np.sqrt(np.mean((torque - gain * command) ** 2)))
    return (gain if np.abs(command).max() >= TOLD else np.nan), left


def _lowest(rests: Array, samples: int, step: float) -> Delay | None:
    """Return where the sum of squares is lowest, by a parabola; None where it is too flat."""
    k = int(np.argmin(rests))
    if not 0 < k < len(rests) - 1:
        k = min(max(k, 1), len(rests) - 2)
    low, here, high = rests[k - 1 : k + 2].tolist()
    curve = low - 2.0 * here + high
    if curve <= 0.0 or here < 0.0:
        return None
    shift = min(max(0.5 * (low - high) / curve, -1.0), 1.0)
    error = SURE * step * float(np.sqrt(2.0 * max(here, 1e-12) / samples / curve))
    return Delay(step * (k + shift), error) if error < 2.0 * step else None
