"""Rows of joints with more friction at rest and under load than Coulomb's contain the truth."""

from dataclasses import replace

import numpy as np
import pinocchio
import pytest

from safe_sysid.identify.momentum_observation import ObservationSettings, observe
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.dry_friction import DryFriction
from safe_sysid.model.parameters import ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.signal_facts import DryFrictionFacts
from safe_sysid.sets.interval import Interval

PERIOD, SAMPLES = 0.001, 600
LEAST, STATIC, SLOW = 0.2, 0.7, 0.01  # [N m] of Coulomb friction, at rest; [rad/s]


def arm(static, load, ratio, absolute):
    """Return the two links whose file says so."""
    model = RobotModel.named('two_link')
    torque = model.sensors.sensing.torque
    sensing = replace(
        model.sensors.sensing,
        torque=replace(torque, sensor='motor', ratio=(ratio,), absolute=(absolute,)),
    )
    friction = DryFriction(DryFrictionFacts((static,), (SLOW,), (load,)))
    return replace(model, sensors=replace(model.sensors, sensing=sensing), friction=friction)


def share_of_promise(model, bounds, theta, speed, torque_of):
    """Largest error of a row for the truth, as a share of what is promised."""
    t = PERIOD * np.arange(SAMPLES)
    v = np.full((SAMPLES, 2), speed)
    q = np.array([0.2, 0.1]) + speed * t[:, None]
    rigid = model.with_parameters(theta).pinocchio()
    data = rigid.createData()
    _, Fv, _, beta = model.layout.friction(theta)
    ideal = np.array(
        [pinocchio.rnea(rigid, data, *x, np.zeros(2)) for x in zip(q, v, strict=True)]
    )
    tau = torque_of(ideal + Fv * v + beta, v)
    log = JointLog(np.round(1e9 * t).astype(np.int64), q, v, tau)
    settings = ObservationSettings(
        window=50, longest_step=1.0, position_error=(1e-9,), velocity_error=(1e-9,)
    )
    rows = observe(model, bounds, settings, log)
    off = (
        rows.Y_e @ theta[model.layout.end_effector] + rows.Y_r @ theta[model.layout.rest] - rows.b
    )
    return float(np.max(np.abs(off) / rows.delta))


def with_coulomb(model, lower, upper):
    """Bounds of all parameters, and the truth, whose Coulomb friction is at the lower end."""
    theta, bounds = model.theta.copy(), ratio_bounds(model.theta, 1e-6)
    dry = model.layout.joint_entries('Fc')
    least, most = bounds.lower.copy(), bounds.upper.copy()
    theta[dry], least[dry], most[dry] = lower, lower, upper
    return theta, Interval(least, most)


@pytest.mark.parametrize('speed', [0.001, 0.003, 0.3, -0.002])
def test_friction_at_rest_is_above_the_least_that_coulomb_friction_may_be(speed):
    """The figure of the file is not the truth: what is above that one is less."""
    model = arm(STATIC, 0.0, 0.0, 1e-3)
    theta, bounds = with_coulomb(model, LEAST, 0.8)

    def torque(rest, v):
        slow = np.exp(-((v / SLOW) ** 2))
        return rest + (LEAST + (STATIC - LEAST) * slow) * np.sign(v)

    share = share_of_promise(model, bounds, theta, speed, torque)
    assert share <= 1.0
    assert share > 0.8 or abs(speed) > SLOW  # it is needed


@pytest.mark.parametrize(('load', 'ratio', 'absolute'), [(0.2, 0.02, 2.0), (0.1, 0.1, 1.0)])
def test_load_is_a_share_of_the_torque_and_not_of_its_reading(load, ratio, absolute):
    """An arm is lowered, and its sensor reads the least that it may."""
    model = arm(0.0, load, ratio, absolute)
    theta, bounds = with_coulomb(model, 0.2, 0.2)

    def torque(rest, _):
        on_joint = (rest - 0.2) / (1.0 + load)  # friction helps the drive
        return (on_joint - absolute) / (1.0 + ratio)

    share = share_of_promise(model, bounds, theta, -0.05, torque)
    assert 0.9 < share <= 1.0
