"""`safe-sysid bench track`: do the promises of the controller hold, with what margin, how fast."""

from __future__ import annotations

from collections.abc import Callable
import time

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.baselines import baselines
from safe_sysid.bench.experiments.tracking import (
    CLOCK,
    MILLISECOND,
    TrackedRun,
    TrackTrial,
    loaded_joint,
    random_trial,
    shares,
    torque_share,
)
from safe_sysid.bench.experiments.tracking import (
    run as closed_loop,
)
from safe_sysid.bench.late_arms import loops_of_arms
from safe_sysid.bench.late_readings import late_figures
from safe_sysid.bench.plots import PLOTS, LinePlot
from safe_sysid.bench.settings import BenchSettings, Progress
from safe_sysid.errors import SimulationError
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.figures import Axes
from safe_sysid.simulate.drake import DrakeBody
from safe_sysid.simulate.rigid_body import RigidBody
from safe_sysid.simulate.simulated_arm import Dynamics
from safe_sysid.track.robust_passivity import RobustPassivityController

ROUNDING = 1e-9
ERRORS = ('r', 'position', 'velocity')
RATES = (8000, 4000, 2000, 1000, 500, 250, 125, 62.5, 31.25)  # [Hz]
QUICK_RATES = (4000, 1000, 250, 62.5)
LOAD = 3.0  # [N m] on the single joint without slack
STEPS = 20_000
LATE = 100  # loops of an arm that is read late
ARM_LOOPS = 1000  # of all arms that are
Simulator = Callable[[RobotModel], Dynamics]


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Random closed loops, the cost of holding torques and reading late, time of the law."""
    if settings.arms:
        return loops_of_arms(settings.seed, settings.trials or ARM_LOOPS, progress)
    runs = settings.trials or (30 if settings.quick else 500)
    figures = _promises(settings.seed, runs, progress)
    progress('time of one step of the controller')
    figures |= law_times(settings.seed)
    late = 4 if settings.quick else settings.trials or LATE
    figures |= late_figures(settings.seed, late, progress)
    rates = QUICK_RATES if settings.quick else RATES
    figures |= _held(settings.seed, rates, min(runs, 4 if settings.quick else 40), progress)
    progress('baselines with a payload nobody told them of')
    figures['baselines'], plots = baselines(settings.seed)
    return {**figures, PLOTS: [*plots, _plot_of_rates(figures['hold'])]}


def _promises(seed: int, runs: int, progress: Progress) -> dict[str, object]:
    """Largest share of each promise that any sample of any run uses."""
    in_drake = runs // 5 if _drake_is_there() else 0
    broken, worst = 0, dict.fromkeys((*ERRORS, 'torque', 'robust_input', 'energy'), 0.0)
    for i in range(runs):
        if i % 50 == 0:
            progress(f'closed loop {i} of {runs}')
        simulator: Simulator = DrakeBody if i < in_drake else RigidBody
        trial = random_trial(np.random.default_rng([seed, i]))
        used = largest_shares(trial, closed_loop(trial, simulator))
        broken += any(used[name] > 1.0 + ROUNDING for name in (*ERRORS, 'torque'))
        worst = {name: max(share, used[name]) for name, share in worst.items()}
    return {
        'runs': runs,
        'runs_in_drake': in_drake,
        'bound_violations': broken,
        'smallest_margin': 1.0 - max(worst[name] for name in (*ERRORS, 'torque')),
        'margins': {name: 1.0 - share for name, share in worst.items()},
    }


def largest_shares(trial: TrackTrial, recording: TrackedRun) -> dict[str, float]:
    """Of every promise, after the first sample, which is at V = V_M and at the bound of e."""
    used = {**shares(trial, recording), 'torque': torque_share(trial, recording)}
    return {name: float(share[1:].max()) for name, share in used.items()}


def _drake_is_there() -> bool:
    try:
        DrakeBody(RobotModel.named('two_link'))
    except SimulationError:
        return False
    return True


def law_times(seed: int) -> dict[str, object]:
    """Microseconds of `step` at 7 joints, on the states of a closed loop; collection included."""
    trial = random_trial(np.random.default_rng(seed), 'kinova_table_1')
    recording = closed_loop(trial, RigidBody)
    controller = RobustPassivityController(trial.truth, trial.gains, CLOCK)
    states = [
        (JointMeasurement(CLOCK.stamp(t), q, qd, torque), trial.plans[i], trial.estimates[i])
        for t, i, q, qd, torque in zip(*recording[:5], strict=True)
    ]
    times = np.empty(STEPS)
    for i in range(STEPS):
        state = states[i % len(states)]
        begin = time.perf_counter()
        controller.step(*state)
        times[i] = time.perf_counter() - begin
    us = 1e6 * times
    return {
        'law_us_median': float(np.median(us)),
        'law_us_p999': float(np.quantile(us, 0.999)),
        'law_us_max': float(us.max()),
    }


def _held(seed: int, rates: tuple[float, ...], runs: int, progress: Progress) -> dict[str, object]:
    """How far V rises above V_M, and the errors beyond their bounds, at each rate."""
    arms = [random_trial(np.random.default_rng([seed, i])) for i in range(runs)]
    joint = [loaded_joint(np.random.default_rng(seed), LOAD)]
    rows = []
    for rate in rates:
        progress(f'torque held at {rate} Hz')
        row: dict[str, float] = {'rate_hz': rate}
        for name, trials in (('random_arms', arms), ('joint_without_slack', joint)):
            row |= {f'{name}_{key}': x for key, x in _excess(trials, rate).items()}
        rows.append(row)
    broken = [row['rate_hz'] for row in rows if row['random_arms_errors'] > ROUNDING]
    return {'hold': rows, 'errors_leave_bounds_from_hz': max(broken, default=None)}


def _excess(trials: list[TrackTrial], rate: float) -> dict[str, float]:
    """Largest share above 1; negative is what is left."""
    energy, errors = [], []
    for trial in trials:
        recording = closed_loop(trial, RigidBody, round(1000 * MILLISECOND / rate))
        used = shares(trial, recording)
        energy.append(used['energy'][1:].max())
        errors.append(max(used[name][1:].max() for name in ERRORS))
    return {'energy': float(max(energy)) - 1.0, 'errors': float(max(errors)) - 1.0}


def _plot_of_rates(rows: object) -> LinePlot:
    assert isinstance(rows, list)
    names = ('random_arms_energy', 'joint_without_slack_energy')
    series: dict[str, Array] = {
        name: np.maximum([row[name] for row in rows], 1e-9) for name in names
    }
    return LinePlot(
        'track_hold.svg',
        np.array([row['rate_hz'] for row in rows]),
        series,
        Axes('rate at which the torque is held [Hz]', 'V / V_M - 1', 'log', 'log'),
    )
