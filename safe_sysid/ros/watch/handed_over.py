"""HandedOver: whether the robot itself was told what it holds, so that it adds the load, too.

The law of the loop adds the load. A robot that knows of it adds it once more to every torque, so
the two exclude each other: the robot is told only while the loop gives no torque, and nothing
begins before the robot was told that it holds what it held before.
"""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node
from std_srvs.srv import SetBool

from safe_sysid.ros.watch.activation import BEGINS
from safe_sysid.ros.watch.heartbeats import Heartbeats
from safe_sysid.track.supervisor import Mode, Signal

SERVICE = 'handed_over'  # true: the robot is told of the load now; false: it knows it no more
KNOWS = 'robot adds the load'  # figure of the supervisor
ALREADY = 'the robot has been told of a load before'
TAKES_HOLD = (*BEGINS, Signal.RESET_FAULT)  # after which there is torque


class HandedOver:
    """Grants that the robot is told of the load, and refuses to begin from then on."""

    def __init__(self, node: Node, nodes: Heartbeats, mode: Callable[[], Mode]) -> None:
        self._nodes, self._mode = nodes, mode
        self.robot_adds_load = False
        node.create_service(SetBool, f'~/{SERVICE}', self._serve)

    def refusal(self, signal: Signal) -> str:
        """Why there may be no torque."""
        if not self.robot_adds_load or signal not in TAKES_HOLD:
            return ''
        return (
            f'{signal.value} has to wait: the robot was told what it holds (hand-over), so it '
            'would add the load to torques that hold it already; tell the robot that it holds '
            f'what it held before, then call supervisor/{SERVICE} with data: false'
        )

    def asked(self, is_told: bool) -> tuple[bool, str]:
        """Whether the robot may be told of the load; that it knows it no more is always taken."""
        if not is_told:
            self.robot_adds_load = False
            return True, ''
        mode, gives = self._mode(), self._nodes.any_figure('gives_torque')
        if gives is None:
            return False, 'no bridge has been heard, so nobody knows whether the arm is held'
        if mode is not Mode.IDLE or gives != 'False':
            return False, (
                f'the loop holds the arm by torques that carry the load already (mode '
                f'{mode.value}); supervisor/stop first'
            )
        said = ALREADY if self.robot_adds_load else ''
        self.robot_adds_load = True
        return True, said

    def _serve(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        response.success, response.message = self.asked(request.data)
        return response
