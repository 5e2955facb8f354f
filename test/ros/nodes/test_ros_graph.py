"""The table of what nodes say and hear is that of a running loop, so that a policy is complete."""

import pytest
from rclpy.action import get_action_server_names_and_types_by_node
from ros.faulty_loop import COMPILING
from ros.generated_messages import ROOT, importable
from ros.running_loop import changed_settings, observed, running

from safe_sysid.bringup.processes import BACKENDS, BRIDGES, MANAGED
from safe_sysid.bringup.ros_graph import graph_of

OF_ACTIONS = '/_action/'
# Where their messages are installed, or their settings ask for it; /clock with use_sim_time.
KINDS = ('says', 'hears', 'serves', 'calls')
PERHAPS = {
    'region',
    'obstacle_motions',
    'octomap',
    'planning_scene',
    '/tf',
    '/tf_static',
    '/clock',
}
OTHER_WAYS = {f'{bridge}/change_state' for bridge in BRIDGES if bridge != 'builtin_sim_bridge'}


def full(node, names):
    """Names as the graph has them, in the namespace `left`."""

    def place(name):
        if name[0] == '/':
            return name
        return f'/left/{node}{name[1:]}' if name[0] == '~' else f'/left/{name}'

    return {place(name) for name in names}


def seen(loop, node):
    """What the middleware knows of a node: topics said and heard, services served and called."""
    ask = (
        loop.get_publisher_names_and_types_by_node,
        loop.get_subscriber_names_and_types_by_node,
        loop.get_service_names_and_types_by_node,
        loop.get_client_names_and_types_by_node,
    )
    found = [{name for name, _ in each(node, '/left')} for each in ask]
    actions = {name for name, _ in get_action_server_names_and_types_by_node(loop, node, '/left')}
    return [{name for name in names if OF_ACTIONS not in name} for names in found], actions


@pytest.mark.slow
def test_nodes_use_what_the_table_says_and_nothing_else(tmp_path):
    settings = changed_settings(tmp_path, 'two_link')
    calm = '--namespace', 'left', '--lockstep', '-p', 'supervisor:autostart:=false'
    with (
        importable('safe_sysid_interfaces', ROOT),
        importable('control_msgs'),
        observed() as loop,
        running('builtin_sim', '--config', settings, '--record', tmp_path / 'bag', *calm),
    ):
        nodes = (*BACKENDS['builtin_sim'].nodes, 'recorder', 'monitor')
        hidden = [name for node in nodes for name in graph_of(node).hidden]
        states = {f'left/{node}' for node in (*MANAGED, 'builtin_sim_bridge')}
        loop.wait(
            lambda: (
                {*nodes, *hidden} <= set(loop.get_node_names())
                and all(
                    each in loop.conditions
                    and loop.conditions[each].figures['lifecycle'] == 'active'
                    for each in states
                )
            ),
            'all nodes are there and active',
            COMPILING,
        )
        loop.wait(lambda: not differences(loop, nodes), differences(loop, nodes) or 'the graph')


def differences(loop, nodes):
    """Sentences; discovery takes a moment, so they may become fewer."""
    said = []
    for node in nodes:
        graph, (found, actions) = graph_of(node), seen(loop, node)
        table = [
            full(node, names) for names in (graph.says, graph.hears, graph.serves, graph.calls)
        ]
        heard = set().union(*(seen(loop, name)[0][1] for name in graph.hidden))
        found[1] |= set() if node == 'recorder' else heard
        perhaps = full(node, PERHAPS | OTHER_WAYS) | {'/left/clock'}
        if node == 'recorder':  # who asks each node for its parameters when it appears
            table[3], found[3] = set(), set()
        for kind, used, allowed in zip(KINDS, found, table, strict=True):
            extra, missing = used - allowed - perhaps, allowed - used - perhaps
            said += [f'{node} {kind} {name}, not in the table' for name in sorted(extra)]
            said += [f'{node} {kind} no {name}' for name in sorted(missing)]
        if actions != full(node, graph.executes):
            said.append(f'{node} executes {actions}')
    return said
