"""The theorem of the robust law in motion: held torques, late ones, everything at its worst.

r of an arm whose mass matrix H stays as it is moves as H dr/dt = w - v. w pushes along r as hard
as it may, what is seen of r is off to where v is smallest or least useful, and torques act at the
last instant of what is allowed. V begins just below V_M and is never above it; it comes near.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.track.invariance import (
    Disturbance,
    Invariance,
    LawBounds,
    Shell,
    StateError,
    damping,
    energy_range,
    invariance,
    least_energy,
)

PERIODS, FINE = 60, 40  # steps of time in a period
ALPHA = 1000.0


@dataclass(frozen=True, eq=False)
class Loop:
    """An arm, what is known of it, and how it is seen."""

    M: np.ndarray
    H: np.ndarray
    disturbance: Disturbance
    shell: Shell
    error: StateError
    bounds: Invariance

    def v(self, seen):
        """Torque for what is seen of r."""
        law = LawBounds(
            *(self.shell.V_M, ALPHA, self.bounds.y, self.bounds.sigma, self.bounds.omega),
            self.disturbance.ball,
        )
        square = seen @ self.M @ seen
        most = energy_range(square, (self.shell.mu, self.shell.kappa), law.sigma)[1]
        power = np.abs(seen) @ self.disturbance.box
        return damping(power, 0.0, square, (0.0, most), law) * self.M @ seen

    def energy(self, r):
        """Share of V_M."""
        return 0.5 * r @ self.H @ r / self.shell.V_M

    def largest(self, rng, how):
        """Largest V / V_M of a run, w and what is seen being chosen against it."""
        r = rng.normal(size=len(self.M))
        r *= np.sqrt(0.999999 / self.energy(r))
        inverse, n, largest = np.linalg.inv(self.H), len(r), 0.0
        period, step = self.error.held, self.error.held / FINE
        torques = [(-np.inf, self.v(self._seen(rng, r, how)))]  # from when on, and which
        for i in range(PERIODS):
            now = i * period
            seen = self._seen(rng, r, how) - self._foreseen(torques, now)
            torques.append((now + self.error.waiting, self.v(seen)))
            for t in range(FINE):
                acting = next(v for begin, v in reversed(torques) if begin <= now + t * step)
                w = np.sign(r) * self.disturbance.box
                if how == 'random':
                    w = w * rng.choice([-1.0, 1.0], n)
                ball = self.M @ r
                w = w + self.disturbance.ball * ball / np.sqrt(r @ ball)
                r = r + step * inverse @ (w - acting)
                largest = max(largest, self.energy(r))
        return largest

    def _foreseen(self, torques, now):
        """What torques that are under way do to r until that of a sample acts."""
        if not self.error.unforeseen < self.error.waiting:
            return 0.0
        end, total = now + self.error.waiting, 0.0
        for begin, v in reversed(torques):
            begin = min(max(begin, now), end)
            total = total + (end - begin) * np.linalg.solve(self.M, v)
            end = begin
        return total

    def _seen(self, rng, r, how):
        """What is seen of r, as far off as it may be."""
        off = -r if how == 'smaller' else rng.normal(size=len(r))
        if how == 'larger':  # v is large, and turns r round
            off = r
        return r + off * self.error.at_sample / np.sqrt(off @ self.M @ off)


def random_loop(rng, spare, waiting):
    """Bounds that are just enough, or a little more than that."""
    n = int(rng.integers(1, 4))
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    M = turn @ np.diag(10.0 ** rng.uniform(-1.5, 0.5, n)) @ turn.T
    L, mu, kappa = np.linalg.cholesky(M), rng.uniform(0.8, 1.0), rng.uniform(1.0, 1.2)
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    H = L @ turn @ np.diag(rng.choice([mu, kappa], n)) @ turn.T @ L.T
    box = rng.exponential(size=n)
    inverse = np.abs(np.linalg.inv(M))
    ball = float(rng.choice([0.0, 0.3]))
    disturbance = Disturbance(box, np.diag(M).copy(), inverse, np.zeros(n), ball)
    omega = np.sqrt(box @ inverse @ box) + ball
    held = 10.0 ** rng.uniform(-3.5, -2.0)
    at_sample, waiting = rng.uniform(0.0, 1.0) * held * omega, waiting * held
    error = StateError(at_sample, waiting, rng.choice([0.0, waiting]), held, 0.0)
    least = least_energy(Shell(1.0, mu, kappa), disturbance, error)
    shell = Shell(least * spare, mu, kappa)
    return Loop(M, H, disturbance, shell, error, invariance(shell, disturbance, error))


HOW = ('smaller', 'larger', 'random', 'anywhere')


@pytest.mark.parametrize('spare', [1.0001, 1.2, 3.0])
def test_energy_stays_below_its_limit(rng, spare):
    largest = []
    for i in range(60):
        loop = random_loop(rng, spare, rng.choice([0.0, 0.2, 0.9, 3.5]))
        largest.append(loop.largest(rng, HOW[i % len(HOW)]))
    assert 0.8 < max(largest) <= 1.0


def unaware(loop):
    """Return the same with a law that takes no notice of what ages."""
    sigma = loop.error.at_sample
    return replace(loop, bounds=replace(loop.bounds, sigma=sigma))


def blind(loop):
    """Return the same with a law that foresees nothing, though its bounds say it does."""
    return replace(loop, error=replace(loop.error, unforeseen=loop.error.waiting))


def too_long(loop):
    """Return the same with torques that act three times as long as it is told."""
    return replace(loop, error=replace(loop.error, held=3.0 * loop.error.held))


@pytest.mark.parametrize('mutant', [unaware, blind, too_long])
def test_what_the_bounds_contain_is_needed(rng, mutant):
    largest = []
    for i in range(60):
        loop = random_loop(rng, 1.0001, rng.choice([0.0, 0.9, 8.0]))
        largest.append(mutant(loop).largest(rng, HOW[i % 2]))
    assert max(largest) > 1.0001


def test_a_torque_that_is_held_takes_less_than_one_that_is_late(rng):
    """What a torque does itself is along what is seen, and known."""
    for _ in range(20):
        loop = random_loop(rng, 1.0001, 0.0)
        error = loop.error
        late = StateError(error.at_sample, error.held, error.held, 0.0, 0.0)
        with pytest.raises(BoundError):
            invariance(loop.shell, loop.disturbance, late)
