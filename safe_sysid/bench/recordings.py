"""Coverage of payload intervals between recordings: simulated pairs, and pieces of real ones."""

from __future__ import annotations

from dataclasses import dataclass
import os
from pathlib import Path
from typing import Any

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.recorded_pairs import recorded_pair
from safe_sysid.bench.settings import BenchSettings, Progress
from safe_sysid.calibrate.even_log import EvenLog
from safe_sysid.calibrate.even_recording import even_recording
from safe_sysid.identify.difference.against_empty import DifferenceProblem, payload_difference
from safe_sysid.identify.difference.self_test import PieceResult, SelfTest, self_test
from safe_sysid.measure.csv_log import Columns
from safe_sysid.measure.recording_choice import RecordingChoice, recording_of_choice
from safe_sysid.model.arm import arm_of
from safe_sysid.model.robot_model import RobotModel

ARMS = ('two_link', 'ur5e', 'lbr_med7')
TRIALS, QUICK_TRIALS = 40, 4
PIECE = 10.0  # [s]
GAIN_ERROR = 0.01  # share that is promised, and used up at random
FOLDER = Path(__file__).parents[3] / 'shared' / 'data'


@dataclass(frozen=True)
class RealRecording:
    """An empty recording of a real arm that somebody else made, where it is at hand."""

    urdf: str
    file: str
    names: str = '{joint}'
    sign: float = 1.0
    rate: float | None = None
    gains: tuple[float, ...] = ()  # [N m] per unit, from a known mass


REAL = {
    'panda_1khz': RealRecording('ros2bag_unisa/panda_arm.urdf', 'panda_1khz/panda_1khz.csv'),
    'ur10_bag': RealRecording(
        'ros2bag_unisa/ur10_robot.urdf', 'ros2bag_unisa/ur10_exciting_trajectory.db3'
    ),
    'ur10e_current': RealRecording(
        'ur10e_current/ur10e.urdf',
        'ur10e_current/empty_50s.csv',
        gains=(11.13, 12.16, 10.05, 10.14, 10.19, 10.36),
    ),
    'med7_tian': RealRecording(
        'kuka_med7_tian/med7dock.urdf',
        'kuka_med7_tian/measurements_with_ext_tau_1_dgr.csv',
        sign=-1.0,
        rate=100.0,
    ),
}


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Count how often intervals contain the body, and how wide they are."""
    trials = settings.trials or (QUICK_TRIALS if settings.quick else TRIALS)
    rng = np.random.default_rng(settings.seed)
    simulated = []
    for i in range(trials):
        simulated.append(_simulated(i, rng))
        if (i + 1) % 5 == 0:
            progress(f'{i + 1} of {trials} simulated pairs')
    everything = SelfTest(PIECE, tuple(simulated))
    tests = {} if settings.quick else _real(settings.seed, progress)
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
    }


def _figures(test: SelfTest) -> dict[str, Any]:
    inside, count = test.statistical
    sure, promised = test.guaranteed
    nothing = np.array([r.estimate for r in test.results if r.truth == 0.0])
    return {
        'pieces': len(test.results),
        'coverage_statistical_95': inside / count if count else None,
        'coverage_guaranteed': sure / promised if promised else None,
        'statistical_given': count,
        'guaranteed_given': promised,
        'error_rms': _rms(test.errors),
        'zero_payload_error_rms': _rms(nothing),
        'mass_half_width_statistical_median': _median(test.half_widths('statistical')),
        'mass_half_width_guaranteed_median': _median(test.half_widths('guaranteed')),
        'warning': test.warning,
    }


def _rms(errors: Array) -> float | None:
    finite = errors[np.isfinite(errors)]
    return float(np.sqrt(np.mean(finite**2))) if len(finite) else None


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


def _simulated(number: int, rng: np.random.Generator) -> PieceResult:
    """Identify one random body in one random arm."""
    model = RobotModel.named(ARMS[number % len(ARMS)])
    pair = recorded_pair(model, rng, GAIN_ERROR, recordings=1 + number % 2)
    found = payload_difference(_problem(model, [pair.loaded], [[log] for log in pair.empty]))
    pairs = [
        None if x is None else (float(x.lower[0]), float(x.upper[0]))
        for x in (found.statistical_bounds, found.guaranteed_bounds)
    ]
    reasons = [x for x in (found.withheld, found.not_guaranteed) if x is not None]
    return PieceResult(
        number, 0.0, float(pair.payload[0]), float(found.nominal[0]), pairs[0], pairs[1],
        '; '.join(reasons) or None,
    )  # fmt: skip


def _real(seed: int, progress: Progress) -> dict[str, SelfTest]:
    """Pieces of real recordings with bodies added to them, where there are any."""
    folder = Path(os.environ.get('SAFE_SYSID_DATA', FOLDER))
    found: dict[str, SelfTest] = {}
    for name, real in REAL.items():
        if not (folder / real.file).exists():
            progress(f'{name} is not in {folder}, which SAFE_SYSID_DATA can name')
            continue
        progress(name)
        found[name] = self_test(_problem_of(folder, real), PIECE, np.random.default_rng(seed))
    return found


def _problem_of(folder: Path, real: RealRecording) -> DifferenceProblem:
    arm = arm_of(str(folder / real.urdf), None)
    model = arm.model
    choice = RecordingChoice(folder / real.file, None, real.names, Columns(rate=real.rate))
    recording = recording_of_choice(choice, model.layout.joint_names)
    gain = np.array(real.gains) if real.gains else np.ones(model.n)
    logs = even_recording(recording, np.full(model.n, real.sign), gain, model.limits.is_continuous)
    return _problem(model, logs, [logs])
