"""Topics on which planner and gripper are asked for something, and figures of the answers."""

from __future__ import annotations

GOAL = 'goal'  # sensor_msgs/JointState; no names: there is no goal any more
GOAL_POSE = 'goal_pose'  # geometry_msgs/PoseStamped
GRIPPER = 'gripper_command'  # std_msgs/Bool; true: close
PLACES = 'handled_places'  # std_msgs/String: may the arm stand there; nothing moves
PATH = 'path'  # trajectory_msgs/JointTrajectory; no points: there is no goal any more
WANTED = 'wanted_half_widths'  # std_msgs/Float64MultiArray of theta_e, first entries; 0: any

# names of goals are stamps as a rule, see request_names.py
WAITING = 'requests that wait [ns]'  # names of goals heard and not answered yet, as they came
LATELY = 'requests answered lately [ns]'  # their names, as they were answered
ANSWERED = 'request answered [ns]'  # name of the goal that was taken or refused last
CHECKED = 'places checked [ns]'  # stamp of the newest question about places that is answered
CHECK_PICKS = 'picks again'  # stamp, JSON of what was placed and is picked there, and the way in
CHECK_REFUSED = 'places refused'  # its stamp and the reason; empty: the arm may stand there
TAKEN = 'goal [ns]'  # name of the goal that the task leads to; empty: that of the settings
REFUSED = 'goal refused'  # name and reason
GIVEN_UP = 'goal given up'  # name and reason
AWAY = 'goal away [rad]'
AWAY_AT = 'goal away at [ns]'  # stamp of the sample that says so
PIECES = 'pieces certified'  # since the goal was taken; of a path, pieces that it has
PATH_PIECES = 'pieces of the path'  # 0 where there is none
LEARNS_TO = 'learns to'  # half widths, as a list; empty: as the settings say
ON_THE_WAY = 'learns on the way'  # True: a goal is led to at once, and what it needs is learnt
PLACED_AVOIDED = 'placed objects'  # names of what was placed and is an obstacle now
ERRAND = 'errand'  # of the supervisor: the step that goes on, or how it came out
DONE, FAILED = 'done', 'failed'  # with which that begins
