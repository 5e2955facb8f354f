"""What an arm that is read late may do and still be as it is described: at its ends, or at random.

    samples    come a share LONGER of a period later or earlier than said
    stamps     are off by all they may be, by a constant or by something else each time
    torques    begin to act anywhere from the least delay to the largest: a constant that nobody
               knows, and a jitter
    readings   are rounded, or as far off as half a step lets them, on one side for long or not
    zeros      of joints are off by a constant, and gravity leans, both in the way of all else that
               pushes the arm, or in any
    drives     follow at once, or as slowly as is said; they err against r (`AttackedArm`)

Numbers of such a kind are sequences from -1 to 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.late_plans import LatePlans
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.problem import Problem
from safe_sysid.simulate.mass_matrix import mass_matrix_and_bias
from safe_sysid.track.seen_law import LONGER, Sampling

MORE = 8  # samples before the first torque, beside those of a window
STAYS = 40  # samples on one side, at most
ROUNDED = 0.7  # share of samples where only some are as far off as they may be
OFF = 0.49  # of a step, by which readings are off that are not rounded
SHARE = 0.999  # of V_M, that r has when the first torque begins to act
TRIES = 32  # to find zeros and a tilt that push with all else
NEARLY = 1.0 - 1e-4  # share of a time, so that nanoseconds cannot break the promise

Ends = Iterator[Array]


class Begin(NamedTuple):
    """Errors when the first torque begins to act, and how r drifts up to then."""

    e: Array  # (n,) [rad] of tracking
    r: Array  # (n,), its way, of any length
    share: float = SHARE  # of V_M
    drift: Array | float = 0.0  # (n,) [rad/s^2] of r up to then


@dataclass(frozen=True, eq=False)
class Attack:
    """An arm as it is, and what it does in one loop; for one loop only, as sequences end."""

    described: Problem
    truth: RobotModel  # leaning
    zero: Array  # (n,) [rad] of the arm beyond what its encoders say
    begin: Begin
    periods: Ends
    stamps: Ends
    bias: float  # from -1 to 1
    delays: Ends
    readings: Iterator[Array | None]  # None: rounded
    slow: float = 0.0  # [s] time constant of the drives

    @property
    def sampling(self) -> Sampling:
        """How the arm is seen."""
        return _sampling(self.described)

    def period(self) -> float:
        """Time from a sample to the next one [s]."""
        share = NEARLY * float(next(self.periods)[0])
        return float(self.sampling.period * LONGER**share)

    def stamp(self, t: float) -> float:
        """Time that a sample says [s]."""
        return t + NEARLY * self.sampling.stamp * float(next(self.stamps)[0])

    def acts_from(self, t: float) -> float:
        """Instant from which the torque of a sample acts [s]."""
        s = self.sampling
        constant = t + s.delay - s.jitter - s.bias + NEARLY * s.bias * self.bias
        return constant + NEARLY * s.jitter * float(next(self.delays)[0])

    def read(self, q: Array) -> Array:
        """Read positions of the encoders."""
        off, step = next(self.readings), self.sampling.step
        return np.asarray(step * np.rint(q / step) if off is None else q + OFF * step * off)


def random_attack(plans: LatePlans, rng: np.random.Generator, truth: RobotModel) -> Attack:
    """Return some of the worst that this arm may do on these plans."""
    described = plans.described
    q_d = plans.plans[0].desired(plans.starts[0])[0]
    arm, zero = _pushed(described, rng, truth, q_d)
    begin = _begin(described, rng, push_at_rest(described, arm, q_d, zero))
    periods, stamps, delays, readings, rest = rng.spawn(5)
    return Attack(
        described,
        arm,
        zero,
        begin,
        ends_of(periods, 1),
        ends_of(stamps, 1),
        float(rest.choice([-1.0, 1.0, rest.uniform(-1.0, 1.0)])),
        ends_of(delays, 1),
        _readings(readings, np.sign(begin.r), samples_before(_sampling(described))),
        float(rest.choice([0.0, 1.0, 1.0, rest.random()])) * _sampling(described).slow,
    )


def ends_of(rng: np.random.Generator, n: int) -> Ends:
    """Numbers (n,) that stay at an end, turn now and then, are at any end, or anywhere."""
    kind, end = int(rng.integers(4)), rng.choice([-1.0, 1.0], n)
    while True:
        for _ in range(int(rng.integers(1, STAYS))):
            yield end
            if kind == 2:
                end = rng.choice([-1.0, 1.0], n)
            elif kind == 3:
                end = rng.uniform(-1.0, 1.0, n)
        if kind == 1:
            end = -end


def samples_before(sampling: Sampling) -> int:
    """How many samples are taken before the first torque."""
    return int(np.ceil(sampling.window / sampling.period * LONGER)) + MORE


def _readings(rng: np.random.Generator, along: Array, before: int) -> Iterator[Array | None]:
    """Errors in half steps, or None where positions are rounded.

    All of them, some of them, or such that r is seen too small after the first torque.
    """
    ends, kind = ends_of(rng, len(along)), int(rng.integers(4))
    if kind == 3:
        yield from (-along for _ in range(before))
        yield from (along for _ in range(int(rng.integers(1, STAYS))))
    while True:
        is_rounded = kind == 0 or (kind == 1 and rng.random() < ROUNDED)
        yield None if is_rounded else next(ends)


def _pushed(
    described: Problem, rng: np.random.Generator, truth: RobotModel, q: Array
) -> tuple[RobotModel, Array]:
    """Return an arm that leans, and where its joints are off; as strongly pushed as was found."""
    found, most = (truth, np.zeros(truth.n)), -1.0
    for _ in range(int(rng.choice([1, TRIES]))):
        arm = leaning(truth, _sampling(described).tilt, float(rng.uniform(0.0, 2.0 * np.pi)))
        zero = _sampling(described).zero * rng.choice([-1.0, 1.0], truth.n)
        M, push = push_at_rest(described, arm, q, zero)
        size = float(push @ np.linalg.solve(M, push))
        if size > most:
            found, most = (arm, zero), size
    return found


def leaning(model: RobotModel, angle: float, toward: float) -> RobotModel:
    """Return an arm on a base that leans so far, to one side [rad]."""
    gravity = model.tree.gravity
    if angle == 0.0 or not gravity.any():
        return model
    down = gravity / np.linalg.norm(gravity)
    across = np.linalg.svd(down[None])[2][1:]  # (2, 3) orthonormal
    aside = np.cos(toward) * across[0] + np.sin(toward) * across[1]
    turned = np.cos(angle) * down + np.sin(angle) * aside
    leaned = model.tree._replace(gravity=np.linalg.norm(gravity) * turned)
    return replace(model, tree=leaned)


def push_at_rest(
    described: Problem, arm: RobotModel, q: Array, zero: Array
) -> tuple[Array, Array]:
    """Mass matrix of an arm, and what it needs at rest beyond what is expected, (n,) [N m]."""
    M, needed = at_rest(arm, q + zero)
    _, expected = at_rest(described.model.with_parameters(described.bounds.theta), q)
    return M, needed - expected


def _begin(described: Problem, rng: np.random.Generator, pushed: tuple[Array, Array]) -> Begin:
    """Errors with V just below V_M; e is one that r of this energy may have left."""
    (M, push), V_M, K = pushed, described.gains.V_M, described.gains.K_r
    n = len(K)
    side = np.where(push < 0.0, -1.0, 1.0)
    alone = np.where(np.arange(n) == rng.integers(n), 1.0, 0.05)
    pushed_along = np.linalg.solve(M, push).astype(np.float64)
    ways = (side * alone, side * rng.uniform(0.1, 1.0, n), pushed_along)
    r = np.asarray(ways[int(rng.integers(3))])
    e = side * rng.random(n) / K
    e *= 0.9 * rng.random() * np.sqrt(2.0 * V_M / max(float(K * e @ M @ (K * e)), 1e-12))
    return Begin(e, r)


def at_rest(model: RobotModel, q: Array) -> tuple[Array, Array]:
    """Mass matrix and the torque that holds an arm, dry friction aside."""
    M, gravity = np.empty((model.n, model.n)), np.empty(model.n)
    phi = model.theta[: 10 * model.n].reshape(model.n, 10)
    mass_matrix_and_bias(model.tree, phi, q, np.zeros(model.n), M, gravity)
    place = model.layout.joint_entries
    return M + np.diag(model.theta[place('Ia')]), gravity + model.theta[place('beta')]


def _sampling(problem: Problem) -> Sampling:
    assert problem.sampling is not None
    return problem.sampling
