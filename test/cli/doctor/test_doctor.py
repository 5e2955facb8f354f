"""The doctor: what is in order passes, and whatever isn't comes with a remedy."""

import json
import re
import shutil
import signal
import subprocess

import pytest
from tiers import slow_after
import yaml

from safe_sysid.cli.doctor import description_checks, machine_checks, robot_checks
from safe_sysid.cli.doctor.findings import Verdict
from safe_sysid.cli.main import main
from safe_sysid.share import share_directory

ROBOTS = ['kinova_gen3', 'lbr_med7', 'two_link', 'iiwa14', 'fr3', 'ur5e', 'ur10e']


def by_item(findings):
    return {finding.item: finding for finding in findings}


@pytest.fixture
def arm(tmp_path):
    """Copies of the two-link arm's files that a test can spoil."""
    share = share_directory()
    urdf = shutil.copy(share / 'urdf' / 'two_link.urdf', tmp_path)
    settings = shutil.copy(share / 'config' / 'robots' / 'two_link.yaml', tmp_path)

    class Arm:
        def spoil(self, path, old, new):
            text = path.read_text(encoding='utf-8')
            assert old in text
            path.write_text(text.replace(old, new), encoding='utf-8')

        def findings(self):
            return by_item(robot_checks.findings(str(self.urdf), self.settings))

    spoilt = Arm()
    spoilt.urdf, spoilt.settings = tmp_path / urdf, tmp_path / settings
    return spoilt


@pytest.mark.slow
def test_this_machine_is_in_order_with_ros_and_ipopt(capsys):
    assert main(['doctor', '--json']) == 0
    findings = {row['item']: row for row in json.loads(capsys.readouterr().out)['findings']}
    for item in (*machine_checks.LIBRARIES, 'Ipopt linear solvers', 'ROS 2 middleware'):
        assert findings[item]['verdict'] == 'PASS', findings[item]
    assert 'mumps' in findings['Ipopt linear solvers']['detail']
    assert 'exchanged a message' in findings['ROS 2 middleware']['detail']


@pytest.mark.parametrize('robot', slow_after(1, ROBOTS))
def test_robots_of_the_package_fail_nothing_and_every_warning_has_a_remedy(robot):
    findings = list(robot_checks.findings(robot, None))
    assert [str(f) for f in findings if f.verdict is Verdict.FAIL] == []
    assert len(findings) >= 6
    for finding in findings:
        assert bool(finding.remedy) == (finding.verdict is not Verdict.PASS)


def test_a_missing_library_is_a_failure_and_status_1(monkeypatch, capsys):
    monkeypatch.setattr(machine_checks, 'LIBRARIES', {'no_such_library': 'install it'})
    monkeypatch.setattr(machine_checks, '_middleware', machine_checks._cores)
    monkeypatch.setattr(machine_checks, '_ipopt', machine_checks._cores)
    monkeypatch.setattr(machine_checks, 'version', lambda name: name)
    assert main(['doctor']) == 1
    printed = capsys.readouterr().out
    assert 'FAIL  no_such_library: ModuleNotFoundError' in printed
    assert 'remedy: install it' in printed
    assert '1 FAIL' in printed.splitlines()[-1]


def test_absent_ros_is_a_warning_with_two_ways_to_get_it(monkeypatch):
    monkeypatch.setattr(machine_checks.importlib.util, 'find_spec', lambda _: None)
    finding = machine_checks._middleware()
    assert finding.verdict is Verdict.WARN
    assert 'setup.bash' in finding.remedy and "pip install '.[ros]'" in finding.remedy


def test_a_middleware_that_does_not_answer_in_time_is_a_failure(monkeypatch):
    monkeypatch.setattr(machine_checks, 'MIDDLEWARE_SECONDS', 0.05)
    finding = machine_checks._middleware()
    assert finding.verdict is Verdict.FAIL
    assert 'no answer within 0.05 s' in finding.detail


def test_a_middleware_that_falls_over_once_it_has_answered_has_answered(monkeypatch):
    said = '{"middleware": "rmw_fastrtps_cpp", "seconds": 0.5}'
    ended = subprocess.CompletedProcess([], -signal.SIGSEGV, said, '')
    monkeypatch.setattr(machine_checks, '_run_python', lambda *_: ended)
    assert machine_checks._middleware().verdict is Verdict.PASS


def test_a_middleware_that_is_not_installed_is_named_as_the_cause(monkeypatch):
    monkeypatch.setenv('RMW_IMPLEMENTATION', 'rmw_of_nobody')
    finding = machine_checks._middleware()
    assert finding.verdict is Verdict.FAIL
    assert 'RMW_IMPLEMENTATION' in finding.remedy


def test_logs_of_ros_that_cannot_be_written_are_the_remedy(monkeypatch):
    monkeypatch.setenv('ROS_LOG_DIR', '/proc/nowhere')
    finding = machine_checks._middleware()
    assert finding.verdict is Verdict.FAIL
    assert 'ROS_LOG_DIR' in finding.remedy


def test_a_library_that_crashes_is_a_finding(monkeypatch, tmp_path):
    (tmp_path / 'crashing.py').write_text('import os\nos.abort()\n', encoding='utf-8')
    monkeypatch.setenv('PYTHONPATH', str(tmp_path))
    monkeypatch.setattr(machine_checks, 'LIBRARIES', {'crashing': 'build it anew'})
    finding = machine_checks._library('crashing')
    assert finding.verdict is Verdict.FAIL
    assert finding.detail == 'ended by signal SIGABRT'


