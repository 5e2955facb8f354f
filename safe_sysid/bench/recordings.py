"""Coverage of payload intervals between recordings: simulated pairs, and pieces of real ones."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
import time
from typing import Any

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.public_recordings import PUBLIC, public_logs
from safe_sysid.bench.experiments.recorded_pairs import minute_at_1khz, recorded_pair
from safe_sysid.bench.processes import trial_processes
from safe_sysid.bench.settings import BenchSettings, Progress
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.identify.difference.against_empty import DifferenceProblem
from safe_sysid.identify.difference.from_recordings import identify_difference
from safe_sysid.identify.difference.self_test import PieceResult, SelfTest, result_of, self_test
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.measure.recording_choice import RecordingChoice
from safe_sysid.model.arm import arm_of
from safe_sysid.model.robot_model import RobotModel

ARMS = ('two_link', 'ur5e', 'lbr_med7')
TRIALS, QUICK_TRIALS = 200, 4
PIECE = 10.0  # [s]
GAIN_ERROR = 0.01  # share that is promised, and used up at random
WORD_AFTER = 10  # trials
REASONS = 3  # of refusals that are told
WARM = 2  # times that a minute is identified before it counts


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Count how often intervals contain the body, and how wide they are."""
    trials = settings.trials or (QUICK_TRIALS if settings.quick else TRIALS)
    folder = settings.data or os.environ.get('SAFE_SYSID_DATA')
    real = {} if settings.quick or folder is None else _at_hand(Path(folder), progress)
    simulated, tests = [], {}
    with trial_processes() as pool:
        pending = {
            name: pool.submit(real_test, Path(folder or ''), name, settings.seed) for name in real
        }
        for result in pool.map(simulated_result, range(trials), [settings.seed] * trials):
            simulated.append(result)
            if len(simulated) % WORD_AFTER == 0:
                progress(f'{len(simulated)} of {trials} simulated pairs')
        for name, test in pending.items():
            tests[name] = test.result()
            progress(f'{name}: {len(tests[name].results)} pieces and bodies')
        minute = None if settings.quick else pool.submit(minute_seconds, settings.seed).result()
    everything = SelfTest(PIECE, tuple(simulated))
    results = [r for test in tests.values() for r in test.results]
    every = SelfTest(PIECE, (*simulated, *results))
    return {
        **_figures(every),
        'simulated': {'trials': trials, **_figures(everything)},
        'recordings': {
            **{f'simulated {i + 1}': _one(r) for i, r in enumerate(simulated)},
            **{
                f'{name} {r.begin:g} s, {r.truth:g} kg': _one(r)
                for name, test in tests.items()
                for r in test.results
            },
        },
        'real': {name: _figures(test) for name, test in tests.items()},
        'minute_at_1khz_s': minute,
    }


def _figures(test: SelfTest) -> dict[str, Any]:
    inside, count = test.statistical
    sure, promised = test.guaranteed
    empty = SelfTest(PIECE, tuple(r for r in test.results if r.truth == 0.0))
    held = SelfTest(PIECE, tuple(r for r in test.results if r.truth != 0.0))
    reasons = sorted({r.refused for r in test.results if r.refused is not None})
    return {
        'pieces': len(test.results),
        'refused': sum(r.refused is not None for r in test.results),
        'refused_guaranteed': len(test.results) - promised,
        'refused_for': reasons[:REASONS],
        'coverage_statistical_95': inside / count if count else None,
        'coverage_guaranteed': sure / promised if promised else None,
        'statistical_given': count,
        'guaranteed_given': promised,
        'error_rms': _rms(test.errors),
        'zero_payload_error_rms': _rms(empty.errors),
        'zero_payload_error_largest': _largest(empty.errors),
        **_widths('zero_payload_', empty),
        'with_a_body_error_rms': _rms(held.errors),
        **_widths('with_a_body_', held),
        'mass_half_width_statistical_median': _median(test.half_widths('statistical')),
        'mass_half_width_without_unit_median': _median(test.without_unit),
        'mass_half_width_guaranteed_median': _median(test.half_widths('guaranteed')),
        'warning': test.warning,
    }


