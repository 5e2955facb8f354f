"""`safe-sysid bench calibrate`: time of the fits, and what they find where the truth is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
import tempfile
import time

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.calibration import (
    CalibrationTrial,
    altered,
    motion_in_limits,
    simulated_log,
    trial,
)
from safe_sysid.bench.plots import PLOTS, LinePlot
from safe_sysid.bench.settings import BenchSettings, Progress
from safe_sysid.bench.timing import median_seconds
from safe_sysid.calibrate.calibration import calibrate, consistency
from safe_sysid.calibrate.compressed import compress
from safe_sysid.calibrate.kinematic_fit import (
    Marker,
    TipPoses,
    exponential,
    kinematic_fit,
    seen_poses,
    tip_poses,
)
from safe_sysid.calibrate.log_cholesky_fit import log_cholesky_fit
from safe_sysid.calibrate.recorded_motion import recorded
from safe_sysid.calibrate.sdp_fit import sdp_fit
from safe_sysid.calibrate.settings import CalibrationSettings, PoseNoise
from safe_sysid.measure.recording_choice import RecordingChoice
from safe_sysid.model.arm import arm_of
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.figures import Axes

ROBOTS = ('lbr_med7', 'kinova_gen3')
SECONDS, RATE = 20.0, 1000.0  # of a trial
LONG = 50.0  # [s] recording that is timed from the file to the result
ROWS = 286  # samples of seven joints: 2002 rows
POSES = 60
TESTED = 500  # poses on which kinematics are judged


def run(settings: BenchSettings, progress: Progress) -> dict[str, object]:
    """Return timings, coverage of the standard deviations, and ratios to the true parameters."""
    trials = settings.trials or (3 if settings.quick else 10)
    choices = CalibrationSettings()
    found: dict[str, list[CalibrationTrial]] = {}
    for robot in ROBOTS:
        model = RobotModel.named(robot)
        found[robot] = []
        for k in range(trials):
            progress(f'{robot}: trial {k + 1} of {trials}')
            rng = np.random.default_rng([settings.seed, k])
            found[robot].append(trial(model, rng, SECONDS, RATE, choices))
    progress('semidefinite and log-Cholesky fits')
    figures = _fits(found[ROBOTS[0]][0], 5 if settings.quick else 20)
    progress(f'a recording of {LONG:g} s at {RATE:g} Hz')
    figures['recording_s'] = _recording_seconds(settings.seed)
    ratios = {robot: [one.ratio_to_truth for one in found[robot]] for robot in ROBOTS}
    scores = np.concatenate([one.standard_scores for robot in ROBOTS for one in found[robot]])
    figures |= {
        'validation_ratio_to_truth': float(np.median([x for r in ratios.values() for x in r])),
        'validation_ratio_by_robot': {r: float(np.median(x)) for r, x in ratios.items()},
        'validation_ratio_largest': float(max(x for r in ratios.values() for x in r)),
        'within_2_sigma': float(np.mean(np.abs(scores) < 2.0)),
        'base_parameters_tested': len(scores),
        'trials_per_robot': trials,
        'trial_seconds': SECONDS,
        'cutoff_hz': choices.cutoff,
    }
    progress('kinematics')
    figures['kinematics'] = [_kinematics(settings.seed, kind) for kind in ('poses', 'points')]
    return {**figures, PLOTS: [_plot(scores)]}


def _fits(one: CalibrationTrial, repeats: int) -> dict[str, object]:
    """Both consistent fits of the same 2002 rows: time, objective, and how they differ."""
    found = one.calibration
    model, columns = one.truth, found.columns
    limits = consistency(model, columns, found.settings)
    rng = np.random.default_rng(0)
    motion = motion_in_limits(model, rng, SECONDS, RATE)
    states = [x[:: len(motion.t) // ROWS + 1] for x in (motion.q, motion.qd, motion.qdd)]
    states = [np.resize(x, (ROWS, model.n)) for x in states]
    Y = columns.regressor(model, *states)
    tau = Y @ columns.nominal(model.theta) + found.fit.sigma * rng.normal(size=(ROWS, model.n))
    rows = (Y / found.fit.sigma[:, None]).reshape(-1, columns.size)
    right = (tau / found.fit.sigma).ravel()
    data = compress(rows, right)
    seconds = median_seconds(lambda: sdp_fit(compress(rows, right), limits), repeats)
    sdp = sdp_fit(data, limits)
    begin = time.perf_counter()
    descent = log_cholesky_fit(data, limits)
    descent_seconds = time.perf_counter() - begin
    return {
        'sdp_s': seconds,
        'sdp_rows': len(right),
        'sdp_parameters': columns.size,
        'sdp_status': sdp.status,
        'sdp_smallest_eigenvalue': sdp.smallest_eigenvalue,
        'log_cholesky_s': descent_seconds,
        'log_cholesky_objective_excess': descent.objective / sdp.objective - 1.0,
        'log_cholesky_torque_difference': float(
            np.linalg.norm(data.R @ (descent.x - sdp.x)) / np.linalg.norm(data.R @ sdp.x)
        ),
    }


def _recording_seconds(seed: int) -> float:
    """From a CSV file to the calibration, base columns and validation included."""
    arm = arm_of(ROBOTS[0], None)
    model, rng = arm.model, np.random.default_rng(seed)
    truth = altered(model, rng)
    log = simulated_log(truth, motion_in_limits(model, rng, LONG, RATE), rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'recording.csv'
        header = [f'{x}_{i}' for x in ('q', 'tau') for i in range(model.n)]
        effort = log.tau * model.sensors.effort_sign / model.sensors.effort_scale
        time_column = np.arange(len(log.q))[:, None] / log.rate
        table = np.hstack([time_column, log.q, effort])
        np.savetxt(path, table, fmt='%.9g', delimiter=',', header=','.join(['t', *header]),
                   comments='')  # fmt: skip
        begin = time.perf_counter()
        calibrate(model, recorded([RecordingChoice(path)], arm).logs, [], CalibrationSettings())
        return time.perf_counter() - begin


def _kinematics(seed: int, kind: str) -> dict[str, object]:
    """Errors of 1 mm and 0.1 degrees in every joint, found from noiseless poses or points."""
    model = RobotModel.named(ROBOTS[0])
    rng = np.random.default_rng(seed)
    truth, marker = misbuilt(model, rng)
    q = random_positions(model, rng, POSES)
    R, p = tip_poses(truth, q, marker)
    poses = TipPoses(q, p, R if kind == 'poses' else None)
    start = Marker(np.eye(3), np.array([0.05, 0.02, 0.1]))
    begin = time.perf_counter()
    fit = kinematic_fit(model, poses, PoseNoise(), start)
    seconds = time.perf_counter() - begin
    q = random_positions(model, rng, TESTED)
    _, before = tip_poses(model, q, start)
    _, true_p = tip_poses(truth, q, marker)
    _, found_p = seen_poses(fit, q)
    return {
        'measured': kind,
        'unknowns': fit.unknowns,
        'rank': fit.rank,
        'gap': fit.gap,
        'error_before_um': 1e6 * float(np.linalg.norm(before - true_p, axis=1).max()),
        'error_after_um': 1e6 * float(np.linalg.norm(found_p - true_p, axis=1).max()),
        'seconds': seconds,
    }


def misbuilt(model: RobotModel, rng: np.random.Generator) -> tuple[RobotModel, Marker]:
    """Return an arm whose joints and marker are 1 mm and 0.1 degrees off in random directions."""
    tree, angle = model.tree, np.radians(0.1)

    def direction() -> Array:
        vector = rng.normal(size=3)
        unit: Array = vector / np.linalg.norm(vector)
        return unit

    R = np.array([r @ exponential(angle * direction()) for r in tree.R_parent_joint])
    p = np.array([x + 1e-3 * direction() for x in tree.p_parent_joint])
    axis = np.array([exponential(angle * direction()) @ a for a in tree.axis])
    truth = replace(model, tree=tree._replace(R_parent_joint=R, p_parent_joint=p, axis=axis))
    place = np.array([0.05, 0.02, 0.1]) + 1e-3 * direction()
    return truth, Marker(exponential(angle * direction()), place)


def random_positions(model: RobotModel, rng: np.random.Generator, count: int) -> Array:
    """Joint positions (count, n) within the limits, or half a turn where there are none."""
    limits = model.limits
    lower = np.where(np.isfinite(limits.position_lower), limits.position_lower, -np.pi)
    upper = np.where(np.isfinite(limits.position_upper), limits.position_upper, np.pi)
    return rng.uniform(lower, upper, (count, model.n))


def _plot(scores: Array) -> LinePlot:
    """How errors of base parameters are distributed, in units of their standard deviation."""
    edges = np.linspace(0.0, 4.0, 41)
    share = np.array([np.mean(np.abs(scores) <= x) for x in edges])
    return LinePlot(
        'calibrate_scores.svg',
        edges,
        {'errors of base parameters': share},
        Axes('standard deviations', 'share within'),
    )
