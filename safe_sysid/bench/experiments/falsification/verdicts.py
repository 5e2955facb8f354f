"""What the identifier makes of a recording whose assumptions hold, against the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.falsification.recordings import Recipe, Recorded, record
from safe_sysid.errors import BoundError, MeasurementError
from safe_sysid.identify.linear_bounds import linear, linear_unweighted
from safe_sysid.identify.momentum_observation import observe
from safe_sysid.identify.observation import Observation
from safe_sysid.identify.online_identifier import (
    IdentificationFault,
    IdentifierSettings,
    OnlineIdentifier,
)
from safe_sysid.identify.payload_estimator import SolveSettings
from safe_sysid.identify.set_membership import set_membership
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.sets.interval import Interval

Form = Callable[[Observation, Interval, Interval], Interval]
MEMBERSHIP = 'set_membership'
FORMS: dict[str, Form] = {
    'linear_unweighted': linear_unweighted,
    'linear': linear,
    MEMBERSHIP: set_membership,
}
ONLINE = 'online'  # OnlineIdentifier, whose bounds shrink from solve to solve
PROGRAMS = 5  # two recordings in so many have theirs solved
ROUNDING = 1e-15  # of the sum that judges a row, as a share of the sizes of its terms


@dataclass
class RecordingVerdict:
    """Counts over one recording, or over many."""

    recordings: int = 0
    discarded: int = 0  # drawn, but not a motion that can be judged
    rows: int = 0
    row_violations: int = 0
    bounds: Counter[str] = field(default_factory=Counter)  # computed, by form
    misses: Counter[str] = field(default_factory=Counter)
    false_contradictions: int = 0
    largest_share: float = 0.0  # of delta that any row uses
    worst: Recipe | None = None  # the recipe of it
    broken: list[tuple[Recipe, str]] = field(default_factory=list)

    def add(self, other: RecordingVerdict) -> None:
        """Count another one."""
        self.recordings += other.recordings
        self.discarded += other.discarded
        self.rows += other.rows
        self.row_violations += other.row_violations
        self.bounds.update(other.bounds)
        self.misses.update(other.misses)
        self.false_contradictions += other.false_contradictions
        self.broken += other.broken
        if other.largest_share > self.largest_share:
            self.largest_share, self.worst = other.largest_share, other.worst


def judged(recipe: Recipe, number: int) -> RecordingVerdict:
    """Return the recording of a recipe: its rows and bounds.

    Linear programs take most of the time: by number, they are solved for all rows at once, by the
    identifier as rows come, or not at all.
    """
    recording = record(recipe)
    if recording is None:
        return RecordingVerdict(discarded=1)
    programs = {0: (MEMBERSHIP,), 1: (ONLINE,)}.get(number % PROGRAMS, ())
    return verdict_of(recipe, recording, programs)


def rows_judged(recipe: Recipe) -> RecordingVerdict:
    """Judge the rows of a recipe alone."""
    recording = record(recipe)
    if recording is None:
        return RecordingVerdict(discarded=1)
    verdict = RecordingVerdict(recordings=1)
    _rows(verdict, recipe, recording)
    return verdict


def verdict_of(recipe: Recipe, recording: Recorded, programs: tuple[str, ...]) -> RecordingVerdict:
    """Judge rows and bounds of a recording that is there already."""
    verdict = RecordingVerdict(recordings=1)
    rows = _rows(verdict, recipe, recording)
    if rows is None:
        return verdict
    for name, form in FORMS.items():
        if name != MEMBERSHIP or name in programs:
            _bounds(verdict, recipe, recording, (rows, name, form))
    if ONLINE in programs:
        _online(verdict, recipe, recording)
    return verdict


def _rows(verdict: RecordingVerdict, recipe: Recipe, recording: Recorded) -> Observation | None:
    """Count the rows of a recording, if there are any, and those that do not hold."""
    rows = rows_of(recording)
    if rows is None:
        return None
    shares = row_shares(rows, recording)
    verdict.rows, verdict.row_violations = len(rows), int((shares > 1.0).sum())
    verdict.largest_share, verdict.worst = float(shares.max()), recipe
    if verdict.row_violations:
        verdict.broken.append((recipe, f'row uses {shares.max():.4g} of delta'))
    return rows


def rows_of(recording: Recorded) -> Observation | None:
    """All rows; none where no window is long enough."""
    try:
        return observe(recording.model, recording.prior.bounds, recording.settings, recording.log)
    except MeasurementError:
        return None


def row_shares(rows: Observation, recording: Recorded) -> Array:
    """Return what every row leaves out for the true parameters, as a share of delta."""
    layout, theta = recording.model.layout, recording.mechanism.theta
    terms = np.concatenate(
        [rows.Y_e * theta[layout.end_effector], rows.Y_r * theta[layout.rest]], axis=1
    )
    left = np.abs(terms.sum(axis=1) - rows.b)
    rounding = ROUNDING * (np.abs(terms).sum(axis=1) + np.abs(rows.b))
    shares: Array = np.maximum(left - rounding, 0.0) / rows.delta
    return shares


def _bounds(
    verdict: RecordingVerdict,
    recipe: Recipe,
    recording: Recorded,
    asked: tuple[Observation, str, Form],
) -> None:
    rows, name, form = asked
    rest = recording.prior.bounds[recording.prior.layout.rest]
    try:
        found = form(rows, rest, recording.prior.end_effector_bounds)
    except BoundError as error:
        verdict.false_contradictions += 1
        verdict.broken.append((recipe, f'{name}: {error}'))
    else:
        _compare(verdict, recipe, name, found, recording.truth)


def _compare(
    verdict: RecordingVerdict, recipe: Recipe, name: str, found: Interval, truth: Array
) -> None:
    verdict.bounds[name] += 1
    missed = bool(not found.contains(truth))
    verdict.misses[name] += missed
    if missed:
        outside = np.maximum(found.lower - truth, truth - found.upper)
        worst = int(np.argmax(outside))
        verdict.broken.append(
            (recipe, f'{name} misses entry {worst} by {outside[worst]:.3g} of {truth[worst]:.4g}')
        )


def _online(verdict: RecordingVerdict, recipe: Recipe, recording: Recorded) -> None:
    seconds = (recording.log.stamp[-1] - recording.log.stamp[0]) * 1e-9
    settings = IdentifierSettings(
        recording.settings, SolveSettings(seconds=60.0), max(1e-3, 0.7 * seconds)
    )
    identifier = OnlineIdentifier(recording.model, recording.prior, settings, SolvesAtOnce)
    try:
        for i in range(len(recording.log)):
            identifier.step(recording.log[i])
        found = identifier.finish()
    except IdentificationFault as fault:
        verdict.false_contradictions += 1
        verdict.broken.append((recipe, f'{ONLINE}: {fault.cause}'))
    else:
        _compare(verdict, recipe, ONLINE, found.end_effector_bounds, recording.truth)
    finally:
        identifier.close()
