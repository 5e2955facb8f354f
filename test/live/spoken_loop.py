"""What a loop of the two-link arm says while it follows one plan, as plain messages."""

from types import SimpleNamespace as Message

import numpy as np

from safe_sysid.live.loop_listener import Nodes, Parameters
from safe_sysid.measure.bag.messages import BagMessage
from safe_sysid.measure.clock import Clock
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.plan.message import fill_plan, name_of, notice_of
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

BEGIN = 1_763_744_000 * 10**9  # [ns]
DURATION = 2.0  # [s]
PARAMETERS = {
    'robot': 'two_link', 'payload': '', 'world': 'empty', 'period': 0.001,
    'gains.K_r': [10.0], 'gains.V_M': 0.002, 'gains.alpha': 25.0,
}  # fmt: skip


class SpokenLoop:
    """The arm on its plan, and what is known of it."""

    def __init__(self):
        self.model = RobotModel.named('two_link')
        bounds = ratio_bounds(self.model.theta, 0.05)
        self.estimate = ParameterEstimate(self.model.layout, self.model.theta, bounds)
        self.curve = Bezier(np.array([0.2, -0.4]), np.zeros(2), np.zeros(2), DURATION)
        name = name_of(self.estimate)
        self.plan = Plan(
            0.0, DURATION, self.curve, np.array([0.5, 0.3]), bounds, name, self.model.theta
        )
        self.notice = notice_of(self.plan, Clock(BEGIN), name)

    def hello(self):
        """Which nodes there are, and with which parameters."""
        lines = ''.join(f'  {key}: {value!r}\n' for key, value in PARAMETERS.items())
        return [Nodes(('planner',)), Parameters(f'/planner:\n ros__parameters:\n{lines}')]

    def states(self):
        """What counts until something else is said."""
        rows = (self.estimate.bounds.lower, self.estimate.theta, self.estimate.bounds.upper)
        numbers = Message(data=np.concatenate([divmod(BEGIN, 10**9), *rows]))
        plan = Message(
            header=Message(stamp=Message(sec=0, nanosec=0), frame_id=''),
            joint_names=(), points=[],
        )  # fmt: skip
        fill_plan(plan, self._point, self.notice, self.model.layout.joint_names)
        return [
            _said('/mode', Message(data='exciting')),
            _said('/parameter_estimate', numbers),
            _said('/certified_estimate', numbers),
            _said('/plan_in_force', plan),
        ]

    def sample(self, time, source='bridge 1'):
        """Where the arm is on its plan."""
        stamp, q = BEGIN + round(time * 1e9), self.plan.desired(time)[0]
        when = Message(sec=stamp // 10**9, nanosec=stamp % 10**9)
        header = Message(stamp=when, frame_id=source)
        names = list(self.model.layout.joint_names)
        return _said('/joint_states', Message(header=header, name=names, position=q))

    def torque(self, share):
        """Every joint at a share of its limit."""
        numbers = np.concatenate([divmod(BEGIN, 10**9), share * self.model.limits.torque])
        return _said('/torque_command', Message(data=numbers))

    def box(self):
        """An obstacle beside the arm."""
        return _said('/avoided', Message(markers=[_cube()]))

    def _point(self):
        return Message(time_from_start=Message(sec=0, nanosec=0))


def _cube():
    return Message(
        ns='box', id=0, type=1, action=0, scale=Message(x=0.2, y=0.2, z=0.2),
        pose=Message(
            position=Message(x=0.0, y=0.6, z=0.3), orientation=Message(x=0.0, y=0.0, z=0.0, w=1.0)
        ),
    )  # fmt: skip


def _said(topic, data):
    return BagMessage(topic, 0, data)
