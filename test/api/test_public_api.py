"""The front door: names, how fast it opens, and results that show and keep themselves."""

from dataclasses import replace
import subprocess
import sys

import numpy as np
import pytest

import safe_sysid as ss
from safe_sysid.config import read_yaml, yaml_text
from safe_sysid.errors import BoundError, ConfigError, MeasurementError
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.share import share_directory

EXACT = RecordingSettings(
    torque_ratio=(0.025,), position_error=(0.0,), velocity_error=(0.0,)
)  # as simulated


def dumbbell():
    """What the last joint moves, (10,)."""
    model = RobotModel.named('kinova_gen3').with_payload(read_payload('dumbbell_8lb'))
    return model.theta[model.layout.end_effector]


@pytest.fixture(scope='module')
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp('recording') / 'recording.csv'
    ss.simulate_recording(path, 'kinova_gen3', payload='dumbbell_8lb', motion=4.0)
    return path


@pytest.fixture(scope='module')
def identified(recording):
    return ss.identify_payload(recording, 'kinova_gen3', EXACT)


def test_importing_the_package_loads_no_numerics():
    words = (
        'import sys, safe_sysid; print(sorted({"numpy", "numba", "rclpy"} & sys.modules.keys()))'
    )
    run = [sys.executable, '-c', words]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip() == '[]'


def test_what_takes_long_to_import_is_left_out_where_nobody_needs_it():
    parts = [f'scipy.{part}' for part in ('linalg', 'special', 'sparse', 'optimize', 'stats')]
    words = (
        'import sys, safe_sysid.api.payload, safe_sysid.identify.change.change_watch; '
        f'print(sorted({{*{parts}, "matplotlib"}} & sys.modules.keys()))'
    )
    run = [sys.executable, '-c', words]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip() == '[]'


def test_every_name_of_the_api_exists_and_is_documented():
    for name in ss.__all__:
        assert getattr(ss, name).__doc__, name
    assert set(ss.__all__) <= set(dir(ss))
    with pytest.raises(AttributeError, match='no attribute'):
        _ = ss.identify_load


@pytest.mark.slow
def test_the_function_plan_is_not_hidden_by_its_folder():
    words = (
        'import safe_sysid as ss; import safe_sysid.plan.result; '
        'from safe_sysid.plan.result import PlanResult; print(callable(ss.plan))'
    )
    run = [sys.executable, '-c', words]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip() == 'True'


def test_a_recording_becomes_bounds_with_the_truth_inside(identified):
    truth = dumbbell()
    assert identified.refused is None
    assert np.all((identified.lower <= truth) & (truth <= identified.upper))
    assert np.all(
        (identified.lower <= identified.nominal) & (identified.nominal <= identified.upper)
    )
    assert any('2.5 %' in sentence for sentence in identified.assumptions)


def test_the_result_shows_itself_and_writes_files(identified, tmp_path):
    assert 'kg' in str(identified)
    assert identified._repr_html_().startswith('<pre>')
    assert identified.as_dict()['lower'] == identified.lower.tolist()
    identified.report(tmp_path / 'page.html')
    identified.export('mjcf', tmp_path / 'payload.xml', undetermined='compact')
    assert (tmp_path / 'page.html').stat().st_size > 10_000
    assert 'inertial' in (tmp_path / 'payload.xml').read_text()


def test_after_a_refusal_no_prior_passes_for_bounds(identified):
    found = replace(identified.recorded.found, refused='too noisy', payload=None)
    result = replace(identified, recorded=replace(identified.recorded, found=found))
    said = result.as_dict()
    assert (result.nominal, result.lower, result.upper) == (None, None, None)
    assert (said['nominal'], said['lower'], said['upper']) == (None, None, None)
    assert 'REFUSED: too noisy' in str(result)


def test_what_is_not_determined_is_left_out_or_refused(identified, tmp_path):
    identified.export('ur', tmp_path / 'payload.script')
    command = (tmp_path / 'payload.script').read_text().splitlines()[-1]
    assert command.startswith('set_target_payload(')
    assert command.count('[') == 1  # no inertia
    with pytest.raises(ConfigError, match='not determined.* Ixx'):
        identified.export('franka', tmp_path / 'payload.cpp')
    assert not (tmp_path / 'payload.cpp').exists()
    for word in ('refuse', 'compact'):
        with pytest.raises(ConfigError, match="no export 'sdf', there are"):
            identified.export('sdf', tmp_path / 'new' / 'payload.sdf', word)
    with pytest.raises(ConfigError, match="undetermined is 'Compact', it has to be one of"):
        identified.export('ur', tmp_path / 'new' / 'payload.script', 'Compact')
    assert not (tmp_path / 'new').exists()


