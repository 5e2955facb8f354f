"""What acts on the joints against what is commanded, and when: for law, proof and simulator.

A torque acts for a hold T. It answers a sample that was true d before it began to act, so that the
sample behind a torque that acts now is up to T + d old. Where d is a constant but for a jitter,
nobody needs to know which one. A drive that follows commands with a time constant makes the torque
of now an average of older ones: those older than tau ln(1/p) on top have the share p of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError
from safe_sysid.model.facts import RobotFacts

# Where an arm's settings say nothing: ratio, and share of the torque limit, by kind of effort.
# Twice what simple models leave unexplained on public recordings of such arms.
ASSUMED = {'torque': (0.05, 0.02), 'current': (0.25, 0.10)}
FOLLOWS = {'torque': 0.002, 'current': 0.005}  # [s] time constant of a drive
LATE = {'torque': 0.001, 'current': 0.004}  # [s] beside PERIODS
PERIODS = 2.0  # between a sample and the torque that answers it, in drivers that don't wait


@dataclass(frozen=True, eq=False)
class Actuation:
    """The torque on joint j is within ratio_j |tau_j| + absolute_j of the command tau_j."""

    ratio: Array  # (n,)
    absolute: Array  # (n,) [N m]
    is_stated: bool  # by the settings of the arm, or of a loop for a simulated one
    bandwidth: Array  # (n,) [s] time constant by which it follows
    slew: Array  # (n,) [N m/s] at most by which the driver lets a command change
    hold: float | None  # [s] for which a torque acts; None: a period
    delay: tuple[float, float]  # [s] least and largest from a sample to its torque, beside
    delay_periods: tuple[float, float]  # as many periods
    jitter: float  # [s] either way, from command to command; inf: all that `delay` leaves open
    silent: Mapping[str, float]  # bandwidth [s] assumed of joints of which nobody stated it
    is_delay_stated: bool

    @staticmethod
    def exact(n: int) -> Actuation:
        """Every command acts at once as it is; for arms that are made up."""
        none, never = np.zeros(n), np.full(n, np.inf)
        nothing = (0.0, 0.0)
        return Actuation(none, none, True, none, never, None, nothing, nothing, np.inf, {}, True)

    def error(self, torque: Array) -> Array:
        """Largest difference between a command and what acts [N m]."""
        return np.asarray(self.ratio * np.abs(torque) + self.absolute)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is assumed of when commands act, and not stated."""
        said = []
        if self.silent:
            is_all = len(self.silent) == len(self.bandwidth)
            whose = 'all joints' if is_all else ', '.join(self.silent)
            slowest = 1e3 * max(self.silent.values())
            said.append(
                f'assumed, as nobody stated it: the drives of {whose} follow a command '
                f'with a time constant of at most {slowest:g} ms (actuation: bandwidth)'
            )
        if not self.is_delay_stated:
            said.append(
                'assumed, as nobody stated it: a torque begins to act up to '
                f'{self.delay_periods[1]:g} periods and {1e3 * self.delay[1]:g} ms after the '
                'sample it answers (command: delay, delay_periods)'
            )
        return tuple(said)

    @property
    def assumed(self) -> tuple[str, ...]:
        """What is assumed of errors and times, and not stated."""
        if self.is_stated:
            return self.sentences
        ratio, absolute = _range(100.0 * self.ratio), _range(self.absolute)
        errors = (
            f'assumed, as nobody stated it: what acts on a joint is within {ratio} % and '
            f'{absolute} N m of its command (actuation: ratio, absolute)'
        )
        return (errors, *self.sentences)

    def held(self, period: float) -> float:
        """Time for which a torque acts [s]."""
        return period if self.hold is None else self.hold

    @property
    def is_delay_open(self) -> bool:
        """Whether delays may be more than one."""
        return any(least < largest for least, largest in (self.delay, self.delay_periods))

    def delays(self, period: float) -> tuple[float, float]:
        """Least and largest time from a sample to the instant its torque begins to act [s]."""
        least, largest = (
            seconds + count * period
            for seconds, count in zip(self.delay, self.delay_periods, strict=True)
        )
        return least, largest

    def off_middle(self, period: float) -> tuple[float, float]:
        """Jitter, and how far the middle of all delays is from that of `delays`, at most [s]."""
        least, largest = self.delays(period)
        jitter = min(self.jitter, 0.5 * (largest - least))
        return jitter, 0.5 * (largest - least) - jitter

    def oldest_sample(self, period: float, stamp_error: float = 0.0, share: float = 0.05) -> Array:
        """Age of the oldest sample behind all but `share` of the torque that acts now, (n,) [s].

        A stamp error is the age that is not seen of the sample itself.
        """
        if not 0.0 < share < 1.0:
            raise ConfigError(f'share is {share}, it has to be above 0 and less than 1')
        late = self.held(period) + self.delays(period)[1] + stamp_error
        return np.asarray(late + self.bandwidth * np.log(1.0 / share))

    def error_of_older(self, span: Array, share: float = 0.05) -> Array:
        """Most that this share does if commands were anywhere in a range, (n,) [N m].

        Nothing where a drive follows at once: no older commands act then.
        """
        return np.where(self.bandwidth > 0.0, share * np.abs(span), 0.0)

    def __str__(self) -> str:
        source = 'stated' if self.is_stated else 'assumed, as no figure is stated'
        ratio, absolute = (_range(values) for values in (100.0 * self.ratio, self.absolute))
        return f'within {ratio} % and {absolute} N m of the command ({source})'

    def timing(self, period: float) -> str:
        """Return when commands act, in words."""
        least, largest = self.delays(period)
        varies = self._variation(period)
        follows = f', followed with a time constant of {_range(1e3 * self.bandwidth)} ms'
        return (
            f'held for {1e3 * self.held(period):g} ms, {1e3 * least:g} to {1e3 * largest:g} ms '
            f'after its sample{varies}{follows if self.bandwidth.any() else ""}'
        )

    def _variation(self, period: float) -> str:
        jitter, bias = self.off_middle(period)
        return f', each within {1e3 * jitter:g} ms of a constant' if bias > 0.0 else ''


