"""Interval torques contain the torque of every motion in the box, also at corners."""

import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.model.dynamics.interval_dynamics import torque_enclosure
from safe_sysid.model.dynamics.inverse_dynamics import inverse_dynamics
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.random_arm import random_tree


def arms(rng):
    yield RobotModel.named('lbr_med7')
    for n in (1, 4, 6):
        yield random_tree(rng, n, serial=n % 2 == 0, armature=0.5)


def boxes(rng, n, radius, count=12):
    center = rng.normal(size=(3, count, n))
    return center, radius * rng.random((3, count, n))


def test_every_motion_of_a_box_has_its_torque_inside(rng):
    for model in arms(rng):
        center, radius = boxes(rng, model.n, 0.05)
        inside = torque_enclosure(
            model,
            *(Interval.from_center_radius(c, r) for c, r in zip(center, radius, strict=True)),
        )
        for _ in range(30):
            offsets = rng.uniform(-1.0, 1.0, center.shape)
            offsets = np.where(rng.random(center.shape) < 0.5, np.sign(offsets), offsets)
            tau = inverse_dynamics(model, *(center + offsets * radius))
            assert (inside.lower <= tau).all() and (tau <= inside.upper).all()


def test_a_point_is_enclosed_tightly(rng):
    for model in arms(rng):
        center, _ = boxes(rng, model.n, 0.0)
        inside = torque_enclosure(model, *(Interval.of(c) for c in center))
        tau = inverse_dynamics(model, *center)
        assert inside.contains(Interval.from_center_radius(tau, 0.0)) or (
            np.abs(inside.center - tau).max() < 1e-10
        )
        assert (inside.upper - inside.lower).max() < 1e-8


def test_a_joint_that_may_turn_either_way_has_both_frictions():
    model = RobotModel.named('lbr_med7')
    still = Interval.of(np.zeros((1, 7)))
    theta = np.zeros_like(model.theta)
    theta[model.layout.joint_entries('Fc')] = 2.0
    tau = torque_enclosure(
        model.with_parameters(theta), still, Interval(-np.ones((1, 7)), np.ones((1, 7))), still
    )
    assert (tau.lower <= -2.0).all() and (tau.upper >= 2.0).all()


def test_boxes_of_another_arm_are_refused():
    model = RobotModel.named('lbr_med7')
    rows = Interval.of(np.zeros((2, 7)))
    with pytest.raises(BoundError, match='qd has shape'):
        torque_enclosure(model, rows, Interval.of(np.zeros((2, 6))), rows)
