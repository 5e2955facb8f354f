"""Whether a run has a ROS domain of its own, in which nobody was before it."""

from __future__ import annotations

from collections.abc import Mapping

OWN_DOMAIN = 'SAFE_SYSID_OWN_DOMAIN'  # what whoever starts the processes tells them: its number


def is_own_domain(environment: Mapping[str, str]) -> bool:
    """Whether nobody was in the domain of a process before its run."""
    domain = environment.get(OWN_DOMAIN, '')
    return bool(domain) and domain == environment.get('ROS_DOMAIN_ID')
