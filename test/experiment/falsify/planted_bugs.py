"""Four mistakes of the kind that makes a bound unsound, each put in by one change."""

from dataclasses import replace

import numpy as np

from safe_sysid.experiment.falsify import exact_loop
from safe_sysid.model.dynamics.mass_matrix import mass_matrix
from safe_sysid.reach import plan_error, reachable_set

SAMPLES = 20  # poses, of which the least inertia is taken for the least there is
THIN = 0.003  # [m]


def inertia_from_samples(monkeypatch):
    """The least inertia that joints feel is that of some poses, of the arm as described."""

    def sampled(model, theta):
        q = np.random.default_rng(1).uniform(-np.pi, np.pi, (SAMPLES, model.n))
        M = mass_matrix(model, theta.center, q)
        return 1.0 / np.max([np.diag(np.linalg.inv(each)) for each in M], axis=0)

    monkeypatch.setattr(plan_error, 'joint_inertia', sampled)


def torque_error_forgotten(monkeypatch):
    """Law and certificate take drives for exact; they are not."""
    arm_of = exact_loop.arm_of

    def without(cell):
        arm = arm_of(cell)
        return replace(arm, gains=replace(arm.gains, torque_error=0.0, torque_ratio=0.0))

    monkeypatch.setattr(exact_loop, 'arm_of', without)


def remainder_dropped(monkeypatch):
    """The reachable positions of capsules are their polynomials, without what is around them."""
    occupancy_of = reachable_set.forward_occupancy

    def bare(*given):
        found = occupancy_of(*given)
        rows = found.rows.copy()
        rows[..., -1] = 0.0
        return replace(found, rows=rows)

    monkeypatch.setattr(reachable_set, 'forward_occupancy', bare)


def capsules_too_thin(monkeypatch):
    """Certificates are for capsules that are 3 mm thinner than the arm."""
    at_rest = exact_loop.at_rest

    def thinner(model, *given):
        capsules = replace(model.capsules, radius=model.capsules.radius - THIN)
        return at_rest(replace(model, capsules=capsules), *given)

    monkeypatch.setattr(exact_loop, 'at_rest', thinner)


PLANTED = {
    each.__name__: each
    for each in (
        inertia_from_samples,
        torque_error_forgotten,
        remainder_dropped,
        capsules_too_thin,
    )
}
