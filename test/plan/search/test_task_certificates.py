"""The pieces of a task motion can be certified one by one, and their sets contain them."""

from dataclasses import replace

import numpy as np

from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.reach.joint_reach import Horizon
from safe_sysid.reach.reachable_set import ReachableSet
from safe_sysid.track.gains import Gains
from safe_sysid.trajectory.task_motion import minimum_jerk

ARM = RobotModel.named('kinova_gen3')
HOME = np.array([0.0, 0.3, 0.0, 1.9, 0.0, 0.9, 0.0])
REST = np.zeros(7)


def sets_of_pieces(rng, size):
    """Sets of the two pieces of a motion that moves joints by about `size`."""
    via, goal = (HOME + size * rng.uniform(-1, 1, 7) for _ in range(2))
    motion = minimum_jerk((HOME, REST, REST), via, goal)
    bounds = ParameterEstimate(ARM.layout, ARM.theta, ratio_bounds(ARM.theta, 0.05))
    gains = Gains(np.full(7, 5.0), V_M=0.02, alpha=25.0)
    for piece in motion.pieces:
        horizon = Horizon(piece.curve, piece.k, REST)
        yield piece, ReachableSet.build(ARM, bounds, horizon, gains, NO_OBSTACLES)


def radius(models):
    """Remainder and linear terms of the tracking error of rows for one plan."""
    return models[..., -1] + np.abs(models[..., 1:-1]).sum(axis=-1)


def test_sets_contain_the_pieces(rng):
    for piece, sets in sets_of_pieces(rng, 0.5):
        error, time = sets.error, sets.joints.time
        for share in np.linspace(0, 1, 7):
            t = time.lower + share * (time.upper - time.lower)
            for order, models, slack in (
                (0, sets.joints.q, error.position),
                (1, sets.joints.qd, error.velocity),
            ):
                value = piece.curve.derivative(order, t, piece.k)
                away = np.abs(models[..., 0] - value)
                assert np.all(away + slack <= radius(models) + 1e-12)


def test_a_gentle_motion_is_certified_and_a_violent_one_is_not(rng):
    for size, holds in ((0.1, True), (3.0, False)):
        certificates = [sets.certify(REST) for _, sets in sets_of_pieces(rng, size)]
        assert all(certificate.holds for certificate in certificates) == holds


def test_a_piece_without_its_end_velocity_is_another_motion(rng):
    """The sets of the curve that ends at rest do not contain the piece."""
    piece, sets = next(iter(sets_of_pieces(rng, 0.5)))
    at_rest = replace(piece.curve, qd1=REST, qdd1=REST)
    t = sets.joints.time.center
    away = np.abs(sets.joints.qd[..., 0] - at_rest.velocity(t, piece.k))
    assert np.any(away > radius(sets.joints.qd))


def test_a_certificate_of_several_pieces_holds_only_as_a_whole(rng):
    gentle, violent = ([s.certify(REST) for _, s in sets_of_pieces(rng, x)] for x in (0.1, 3.0))
    whole = replace(gentle[0], then=(gentle[1],))
    assert whole.holds
    assert whole.smallest in (gentle[0].smallest, gentle[1].smallest)
    broken = replace(gentle[0], then=(violent[1],))
    assert not broken.holds
    assert broken.smallest == violent[1].smallest
