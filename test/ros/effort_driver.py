"""A driver under ros2_control with an arm behind it, in a process that imports nothing of ours.

What it does is what the forwarding controllers and the controller manager do: an effort controller
repeats the last command for ever, whoever has gone; before the first one the arm is held; a
position controller holds it where it is from the moment it is switched on. The dynamics are
Pinocchio's of the URDF, with armature and friction from its arguments.

Simulated time goes on by a tick once a command has come after the last state, at most as fast as
the clock; without an effort controller at the pace of the clock. A driver whose commands have no
publisher any more, or that has the arm back and hears none, lets time run on by `AFTER`, and ends.

    effort_driver.py '{"urdf": ..., "joints": [...], "armature": [...], "log": ..., ...}'
"""

import json
import math
from pathlib import Path
import sys
import time

import numpy as np
import pinocchio
import rclpy
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

SUBSTEPS = 20
SWEEPS = 5  # over the joints, to find what dry friction does
AFTER = 3.0  # [s] of simulated time that is looked at after the last command
REPEATS = 6.0  # [s] without a command after which the last one goes on
QUEUE = QoSProfile(depth=100)
CONTROLLER, HOLD = 'forward_effort_controller', 'joint_trajectory_controller'


class Arm:
    """Rigid bodies with armature, viscous and dry friction; or held where they are."""

    def __init__(self, given):
        self._model = model = pinocchio.buildModelFromUrdf(given['urdf'])
        assert list(model.names)[1:] == given['joints']
        self._data = model.createData()
        self._armature = np.diag(given['armature'])
        self._viscous, self._dry = np.array(given['viscous']), np.array(given['coulomb'])
        self.q, self.qd = np.array(given['start']), np.zeros(model.nv)

    def gravity(self):
        return pinocchio.computeGeneralizedGravity(self._model, self._data, self.q).copy()

    def move(self, torque, seconds):
        """Semi-implicit Euler; dry friction is an impulse that stops a joint if it can."""
        h = seconds / SUBSTEPS
        for _ in range(SUBSTEPS):
            mass = pinocchio.crba(self._model, self._data, self.q)
            mass = np.triu(mass) + np.triu(mass, 1).T + self._armature
            bias = pinocchio.nonLinearEffects(self._model, self._data, self.q, self.qd)
            inverse = np.linalg.inv(mass)
            free = self.qd + h * inverse @ (torque - bias - self._viscous * self.qd)
            impulse = np.zeros_like(free)
            for _ in range(SWEEPS):
                for j in range(len(free)):
                    left = free + inverse @ impulse
                    wanted = impulse[j] - left[j] / inverse[j, j]
                    impulse[j] = np.clip(wanted, -h * self._dry[j], h * self._dry[j])
            self.qd = free + inverse @ impulse
            self.q = self.q + h * self.qd


class Driver:
    """Broadcaster, effort controller, position controller and their manager."""

    def __init__(self, node, given):
        self._node, self._given = node, given
        self._arm, self._period = Arm(given), given['period']
        self._active, self._effort = CONTROLLER, None  # nothing is written before a command
        self._ticks, self._has_news, self._since = 0, False, time.monotonic()
        self._heard = math.inf  # when the last command came
        self._log = Path(given['log']).open('w', buffering=1)  # noqa: SIM115
        self._clock = node.create_publisher(Clock, '/clock', QUEUE)
        self._states = node.create_publisher(JointState, '/joint_states', QUEUE)
        self._topic = f'/{CONTROLLER}/commands'
        node.create_subscription(Float64MultiArray, self._topic, self._on_command, QUEUE)
        if given['switches']:
            from controller_manager_msgs.srv import SwitchController

            name = '/controller_manager/switch_controller'
            node.create_service(SwitchController, name, self._on_switch)

    def run(self):
        """Until nobody commands any more, and a while longer."""
        was_commanded = False
        while rclpy.ok():
            self._tell()
            self._wait()
            self._tick()
            publishers = self._node.count_publishers(self._topic)
            was_commanded = was_commanded or publishers > 0
            if was_commanded and (not publishers or self._is_left()):
                break
        for _ in range(round(AFTER / self._period)):
            self._tick()
        self._say(over=True)

    def _wait(self):
        """For a command, or for the time that a tick takes."""
        while time.monotonic() - self._since < self._period or self._expects_command():
            rclpy.spin_once(self._node, timeout_sec=0.002)
            if time.monotonic() - self._since > REPEATS:
                break
        self._since, self._has_news = time.monotonic(), False

    def _is_left(self):
        """Whether the arm was handed over, and nobody has commanded for long.

        The graph of ROS may know a publisher for minutes that has left.
        """
        return self._active == HOLD and time.monotonic() - self._heard > REPEATS

    def _expects_command(self):
        return self._active == CONTROLLER and self._effort is not None and not self._has_news

    def _tick(self):
        if self._active == CONTROLLER and self._effort is not None:
            self._arm.move(self._effort, self._period)
        else:
            self._arm.qd[:] = 0.0
        self._ticks += 1
        self._say(q=self._arm.q.tolist(), qd=self._arm.qd.tolist())

    def _torque(self):
        is_told = self._active == CONTROLLER and self._effort is not None
        return self._effort if is_told else self._arm.gravity()

    def _tell(self):
        stamp = round((1.0 + self._ticks * self._period) * 1e9)
        clock = Clock()
        clock.clock.sec, clock.clock.nanosec = divmod(stamp, 10**9)
        self._clock.publish(clock)
        msg = JointState(name=[*reversed(self._given['joints'])])
        msg.header.stamp = clock.clock
        msg.position, msg.velocity = self._arm.q[::-1].tolist(), self._arm.qd[::-1].tolist()
        msg.effort = self._torque()[::-1].tolist()
        self._states.publish(msg)

    def _on_command(self, msg):
        self._has_news, self._heard = True, time.monotonic()
        if self._active == CONTROLLER and np.isfinite(msg.data).all():
            self._effort = np.array(msg.data)

    def _on_switch(self, request, response):
        """What a manager answers to a strict request, and to one that takes what it can get."""
        on, off = list(request.activate_controllers), list(request.deactivate_controllers)
        known = {*on, *off} <= {CONTROLLER, HOLD}
        fits = on != [self._active] and off == [self._active]
        response.ok = known and (fits or request.strictness == request.BEST_EFFORT)
        if response.ok and on:
            (self._active,) = on
            self._effort = None if fits else self._effort
        self._say(switched=on, ok=response.ok)
        return response

    def _say(self, **what):
        t = 1.0 + self._ticks * self._period
        self._log.write(json.dumps({'t': t, 'active': self._active, **what}) + '\n')


def main():
    """Until nobody commands any more."""
    rclpy.init()
    Driver(rclpy.create_node('driver'), json.loads(sys.argv[1])).run()


if __name__ == '__main__':
    sys.exit(main())
