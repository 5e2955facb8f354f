"""Arms that come with the package: a recording of each, by its own sensors, says what it holds."""

from dataclasses import replace

import numpy as np
import pytest
from tiers import slow_after

import safe_sysid as ss
from safe_sysid.excite.design import design_problem, random_start
from safe_sysid.excite.settings import read_settings
from safe_sysid.identify.from_recording import RecordingSettings
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel

ROBOTS = ('lbr_med7', 'iiwa14', 'fr3', 'ur5e', 'ur10e')
STATED = RecordingSettings(
    torque_ratio=(0.02,), position_error=(0.0,), velocity_error=(0.0,), payload_mass=8.0
)


@pytest.mark.parametrize('robot', slow_after(1, reversed(ROBOTS)))
def test_what_an_arm_holds_is_within_its_bounds(robot, tmp_path):
    path = tmp_path / 'recording.csv'
    ss.simulate_recording(path, robot, payload='dumbbell_4lb', motion=4.0)
    result = ss.identify_payload(path, robot, STATED)
    truth = RobotModel.named(robot).with_payload(read_payload('dumbbell_4lb'))
    place = truth.layout.end_effector
    assert result.refused is None
    assert np.all((result.lower <= truth.theta[place]) & (truth.theta[place] <= result.upper))
    assert result.upper[0] - result.lower[0] < 8.0


@pytest.mark.parametrize('robot', slow_after(1, [*reversed(ROBOTS), 'kinova_gen3', 'xarm7']))
def test_an_arm_of_which_nothing_is_known_is_weighed_against_itself(robot, tmp_path):
    """Also where a joint has little torque without the payload, or mostly that of its rotor."""
    empty, loaded = (str(tmp_path / f'{name}.csv') for name in ('empty', 'loaded'))
    ss.simulate_recording(empty, robot, seed=2)
    ss.simulate_recording(loaded, robot, payload='dumbbell_8lb')
    result = ss.identify_payload(loaded, robot, empty=[empty])
    assert result.refused is None
    mass = read_payload('dumbbell_8lb').mass
    assert abs(result.nominal[0] - mass) < 0.01 * mass
    bounds = result.recorded.found.statistical_bounds
    assert bounds.lower[0] < mass < bounds.upper[0]
    sure = result.recorded.found.guaranteed_bounds
    assert sure.lower[0] < mass < sure.upper[0]


BOX = """mass: {mass}
com: [0.0, 0.0, 0.0]
inertia_about_com: {{ixx: {I}, ixy: 0.0, ixz: 0.0, iyy: {I}, iyz: 0.0, izz: {I}}}
placement: {{{robot}: {{link: {link}, xyz: {xyz}, rpy: [0.0, 0.0, 0.0]}}}}
shapes: {{box: {{a: [0.0, 0.0, 0.0], b: [0.0, 0.0, 0.0], radius: 0.04}}}}
"""


@pytest.mark.nightly
@pytest.mark.parametrize(
    ('robot', 'mass', 'xyz'),
    [('panda', 1.8, [0.0, 0.0, 0.25]), ('xarm7', 1.8, [0.0, 0.0, 0.05]),
     ('z1', 1.2, [0.25, 0.0, 0.0]), ('so101', 0.2, [0.0, 0.0, -0.15])],
)  # fmt: skip
def test_what_an_arm_of_published_figures_holds_is_within_its_bounds(robot, mass, xyz, tmp_path):
    path, held = tmp_path / 'recording.csv', tmp_path / 'box.yaml'
    link = ss.load_arm(robot).facts.tip
    held.write_text(BOX.format(mass=mass, I=mass * 6e-4, robot=robot, link=link, xyz=xyz))
    ss.simulate_recording(path, robot, payload=str(held), motion=4.0)
    result = ss.identify_payload(path, robot, replace(STATED, payload_mass=4.0 * mass))
    truth = RobotModel.named(robot).with_payload(read_payload(held))
    place = truth.layout.end_effector
    assert result.refused is None
    assert np.all((result.lower <= truth.theta[place]) & (truth.theta[place] <= result.upper))
    assert result.upper[0] - result.lower[0] < 4.0 * mass


@pytest.mark.parametrize('robot', ['iiwa14', 'fr3', 'ur5e', 'ur10e'])
def test_an_excitation_starts_inside_limits_that_are_not_about_zero(robot, rng):
    settings = replace(read_settings(), clearance=0.002, extra_clearance=0.002)
    model = RobotModel.named(robot)
    problem = design_problem(model, model, settings)
    for _ in range(3):
        q = problem.states(random_start(problem, rng))[0]
        assert (q >= model.limits.position_lower).all()
        assert (q <= model.limits.position_upper).all()


@pytest.mark.parametrize('robot', ROBOTS)
def test_what_is_assumed_of_an_arm_is_said(robot):
    said = ' '.join(ss.load_arm(robot).assumed())
    for word in ('zero_error', 'stamps', 'gravity_tilt'):
        assert word in said
