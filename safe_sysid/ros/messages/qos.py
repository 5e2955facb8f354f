"""The QoS profiles of the loop, and why each is what it is.

Everything is reliable: on one machine and for messages this small it costs nothing that can be
measured, and a reader may still ask for best effort. No reliable writer here waits for a slow
reader, because all keep the last messages only. What matters is how many are kept, and whether
somebody who comes later still gets them.
"""

from __future__ import annotations

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy


def _reliable(depth: int, durability: DurabilityPolicy) -> QoSProfile:
    return QoSProfile(
        depth=depth,
        history=HistoryPolicy.KEEP_LAST,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=durability,
    )


# joint_states, torque_command: a process that has to wait a few milliseconds for a processor
# finds what came meanwhile. With a depth of 1 every such wait would lose samples.
SAMPLES = _reliable(100, DurabilityPolicy.VOLATILE)

# joint_states for whoever needs all of them, also after a wait of half a second at 1 kHz:
# identifier and recorder.
EVERY_SAMPLE = _reliable(500, DurabilityPolicy.VOLATILE)

# joint_states for whoever needs the newest only: planner and supervisor.
NEWEST_SAMPLE = _reliable(1, DurabilityPolicy.VOLATILE)

# mode, parameter_estimate, plan_in_force, payload, markers: a state, whose last word counts.
# A node that is started again gets it at once.
STATE = _reliable(1, DurabilityPolicy.TRANSIENT_LOCAL)

# mode for whoever has to know every one that there was, also after a wait: controller and planner.
# In some of them what is held may have been changed.
MODES = _reliable(100, DurabilityPolicy.TRANSIENT_LOCAL)

# parameter_estimate for whoever tells when it changed, and may have to wait: the monitor.
EVERY_STATE = _reliable(500, DurabilityPolicy.TRANSIENT_LOCAL)

# plan, certified_estimate: the plan in force, its successor and what they were certified for reach
# a node that is started again, and none is overtaken by the next one.
PLANS = _reliable(4, DurabilityPolicy.TRANSIENT_LOCAL)

# ~/transition_event, as rclcpp has it.
EVENTS = _reliable(10, DurabilityPolicy.VOLATILE)

# planned: which sample the planner has looked at; nobody needs an old one.
ANSWERS = _reliable(10, DurabilityPolicy.VOLATILE)

# goal, goal_pose, wanted_half_widths: requests count when they are made; RViz and `ros2 topic pub`
# keep none for who comes later, and nobody wants an old one.
REQUESTS = _reliable(10, DurabilityPolicy.VOLATILE)

# Services of actions: whoever asks waits for an answer, so none of many requests at once may be
# lost. By default the last 10 are kept.
ASKED = _reliable(1000, DurabilityPolicy.VOLATILE)

# /diagnostics: what the tools that show it expect.
HEALTH = _reliable(10, DurabilityPolicy.VOLATILE)

# octomap: each map replaces the one before, so nobody wants an old one.
NEWEST_MAP = _reliable(1, DurabilityPolicy.VOLATILE)

# obstacles as our own probes show them.
SHOWN = _reliable(1000, DurabilityPolicy.VOLATILE)

# obstacles, planning_scene: each message changes some of them, so none may be lost, however many
# wait. Markers come from elsewhere: from publishers that keep nothing, and from some that keep the
# scene for whoever comes later, which only the second profile gets.
EVERY_MARKER = QoSProfile(
    history=HistoryPolicy.KEEP_ALL,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.VOLATILE,
)
EVERY_LATCHED_MARKER = QoSProfile(
    history=HistoryPolicy.KEEP_ALL,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)

# obstacle_points: as cameras publish them; each cloud replaces the one before.
NEWEST_CLOUD = QoSProfile(
    depth=1,
    history=HistoryPolicy.KEEP_LAST,
    reliability=ReliabilityPolicy.BEST_EFFORT,
    durability=DurabilityPolicy.VOLATILE,
)

# obstacle_motions: each of them is of one frame; the newest of each counts. As trackers publish
# odometry; a reader that asks for best effort hears both kinds.
MOTIONS = QoSProfile(
    depth=100,
    history=HistoryPolicy.KEEP_LAST,
    reliability=ReliabilityPolicy.BEST_EFFORT,
    durability=DurabilityPolicy.VOLATILE,
)

# /tf and /tf_static, as tf2 has them.
FRAMES = _reliable(100, DurabilityPolicy.VOLATILE)
STATIC_FRAMES = _reliable(100, DurabilityPolicy.TRANSIENT_LOCAL)

# /clock in lockstep: the newest time counts.
CLOCK = _reliable(1, DurabilityPolicy.VOLATILE)
