"""Statistical test, on every window, whether what the arm holds is still the same.

For each of some numbers L of windows back, the belief of L windows ago predicts the rows since.
What they gain by a change of mass and of mass times centre is chi squared with 4 degrees of
freedom while nothing has changed (generalised likelihood ratio). The alarm is raised above the
quantile that keeps the rate of false alarms below the one stated, all L and all windows of an
hour counted.

That rate is statistics and no guarantee. It holds if
  - errors of sensors are new with every sample, or a gain of each joint that lasts,
  - torque that no model has is not larger than `unmodelled_torque`, nor lasts longer than
    `correlation_time`, in deviation and in the mean,
  - theta_r and the gains move by no more than `drift`.
A joint that stands, or nearly so, may have any dry friction up to its bound, and no other one as
long as its torque stays as it is: it creeps to its place against its friction, and stands there
with whatever is left. So a row says by how much (`dry`); that is an unknown which forgets itself
as the torque of the joint changes (`friction_covariance`), and such rows teach nothing.
`certain_change.py` has a test without false alarms, which sees less.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from safe_sysid.arrays import Array, IntArray
from safe_sysid.config import NotNegative, Positive, Range, Settings
from safe_sysid.identify.change.change_kinds import (
    Explanation,
    Windows,
    explanations,
    gain,
    load_columns,
)
from safe_sysid.identify.change.chi_square import chi_square_quantile
from safe_sysid.identify.change.impulse_noise import (
    friction_covariance,
    impulse_covariance,
    lasting_variance,
    sensor_variance,
)
from safe_sysid.identify.change.shared_posterior import SharedPosterior
from safe_sysid.identify.observation import Observation, stacked
from safe_sysid.model.dynamics.forward_kinematics import tip_jacobian
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval

LAGS = (1, 2, 3, 5, 8, 12, 20)  # windows back that the test looks at
MOST = max(LAGS)
LOAD = 4  # degrees of freedom of a change of mass and mass times centre
MOST_SINCE = 60  # windows since a change that are judged
SUSPECTED = 1e-4  # probability of a statistic that tells when and what, where a change is proven
SURELY = 1e-6  # probability of noise that leaves more than a load explains
ROUNDING = 1e-9  # [s]
FARTHEST = 0.2  # [m] that anything slips and is still held
DEVIATIONS = 3.0  # of the mass that may be held
LEAST_WEIGHT = 0.001  # of a moment of the event that is left out of its interval


@dataclass(frozen=True)
class ChangeSettings(Settings):
    """What is expected of an arm whose payload has not changed."""

    false_alarms: Positive = 0.001  # [1/h] at most, while the assumptions hold
    unmodelled_torque: NotNegative = 0.3  # [N m] deviation of what no model has
    correlation_time: Positive = 0.05  # [s] that it lasts
    torque_gain: Annotated[float, Range(at_least=0.0, less_than=1.0)] = 0.025  # error that lasts
    velocity_noise: NotNegative | None = None  # [rad/s] deviation of measured velocities; none: as
    # they are found to scatter once a joint moves, until then as their promised error
    drift: NotNegative = 0.01  # share of its uncertainty that theta_r may move in a second

    def threshold(self, window: float) -> float:
        """Statistic above which windows of some seconds raise the alarm."""
        tests = 3600.0 / window * len(LAGS)  # in an hour
        return chi_square_quantile(LOAD, self.false_alarms / tests)


@dataclass(frozen=True)
class Change:
    """What was noticed, when, and what it may have been."""

    noticed: float  # [s] end of the window that showed it
    after: float  # [s] it happened after this
    before: float  # [s] and before this
    statistic: float
    threshold: float
    explanations: tuple[Explanation, ...]  # that explain it about equally well, the best first
    is_explained: bool = True  # whether a load that stays explains all windows since, to noise

    def __str__(self) -> str:
        kinds = ' or '.join(str(each) for each in self.explanations)
        return (
            f'{kinds}, between {self.after:.2f} s and {self.before:.2f} s, noticed at '
            f'{self.noticed:.2f} s ({self.statistic:.0f} where {self.threshold:.0f} is an alarm)'
        )


@dataclass(frozen=True, eq=False)
class _Window:
    rows: Observation
    pushes: Array
    H: Array
    believed: SharedPosterior  # before it
    dry: Array  # (m,) [N m s] bounds on friction of unknown sign
    variance: Array  # (m,) [N m^2 s^2] of what is new in every window


@dataclass(frozen=True, eq=False)
class _Stack:
    """Windows that follow each other, one below the other."""

    believed: list[SharedPosterior]  # before each
    begins: IntArray  # first row of each, and their number
    H: Array
    b: Array
    load: Array  # (m, 4)
    noise: Array  # (m, m) covariance of all but what is believed

    def residual(self, first: int, belief: SharedPosterior) -> tuple[Array, Array]:
        """Return what a belief says wrongly of windows from one on: its covariance, and it."""
        begin = self.begins[first]
        H = self.H[begin:]
        S: Array = H @ belief.covariance @ H.T + self.noise[begin:, begin:]
        return S, self.b[begin:] - H @ belief.mean

    def statistic(self, first: int) -> float:
        """Return what a change at the beginning of a window gains, by the belief before it."""
        S, e = self.residual(first, self.believed[first])
        return gain(self.load[self.begins[first] :], S, e)[0]


class ChangeTest:
    """Takes the rows of every window; says when what is held has changed."""

    def __init__(
        self, model: RobotModel, prior: ParameterEstimate, samples: int, settings: ChangeSettings
    ) -> None:
        """Begin with the prior; `samples` are those of a window."""
        self._model, self._samples, self._settings = model, samples, settings
        rest = prior.bounds[prior.layout.rest]
        gains = np.full(model.n, settings.torque_gain)
        self._belief = SharedPosterior.before(prior.end_effector_bounds, rest, gains)
        self._windows: deque[_Window] = deque(maxlen=MOST)
        self._change: Change | None = None
        self._since: list[_Window] = []  # windows since the change, if there is one
        self._is_certain = False  # that something has changed
        self.statistic = 0.0  # of the last window; above `threshold` it is a change

    @property
    def belief(self) -> SharedPosterior:
        """What is believed now; after a change, what was believed before it."""
        return self._belief

    @property
    def change(self) -> Change | None:
        """What was noticed, as it was judged then; None: nothing."""
        return self._change

    def suspect(self) -> None:
        """Take it as proven that something has changed: less is enough to tell when and what."""
        self._is_certain = True

    def threshold(self, window: float) -> float:
        """Statistic above which windows of some seconds raise the alarm."""
        if self._is_certain:
            return chi_square_quantile(LOAD, SUSPECTED)
        return self._settings.threshold(window)

    def add(
        self,
        rows: Observation,
        position: Array,
        dry: Array | None = None,
        variance: Array | None = None,
    ) -> Change | None:
        """Take the rows of a window and the pose in its middle; the change, if there is one.

        `dry` (m,) [N m s] bounds friction in the rows that may have either sign; none where it
        is not given. `variance` (m,) is of their other errors; not given it is that of torques
        whose errors are their bounds. After a change it is given again and nothing is learnt,
        until `new_payload`.
        """
        length = float(rows.end[0] - rows.start[0])
        drifted = self._settings.drift * np.sqrt(length)
        believed = self._belief if self._change else self._belief.drifted(drifted)
        jacobian = tip_jacobian(self._model, position)[:3]
        pushes = -length * jacobian.T[rows.joint]
        loose = np.zeros(len(rows)) if dry is None else dry
        noise = sensor_variance(rows, self._samples) if variance is None else variance
        window = _Window(rows, pushes, believed.row_matrix(rows), believed, loose, noise)
        if self._change is not None:
            self._since = [*self._since, window][:MOST_SINCE]
            return self._change
        self._windows.append(window)
        self._change = self._noticed(length)
        if self._change is None:
            self._learn(window, length)
        return self._change

    def _learn(self, window: _Window, length: float) -> None:
        """Take a window into the belief, but for rows of joints that hardly move."""
        taught, rows = window.dry == 0.0, window.rows
        lasting = lasting_variance(
            length, self._settings.unmodelled_torque, self._settings.correlation_time
        )
        noise = np.diag((window.variance + lasting)[taught])
        self._belief = window.believed.updated(window.H[taught], rows.b[taught], noise)

    def judged(self) -> Change | None:
        """Return the change again, judged by all windows before and since that are kept.

        A change at the beginning of any of them is compared with the others by what it explains.
        """
        change = self._change
        if change is None or not self._since:
            return change
        windows = [*self._windows, *self._since]
        belief = windows[0].believed
        every = self._gains(windows, belief)
        first, last = _likely(every)
        self._belief = windows[first].believed if first < len(self._windows) else self._belief
        after = float(windows[max(first - 1, 0)].rows.start[0])
        before = float(windows[last].rows.end[0])
        later = [each for each in windows if each.rows.start[0] >= before - ROUNDING]
        if not later:
            return replace(change, after=after, before=before)
        since, S, e = self._residual_of(later, belief)
        explained, _ = gain(load_columns(since.rows), S, e)
        left = float(e @ np.linalg.solve(S, e)) - explained
        most = chi_square_quantile(max(len(e) - LOAD, 1), SURELY)
        kinds = explanations(since, S, e, self._slips)
        known = replace(change, after=after, before=before, is_explained=left <= most)
        return replace(known, explanations=kinds)

    @property
    def _slips(self) -> float:
        """Largest moment of what is held, in all likelihood, by which it may slip [kg m]."""
        mean, covariance = self._belief.body
        most = mean[0] + DEVIATIONS * np.sqrt(covariance[0, 0])
        return float(FARTHEST * max(most - self._model.own_end_effector[0], 0.0))

    def _gains(self, windows: list[_Window], belief: SharedPosterior) -> Array:
        """Return what a change at the beginning of each window gains over none, (k,)."""
        since, S, e = self._residual_of(windows, belief)
        number = np.repeat(np.arange(len(windows)), [len(each.rows) for each in windows])
        factor, D = np.linalg.cholesky(S), load_columns(since.rows)
        spread = np.zeros((len(e), len(windows), D.shape[1]))
        spread[np.arange(len(e)), number] = D
        white = np.linalg.solve(factor, np.column_stack([spread.reshape(len(e), -1), e]))
        each = white[:, :-1].reshape(spread.shape)
        later = np.cumsum(each[:, ::-1], axis=1)[:, ::-1]
        unit = np.eye(len(e))
        return np.array([gain(later[:, i], unit, white[:, -1])[0] for i in range(len(windows))])

    def new_payload(self, body: Interval) -> None:
        """Another body is in hand, within these bounds; the arm is the one that is known."""
        self._belief = self._belief.with_body(body)
        self._windows.clear()
        self._change, self._since, self._is_certain = None, [], False

    def _noticed(self, length: float) -> Change | None:
        """Return the change that rows of the last windows tell of, if they do."""
        threshold, kept = self.threshold(length), list(self._windows)
        rows = self._stacked(kept)
        lags = [lag for lag in LAGS if lag <= len(kept)]
        self.statistic = max(rows.statistic(len(kept) - lag) for lag in lags)
        if self.statistic <= threshold:
            return None
        every = np.array([rows.statistic(len(kept) - 1 - i) for i in range(len(kept))])
        best = int(np.argmax(every)) + 1
        after, before = self._located(every)
        since, S, e = self._residual_of(kept[-best:], kept[-best].believed)
        self._belief = kept[-best].believed
        self._since = []
        return Change(
            float(kept[-1].rows.end[0]),
            after,
            before,
            float(every[best - 1]),
            threshold,
            explanations(since, S, e, self._slips),
        )

    def _residual_of(
        self, windows: list[_Window], belief: SharedPosterior
    ) -> tuple[Windows, Array, Array]:
        """Rows of windows, what a belief says of them wrongly, and its covariance."""
        S, e = self._stacked(windows).residual(0, belief)
        pushes = np.concatenate([each.pushes for each in windows])
        return Windows(stacked([each.rows for each in windows]), pushes), S, e

    def _stacked(self, windows: list[_Window]) -> _Stack:
        """Return windows that follow each other, one below the other."""
        joint = np.concatenate([each.rows.joint for each in windows])
        spans = [(float(each.rows.start[0]), float(each.rows.end[0])) for each in windows]
        shared = impulse_covariance(
            spans, self._settings.unmodelled_torque, self._settings.correlation_time
        )
        begins = np.cumsum([0, *(len(each.rows) for each in windows)])
        number = np.repeat(np.arange(len(windows)), np.diff(begins))
        dry = np.concatenate([each.dry for each in windows])
        b = np.concatenate([each.rows.b for each in windows])
        noise = shared[number[:, None], number] + friction_covariance(joint, b, dry)
        noise[joint[:, None] != joint] = 0.0
        noise[np.diag_indices(len(noise))] += np.concatenate([each.variance for each in windows])
        return _Stack(
            [each.believed for each in windows],
            begins,
            np.concatenate([each.H for each in windows]),
            b,
            np.concatenate([load_columns(each.rows) for each in windows]),
            noise,
        )

    def _located(self, every: Array) -> tuple[float, float]:
        """Return times [s] between which it was, from what each number of windows back gains.

        The window before may have had a part of it that was too short to tell.
        """
        newest, oldest = _likely(every)
        windows = list(self._windows)[::-1]
        first = windows[min(oldest + 1, len(windows) - 1)]
        return float(first.rows.start[0]), float(windows[newest].rows.end[0])


def _likely(every: Array) -> tuple[int, int]:
    """Return the first and last of some moments, but for those that weigh next to nothing."""
    weight = np.exp(0.5 * (every - every.max()))
    ranked = np.argsort(-weight)
    total = np.cumsum(weight[ranked]) / weight.sum()
    kept = ranked[: int(np.searchsorted(total, 1.0 - LEAST_WEIGHT)) + 1]
    return int(kept.min()), int(kept.max())
