"""`safe-sysid bench falsify`: campaigns that look for a promise that does not hold."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
import importlib.util
import time

import numpy as np

from safe_sysid.bench.experiments.falsification.contacts import (
    ContactVerdict,
    holdings,
    stood_still,
)
from safe_sysid.bench.experiments.falsification.recordings import (
    mutated,
    random_recipe,
    without_errors,
)
from safe_sysid.bench.experiments.falsification.shown_obstacles import ObstacleVerdict, shown
from safe_sysid.bench.experiments.falsification.takeovers import TakeoverVerdict, taken_over
from safe_sysid.bench.experiments.falsification.verdicts import (
    FORMS,
    ONLINE,
    RecordingVerdict,
    judged,
    rows_judged,
)
from safe_sysid.bench.processes import trial_processes
from safe_sysid.bench.settings import BenchSettings, Progress

RECORDINGS, QUICK_RECORDINGS = 10_000, 300
POSES, QUICK_POSES = 1000, 32
ARMS, QUICK_ARMS = 400, 20  # whose plans are taken over, several times each
SEQUENCES, QUICK_SEQUENCES = 400, 20  # of markers and transforms
CLIMBS, QUICK_CLIMBS = 40, 6  # searches for the recording whose rows use most of their bound
STEPS, QUICK_STEPS = 60, 20  # of each
PAUSE = 5.0  # [s] between two words about progress
CHUNK = 10  # trials that a process takes at a time
SHOWN = 20  # broken promises of each kind that are listed


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Return counts of broken promises; what a trial is follows from seed and number alone."""
    begin, quick, seed = time.monotonic(), settings.quick, settings.seed
    count = settings.trials or (QUICK_RECORDINGS if quick else RECORDINGS)
    with trial_processes() as pool:
        campaigns = Campaigns(pool, seed, progress)
        recordings = campaigns.recordings(count)
        climbed = campaigns.climbs(*((QUICK_CLIMBS, QUICK_STEPS) if quick else (CLIMBS, STEPS)))
        contacts = campaigns.contacts(QUICK_POSES if quick else POSES)
        takeovers = campaigns.takeovers(QUICK_ARMS if quick else ARMS)
    obstacles = _obstacles(seed, QUICK_SEQUENCES if quick else SEQUENCES, progress)
    recordings.add(climbed)
    return {
        **_of_recordings(recordings, climbed),
        'payload_poses': contacts.poses,
        'payload_certified': contacts.certified,
        'payload_contacts': contacts.contacts,
        'takeovers': takeovers.takeovers,
        'takeovers_accepted': takeovers.accepted,
        'takeover_violations': takeovers.violations,
        'takeover_largest_share': takeovers.largest_share,
        'obstacle_cases': obstacles.cases,
        'obstacle_solids': obstacles.solids,
        'obstacle_stopped': obstacles.stopped,
        'obstacle_stopped_needlessly': obstacles.needless,
        'obstacle_violations': obstacles.violations,
        'broken': [
            *(f'{what}: {recipe}' for recipe, what in recordings.broken[:SHOWN]),
            *(contacts.broken or [])[:SHOWN],
            *obstacles.broken[:SHOWN],
        ],
        'elapsed_s': time.monotonic() - begin,
    }


def _of_recordings(total: RecordingVerdict, climbed: RecordingVerdict) -> dict[str, object]:
    return {
        'recordings': total.recordings,
        'recordings_discarded': total.discarded,
        'recordings_searched': climbed.recordings,
        'rows': total.rows,
        'row_violations': total.row_violations,
        'row_largest_share': total.largest_share,
        'row_largest_share_of': {} if total.worst is None else asdict(total.worst),
        'misses': {name: total.misses[name] for name in (*FORMS, ONLINE)},
        'bounds': {name: total.bounds[name] for name in (*FORMS, ONLINE)},
        'false_contradictions': total.false_contradictions,
    }


