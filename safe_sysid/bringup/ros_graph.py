"""What each node says, hears, serves and calls; policies are made of it, and a test compares it.

Names are as ROS has them: relative to the namespace, `~/` below the node, or absolute.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from safe_sysid.bringup.processes import BRIDGES, MANAGED, SIMULATORS

OF_ALL = ('/rosout', '/parameter_events')  # said by every node
PARAMETERS = (
    'describe_parameters',
    'get_parameter_types',
    'get_parameters',
    'list_parameters',
    'set_parameters',
    'set_parameters_atomically',
    'get_type_description',
)
LIFECYCLE = (
    'change_state',
    'get_state',
    'get_available_states',
    'get_available_transitions',
    'get_transition_graph',
)
REQUESTS = ('goal', 'goal_pose', 'path')
ACTIONS = ('identify', 'go_to', 'follow', 'handle', 'follow_joint_trajectory')
TRIGGERS = (
    *('start', 'stop', 'brake', 'new_payload', 'announce_change', 'payload_changed'),
    *('reset_fault', 'end'),
)
HANDED_OVER = 'handed_over'  # whether the robot itself knows the load
HAND = ('grasp', 'release')  # of a simulated arm
EVENTS = ('payload_event',)  # of a gripper
TOUCHED = 'touched'  # of whoever feels a touch
SCENE = (
    *('obstacles', 'obstacle_points', 'obstacle_motions', 'octomap', 'planning_scene', 'placed'),
    *('/tf', '/tf_static'),
)
EVERYTHING = '/*'


@dataclass(frozen=True)
class NodeGraph:
    """Names that one node uses; `hidden` are nodes of its process that only hear."""

    says: tuple[str, ...] = ()
    hears: tuple[str, ...] = ()
    serves: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    executes: tuple[str, ...] = ()  # actions
    asks: tuple[str, ...] = ()  # for actions of others
    hidden: dict[str, tuple[str, ...]] = field(default_factory=dict)  # what each of them hears


_EDGE = NodeGraph(
    says=('joint_states', 'end_requested', '/diagnostics'),
    hears=('mode', 'torque_command', 'parameter_estimate', 'certified_estimate', 'plan_in_force'),
)
_NODES = {
    'identifier': NodeGraph(
        says=('parameter_estimate', 'payload', 'payload_markers', 'end_requested', '/diagnostics'),
        hears=('joint_states', 'mode', 'payload_since', 'payload_change', *EVENTS, TOUCHED),
    ),
    'planner': NodeGraph(
        says=(
            *('plan', 'certified_estimate', 'planned', 'plan_markers', 'reachable_set'),
            *('avoided', 'region', 'end_requested', '/diagnostics'),
        ),
        hears=(
            *('joint_states', 'parameter_estimate', 'plan_in_force', 'mode'),
            *('wanted_half_widths', 'handled_places', *REQUESTS, *SCENE),
        ),
        hidden={
            '_planner_samples': ('joint_states',),
            '_planner_obstacles': ('obstacles', 'planning_scene'),
        },
    ),
    'controller': NodeGraph(
        says=('torque_command', 'plan_in_force', 'end_requested', '/diagnostics'),
        hears=(
            *('joint_states', 'plan', 'planned', 'certified_estimate', 'parameter_estimate'),
            'mode',
        ),
    ),
    'supervisor': NodeGraph(
        says=(
            'mode',
            'payload_since',
            'payload_change',
            'wanted_half_widths',
            'handled_places',
            'gripper_command',
            'placed',
            *REQUESTS,
            '/diagnostics',
        ),
        hears=(
            *('/diagnostics', 'end_requested', 'joint_states', 'plan_in_force'),
            *('parameter_estimate', 'placed'),
        ),
        serves=tuple(f'~/{name}' for name in (*TRIGGERS, HANDED_OVER)),
        calls=tuple(f'{name}/change_state' for name in (*MANAGED, *BRIDGES)),
        executes=tuple(f'~/{name}' for name in ACTIONS),
        hidden={'_supervisor_samples': ('joint_states',)},
    ),
    'recorder': NodeGraph(
        says=('/diagnostics',),
        hears=('mode', 'end_requested'),
        calls=('/*/list_parameters', '/*/get_parameters'),
        hidden={'_recorder_inbox': (EVERYTHING,)},
    ),
    'monitor': NodeGraph(
        says=('end_requested',),
        hears=('/diagnostics', 'mode', 'end_requested', 'parameter_estimate'),
    ),
    'replay_bridge': NodeGraph(
        says=('joint_states', 'end_requested', '/diagnostics'),
        hears=('parameter_estimate', 'mode', '/diagnostics'),
    ),
    **{
        name: replace(
            _EDGE,
            hears=(*_EDGE.hears, 'gripper_command'),
            says=(*_EDGE.says, '/clock', *EVENTS),
            serves=tuple(f'~/{each}' for each in HAND),
        )
        for name in SIMULATORS
    },
    'ros2_control_bridge': replace(
        _EDGE,
        says=(*_EDGE.says, '/forward_effort_controller/commands'),
        hears=(*_EDGE.hears, '/joint_states'),
        calls=('/controller_manager/switch_controller',),
    ),
    'lbr_fri_bridge': replace(
        _EDGE, says=(*_EDGE.says, '/lbr/command/torque'), hears=(*_EDGE.hears, '/lbr/state')
    ),
    'franka_bridge': _EDGE,
}
# Who works with the loop: every request, nothing that only nodes say.
OPERATOR = NodeGraph(
    says=(*REQUESTS, *EVENTS, TOUCHED, *SCENE),
    hears=(EVERYTHING,),
    calls=(
        *(f'supervisor/{name}' for name in (*TRIGGERS, HANDED_OVER)),
        *(f'/*/{name}' for name in (*PARAMETERS, *LIFECYCLE)),
    ),
    asks=tuple(f'supervisor/{name}' for name in ACTIONS),
)


def graph_of(node: str) -> NodeGraph:
    """Return what a node uses, with what all nodes and all managed ones have."""
    own = _NODES[node]
    says, serves = [*own.says, *OF_ALL], [*own.serves, *(f'~/{name}' for name in PARAMETERS)]
    if node in (*MANAGED, *BRIDGES):
        says.append('~/transition_event')
        serves += [f'~/{name}' for name in LIFECYCLE]
    hears = own.hears if '/clock' in says else (*own.hears, '/clock')
    return replace(own, says=tuple(says), serves=tuple(serves), hears=hears)
