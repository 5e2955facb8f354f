"""A run keeps to itself where it brings its own robot, unless somebody has said where it is."""

import os
from pathlib import Path
import socket
import subprocess
import sys

import pytest

from safe_sysid.bringup.isolation import (
    ALONE,
    BEFORE_KILTED,
    FIRST_PORT,
    PORTS,
    PROFILES,
    free_domain,
    isolated,
    soon_found,
    where,
)
from safe_sysid.bringup.processes import BACKENDS
from safe_sysid.own_domain import is_own_domain


@pytest.mark.parametrize('way', ALONE)
def test_a_simulated_arm_has_a_domain_of_its_own_on_this_computer(way):
    added = isolated(way, {})
    assert 1 <= int(added['ROS_DOMAIN_ID']) <= 100
    assert added['ROS_AUTOMATIC_DISCOVERY_RANGE'] == 'LOCALHOST'
    assert f'export ROS_DOMAIN_ID={added["ROS_DOMAIN_ID"]} ' in where(added, {})


def test_a_domain_is_a_runs_own_where_it_chose_it_and_nobody_another_one():
    added = isolated('builtin_sim', {})
    assert is_own_domain(added)
    assert not is_own_domain({**added, 'ROS_DOMAIN_ID': '0'})
    assert not is_own_domain({'ROS_DOMAIN_ID': '7'})
    assert not is_own_domain({})


@pytest.mark.parametrize(
    ('distro', 'name'),
    [
        ('', 'FASTDDS_DEFAULT_PROFILES_FILE'),
        ('kilted', 'FASTDDS_DEFAULT_PROFILES_FILE'),
        ('jazzy', 'FASTRTPS_DEFAULT_PROFILES_FILE'),
    ],
)
def test_nodes_are_told_how_to_be_found_soon_by_the_name_that_their_ros_reads(distro, name):
    (told,) = soon_found({'ROS_DISTRO': distro}).items()
    assert told[0] == name
    assert Path(told[1]).name == 'discovery.xml'
    assert Path(told[1]).is_file()


THREADS = """
from pathlib import Path
import rclpy
rclpy.init()
node = rclpy.create_node('of_a_run')
print(*(each.read_text().strip() for each in Path('/proc/self/task').glob('*/comm')))
"""


def test_no_thread_of_a_node_of_a_run_asks_for_types():
    """The threads that do, dds.tls, can crash a process that leaves just after it was found."""
    info = pytest.importorskip('rclpy.subscription')
    is_kilted = 'publisher_gid' in vars(vars(info).get('MessageInfo', object)).get(
        '__annotations__', {}
    )
    others = {name: value for name, value in os.environ.items() if name not in PROFILES}
    distro = others.get('ROS_DISTRO', '')
    ours = {**others, **soon_found({'ROS_DISTRO': distro})}
    for told, asks in ((others, is_kilted and distro not in BEFORE_KILTED), (ours, False)):
        line = [sys.executable, '-c', THREADS]
        said = subprocess.run(line, env=told, capture_output=True, text=True, check=True).stdout
        assert 'dds.udp' in said
        assert ('dds.tls' in said) == asks


@pytest.mark.parametrize('name', PROFILES)
def test_nodes_are_found_as_somebody_has_said(name):
    assert soon_found({name: 'own.xml'}) == {}


@pytest.mark.parametrize('way', sorted(set(BACKENDS) - set(ALONE)))
def test_a_loop_in_front_of_a_driver_is_where_the_driver_is(way):
    assert isolated(way, {}) == {}
    assert where({}, {}) == 'on ROS domain 0'


@pytest.mark.parametrize(
    'told', [{'ROS_DOMAIN_ID': '7'}, {'ROS_LOCALHOST_ONLY': '0'}, {'ROS_STATIC_PEERS': 'cell'}]
)
def test_what_somebody_has_said_counts(told):
    assert isolated('builtin_sim', told) == {}
    said = where({}, told)
    assert said.startswith(f'on ROS domain {told.get("ROS_DOMAIN_ID", "0")}, as told by ')


def test_a_domain_in_which_somebody_is_already_is_left_alone():
    first = free_domain()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as somebody:
        somebody.bind(('', FIRST_PORT + PORTS * first))
        assert free_domain() != first
