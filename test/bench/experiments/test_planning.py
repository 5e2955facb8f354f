"""Attempts to falsify plans succeed exactly where plans can be wrong."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.bench.experiments.planning import (
    at_rest,
    bare_estimate,
    boxes_beside,
    random_start,
    violations,
)
from safe_sysid.model.collision.contact import ContactGauge
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.certificate import PlanCertificate
from safe_sysid.reach.reachable_set import ReachableSet

START = np.array([0.0, 0.3, 0.0, 1.2, 0.0, 0.9, 0.0])


@pytest.fixture(scope='module')
def model():
    return RobotModel.named('kinova_gen3')


def certificate_of(problem, k):
    return ReachableSet.certify_center(
        replace(problem, horizon=replace(problem.horizon, k_center=k))
    )


def test_random_starts_and_boxes_are_free_of_contact(model, rng):
    for _ in range(5):
        q = random_start(rng, model)
        boxes = boxes_beside(rng, model, q, 4)
        shapes = dict(zip(boxes.names, boxes.shapes, strict=True))
        assert len(boxes) == 4
        assert ContactGauge(model, shapes).clearance(q).distance > 0.0


def test_a_certified_plan_is_not_falsified(model, rng):
    problem = at_rest(model, bare_estimate(model), START, boxes_beside(rng, model, START, 4))
    found = certificate_of(problem, np.full(7, 0.1))
    assert found.holds
    assert violations(rng, found, 2000) == 0


@pytest.mark.parametrize('kind', ['torque', 'velocity', 'position', 'contact'])
def test_a_plan_that_breaks_something_is_falsified(model, rng, kind):
    k, limits, boxes = np.zeros(7), model.limits, boxes_beside(rng, model, START, 0)
    if kind == 'torque':
        limits = replace(limits, torque=np.full(7, 8.0))
    elif kind == 'velocity':
        k[0] = 2.5
    elif kind == 'position':
        limits = replace(limits, position_upper=START + 1e-3)
    else:
        k[3] = 2.5 - START[3]  # folds the arm
        k[5] = 1.2
    problem = at_rest(replace(model, limits=limits), bare_estimate(model), START, boxes)
    wrong = certificate_of(problem, k)
    assert isinstance(wrong, PlanCertificate)
    assert not wrong.holds
    assert violations(rng, wrong, 2000) > 0
