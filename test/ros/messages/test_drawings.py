"""What RViz shows is what is avoided and reached."""

from dataclasses import replace
import re

import numpy as np
import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.model.collision.world import read_world
from safe_sysid.model.inertia import from_mass_com_inertia, mass_com_inertia
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.rotation import rotation_of
from safe_sysid.model.shown_arm import shown_arm
from safe_sysid.ros.messages.drawings import (
    frame_of_base,
    frame_of_tip,
    payload_markers,
    payload_message,
    quaternion_of,
)
from safe_sysid.share import share_directory, world_names
from safe_sysid.simulate.random_arm import random_rotation


def test_a_quaternion_is_the_rotation_it_was_made_of(rng):
    turns = [random_rotation(rng) for _ in range(200)]
    turns += [np.diag(d) for d in ([1.0, -1, -1], [-1, 1.0, -1], [-1, -1, 1.0], [1.0, 1, 1])]
    for R in turns:
        q = quaternion_of(R)
        assert np.allclose(rotation_of(np.array([q.w, q.x, q.y, q.z])), R, rtol=0.0, atol=1e-12)


def holding(model, mass, x, spread):
    """The arm holds a body whose centre is on the x axis of its last joint."""
    body = from_mass_com_inertia(np.array(mass), np.array([x, 0.0, 0.0]), spread * np.eye(3))
    theta = model.theta.copy()
    theta[model.layout.end_effector] += body
    return ParameterEstimate(model.layout, theta, ratio_bounds(theta, 0.1))


def test_the_payload_message_has_the_payload_alone_about_its_centre_of_mass():
    model = RobotModel.named('two_link')
    told = payload_message(model, holding(model, 2.0, 0.4, 0.01), 0)
    assert told.header.frame_id == frame_of_tip(model)
    inertia = told.inertia
    assert inertia.m == pytest.approx(2.0)
    assert (inertia.com.x, inertia.com.y, inertia.com.z) == pytest.approx((0.4, 0.0, 0.0))
    moments = inertia.ixx, inertia.iyy, inertia.izz
    assert moments == pytest.approx((0.01, 0.01, 0.01))


def test_an_empty_hand_is_a_payload_of_no_mass():
    model = RobotModel.named('two_link')
    for empty in (model, replace(model, theta=0.9 * model.theta)):
        known = ParameterEstimate(model.layout, empty.theta, ratio_bounds(empty.theta, 0.1))
        inertia = payload_message(model, known, 0).inertia
        assert (inertia.m, inertia.com.x, inertia.izz) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize('ratio', [1e-3, 0.5])
def test_a_payload_that_is_left_of_uncertain_bodies_is_a_body(ratio, rng):
    """Robots and scenes refuse others; within narrow bounds there may be none near."""
    model = RobotModel.named('kinova_gen3')
    for _ in range(50):
        theta = model.theta.copy()
        held = theta[model.layout.end_effector]  # a view
        held *= 1.0 + rng.uniform(-0.4, 0.4, 10)
        held[0] += 1.0
        told = payload_message(model, estimated(model, theta, ratio), 0).inertia
        assert told.m == pytest.approx(held[0] - model.own_end_effector[0], rel=0.1)
        moments = [[told.ixx, told.ixy, told.ixz], [told.ixy, told.iyy, told.iyz],
                   [told.ixz, told.iyz, told.izz]]  # fmt: skip
        least, middle, most = np.linalg.eigvalsh(moments)
        assert least >= -1e-9 and most <= least + middle + 1e-9


def estimated(model, theta, ratio):
    return ParameterEstimate(model.layout, theta, ratio_bounds(theta, ratio))


def test_frames_are_links_of_the_arm():
    model = RobotModel.named('kinova_gen3')
    assert frame_of_base(model) == 'world'
    assert frame_of_tip(model) == 'gen3_bracelet_link'


def test_worlds_of_the_package_can_be_read():
    assert {'empty', 'shelf'} <= set(world_names())
    assert read_world('empty') == {}
    shelf = read_world('shelf')
    assert np.allclose(shelf['table'].half_sizes, [0.8, 0.8, 0.05])
    with pytest.raises(ConfigError, match="no world 'moon', the package has"):
        read_world('moon')


def test_a_box_of_a_world_is_turned_as_a_urdf_would(tmp_path):
    path = tmp_path / 'world.yaml'
    path.write_text(
        'obstacles:\n  door: {center: [1, 0, 0], size: [1, 2, 3], rpy: [0, 0, 1.5707963267948966]}'
    )
    (door,) = read_world(str(path)).values()
    assert np.allclose(door.rotation @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], atol=1e-15)


def test_the_drawn_payload_is_the_box_of_its_centre_of_mass_and_the_ellipsoid_of_its_inertia():
    model = RobotModel.named('two_link')
    estimate = ParameterEstimate(model.layout, model.theta, ratio_bounds(model.theta, 0.1))
    _, box, solid = payload_markers(model, estimate, 0).markers
    m, mc = np.array([0.9, 1.1]), 0.25 * np.array([0.9, 1.1])
    assert box.pose.position.x + 0.5 * box.scale.x == pytest.approx(mc[1] / m[0])
    assert box.pose.position.x - 0.5 * box.scale.x == pytest.approx(mc[0] / m[1])
    m, com, about_com = mass_com_inertia(estimate.end_effector)
    q = solid.pose.orientation
    R = rotation_of(np.array([q.w, q.x, q.y, q.z]))
    a, b, c = 0.25 * np.array([solid.scale.x, solid.scale.y, solid.scale.z]) ** 2
    about = R @ np.diag([b + c, a + c, a + b]) @ R.T * m / 5.0
    np.testing.assert_allclose(about, about_com, atol=1e-6)
    assert solid.pose.position.x == pytest.approx(com[0])


def test_nothing_is_drawn_of_a_mass_that_may_be_none():
    model = RobotModel.named('two_link')
    wide = ratio_bounds(model.theta, 2.0)
    kinds = [
        m.ns
        for m in payload_markers(
            model, ParameterEstimate(model.layout, model.theta, wide), 0
        ).markers
    ]
    assert 'centre of mass' not in kinds


def test_rviz_looks_at_relative_topics_that_somebody_publishes():
    text = (share_directory() / 'config' / 'loop.rviz').read_text()
    topics = re.findall(r'Topic: \{Value: ([^,}]+)', text)
    assert {'avoided', 'plan_markers', 'reachable_set', 'payload_markers', 'goal_pose'} <= set(
        topics
    )
    assert not [topic for topic in topics if topic.startswith('/')]


@pytest.mark.parametrize('robot', ['kinova_gen3', 'lbr_med7', 'two_link'])
def test_any_arm_is_shown_in_the_frame_of_its_base(robot):
    arm = shown_arm(robot)
    assert arm.base == frame_of_base(RobotModel.named(robot))
    assert arm == shown_arm(str(share_directory() / 'config' / 'robots' / f'{robot}.yaml'))
