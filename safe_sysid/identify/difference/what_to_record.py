"""What to record next to halve the interval of the mass, computed from the rows there are.

Longer recordings of the same kind have so many times the rows, more empty ones enlarge deviations
less; the unit of the effort and its delay stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from safe_sysid.identify.difference.noise_and_bias import half_width
from safe_sysid.identify.difference.what_limits import Shares

LONGER = (1.0, 2.0, 4.0)  # times as long with the payload
MORE = (0, 1, 2, 4)  # empty recordings
HALF = 0.5
WORTH = 0.8  # of the interval, from which on nothing is worth recording
LASTING = 1.5  # kappa that more pieces do not lower
EXCITE = 'in motions that `safe-sysid excite ROBOT` makes'


@dataclass(frozen=True, eq=False)
class Recorded:
    """What there is, and what more of it would do to the deviation of the mass."""

    shares: Shares
    confidence: float
    recordings: int  # empty ones
    seconds: tuple[float, float]  # with the payload, and of one empty recording
    kappa: float  # of the mass, as the pieces have it
    spread: Callable[[float, float], float]  # loaded, empty: times as long -> share of now
    enlarged: Callable[[int], float]  # by which deviations are, with so many empty recordings

    def half_width(self, longer: float, more: int) -> float:
        """Half-width of the mass if this were recorded [kg]."""
        count = self.recordings + more
        share = self.spread(longer, count / self.recordings)
        enlarged = self.enlarged(count) / self.enlarged(self.recordings)
        noise = np.hypot(self.shares.residuals[0] * share * enlarged, self.shares.delay[0])
        noise = np.hypot(noise, self.shares.before[0] * share**2)
        noise = np.hypot(noise, self.shares.calibrated[0])
        bias = self.shares.unit[0] - self.shares.calibrated[0]
        return float(half_width(noise, bias, self.confidence))

    def effort(self, longer: float, more: int) -> float:
        """Seconds to record."""
        return (longer if longer > 1.0 else 0.0) * self.seconds[0] + more * self.seconds[1]


def what_to_record(given: Recorded) -> str:
    """Return the least recording that halves the interval, or what is in its way."""
    now = given.half_width(1.0, 0)
    every = {(longer, more): given.half_width(longer, more) for longer in LONGER for more in MORE}
    enough = [choice for choice, half in every.items() if half <= HALF * now]
    if given.kappa > LASTING:
        return _what_stays(given)
    if enough:
        chosen = min(enough, key=lambda choice: given.effort(*choice))
        return f'{_sentence(given, *chosen)}: ± {every[chosen]:.2g} kg instead of ± {now:.2g} kg'
    best = min(every, key=lambda choice: (every[choice], given.effort(*choice)))
    if every[best] > WORTH * now:
        return _what_stays(given)
    return (
        f'{_sentence(given, *best)}: ± {every[best]:.2g} kg instead of ± {now:.2g} kg; such '
        f'recordings alone lead no further: {_what_lasts(given)}'
    )


def _sentence(given: Recorded, longer: float, more: int) -> str:
    parts = []
    if longer > 1.0:
        before, seconds = given.seconds[0], longer * given.seconds[0]
        parts.append(f'record {seconds:.0f} s with the payload instead of {before:.0f} s')
    if more:
        times = 'once' if more == 1 else 'twice' if more == 2 else f'{more} times'
        parts.append(f'record the empty arm {times} more for {given.seconds[1]:.0f} s, {EXCITE}')
    return ', and '.join(parts)


def _what_stays(given: Recorded) -> str:
    """Return what longer recordings leave, where that is most of it."""
    lasting = max(given.shares.unit[0], given.shares.delay[0])
    if lasting >= given.shares.residuals[0]:
        return _what_lasts(given)
    return (
        'errors outlast the pieces that they are judged by: record other motions, with more '
        'reversals in every joint (`safe-sysid excite ROBOT`), not longer ones'
    )


def _what_lasts(given: Recorded) -> str:
    """Return what does not depend on how long is recorded."""
    unit, delay = given.shares.unit[0], given.shares.delay[0]
    if unit >= delay:
        return (
            f'± {unit:.2g} kg are by the unit of the effort, which no recording of this '
            'payload can show: record the arm with a body of known mass and give '
            '`safe-sysid calibrate-gains --mass`'
        )
    return (
        f'± {delay:.2g} kg are by the delay of torques: record a motion with larger '
        'accelerations on the joints that carry the weight, which tells it'
    )
