"""A Kinova Gen3 at rest or in motion, for tests of the planner."""

from dataclasses import replace

import numpy as np

from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.dynamics.kinetic_energy import kinetic_energy
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.search.best_plan import SearchSettings
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.problem import Problem
from safe_sysid.sets.interval import Interval
from safe_sysid.track.gains import Gains
from safe_sysid.trajectory.bezier import Bezier

START = np.array([0.0, 0.3, 0.0, 1.2, 0.0, 0.9, 0.0])
GAINS = Gains(np.full(7, 5.0), V_M=0.02, alpha=25.0)
QUICK = SearchSettings(candidates=40, nearby=0, rounds=0)


def estimate_of(model, ratio=0.05):
    """Bounds of a ratio on everything."""
    return ParameterEstimate(model.layout, model.theta, ratio_bounds(model.theta, ratio))


def kinova_problem(q=START, qd=0.0, obstacles=NO_OBSTACLES, intervals=128):
    """Plans that begin at q with a speed qd."""
    model = RobotModel.named('kinova_gen3')
    curve = Bezier(q, np.full(7, qd), np.zeros(7), 3.0)
    horizon = Horizon(curve, np.zeros(7), np.zeros(7), intervals)
    return Problem(model, estimate_of(model), horizon, GAINS, obstacles)


def with_unknown_payload(problem):
    """The last body may hold something, so that there is something to learn."""
    bounds, tip = problem.bounds.bounds, problem.model.layout.end_effector
    theta, radius = problem.bounds.theta, bounds.radius.copy()
    radius[tip] = [0.5, *(0.1,) * 3, *(0.05,) * 6]
    wide = Interval.from_center_radius(theta, radius)
    return replace(problem, bounds=ParameterEstimate(problem.model.layout, theta, wide))


def without_armature(problem):
    """Bounds that leave no least inertia: armatures and all bodies may be zero."""
    theta = problem.bounds.theta
    wide = Interval(-np.abs(theta) - 1.0, np.abs(theta) + 1.0)
    return replace(problem, bounds=ParameterEstimate(problem.model.layout, theta, wide))


def doubtful_place(problem):
    """Return where an arm that is to be at START has V above V_M for some bodies alone."""
    away = GAINS.K_r * np.ones(7)
    V = kinetic_energy(problem.model, problem.bounds.bounds, START, away)
    off = np.sqrt(GAINS.V_M / V.center)
    least, most = (float(x) * off**2 for x in (V.lower, V.upper))
    assert least < 0.99 * GAINS.V_M < 1.01 * GAINS.V_M < most
    return START + off
