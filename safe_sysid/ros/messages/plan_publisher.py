"""PlanPublisher: a certified plan as a message, what it was certified for, and how it looks."""

from __future__ import annotations

from rclpy.node import Node
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

from safe_sysid.errors import ConfigError
from safe_sysid.measure.clock import Clock
from safe_sysid.model.parameters import ParameterEstimate, ParameterLayout
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.message import name_of, notice_of
from safe_sysid.ros.messages.codec import estimate_message, plan_message
from safe_sysid.ros.messages.drawings import frame_of_base
from safe_sysid.ros.messages.plan_drawings import plan_path, reachable_balls
from safe_sysid.ros.messages.qos import PLANS, STATE
from safe_sysid.trajectory.plan import Plan


class PlanPublisher:
    """Tells plans of one arm, in the name of a node."""

    def __init__(self, node: Node, model: RobotModel) -> None:
        self._model, self._frame = model, frame_of_base(model)
        self._plans = node.create_publisher(JointTrajectory, 'plan', PLANS)
        self._certified = node.create_publisher(Float64MultiArray, 'certified_estimate', PLANS)
        self._paths = node.create_publisher(MarkerArray, 'plan_markers', STATE)
        self._reach = node.create_publisher(MarkerArray, 'reachable_set', STATE)

    def publish(self, plan: Plan, clock: Clock, stamp: int) -> None:
        """Tell a plan that was found at a sample [ns]."""
        estimate = certified_estimate(self._model.layout, plan)
        self._certified.publish(estimate_message(estimate, stamp))
        notice = notice_of(plan, clock, name_of(estimate))
        self._plans.publish(plan_message(notice, self._model.layout.joint_names))
        self._draw(plan, notice.start)

    def _draw(self, plan: Plan, stamp: int) -> None:
        """For RViz; sets are computed only where somebody looks at them."""
        self._paths.publish(plan_path(self._model, plan, self._frame, stamp))
        if self._reach.get_subscription_count():
            self._reach.publish(reachable_balls(plan, self._frame, stamp))


def certified_estimate(layout: ParameterLayout, plan: Plan) -> ParameterEstimate:
    """Nominal parameters and bounds that a plan was certified for."""
    if plan.theta_bounds is None or plan.theta_0 is None:
        raise ConfigError('a plan without the bounds it was certified for is not sent')
    return ParameterEstimate(layout, plan.theta_0, plan.theta_bounds)