def _range(values: Array) -> str:
    low, high = values.min(), values.max()
    return f'{low:g}' if low == high else f'{low:g} to {high:g}'


def actuation_of(facts: RobotFacts, names: Sequence[str]) -> Actuation:
    """Return what the settings of an arm state, or wide figures for its kind of effort."""
    ratio, absolute = _errors(facts, names)
    bandwidth, silent = _bandwidth(facts, names)
    delay, periods, is_delay_stated = _delays(facts)
    return Actuation(
        ratio,
        absolute,
        facts.actuation is not None and not any(x.assumed for x in facts.actuation.values()),
        bandwidth,
        _slew(facts, names),
        facts.command.hold,
        delay,
        periods,
        np.inf if facts.command.jitter is None else facts.command.jitter,
        silent,
        is_delay_stated,
    )


def _errors(facts: RobotFacts, names: Sequence[str]) -> tuple[Array, Array]:
    if facts.actuation is None:
        ratio, share = ASSUMED[facts.effort.kind]
        limit = np.array([facts.joints[name].torque_limit for name in names])
        return np.full(len(names), ratio), share * limit
    joints = [facts.actuation[name] for name in names]
    return np.array([j.ratio for j in joints]), np.array([j.absolute for j in joints])


def _bandwidth(facts: RobotFacts, names: Sequence[str]) -> tuple[Array, dict[str, float]]:
    """Time constants, and those of joints of which nobody stated one."""
    assumed, stated = FOLLOWS[facts.effort.kind], facts.actuation or {}
    values = [stated[name].bandwidth if name in stated else None for name in names]
    silent = {name: assumed for name, x in zip(names, values, strict=True) if x is None}
    return np.array([assumed if x is None else x for x in values]), silent


def _slew(facts: RobotFacts, names: Sequence[str]) -> Array:
    """Rate limits that are stated; a limit that nobody stated could be anything, so it is none."""
    stated = facts.actuation or {}
    values = [stated[name].slew if name in stated else None for name in names]
    return np.array([np.inf if value is None else value for value in values])


def _delays(facts: RobotFacts) -> tuple[tuple[float, float], tuple[float, float], bool]:
    """Delay in seconds and in periods, and whether either is stated."""
    delay, periods = facts.command.delay, facts.command.delay_periods
    if delay is None and periods is None:
        return (0.0, LATE[facts.effort.kind]), (0.0, PERIODS), False
    return delay or (0.0, 0.0), periods or (0.0, 0.0), True
