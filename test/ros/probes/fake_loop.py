"""All of a loop but its supervisor, as far as a hand-over sees it: a UR5e that stands.

Takes parameters of the identifier as ROS arguments, and on standard input one JSON object with
the estimate (`lower`, `nominal` and `upper`, all of theta) and figures of the identifier. Says
`ready`.
"""

import json
import sys

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
import rclpy
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.ros.messages.codec import SECOND, JointStateWriter, estimate_message
from safe_sysid.ros.messages.qos import EVERY_SAMPLE, HEALTH, STATE
from safe_sysid.ros.process.lifecycle import STATE as LIFE
from safe_sysid.ros.process.lifecycle import WAITS
from safe_sysid.ros.watch.health import Condition, status_of
from safe_sysid.sets.interval import Interval

STAMP = 7 * SECOND  # [ns] of the estimate
AGE = 3 * SECOND  # [ns] by which the newest sample is newer
PERIOD = 0.05  # [s]


class FakeLoop(Node):
    """The identifier; it speaks for planner, controller and bridge as well."""

    def __init__(self, told):
        super().__init__('identifier', automatically_declare_parameters_from_overrides=True)
        model = RobotModel.named('ur5e')
        lower, theta, upper = (np.array(told[name]) for name in ('lower', 'nominal', 'upper'))
        estimate = ParameterEstimate(model.layout, theta, Interval(lower, upper))
        self.figures = told['figures']
        self.estimates = self.create_publisher(Float64MultiArray, 'parameter_estimate', STATE)
        self.health = self.create_publisher(DiagnosticArray, '/diagnostics', HEALTH)
        self.samples = self.create_publisher(JointState, 'joint_states', EVERY_SAMPLE)
        self.writer, self.count = JointStateWriter(model.layout.joint_names, 'fake'), 0
        self.still = np.zeros(model.n)
        self.estimates.publish(estimate_message(estimate, STAMP))
        self.create_timer(PERIOD, self.speak)

    def speak(self):
        there = {LIFE: 'active', WAITS: 'False'}
        says = {
            'identifier': {**there, **self.figures},
            'planner': there,
            'controller': there,
            'bridge': {'gives_torque': False},
        }
        statuses = []
        for name, figures in says.items():
            status = status_of(self, Condition('', frozenset(), figures))
            status.name = f'{self.get_namespace().rstrip("/")}/{name}'
            statuses.append(status)
        self.health.publish(DiagnosticArray(status=statuses))
        at = JointMeasurement(STAMP + AGE, self.still, self.still, self.still)
        self.samples.publish(self.writer.message(at))


def main():
    rclpy.init()
    node = FakeLoop(json.loads(sys.stdin.readline()))
    sys.stdout.write('ready\n')
    sys.stdout.flush()
    rclpy.spin(node)


if __name__ == '__main__':
    main()
