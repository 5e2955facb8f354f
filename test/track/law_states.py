"""Random states of arms under the robust law, with what the law makes of them."""

from dataclasses import dataclass

import numpy as np

from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.random_arm import random_tree
from safe_sysid.track.gains import Gains
from safe_sysid.track.robust_passivity import LawState, RobustPassivityController
from safe_sysid.track.tracking import law_regressor
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

RATIO = 0.05
DURATION = 3.0
CLOCK = Clock(1_700_000_000_000_000_000)


def random_arm(rng, n=None):
    """Kinova, two-link arm or a random tree with prismatic joints, friction and armature."""
    if n is None:
        names = ('kinova_gen3', 'two_link')
        if (choice := rng.integers(4)) < len(names):
            return RobotModel.named(names[choice])
        n = int(rng.integers(1, 8))
    return random_tree(rng, n, serial=bool(rng.random() < 0.5), armature=rng.uniform(0.2, 2.0))


def gains_for(n, **changes):
    return Gains(**{'K_r': np.full(n, 5.0), 'V_M': 0.02, 'alpha': 25.0, **changes})


def estimate_of(model, ratio=RATIO):
    return ParameterEstimate(model.layout, model.theta, ratio_bounds(model.theta, ratio))


def random_plan(rng, estimate, speed=0.3):
    n = estimate.layout.n
    q0, k = rng.uniform(-2.0, 2.0, size=n), rng.uniform(-0.7, 0.7, size=n)
    curve = Bezier(q0, *(speed * rng.normal(size=(2, n))), DURATION)
    return Plan(0.0, DURATION / 2, curve, k, estimate.bounds, None, estimate.theta)


def random_theta(rng, bounds):
    """Anywhere in the box; in half of the cases a corner."""
    if rng.random() < 0.5:
        return rng.choice([-1.0, 1.0], size=bounds.shape) * bounds.radius + bounds.center
    return rng.uniform(bounds.lower, bounds.upper)


def stepped_at_limit(seed, gains_changes=None, **others):
    """The same where V may just have reached V_M: the upper bound of V is V_M."""
    changes = gains_changes or {}
    first = stepped(np.random.default_rng(seed), changes, **others)
    V_M = float(first.law.energy.upper)
    return stepped(np.random.default_rng(seed), {**changes, 'V_M': V_M}, **others)


@dataclass
class Stepped:
    """One step of the controller and the regressor of its state."""

    model: RobotModel
    estimate: ParameterEstimate
    q: np.ndarray
    qd: np.ndarray
    qd_d: np.ndarray
    W_s: np.ndarray  # Coulomb columns are zero
    torque: np.ndarray
    law: LawState


def stepped(rng, gains_changes=None, error=0.05, model=None, estimate=None):
    """A random arm somewhere near a random plan."""
    model = random_arm(rng) if model is None else model
    gains = gains_for(model.n, **(gains_changes or {}))
    estimate = estimate_of(model) if estimate is None else estimate
    plan = random_plan(rng, estimate)
    stamp = CLOCK.stamp(rng.uniform(0.0, 1.2 * DURATION))
    t = CLOCK.seconds(stamp)
    q_d, qd_d, qdd_d = plan.desired(t)
    e, ed = error * rng.normal(size=(2, model.n))
    q, qd = q_d - e, qd_d - ed
    controller = RobustPassivityController(model, gains, CLOCK)
    measured = JointMeasurement(stamp, q, qd, np.zeros(model.n))
    torque = controller.step(measured, plan, estimate)
    W_s = law_regressor(model, q, qd, qd_d + gains.K_r * e, qdd_d + gains.K_r * ed)
    return Stepped(model, estimate, q, qd, qd_d, W_s, torque, controller.last)
