"""What the baseline controllers make of a payload that nobody told them of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.bench.experiments.tracking import CLOCK, DURATION, MILLISECOND
from safe_sysid.bench.plots import LinePlot
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.dynamics.regressors import slotine_li_regressor
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.report.figures import Axes
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.rigid_body import RigidBody
from safe_sysid.track.baselines.adaptation import Adaptation, rates_of_end_effector, unbounded
from safe_sysid.track.baselines.adaptive import AdaptiveController, AdaptiveSettings
from safe_sysid.track.baselines.gravity_pid import GravityPidController, GravityPidSettings
from safe_sysid.track.controller import Controller
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

PAYLOAD = 'dumbbell_8lb'
START = np.array([0.3, 1.3, 0.2, 0.4, -0.1, 0.3, 0.0])  # reached out
SECONDS = 18.0
EVERY = 200  # samples between two points of a plot
PID = GravityPidSettings(P=(600.0,), D=(150.0,))
STATES = 200  # random motions by which it is judged what has been learned


class Course(NamedTuple):
    """Errors and knowledge of one controller over time."""

    sag: Array  # (N,) [rad] largest position error
    unknown: Array  # (N,) torque that theta_hat misses on random motions, relative to the start


def baselines(seed: int) -> tuple[dict[str, dict[str, float]], list[LinePlot]]:
    """Position error in the end, and what is not known of the payload then, for each of them.

    Plots show both over time.
    """
    rng = np.random.default_rng([seed, 5])
    model = RobotModel.named('kinova_gen3')
    truth = model.with_payload(read_payload(PAYLOAD))
    at_rest = [Plan(0.0, 0.0, Bezier(START, 0 * START, 0 * START, DURATION), 0 * START)]
    exciting = _exciting_plans(rng)
    judge = _judge(rng, model, truth)
    courses = {}
    for name, plans in (('at_rest', at_rest), ('excited', exciting)):
        theta = Adaptation(
            rates_of_end_effector(model.layout), model.theta, unbounded(model.theta)
        )
        adaptive = AdaptiveController(model, AdaptiveSettings(), CLOCK, theta)
        courses[f'adaptive_{name}'] = _course(adaptive, truth, plans, judge, theta)
        nothing = Adaptation(np.zeros(model.layout.size), model.theta, unbounded(model.theta))
        pid = GravityPidController(model, PID, CLOCK)
        courses[f'gravity_pid_{name}'] = _course(pid, truth, plans, judge, nothing)
    ends = {
        name: {'position_error': float(c.sag[-1]), 'torque_unknown': float(c.unknown[-1])}
        for name, c in courses.items()
    }
    plots = [
        _plot(courses, 'sag', 'largest position error [rad]'),
        _plot(courses, 'unknown', 'torque that is not understood, relative'),
    ]
    return ends, plots


def _plot(courses: Mapping[str, Course], column: str, label: str) -> LinePlot:
    t = np.arange(0, round(SECONDS * 1000), EVERY) / 1000
    series = {name: getattr(course, column) for name, course in courses.items()}
    return LinePlot(f'track_baselines_{column}.svg', t, series, Axes('time [s]', label))


def _exciting_plans(rng: np.random.Generator) -> list[Plan]:
    """Random plans, each taking over half way through the last one."""
    rest = np.zeros_like(START)
    plans = [Plan(0.0, 1.5, Bezier(START, rest, rest, DURATION), rng.uniform(-1, 1, len(START)))]
    while plans[-1].switch_time < SECONDS:
        t = plans[-1].switch_time
        curve = plans[-1].curve_from(t, DURATION)
        k = START + rng.uniform(-1, 1, len(START)) - curve.q0
        plans.append(Plan(t, t + 0.5 * DURATION, curve, k))
    return plans


def _judge(rng: np.random.Generator, model: RobotModel, truth: RobotModel) -> Array:
    """W of random motions, scaled so that W (theta - theta_hat) has length 1 at first."""
    q, qd, qdd = rng.normal(size=(3, STATES, model.n))
    W = slotine_li_regressor(model, q, qd, qd, qdd).reshape(-1, model.layout.size)
    scaled: Array = W / np.linalg.norm(W @ (truth.theta - model.theta))
    return scaled


def _course(
    controller: Controller,
    truth: RobotModel,
    plans: Sequence[Plan],
    judge: Array,
    learned: Adaptation,
) -> Course:
    """Follow plans from rest."""
    body, q, qd = RigidBody(truth), START, np.zeros_like(START)
    torque, sag, unknown = np.zeros_like(START), [], []
    known = ParameterEstimate(truth.layout, learned.theta, Interval.of(learned.theta))
    for i in range(round(SECONDS * 1000)):
        stamp = CLOCK.origin + i * MILLISECOND
        t = CLOCK.seconds(stamp)
        plan = next(p for p in reversed(plans) if p.start_time <= t)
        torque = controller.step(JointMeasurement(stamp, q, qd, torque), plan, known)
        if i % EVERY == 0:
            sag.append(np.abs(plan.desired(t)[0] - q).max())
            unknown.append(np.linalg.norm(judge @ (truth.theta - learned.theta)))
        q, qd = body.advance(q, qd, torque, MILLISECOND / 1e9)
    return Course(np.array(sag), np.array(unknown))
