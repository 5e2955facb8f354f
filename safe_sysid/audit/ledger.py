"""Ledger of a recorded run: what was promised, how near it came to that, whether it held."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.audit.loop_of_bag import CHANGING, RecordedLoop
from safe_sysid.audit.loop_record import LoopRecord
from safe_sysid.audit.true_load import TrueLoad
from safe_sysid.identify.estimate_series import INSTANT, EstimateSeries
from safe_sysid.model.collision.contact import ContactClearance, ContactGauge
from safe_sysid.plan.cost.terms import shortest_way
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.margin import CAPSULES, OBSTACLE

LOOKS = 4000  # positions at most at which distances are measured
UNCHANGED = 1e-4  # [m]
NEAR_GOAL = 0.05  # [rad] in every joint: how near a plan has to lead, and a tracking error


@dataclass(frozen=True)
class Entry:
    """One promise."""

    promise: str
    finding: str
    is_kept: bool


@dataclass(frozen=True, eq=False)
class Ledger:
    """All of them, and figures that others want as numbers."""

    entries: tuple[Entry, ...]
    obstacle: ContactClearance  # smallest measured; infinite where nothing is in the way
    own: ContactClearance  # smallest measured of the arm from itself

    @property
    def is_kept(self) -> bool:
        """Whether every promise held."""
        return all(entry.is_kept for entry in self.entries)


def ledger_of(loop: RecordedLoop, truth: TrueLoad) -> Ledger:
    """Every promise of a run in lockstep."""
    obstacle, own = smallest_distances(loop)
    entries = (
        _inside(loop.record.estimates, truth),
        _shrinking(loop),
        _certificates(loop),
        _pairs(loop),
        *_obstacles(loop, obstacle),
        _distance('the arm does not touch itself', own, _certified(loop, CAPSULES)),
        *_torques(loop.record),
        _tracking(loop.record),
        _searches(loop.record),
        _goal(loop),
    )
    return Ledger(entries, obstacle, own)


def smallest_distances(loop: RecordedLoop) -> tuple[ContactClearance, ContactClearance]:
    """Measured along the recorded positions: from obstacles, and of the arm from itself."""
    model, record = loop.settings.model, loop.record
    gauge = ContactGauge(model, loop.settings.boxes)
    still = {model.capsules.names[c] for c in np.flatnonzero(model.capsules.joint < 0)}
    count, pairs = len(model.capsules.pairs), gauge.pairs
    moving = np.array([i < count or first not in still for i, (first, _) in enumerate(pairs)])
    distances = np.array([gauge.distances(record.q[i]) for i in _looks(record)])
    least = np.where(moving, distances.min(axis=0), np.inf)
    changes = np.ptp(distances, axis=0) > UNCHANGED
    for kind in (slice(None, count), slice(count, None)):
        if changes[kind].any():  # what turns about its own axis only is always as near
            least[kind][~changes[kind]] = np.inf
    obstacle, own = (
        _least(least[kind], pairs[kind]) for kind in (slice(count, None), slice(count))
    )
    return obstacle, own


def _least(distances: Array, pairs: Sequence[tuple[str, str]]) -> ContactClearance:
    """Return the pair that comes nearest; infinitely far where there is none."""
    if not len(distances):
        return ContactClearance(np.inf, '', '')
    i = int(np.argmin(distances))
    return ContactClearance(float(distances[i]), *pairs[i])


def _looks(record: LoopRecord) -> list[int]:
    """Return samples at which distances are measured."""
    chosen = np.linspace(0, len(record.time) - 1, LOOKS).astype(int)
    return sorted({int(i) for i in chosen})


def _inside(series: EstimateSeries, truth: TrueLoad) -> Entry:
    inside = truth.is_within(series)
    finding = (
        f'{int(inside[-1].sum())} of {inside.shape[1]}, after each of {len(series.time)} estimates'
        if inside.all()
        else f'outside in {int((~inside.all(axis=1)).sum())} of {len(series.time)} estimates'
    )
    return Entry('the true parameters are inside their bounds', finding, bool(inside.all()))


def _shrinking(loop: RecordedLoop) -> Entry:
    """Bounds of one body; where a change of what is held begins and ends they are others."""
    series = loop.record.estimates
    lower, upper = np.diff(series.lower, axis=0), np.diff(series.upper, axis=0)
    wider = np.any((lower < 0.0) | (upper > 0.0), axis=1)
    since = series.time[1:, None] - np.array([*_changing(loop), -np.inf])
    others = np.any(np.abs(since) <= INSTANT, axis=1)
    count = int((wider & ~others).sum())
    parts = np.split(series.half_width[:, 0], np.flatnonzero(others) + 1)
    better = max(part[0] / part[-1] for part in parts)
    finding = f'{count} times not' if count else f'mass known {better:.1f} times better'
    if others.any() and not count:
        finding += ', of one body; wider where another may be held'
    return Entry('bounds only shrink', finding, count == 0)


def _changing(loop: RecordedLoop) -> Iterator[float]:
    """Yield when a change of what is held was announced, and when it was over [s]."""
    before = ''
    for at, mode in loop.modes:
        if CHANGING in (mode, before):
            yield at
        before = mode


def _every(loop: RecordedLoop) -> Iterator[PlanCertificate]:
    for plan in loop.plans:
        assert isinstance(plan.certificate, PlanCertificate)
        yield from (plan.certificate, *plan.certificate.then)


def _certificates(loop: RecordedLoop) -> Entry:
    every = list(_every(loop))
    held = sum(each.holds for each in every)
    finding = f'{held} of {len(every)} pieces of {len(loop.plans)} plans, proven from the bag'
    return Entry('every motion is certified', finding, held == len(every))


def _pairs(loop: RecordedLoop) -> Entry:
    """Return what certificates rely on without looking at it; kept if the recorded poses agree."""
    model = loop.settings.model
    capsules, record = model.capsules, loop.record
    finding = f'{len(capsules.pairs)} pairs looked at, {len(capsules.apart)} proven apart'
    if len(capsules.left_out):
        finding += f', {len(capsules.left_out)} taken not to touch (collision.housings_apart)'
    if not len(capsules.apart):
        return Entry('pairs not looked at are apart', finding, is_kept=True)
    gauge = ContactGauge(replace(model, capsules=replace(capsules, pairs=capsules.apart)))
    least = min(gauge.clearance(record.q[i]).distance for i in _looks(record))
    return Entry('pairs not looked at are apart', finding, least > 0.0)


def _certified(loop: RecordedLoop, kind: str) -> float:
    """Smallest clearance [m] that the certificates promise."""
    margins = [each.margins[kind].value for each in _every(loop) if kind in each.margins]
    return min(margins, default=float('inf'))


def _obstacles(loop: RecordedLoop, measured: ContactClearance) -> Iterator[Entry]:
    if loop.settings.boxes:
        yield _distance('nothing in the way is touched', measured, _certified(loop, OBSTACLE))


def _distance(promise: str, measured: ContactClearance, certified: float) -> Entry:
    finding = (
        f'{100.0 * measured.distance:.1f} cm at least ({measured.capsule} from {measured.other}), '
        f'{100.0 * certified:.1f} cm promised'
    )
    return Entry(promise, finding, measured.distance > 0.0 and measured.distance >= certified)


def _torques(record: LoopRecord) -> tuple[Entry, Entry]:
    left = record.torque_limit - np.abs(record.tau)
    i, j = (int(x) for x in np.unravel_index(int(np.argmin(left)), left.shape))
    name, limit = record.joint_names[j], float(record.torque_limit[j])
    margin = f'{left[i, j]:.1f} N m left of {limit:.1f} ({name}, at {record.time[i]:.1f} s)'
    outside = (record.tau < record.tau_lower) | (record.tau > record.tau_upper)
    count = int(outside.any(axis=1).sum())
    within = f'{len(record.time) - count} of {len(record.time)} control periods'
    return (
        Entry('torques stay within their limits', margin, bool(left[i, j] > 0.0)),
        Entry('torques stay within what was certified', within, count == 0),
    )


def _tracking(record: LoopRecord) -> Entry:
    share = np.abs(record.error) / record.error_bound
    i, j = (int(x) for x in np.unravel_index(int(np.nanargmax(share)), share.shape))
    finding = (
        f'{1e3 * abs(record.error[i, j]):.2f} of {1e3 * record.error_bound[i, j]:.2f} mrad, '
        f'{100.0 * share[i, j]:.0f} % ({record.joint_names[j]}, at {record.time[i]:.1f} s)'
    )
    return Entry('tracking errors stay within their bounds', finding, bool(share[i, j] <= 1.0))


def _searches(record: LoopRecord) -> Entry:
    count = sum(entry.seconds > 0.0 for entry in record.planning)
    finding = f'{count} searches, for which simulated time waits'
    if not count:
        return Entry('plans are found in time', 'no search was recorded', is_kept=False)
    return Entry('plans are found in time', finding, not record.fault)


def _goal(loop: RecordedLoop) -> Entry:
    record, nodes = loop.record, loop.settings.nodes
    place = nodes.get('supervisor', {}).get('errand.place', ())
    goal = np.array(place if len(place) else nodes['planner']['goal'])
    continuous = loop.settings.model.limits.is_continuous
    away = float(np.abs(shortest_way(record.q[-1], goal, continuous)).max())
    finding = f'{1e3 * away:.1f} mrad from it in the joint that is farthest'
    if record.fault:
        finding += f'; {record.fault}'
    return Entry('the task ends at its goal', finding, away < NEAR_GOAL and not record.fault)