class Campaigns:
    """Trials by number, spread over processes and counted in their order."""

    def __init__(self, pool: ProcessPoolExecutor, seed: int, progress: Progress) -> None:
        self._pool, self._seed, self._progress = pool, seed, progress
        self._begin, self._due = time.monotonic(), 0.0

    def recordings(self, count: int) -> RecordingVerdict:
        """Random recordings."""
        total, chunks = RecordingVerdict(), _chunks(count)
        seeds = [self._seed] * len(chunks)
        for chunk, part in zip(chunks, self._pool.map(judged_chunk, seeds, chunks), strict=True):
            total.add(part)
            self._say(f'recording {chunk.stop} of {count}', total.row_violations)
        return total

    def climbs(self, count: int, steps: int) -> RecordingVerdict:
        """Return searches for the recording whose rows use most of their bound."""
        total = RecordingVerdict()
        arguments = [self._seed] * count, range(count), [steps] * count
        for number, part in enumerate(self._pool.map(climbed, *arguments)):
            total.add(part)
            self._say(f'search {number + 1} of {count}', total.row_violations)
        return total

    def contacts(self, count: int) -> ContactVerdict:
        """Poses of every arm with everything it can hold; each process keeps to few of them."""
        total, pairs = ContactVerdict(), holdings()
        chunks = _chunks(count, max(1, count // len(pairs)))
        held = [pairs[i % len(pairs)] for i in range(len(chunks))]
        seeds = [self._seed] * len(chunks)
        for chunk, part in zip(
            chunks, self._pool.map(stood_still_chunk, seeds, held, chunks), strict=True
        ):
            total.add(part)
            self._say(f'pose {chunk.stop} of {count}', total.contacts)
        return total

    def takeovers(self, count: int) -> TakeoverVerdict:
        """Random arms."""
        total, chunks = TakeoverVerdict(), _chunks(count)
        seeds = [self._seed] * len(chunks)
        for chunk, part in zip(chunks, self._pool.map(takeover_chunk, seeds, chunks), strict=True):
            total.add(part)
            self._say(f'arm {chunk.stop} of {count} handed over', total.violations)
        return total

    def _say(self, what: str, broken: int) -> None:
        """Now and then."""
        seconds = time.monotonic() - self._begin
        if seconds >= self._due:
            self._due = seconds + PAUSE
            self._progress(f'{seconds:.0f} s: {what}, {broken} broken promises')


def judged_chunk(seed: int, numbers: range) -> RecordingVerdict:
    """Return some random recordings."""
    total = RecordingVerdict()
    for number in numbers:
        total.add(judged(random_recipe(np.random.default_rng([seed, 0, number])), number))
    return total


def climbed(seed: int, number: int, steps: int) -> RecordingVerdict:
    """From one recording to others whose rows use more of their bound, until one breaks it.

    Errors at a corner of what is promised use all of it, so three searches in four have none.
    """
    rng = np.random.default_rng([seed, 1, number])
    best, total = None, RecordingVerdict()
    for _ in range(steps):
        recipe = random_recipe(rng) if best is None else mutated(rng, best)
        recipe = without_errors(recipe) if number % 4 else recipe
        verdict = rows_judged(recipe)
        total.add(verdict)
        if verdict.worst is not None and verdict.largest_share >= total.largest_share:
            best = recipe
        if total.row_violations:
            break
    if best is not None:
        total.add(judged(best, 0))
    return total


def stood_still_chunk(seed: int, holding: tuple[str, str], numbers: range) -> ContactVerdict:
    """Return some poses of one arm with one payload."""
    total = ContactVerdict()
    for number in numbers:
        total.add(stood_still(seed, holding, number))
    return total


def takeover_chunk(seed: int, numbers: range) -> TakeoverVerdict:
    """Return some arms."""
    total = TakeoverVerdict()
    for number in numbers:
        total.add(taken_over(seed, number))
    return total


def _obstacles(seed: int, count: int, progress: Progress) -> ObstacleVerdict:
    """Sequences of markers; none where ROS is not installed, whose messages they are."""
    if importlib.util.find_spec('visualization_msgs') is None:
        progress('no ROS here, so no obstacle messages')
        return ObstacleVerdict()
    progress(f'{count} sequences of markers and transforms')
    return shown(seed, range(count))


def _chunks(count: int, size: int = CHUNK) -> list[range]:
    return [range(i, min(i + size, count)) for i in range(0, count, size)]
