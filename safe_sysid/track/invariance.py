"""Why V <= V_M stays true when r is measured late and wrong, and how much torque that takes.

The law sees r_hat with |r - r_hat|_M <= sigma, |x|_M^2 = x' M x, at all times at which its torque
acts. M is its own mass matrix, any that is positive definite; mu M <= H(q, theta) + diag(Ia) <=
kappa M. What acts on the arm besides v is w = w_1 + w_2, |w_1| <= w_bar joint by joint and
|w_2| <= omega_b in the norm of M^-1. With l = |r_hat|_M, y = sqrt(2 V_M / kappa), x = sigma / y
and omega >= sqrt(w_bar' |M^-1| w_bar) + omega_b >= |w|,

    v = lambda M r_hat,   lambda = N / B,   B = max(l (l - sigma), 1/2 (y^2 + l^2 - sigma^2))
    N = max(0, |r_hat|' w_bar + omega_b l + sigma omega - alpha max(0, V_M - V_sup)),
    V_sup >= 1/2 kappa (l + sigma)^2 or any other upper bound of V.

V <= V_M stays true if sigma < y. V changes by dV/dt <= r' (w - v). Where V >= V_M, |r|_M >= y and
V_sup >= V_M, so N >= |r_hat|' w_bar + omega_b l + sigma omega >= r' w. From 2 r' M r_hat =
|r|^2 + l^2 - |r - r_hat|^2 >= y^2 + l^2 - sigma^2, and r' M r_hat >= l (l - sigma), so r' v >= N.
dV/dt <= 0 almost everywhere on V >= V_M: V, absolutely continuous, does not leave V <= V_M.

Its own torque. While v acts, r changes by -M^-1 v = -lambda r_hat a second: along r_hat, towards
0. So after a time s it is sigma only from a r_hat, a = 1 - lambda s, which need not be part of
sigma. The same proof with a r_hat for r_hat wants lambda >= a N(a l) / B(a l) = h(a l) / l,
h(z) = z N(z) / B(z), N(z) that of z / l r_hat. So for all a in [0, 1]

    lambda = 1/l max of h(z) over z <= l.

With N(z) = p z + q, h grows to z = min(y + sigma, [p c + sqrt(p^2 c^2 + q^2 c)] / q), c = y^2 -
sigma^2, and falls from there on (B is its second form up to y + sigma, where h falls once q z^2 >
2 p c z + q c; the first from there on, where h = (p z + q) / (z - sigma)): lambda is h(l) / l up
to there, h of that place / l beyond. a >= 0 while lambda s <= 1: lambda <= omega (l + sigma) / B
is omega / (y - sigma) at most, at l = y - sigma, so sigma + omega s <= y is all that takes.

V_inf <= V. Where V_inf > V_M an assumption was false; lambda then has beta (V_inf - V_M) / B on
top, beta mu / 2 at most, beta = min(alpha, RECOVERY), which brings the arm back. Such a torque,
held for a time T, changes V by - T lambda r' M r [1 - T lambda / (2 mu)] at most, as M (H +
diag(Ia))^-1 M <= M / mu: it takes energy away for all T < 4 / beta.

Size. u' M r_hat (|r_hat|' w_bar) / l^2 is a form of rank two in M^1/2 r_hat, so with u = e_j

    |v_j| <= (1 + x) b_j + x / sqrt(1 - x^2) sqrt(M_jj) omega,
    b_j = 1/2 (sqrt(M_jj) sqrt(w_bar' |M^-1| w_bar) + w_bar_j) + sqrt(M_jj) omega_b,
    |v| in the norm of M^-1 <= nu omega,   nu = 1 + x + x / sqrt(1 - x^2),

as z^2 / B <= 1 + x, attained at z = y + sigma, and sigma z / B <= sigma / sqrt(y^2 - sigma^2).

Age. Until the torque of a sample acts, at most `waiting` later, r changes by no more than waiting
(omega + coriolis + nu omega) / mu, coriolis >= |C r + Fv r| in the norm of M^-1; the last part is
that of torques of samples before (sqrt(kappa / mu) nu omega with the M that one was made with,
which is no more where kappa mu <= 1, and counts where it is). Of these -M^-1 v is known: r_hat is
what r will be with it, if all are as expected, and off nu omega is left of nu omega / mu, and what
follows from torques that begin early or late: `unforeseen` nu omega / mu. From then on, for `held`
at most, r changes by -M^-1 v and held [(omega + coriolis) / mu + off nu omega]. Here off = max(1 -
mu, kappa - 1) / mu, as |(M^-1 - (H + diag(Ia))^-1) v| is at most max(1 - mu, kappa - 1) / sqrt(mu)
|v| in the norm of H + diag(Ia), and that is at least sqrt(mu) times the norm of M, be it M of this
sample or of that of v. All but what is known is part of sigma, and nu is made of sigma: any x that
what follows from it does not exceed is a bound. Where drives average commands, held is 0, and
waiting and unforeseen are the whole age: all of it is part of sigma. Let t be the first time at
which V > V_M (1 + 1e-9), for which all of this is computed: before it the bounds hold, so sigma
does, so dV/dt <= 0 on V >= V_M, and there is no such t.

Actuators. What acts may differ from v by `share` |v|: w_bar contains share_j |v_j|. The law has
it exactly, as N is linear in lambda: h = z N / (B - o z^2), o = |r_hat|' share |M r_hat| / l^2.
That grows and falls likewise, to [p c + sqrt(p^2 c^2 + m q^2 c)] / (m q), m = 1 - 2 o, or y +
sigma. The bound of v has it as share_j times the bound of v; again any v that what follows from it
does not exceed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import BoundError
from safe_sysid.sets.compiled import inline_jit, jit, part_jit
from safe_sysid.sets.interval import EPS

SLACK = 1e-9  # of what is iterated from below, so that it is a bound
RECOVERY = 100.0  # [1/s] beta at most, for periods up to 40 ms
ROUNDS = 60
HALVINGS = 50
LARGEST = 1e12  # torque that is still a bound [N m]


@dataclass(frozen=True, eq=False)
class Disturbance:
    """What the law works against, in every time step (...) of a plan; upper bounds all of them."""

    box: Array  # (..., n) w_bar without the actuators' error of v [N m]
    diagonal: Array  # (..., n) M_jj
    inverse: Array  # (..., n, n) |M^-1|
    share: Array  # (n,) of |v| that actuators may be off
    ball: float = 0.0  # omega_b [J^1/2 / s]


class Rates(NamedTuple):
    """Bounds of |dr/dt|_M [J^1/2 / s]."""

    whole: float
    drift: float  # but for what v does
    robust: float  # by v
    off: float  # by v but for -M^-1 v

    def times(self, factor: float) -> Rates:
        """Return the same in another norm."""
        return Rates(*(factor * rate for rate in self))


NOTHING = Rates(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class StateError:
    """How far what the law sees is from the r at which its torque acts."""

    at_sample: float  # in the norm of M [J^1/2]
    waiting: float  # [s] from a sample until its torque acts, at most
    unforeseen: float  # [s] of these, as if nothing was known of the torques before for so long
    held: float  # [s] for which that acts, at most
    coriolis: float  # [J^1/2 / s]
    before: Rates = NOTHING  # under the plan before


@dataclass(frozen=True)
class Shell:
    """V = V_M, and how M compares with the mass matrix of the arm."""

    V_M: float  # [J]
    mu: float = 1.0
    kappa: float = 1.0

    def __post_init__(self) -> None:
        if not (0.0 < self.V_M < np.inf and 0.0 < self.mu <= self.kappa < np.inf):
            raise BoundError(
                f'V_M = {self.V_M} J has to be above 0 and 0 < mu = {self.mu} <= kappa = '
                f'{self.kappa}: the mass matrix of the law does not bound that of the arm'
            )

    @property
    def least_length(self) -> float:
        """y, below |r|_M wherever V >= V_M."""
        return float(np.sqrt(2.0 * self.V_M / self.kappa) * (1.0 - 8.0 * EPS))


@dataclass(frozen=True, eq=False)
class Invariance:
    """Bounds under which V <= V_M stays true."""

    y: float  # [J^1/2]
    x: float  # sigma / y, share of the tube that errors of the state use
    sigma: float  # [J^1/2] of |r - r_hat|_M
    omega: float  # [J^1/2 / s] of |w| in the norm of M^-1
    box: Array  # (..., n) w_bar with the actuators' error of v
    robust: Array  # (..., n) of |v_j| [N m]

    @property
    def nu(self) -> float:
        """|v| in the norm of M^-1, in units of omega."""
        return _nu(self.x)


def invariance(
    shell: Shell, disturbance: Disturbance, error: StateError, below: Invariance | None = None
) -> Invariance:
    """Least bounds under which V <= V_M stays true, or a refusal.

    Bounds `below`, of a problem that is no harder, are where it begins.
    """
    y, x = shell.least_length, 0.0 if below is None else below.x
    least = None if below is None else below.robust
    for _ in range(ROUNDS):
        bounds = _following(shell, disturbance, error, x, least)
        if bounds is None or bounds.sigma >= y:
            break
        if bounds.sigma <= x * y:
            if not _least_length(bounds, error) <= y:  # which grows with x
                break
            return replace(bounds, sigma=x * y)
        x = bounds.sigma / y * (1.0 + SLACK)
    best = _best_share(shell, disturbance, error)
    if best is None or not _least_length(best, error) <= y:
        raise BoundError(_refusal(shell, best, error))
    lower, x = 0.0, best.x
    for _ in range(HALVINGS):
        middle = 0.5 * (lower + x)
        bounds = _following(shell, disturbance, error, middle)
        if bounds is not None and bounds.sigma <= middle * y:
            x, best = middle, replace(bounds, x=middle)
        else:
            lower = middle
    return replace(best, sigma=x * y)


def least_energy(shell: Shell, disturbance: Disturbance, error: StateError) -> float:
    """Smallest V_M that works, all else as it is [J]; infinite where none does."""
    best = _best_share(shell, disturbance, error)
    return float(np.inf) if best is None else _energy_for(shell, best, error)


def input_bound(disturbance: Disturbance) -> Array:
    """Bound of |v_j| for a law that sees r as it is, (..., n)."""
    return invariance(Shell(1.0), disturbance, StateError(0.0, 0.0, 0.0, 0.0, 0.0)).robust


def _least_length(bounds: Invariance, error: StateError) -> float:
    """Smallest y for which its x is one, and its torque does not turn r_hat round."""
    turned = bounds.sigma + error.held * bounds.omega * (1.0 + 16.0 * EPS)
    return max(bounds.sigma / bounds.x if bounds.sigma > 0.0 else 0.0, turned)


def _energy_for(shell: Shell, bounds: Invariance, error: StateError) -> float:
    return 0.5 * shell.kappa * _least_length(bounds, error) ** 2 * (1.0 + SLACK)


def _best_share(shell: Shell, disturbance: Disturbance, error: StateError) -> Invariance | None:
    """Bounds that follow from the x at which the tube may be smallest; by golden sections."""
    golden = 0.5 * (np.sqrt(5.0) - 1.0)
    low, high = 1e-6, 1.0 - 1e-6
    for _ in range(HALVINGS):
        left, right = high - golden * (high - low), low + golden * (high - low)
        sizes = []
        for x in (left, right):
            bounds = _following(shell, disturbance, error, x)
            sizes.append(np.inf if bounds is None else _least_length(bounds, error))
        if sizes[0] <= sizes[1]:
            high = right
        else:
            low = left
    return _following(shell, disturbance, error, 0.5 * (low + high))


def _following(
    shell: Shell,
    disturbance: Disturbance,
    error: StateError,
    x: float,
    least: Array | None = None,
) -> Invariance | None:
    """Bounds that follow from a share x, rounded up; none where v cannot make up for its error."""
    settled = _robust_input(disturbance, x, least)
    if settled is None:
        return None
    box, robust, omega = settled
    waiting, held = _changes(shell, error, omega, _nu(x) * omega)
    sigma = (error.at_sample + sum(waiting) + sum(held)) * (1.0 + 16.0 * EPS)
    return Invariance(shell.least_length, x, sigma, omega, box, robust)


class _Change(NamedTuple):
    """Of r, but for what a torque does itself [J^1/2]."""

    drift: float
    robust: float  # by v


def _changes(
    shell: Shell, error: StateError, omega: float, robust: float
) -> tuple[_Change, _Change]:
    """Bounds of what changes until a torque acts, and while it does."""
    own = (omega + error.coriolis) / shell.mu
    drift, off = max(own, error.before.drift), off_share(shell) * robust
    before = error.unforeseen * max(across(shell) * robust, error.before.robust)
    if error.unforeseen < error.waiting:
        before += error.waiting * max(off, error.before.off)
    return _Change(error.waiting * drift, before), _Change(error.held * drift, error.held * off)


def across(shell: Shell) -> float:
    """Bound of |M_1^-1 v|_M2 and |(H + diag(Ia))^-1 v|_M2 in units of |v|, M of the shell."""
    return max(1.0 / shell.mu, float(np.sqrt(shell.kappa / shell.mu)) * (1.0 + 4.0 * EPS))


def off_share(shell: Shell) -> float:
    """Bound of |(M_1^-1 - (H + diag(Ia))^-1) v|_M2 in units of |v|, for both M of the shell."""
    return max(1.0 - shell.mu, shell.kappa - 1.0) / shell.mu


def _robust_input(
    disturbance: Disturbance, x: float, least: Array | None
) -> tuple[Array, Array, float] | None:
    """w_bar, the bound of |v| and omega for a share x; iterated from below, then a little more."""
    if not np.any(disturbance.share > 0.0):
        return _input_of(disturbance, disturbance.box, x)
    robust = np.zeros_like(disturbance.box) if least is None else least
    for _ in range(ROUNDS):
        box = disturbance.box + disturbance.share * robust * (1.0 + 4.0 * EPS)
        settled = _input_of(disturbance, box, x)
        if np.all(settled[1] <= robust):
            return settled
        robust = settled[1] * (1.0 + SLACK)
        if not np.all(robust < LARGEST):
            return None
    return None


def _input_of(disturbance: Disturbance, box: Array, x: float) -> tuple[Array, Array, float]:
    """Return the same for a w_bar, rounded up."""
    n = box.shape[-1]
    up = 1.0 + (4 * n * n + 64) * EPS
    largest = np.maximum(box.max(axis=-1, keepdims=True), 1e-300)
    unit = box / largest
    squares = ((disturbance.inverse @ unit[..., None])[..., 0] * unit).sum(axis=-1)
    each = largest[..., 0] * np.sqrt(squares)
    omega = (float(each.max()) + disturbance.ball) * up
    root = np.sqrt(disturbance.diagonal)
    own = 0.5 * (root * each[..., None] + box) + root * disturbance.ball
    spread = x / np.sqrt((1.0 - x) * (1.0 + x))
    return box, ((1.0 + x) * own + spread * root * omega) * up + 1e-300, omega


def _nu(x: float) -> float:
    return float(1.0 + x + x / np.sqrt((1.0 - x) * (1.0 + x)))


def _refusal(shell: Shell, best: Invariance | None, error: StateError) -> str:
    """Say what fills the tube, and which V_M would do."""
    if best is None:
        return (
            'no V_M bounds the tracking error: actuators may be off by so large a share of the '
            'torque that no more torque makes up for it'
        )
    waiting, held = _changes(shell, error, best.omega, best.nu * best.omega)
    late, acting = f'{1e3 * error.waiting:.3g} ms', f'{1e3 * error.held:.3g} ms'
    parts = {
        'readings': error.at_sample,
        f'disturbances in {late} until a torque acts': waiting.drift,
        'torques of samples before, in that time': waiting.robust,
        f'disturbances in {acting} for which it acts': held.drift,
        'its own, as masses are uncertain': held.robust,
    }
    shares = ', '.join(
        f'{part} {100.0 * size / best.sigma:.0f} %' for part, size in parts.items() if size > 0.0
    )
    enough = _energy_for(shell, best, error)
    return (
        f'V_M = {shell.V_M:.3g} J is too small for what the law sees of the arm; it '
        f'takes {enough:.3g} J with the errors at this V_M, which grow with it, so that '
        f'more may be needed, or smaller errors. Of the error of its state are: {shares}'
    )


class LawBounds(NamedTuple):
    """What the law has to know of the theorem; all 0 but the first two where it sees r exactly."""

    V_M: float  # [J]
    alpha: float  # [1/s]
    y: float = 0.0
    sigma: float = 0.0
    omega: float = 0.0
    ball: float = 0.0


@jit
def damping(
    power: float, own: float, square: float, energy: tuple[float, float], law: LawBounds
) -> float:
    """Return lambda, from |r_hat|' w_bar, |r_hat|' share |M r_hat|, l^2 and bounds of V."""
    length = np.sqrt(square)
    share = own / square if square > 0.0 else 0.0
    pull = power / length + law.ball if length > 0.0 else 0.0
    z = min(length, _most_wanted(pull, share, law)) if law.sigma > 0.0 else length
    N = pull * z + law.sigma * law.omega
    N = max(0.0, N - law.alpha * max(0.0, law.V_M - energy[1]))
    wanted = z / length * N if length > 0.0 else N
    over = min(law.alpha, RECOVERY) * max(0.0, energy[0] - law.V_M)
    return float(_gain(wanted, z, share, law) + _gain(over, length, share, law))


@part_jit
def _most_wanted(pull: float, share: float, law: LawBounds) -> float:
    """Length of r_hat up to which h grows, for N = pull z + sigma omega."""
    far = law.y + law.sigma
    flat = law.sigma * law.omega * (1.0 - 2.0 * share)  # q (1 - 2 o)
    if flat <= 0.0:
        return far
    c = (law.y - law.sigma) * far
    rising = pull * c
    root = np.sqrt(rising**2 + law.sigma * law.omega * flat * c)
    return float(min(far, (rising + root) / flat))


@inline_jit
def _gain(N: float, length: float, share: float, law: LawBounds) -> float:
    """Return N / (B - share length^2)."""
    square = length**2
    B = max(
        length * (length - law.sigma),
        0.5 * ((law.y - law.sigma) * (law.y + law.sigma) + square),
    )
    if N <= 0.0 or B <= 0.0:
        return 0.0
    own = share * square
    return N / (B - own) if own < B else N / B  # own < B wherever `invariance` bounds v


@jit
def energy_range(square: float, shell: tuple[float, float], sigma: float) -> tuple[float, float]:
    """Bounds of V for l^2 and (mu, kappa)."""
    length = np.sqrt(square)
    return 0.5 * shell[0] * max(0.0, length - sigma) ** 2, 0.5 * shell[1] * (length + sigma) ** 2
