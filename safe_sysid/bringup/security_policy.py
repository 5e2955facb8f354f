"""A policy of SROS 2: what the process of each node may say and hear, and nothing else.

`ros2 security create_permission` makes permissions of DDS out of it. An enclave belongs to a
process: its path is the namespace and name of the node.
"""

from __future__ import annotations

from xml.etree import ElementTree

from safe_sysid.bringup.processes import BACKENDS, OBSERVERS, namespace_of
from safe_sysid.bringup.ros_graph import OF_ALL, OPERATOR, NodeGraph, graph_of
from safe_sysid.errors import ConfigError

VERSION = '0.2.0'  # of the schema of sros2
OPERATOR_NAME = 'operator'


def security_policy(way: str, namespace: str) -> str:
    """Return the policy of a way of running as XML, with an enclave for who works with it."""
    if way not in BACKENDS:
        raise ConfigError(f"no way to run '{way}', there are {list(BACKENDS)}")
    ns = '/' + (namespace_of(namespace) or BACKENDS[way].namespace)
    policy = ElementTree.Element('policy', version=VERSION)
    contexts = ElementTree.SubElement(policy, 'contexts')
    for node in (*BACKENDS[way].nodes, *OBSERVERS):
        _context(contexts, ns, node, graph_of(node))
    _context(contexts, ns, OPERATOR_NAME, OPERATOR)
    ElementTree.indent(policy)
    return ElementTree.tostring(policy, encoding='unicode', xml_declaration=True) + '\n'


def _context(contexts: ElementTree.Element, ns: str, node: str, graph: NodeGraph) -> None:
    context = ElementTree.SubElement(contexts, 'context', path=f'{ns.rstrip("/")}/{node}')
    profiles = ElementTree.SubElement(context, 'profiles', type='enclave')
    profile = ElementTree.SubElement(profiles, 'profile', ns=ns, node=node)
    for kind, rule, names in (
        ('topic', 'publish', graph.says),
        ('topic', 'subscribe', graph.hears),
        ('service', 'reply', graph.serves),
        ('service', 'request', graph.calls),
        ('action', 'execute', graph.executes),
        ('action', 'call', graph.asks),
    ):
        _allow(profile, kind, rule, names)
    for name, heard in graph.hidden.items():
        beside = ElementTree.SubElement(profiles, 'profile', ns=ns, node=name)
        _allow(beside, 'topic', 'publish', OF_ALL)
        _allow(beside, 'topic', 'subscribe', heard)


def _allow(profile: ElementTree.Element, kind: str, rule: str, names: tuple[str, ...]) -> None:
    if names:
        allowed = ElementTree.SubElement(profile, f'{kind}s', {rule: 'ALLOW'})
        for name in sorted(set(names)):
            ElementTree.SubElement(allowed, kind).text = name