@pytest.mark.slow
def test_samples_one_by_one_give_what_a_recording_gives(recording, identified):
    table = np.loadtxt(recording, delimiter=',', skiprows=1)
    with ss.OnlineIdentifier('kinova_gen3', EXACT) as identifier:
        for t, *row in table:
            q, qd, tau = np.split(np.array(row), 3)
            estimate = identifier.step(t, q, qd, tau)
        estimate = identifier.finish()
        assert np.all(identifier.lower <= identifier.nominal)
    bounds, truth = estimate.end_effector_bounds, dumbbell()
    assert np.all((bounds.lower <= truth) & (truth <= bounds.upper))
    assert bounds.radius[0] <= 1.0 * (identified.upper[0] - identified.lower[0])


def test_after_another_payload_was_taken_only_the_prior_is_known():
    identifier = ss.OnlineIdentifier('two_link', period=0.001)
    first = identifier.step(0.0, [0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    identifier.new_payload()
    assert identifier.step(0.001, [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]) is first
    identifier.close()


@pytest.mark.slow
def test_settings_of_a_recording_are_heeded(recording):
    narrow = RecordingSettings(payload_mass=6.0)
    result = ss.identify_payload(recording, ss.load_arm('kinova_gen3'), narrow)
    assert any('6 kg' in sentence for sentence in result.assumptions)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(MeasurementError, match=r'nothing\.csv'):
        ss.identify_payload(tmp_path / 'nothing.csv', 'kinova_gen3')
    with pytest.raises(ConfigError, match='loop file'):
        ss.plan('four_bar')
    with pytest.raises(ConfigError, match='robot is of type Arm, it has to be a name or a path'):
        ss.identifiable_parameters(ss.load_arm('two_link'))


def test_no_recordings_are_not_no_argument_and_one_is_a_list_of_one(tmp_path):
    """A pattern that finds nothing is no way to ask for something else."""
    missing = str(tmp_path / 'nothing.csv')
    with pytest.raises(ConfigError, match='empty has no recording in it'):
        ss.identify_payload(missing, 'two_link', empty=tmp_path.glob('*.csv'))
    with pytest.raises(ConfigError, match='recordings has no recording in it'):
        ss.calibrate_arm([], 'two_link')
    for one in (missing, tmp_path / 'nothing.csv', (x for x in [missing])):
        with pytest.raises(MeasurementError, match=r'nothing\.csv'):
            ss.calibrate_arm(one, 'two_link')
    with pytest.raises(ConfigError, match='recordings is 3, it has to be a recording or a list'):
        ss.calibrate_arm(3, 'two_link')


GOAL = [0.4, 0.35, 0.2, 0.6, 2.8, 0.3, -1.0]


@pytest.fixture(scope='module')
def motion():
    return ss.plan('kinova_gen3', goal=GOAL, world='shelf', payload='dumbbell_4lb')


def test_a_motion_to_a_goal_is_certified_and_ends_there_at_rest(motion):
    assert motion.is_complete
    assert all(certificate.holds for certificate in motion.certificates)
    q, qd, _ = motion.desired(motion.duration)
    assert np.abs(np.angle(np.exp(1j * (q - GOAL)))).max() < 0.02
    assert np.abs(qd).max() < 1e-9


def test_one_plan_takes_over_where_the_last_one_hands_over(motion):
    t, states = motion.sampled(rate=1000.0)
    steps = np.abs(np.diff(states[0], axis=0)).max()
    assert steps <= 1.05e-3 * np.abs(states[1]).max() + 1e-6
    assert t[-1] == motion.duration


def test_a_motion_is_not_certified_in_a_world_it_runs_into(motion):
    again, none = ss.certify(motion), ss.certify(motion, world={})
    assert again.holds
    assert none.holds
    model = motion.loop.model
    middle = motion.desired(0.5 * motion.duration)[0]
    from safe_sysid.model.dynamics.forward_kinematics import joint_frames
    from safe_sysid.sets.box import Box

    place = joint_frames(model, middle)[1][-1]
    in_the_way = {'box': Box(place, np.full(3, 0.1), np.eye(3))}
    hit = ss.certify(motion, world=in_the_way)
    assert not hit.holds
    assert 'box' in str(hit)


def test_a_motion_is_written_for_a_controller(motion, tmp_path):
    files = motion.export(tmp_path)
    assert all(path.stat().st_size > 100 for path in files)


def test_planning_says_why_there_is_no_motion():
    motion = ss.plan('kinova_gen3', goal=GOAL, seconds=5.0)  # for anything up to 5.2 kg
    assert not motion.is_complete
    assert 'could not hold itself' in str(motion)


def test_an_arm_without_a_bound_on_its_error_gets_a_motion_that_says_so():
    start = np.array([0.0, 0.5, 0.0, -1.2, 0.0, 0.6, 0.0])
    motion = ss.plan('lbr_med7', start, goal=start + 0.2, payload='dumbbell_4lb', seconds=5.0)
    assert not motion.is_complete and motion.plans == ()
    assert 'nothing can be planned: no bound on the tracking error of A2' in str(motion)
    proof = ss.certify(motion)
    assert not proof.holds and str(proof) == 'not certified: the motion has no plans'
    with pytest.raises(BoundError, match='the motion has no plans: nothing can be planned'):
        motion.sampled()


@pytest.fixture(scope='module')
def run():
    return ss.simulate('two_link', seconds=2.5)


@pytest.mark.slow
def test_a_simulated_run_learns_with_the_truth_inside(run):
    assert run.fault == ''
    assert np.all((run.lower <= run.truth) & (run.truth <= run.upper))
    first = run.record.estimates
    assert (run.upper[0] - run.lower[0]) < (first.upper[0, 0] - first.lower[0, 0])


@pytest.mark.slow
def test_what_was_measured_is_a_recording_again(run, tmp_path):
    run.export(tmp_path / 'run.csv')
    held = RecordingSettings(
        torque_signal='held_until',
        torque_ratio=(0.02,),
        torque_error=(0.01,),
        position_error=(0.0,),
        velocity_error=(0.0,),
    )
    result = ss.identify_payload(tmp_path / 'run.csv', 'two_link', held)
    assert result.refused is None
    assert np.all((result.lower <= run.truth) & (run.truth <= result.upper))


def with_wrong_torques(folder, stated):
    """Loop of the two-link arm whose simulator reads every torque 0.5 N m wrong, always."""
    blocks = read_yaml(share_directory() / 'config' / 'loop' / 'two_link.yaml')
    sensors = {'torque_error': [0.5], 'torque_kind': 'constant'}
    blocks['/**/builtin_sim_bridge']['ros__parameters']['sensors'] = sensors
    identifier = blocks['/**/identifier']['ros__parameters']['identifier']
    identifier['observation']['torque_error'] = [stated]
    path = folder / 'loop.yaml'
    path.write_text(yaml_text(blocks))
    return path


@pytest.mark.slow
def test_a_simulated_run_believes_no_torque_more_than_its_file_states(tmp_path):
    run = ss.simulate('two_link', seconds=2.5, loop=with_wrong_torques(tmp_path, 0.6))
    assert run.fault == ''
    assert np.all((run.lower <= run.truth) & (run.truth <= run.upper))


def test_a_simulated_run_states_no_less_than_its_sensors_err(tmp_path):
    complaint = 'torque_error is 0.4 N m, and sensors of the simulator err by 0.5:'
    with pytest.raises(ConfigError, match=complaint):
        ss.simulate('two_link', seconds=2.5, loop=with_wrong_torques(tmp_path, 0.4))


def test_a_simulated_task_says_whether_its_goal_was_reached():
    short = ss.simulate('two_link', seconds=0.5, goal=[-1.0, 0.5])
    assert 'the goal is not reached, 0.4 rad are left: new plan' in str(short)
    assert 'goal' not in str(ss.simulate('two_link', seconds=0.1))
    with pytest.raises(ss.SafeSysidError, match='goal: joint_1 is at 10 rad'):
        ss.simulate('two_link', seconds=0.5, goal=[10.0, 0.0])


@pytest.mark.slow
def test_a_simulated_task_that_ends_at_its_goal_says_so():
    run = ss.simulate('two_link', seconds=12.0, goal=[-1.0, 0.5])
    assert run.is_complete
    assert 'the goal is reached: 0.0' in str(run)


def test_identifiable_parameters_are_those_of_the_command():
    result = ss.identifiable_parameters('kinova_gen3')
    assert result.base_parameters == 43
    assert '43 combinations' in str(result)
