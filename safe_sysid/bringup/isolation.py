"""Which ROS domain a run uses: one of its own on this computer, unless somebody says otherwise.

Whoever is in the same domain hears what a loop commands, and may command as well. So a simulated
arm is kept to itself. A loop in front of a driver has to be where the driver is.
"""

from __future__ import annotations

from collections.abc import Mapping
import os
import socket

from safe_sysid.errors import ConfigError
from safe_sysid.own_domain import OWN_DOMAIN
from safe_sysid.share import share_directory

DOMAINS = 100  # 1 to 100: ports of higher ones can meet those that Linux hands out by itself
FIRST_PORT, PORTS = 7410, 250  # of the first participant of domain 0, and from domain to domain
DOMAIN, RANGE = 'ROS_DOMAIN_ID', 'ROS_AUTOMATIC_DISCOVERY_RANGE'
# Humble does not know RANGE: there the domain keeps a run to itself, but not to this computer.
SAY_WHERE = (DOMAIN, RANGE, 'ROS_LOCALHOST_ONLY', 'ROS_STATIC_PEERS', 'ROS_DISCOVERY_SERVER')
# The file of profiles, since Kilted and before; Kilted warns of the older name in every node.
PROFILES = ('FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE')
BEFORE_KILTED = ('humble', 'iron', 'jazzy')
ALONE = ('builtin_sim', 'drake_sim', 'mujoco_sim', 'replay')  # ways that bring their own robot


def isolated(way: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what a run adds to its environment: nothing where somebody has said where it is."""
    if way not in ALONE or any(name in environment for name in SAY_WHERE):
        return {}
    domain = str(free_domain())
    return {DOMAIN: domain, RANGE: 'LOCALHOST', OWN_DOMAIN: domain}


def soon_found(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what has Fast DDS find the nodes of a run within a second; nothing if it is told how.

    Without it two of them may need 3 s to find each other.
    """
    if any(name in environment for name in PROFILES):
        return {}
    newer, older = PROFILES
    name = older if environment.get('ROS_DISTRO') in BEFORE_KILTED else newer
    return {name: str(share_directory() / 'config' / 'discovery.xml')}


def where(added: Mapping[str, str], environment: Mapping[str, str]) -> str:
    """Return a sentence about where a run can be heard, and how to join it."""
    if added:
        said = f'export {DOMAIN}={added[DOMAIN]} {RANGE}={added[RANGE]}'
        return f'on a ROS domain of its own, on this computer only; to join: {said}'
    told = [f'{name}={environment[name]}' for name in SAY_WHERE if name in environment]
    domain = environment.get(DOMAIN) or '0'
    return f'on ROS domain {domain}' + (f', as told by {" ".join(told)}' if told else '')


def free_domain() -> int:
    """Return a domain in which nobody on this machine has taken the first place yet."""
    for step in range(DOMAINS):
        domain = 1 + (os.getpid() + step) % DOMAINS
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as first_place:
            try:
                first_place.bind(('', FIRST_PORT + PORTS * domain))
            except OSError:
                continue
        return domain
    raise ConfigError(
        f'somebody runs ROS in each of the domains 1 to {DOMAINS}; end one, or set {DOMAIN}'
    )


def is_secured(environment: Mapping[str, str]) -> bool:
    """Whether SROS 2 is asked for; each process has an enclave of its own then."""
    return environment.get('ROS_SECURITY_ENABLE') == 'true'