def test_compiled_code_that_can_not_be_kept_names_the_variable_that_helps(monkeypatch):
    monkeypatch.setenv('NUMBA_CACHE_LOCATOR_CLASSES', 'UserProvidedCacheLocator')
    monkeypatch.delenv('NUMBA_CACHE_DIR', raising=False)
    finding = machine_checks._numba_cache()
    assert finding.verdict is Verdict.FAIL
    assert 'NUMBA_CACHE_DIR' in finding.remedy


def test_one_core_is_a_warning(monkeypatch):
    monkeypatch.setattr(machine_checks, 'cpu_count', lambda: 1)
    assert machine_checks._cores().verdict is Verdict.WARN


def test_unspoilt_copies_are_in_order(arm):
    assert {finding.verdict for finding in arm.findings().values()} == {Verdict.PASS}


def test_a_joint_the_settings_do_not_know_is_a_failure_that_names_it(arm):
    arm.spoil(arm.urdf, 'joint_2', 'elbow')
    finding = arm.findings()['URDF and settings']
    assert finding.verdict is Verdict.FAIL
    assert 'joint_2' in finding.detail and str(arm.settings) in finding.remedy


def test_a_torque_limit_above_the_effort_of_the_urdf_is_pointed_out(arm):
    arm.spoil(arm.urdf, 'effort="30', 'effort="3')
    finding = arm.findings()['torque limits']
    assert finding.verdict is Verdict.WARN
    assert 'joint_2 30 of 3' in finding.detail


def test_an_arm_without_capsules_is_a_warning_and_not_the_end(arm):
    text = arm.settings.read_text(encoding='utf-8')
    facts = yaml.safe_load(text)
    facts['collision'] = {'shapes': {}}
    arm.settings.write_text(yaml.safe_dump(facts), encoding='utf-8')
    sizes = arm.findings()['sizes of capsules']
    assert sizes.verdict is Verdict.WARN
    assert sizes.detail == 'no capsules'
    assert 'collision.shapes' in sizes.remedy


def test_a_body_that_can_not_exist_is_a_failure(arm):
    text = arm.urdf.read_text(encoding='utf-8')
    assert 'izz="' in text
    head, tail = text.rsplit('izz="', 1)
    arm.urdf.write_text(f'{head}izz="7{tail}', encoding='utf-8')
    finding = arm.findings()['masses and inertias']
    assert finding.verdict is Verdict.FAIL
    assert 'joint_2' in finding.detail


def test_a_link_with_a_shape_and_no_mass_is_named_whatever_is_fixed_to_it(arm):
    text = arm.urdf.read_text(encoding='utf-8')
    head, at, tail = text.partition('<link name="link_2">')
    start, end = tail.index('<inertial>'), tail.index('</inertial>') + len('</inertial>')
    bolt = '<joint name="bolts" type="fixed"><parent link="link_2"/><child link="cap"/></joint>'
    cap = f'<link name="cap">{tail[start:end]}</link>{bolt}</robot>'
    spoilt = f'{head}{at}{tail[:start]}{tail[end:]}'.replace('</robot>', cap)
    arm.urdf.write_text(spoilt, encoding='utf-8')
    finding = arm.findings()['masses and inertias']
    assert finding.verdict is Verdict.WARN
    assert 'link_2, which have a shape' in finding.detail and '<inertial>' in finding.remedy


@pytest.mark.parametrize(
    ('link', 'old', 'new', 'verdict', 'remedy'),
    [
        ('link_1', 'ixx="0.002"', 'ixx="0.03"', Verdict.WARN, 'as it stands, .* 5 %'),
        ('link_1', 'ixx="0.002"', 'ixx="-1"', Verdict.FAIL, 'correct the <inertia>'),
        ('joint_1', '<axis', '<dynamics damping="1" friction="1"/><axis', Verdict.WARN, 'unknown'),
    ],
)
def test_what_counts_in_place_of_a_doubtful_figure(arm, link, old, new, verdict, remedy):
    """Friction is unknown then; an inertia counts as it stands, unless no body has it."""
    head, at, tail = arm.urdf.read_text(encoding='utf-8').partition(f' name="{link}"')
    assert old in tail
    arm.urdf.write_text(f'{head}{at}{tail.replace(old, new, 1)}', encoding='utf-8')
    found = by_item(description_checks.description_findings(arm.urdf, ()))['figures']
    assert (found.verdict, found.detail.partition(':')[0]) == (verdict, link)
    assert re.search(remedy, found.remedy)


def test_an_inertia_that_nothing_moves_is_not_doubted(arm):
    body = '<inertial><mass value="1"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'
    arm.spoil(arm.urdf, '<link name="base_link">', f'<link name="base_link">{body}</inertial>')
    found = by_item(description_checks.description_findings(arm.urdf, ()))
    assert 'figures' not in found


def test_a_urdf_without_settings_is_looked_at_alone(arm, capsys, monkeypatch):
    monkeypatch.setattr(machine_checks, 'findings', tuple)  # the first test looks at this machine
    assert main(['doctor', '--robot', str(arm.urdf)]) == 0
    said = capsys.readouterr().out
    assert 'PASS  URDF: ' in said
    assert 'joints joint_1, joint_2; ends at link_2' in said
    assert 'WARN  settings: none' in said
    assert 'safe-sysid new-arm' in said
    text = arm.urdf.read_text(encoding='utf-8').replace('effort="30"', 'effort="1000"')
    mesh = '<visual><geometry><mesh filename="package://no/x.stl"/></geometry></visual></link>'
    arm.urdf.write_text(text.replace('</link>', mesh, 1), encoding='utf-8')
    assert main(['doctor', '--robot', str(arm.urdf)]) == 1
    said = capsys.readouterr().out
    assert 'FAIL  figures: joint_2: effort 1000 (effort-large' in said
    assert '--effort joint_2=VALUE' in said
    assert 'FAIL  meshes: ' in said
    assert 'package://no/x.stl' in said