def _widths(of_what: str, test: SelfTest) -> dict[str, float | None]:
    """Half-widths [kg]; the promise of the unit is a share of what is held, so none of nothing."""
    return {
        f'{of_what}half_width_statistical_median': _median(test.half_widths('statistical')),
        f'{of_what}half_width_without_unit_median': _median(test.without_unit),
        f'{of_what}half_width_guaranteed_median': _median(test.half_widths('guaranteed')),
    }


def _rms(errors: Array) -> float | None:
    finite = errors[np.isfinite(errors)]
    return float(np.sqrt(np.mean(finite**2))) if len(finite) else None


def _largest(errors: Array) -> float | None:
    finite = np.abs(errors[np.isfinite(errors)])
    return float(finite.max()) if len(finite) else None


def _median(values: Array) -> float | None:
    return float(np.median(values)) if len(values) else None


def _one(result: PieceResult) -> dict[str, Any]:
    return {
        'truth': result.truth,
        'estimate': result.estimate if np.isfinite(result.estimate) else None,
        'statistical': result.statistical and list(result.statistical),
        'guaranteed': result.guaranteed and list(result.guaranteed),
        'refused': result.refused,
    }


def _problem(
    model: RobotModel, loaded: list[EvenLog], empty: list[list[EvenLog]]
) -> DifferenceProblem:
    return DifferenceProblem(
        model=model,
        loaded=loaded,
        empty=empty,
        frame=('tip', np.eye(10), 0.0),
        payload_mass=10.0,
        reach=0.5,
        gain_error=np.full(model.n, GAIN_ERROR),
        inertia_prior=0.1,
        confidence=0.95,
        unit_is_stated=True,
    )


def simulated_result(number: int, seed: int) -> PieceResult:
    """Identify one random body in one random arm."""
    rng = np.random.default_rng([seed, number])
    model = RobotModel.named(ARMS[number % len(ARMS)])
    pair = recorded_pair(model, rng, GAIN_ERROR, recordings=1 + number % 2)
    truth = float(pair.payload[0])
    problem = _problem(model, pair.loaded, pair.empty)
    return result_of(problem, (number, 0.0), truth)


def _at_hand(folder: Path, progress: Progress) -> list[str]:
    """Names of the real recordings that are there."""
    found = [name for name, about in PUBLIC.items() if (folder / about.file).exists()]
    missing = [name for name in PUBLIC if name not in found]
    if missing:
        progress(f'{", ".join(missing)}: not in {folder}')
    return found


def real_test(folder: Path, name: str, seed: int) -> SelfTest:
    """Test pieces of a real recording with bodies added to its torques."""
    arm, logs = public_logs(folder, name)
    return self_test(_problem(arm.model, logs, [logs]), PIECE, np.random.default_rng(seed))


def minute_seconds(seed: int) -> float:
    """Time of `identify` for a minute at 1 kHz from two tables, once it is warm [s]."""
    arm = arm_of('lbr_med7', None)
    pair = minute_at_1khz(arm.model, np.random.default_rng(seed))
    settings = RecordingSettings(gain_error=GAIN_ERROR)
    with TemporaryDirectory() as folder:
        loaded, empty = Path(folder) / 'loaded.csv', Path(folder) / 'empty.csv'
        for path, logs in ((loaded, pair.loaded), (empty, pair.empty[0])):
            _write_table(path, arm.model, logs)
        for _ in range(WARM + 1):
            begin = time.perf_counter()
            identify_difference(
                arm, RecordingChoice(loaded), [RecordingChoice(empty)], settings, _silent
            )
            seconds = time.perf_counter() - begin
    return seconds


def _silent(share: float, what: str) -> None:
    """Show no progress."""


def _write_table(path: Path, model: RobotModel, logs: list[EvenLog]) -> None:
    """Write what a logger of this arm does: torques as its drives report them."""
    unit = model.sensors.effort_sign * model.sensors.effort_scale
    rows = [
        np.column_stack([log.begin + np.arange(len(log.q)) / log.rate, log.q, log.tau / unit])
        for log in logs
    ]
    names = model.layout.joint_names
    header = ['time', *(f'{x}.position' for x in names), *(f'{x}.effort' for x in names)]
    np.savetxt(path, np.concatenate(rows), '%.9f', ',', header=','.join(header), comments='')
