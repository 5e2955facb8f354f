"""What a driver makes of commands, beside what is stated: delay, sign, scale and gravity."""

from __future__ import annotations

import numpy as np

from safe_sysid.calibrate.commission_finding import OTHER, Agreement, CommissionFinding
from safe_sysid.calibrate.commissioned_timing import (
    CommandGain,
    Delay,
    command_delay,
    command_gains,
)
from safe_sysid.measure.bag.driver_words import DriverWords
from safe_sysid.measure.recording import Recording
from safe_sysid.model.effort_contract import CommandSignal, EffortContract
from safe_sysid.model.robot_model import RobotModel

NOTHING = 0.1  # of a command, below which torques do not follow it
TOO_LITTLE = 'commands change too little to tell; record while the bridge asks the driver'


class CommandedDriver:
    """One arm as it is described, for a loop of one period [s]."""

    def __init__(self, model: RobotModel, period: float) -> None:
        self._model, self._period = model, period
        self._contract = EffortContract(model, CommandSignal())
        self.delay: tuple[float, float] | None = None  # [s] of `command: delay`; None: as stated
        self.command: dict[str, object] = {}  # keys of `command` of the bridge

    def findings(self, recording: Recording, words: DriverWords) -> list[CommissionFinding]:
        """Return how states came, and what the driver makes of what it was told."""
        found = [self._arrival(words)]
        if not len(words.told_at):
            return found
        came = words.came[np.isin(words.stamp, recording.stamp)]
        rows = np.isin(recording.stamp, words.stamp)
        efforts = zip(recording.effort[rows], recording.position[rows], strict=True)
        torque = np.array([self._contract.torque(effort, q) for effort, q in efforts])
        gravity = np.array([self._contract.gravity(q) for q in recording.position[rows]])
        delay = command_delay(came, torque, gravity, words.told_at, words.told)
        late = self._period if delay is None else delay.seconds
        gains = command_gains(came, torque, gravity, words.told_at, words.told, late)
        return [*found, self._delay(delay), *self._gains(gains)]

    def _arrival(self, words: DriverWords) -> CommissionFinding:
        """Return how evenly states came, which stamps need not tell."""
        gaps = np.diff(np.sort(words.came))
        usual = float(np.quantile(np.abs(gaps - self._period), 0.99))
        said = (
            f'99 % came within {1e3 * usual:.3g} ms of {1e3 * self._period:.4g} ms after the last '
            f'one, the latest {1e3 * float(gaps.max()):.3g} ms'
        )
        agreement = Agreement.AGREES if usual <= self._period else Agreement.DIFFERS
        return CommissionFinding('arrival of states', agreement, said)

    def _delay(self, delay: Delay | None) -> CommissionFinding:
        """Return whether torques follow as soon as is stated; a period each way is the topics'."""
        what, largest = 'delay of commands', self._model.actuation.delays(self._period)[1]
        if delay is None:
            return CommissionFinding(what, Agreement.UNSEEN, TOO_LITTLE)
        is_less = delay.seconds - delay.error <= largest + 2.0 * self._period
        self.delay = None if is_less else (0.0, delay.seconds)
        said = (
            f'torques are reported {1e3 * delay.seconds:.3g} ms after their command, within '
            f'{1e3 * delay.error:.2g} ms; they are to act within {1e3 * largest:.3g} ms'
        )
        agreement = Agreement.AGREES if is_less else Agreement.DIFFERS
        return CommissionFinding(what, agreement, said)

    def _gains(self, gains: list[CommandGain]) -> list[CommissionFinding]:
        """Return sign, scale and gravity of commands, for `command` of the bridge."""
        adds = [gain.adds_gravity for gain in gains if gain.adds_gravity is not None]
        found = []
        if adds and all(adds):
            self.command['adds_gravity'] = True
            said = 'torques are gravity more than commands (command.adds_gravity: true)'
            found.append(CommissionFinding('gravity of commands', Agreement.DIFFERS, said))
        seen = [gain.gain for gain in gains]
        names = self._model.layout.joint_names
        found += [_gain_of(name, gain) for name, gain in zip(names, seen, strict=True)]
        known = [gain if abs(gain) > NOTHING else 1.0 for gain in seen]  # nan is neither
        if any(gain < 0.0 for gain in known):
            self.command['sign'] = [-1 if gain < 0.0 else 1 for gain in known]
        if any(abs(abs(gain) - 1.0) > OTHER for gain in known):
            self.command['scale'] = [1.0 / abs(gain) for gain in known]
        return found


def _gain_of(name: str, gain: float) -> CommissionFinding:
    what = f'commands of {name}'
    if np.isnan(gain):
        return CommissionFinding(what, Agreement.UNSEEN, 'too little was told')
    if abs(gain) < NOTHING:
        return CommissionFinding(what, Agreement.DIFFERS, 'torques do not follow them')
    agreement = Agreement.AGREES if abs(gain - 1.0) <= OTHER else Agreement.DIFFERS
    return CommissionFinding(what, agreement, f'torques are {gain:.3g} times that')
