"""The Franka robot of franka-sim: its model for that server, and a payload identified over it.

    python tools/franka_sim.py model URDF OUT.xml      # with the Python of franka-sim
    FR3_MJCF=OUT.xml run-franka-sim-server --no-gripper
    python tools/franka_sim.py identify [ADDRESS]      # with this package and pylibfranka
    python tools/franka_sim.py cycle [ADDRESS]         # the same; the process of our bridge

franka-sim and pylibfranka ask for other versions of numpy and MuJoCo than this package: give the
server an environment of its own. It reports torques without gravity, compensates gravity of all
bodies and knows no load, so that what can be identified is the bare flange, whose mass is printed
beside the bounds. Dry friction, viscous friction and armature are what `model` writes. A machine
that is too busy for the server (it says `physics overloaded`) makes its stamps wrong, and a
contradiction is what has to come of it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
import socket
import subprocess
import sys
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from safe_sysid.sets.interval import Interval

NAME = 'fr3'
VISCOUS, COULOMB = 0.5, 0.2  # [N m s/rad], [N m] of every joint
ARMATURE = (0.605721456, 0.605721456, 0.462474144, 0.462474144, *3 * (0.205544064,))  # [kg m^2]
HALF, JUMPS, JUMP = 4.0, (1.0, 1.01), 6.0  # [s], [s], [N m]: of the cycle
AFTER = 100  # states before control is asked for, and after it
SECONDS, LEAST_CHANGE = 8.0, 0.8  # [s]; [N m] per cycle, below what ends the control
FREQUENCY = np.array([0.25, 0.2, 0.3, 0.22, 0.35, 0.28, 0.4])  # [Hz]
SWING = np.array([0.25, 0.2, 0.25, 0.2, 0.3, 0.25, 0.4])  # [rad]
STIFFNESS = np.array([200.0, 200.0, 160.0, 160.0, 60.0, 40.0, 30.0])  # [N m/rad]
VELOCITY_ERROR = 1e-3  # [rad/s]: the server integrates by a rule of first order
LEAST_MASS = 0.2  # [kg]
TORQUE_ERRORS = 0.005, 0.05  # share, and [N m]: of cycles whose torque came late


def write_model(urdf: Path, out: Path) -> None:
    """Write the model of the server from the URDF that it comes with."""
    import mujoco

    root = ElementTree.parse(urdf).getroot()
    for link in root.iter('link'):
        for shape in [*link.findall('visual'), *link.findall('collision')]:
            link.remove(shape)
    orders = {'fusestatic': 'false', 'balanceinertia': 'true', 'discardvisual': 'true'}
    ElementTree.SubElement(ElementTree.SubElement(root, 'mujoco'), 'compiler', orders)
    model = mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding='unicode'))
    mujoco.mj_saveLastXML(str(out), model)
    tree = ElementTree.parse(out)
    joints = [joint for joint in tree.getroot().iter('joint') if joint.get('name')]
    for joint, armature in zip(joints, ARMATURE, strict=True):
        joint.set('armature', repr(armature))
        joint.set('damping', repr(VISCOUS))
        joint.set('frictionloss', repr(COULOMB))
    tree.write(out)


def swing(address: str) -> NDArray[np.float64]:
    """Stamps [s], positions, velocities and torques of a robot that swings about where it is."""
    import pylibfranka as library

    robot = library.Robot(address, library.RealtimeConfig.kIgnore)
    begin, start = None, np.array(robot.read_once().q)
    control, torque, rows = robot.start_torque_control(), np.zeros(7), []
    while True:
        state, _ = control.readOnce()
        q, qd = np.array(state.q), np.array(state.dq)
        rows.append([state.time.to_sec(), *q, *qd, *state.tau_J])
        begin = rows[-1][0] if begin is None else begin
        t = rows[-1][0] - begin
        much = min(1.0, 0.5 * t) * min(1.0, max(0.0, 2.0 * (SECONDS - t)))
        w = 2.0 * np.pi * FREQUENCY
        pull = STIFFNESS * (start + much * SWING * np.sin(w * t) - q)
        pull += 0.13 * STIFFNESS * (much * SWING * w * np.cos(w * t) - qd)
        torque = torque + np.clip(pull - torque, -LEAST_CHANGE, LEAST_CHANGE)
        told = library.Torques(torque.tolist())
        told.motion_finished = t >= SECONDS
        control.writeOnce(told)
        if told.motion_finished:
            return np.array(rows)


def identified(rows: NDArray[np.float64]) -> tuple[Interval, NDArray[np.float64]]:
    """Bounds on the end effector, and what it is."""
    from safe_sysid.config import from_mapping, read_yaml
    from safe_sysid.identify.momentum_observation import ObservationSettings
    from safe_sysid.identify.online_identifier import IdentifierSettings, OnlineIdentifier
    from safe_sysid.identify.solves import SolvesAtOnce
    from safe_sysid.loop_settings import LoopPriorSettings
    from safe_sysid.measure.joint_log import JointMeasurement
    from safe_sysid.model.effort_contract import CommandSignal, EffortContract
    from safe_sysid.model.robot_model import RobotModel
    from safe_sysid.share import share_directory

    bare = RobotModel.named(NAME)
    theta, layout = bare.theta.copy(), bare.layout
    for label, value in (('Fc', COULOMB), ('Fv', VISCOUS), ('Ia', ARMATURE), ('beta', 0.0)):
        theta[layout.joint_entries(label)] = value
    ratio, absolute = TORQUE_ERRORS
    sensing = bare.sensors.sensing
    torque = replace(
        sensing.torque, sensor='motor', ratio=(ratio,), absolute=(absolute,), filter=(0.0, 0.0)
    )
    sensing = replace(sensing, stamp_error=0.0, zero_error=(0.0,), torque=torque)
    model = replace(
        bare.with_parameters(theta),
        sensors=replace(bare.sensors, sensing=sensing),
        gravity_tilt=0.0,
    )
    loop = read_yaml(share_directory() / 'config' / 'loop' / f'{NAME}.yaml')
    known = dict(loop['/**']['ros__parameters']['prior'])
    known['lower'] = [LEAST_MASS, *known['lower'][1:]]
    prior = from_mapping(LoopPriorSettings, known, 'prior')
    observation = ObservationSettings(
        torque_signal='held_until', position_error=(1e-6,), velocity_error=(VELOCITY_ERROR,)
    )
    settings = IdentifierSettings(observation)
    identifier = OnlineIdentifier(model, prior.estimate(model), settings, SolvesAtOnce)
    gravity = EffortContract(bare, CommandSignal()).gravity
    for stamp, *values in rows:
        q, qd, effort = np.reshape(values, (3, 7))
        sample = JointMeasurement(round(1e9 * stamp), q, qd, effort + gravity(q))
        identifier.step(sample)
    bounds = identifier.finish().end_effector_bounds
    return bounds, model.theta[layout.end_effector]


def cycled(address: str, stride: int) -> str:
    """Be the bridge of a cycle: take control, swing, jump by 6 N m, give control back."""
    from safe_sysid.ros.bridges import franka_cycle as cycle

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    handle = str(theirs.fileno())
    line = [sys.executable, '-m', cycle.__name__, address, handle, str(stride)]
    states, start, begin, last = [], np.zeros(7), 0.0, None
    with subprocess.Popen(line, pass_fds=[theirs.fileno()]) as process:
        theirs.close()
        ours.settimeout(10.0)
        while last is None or len(states) < last + AFTER:
            message = ours.recv(cycle.LONGEST)
            if message[:1] == cycle.TEXT:
                raise SystemExit(f'the cycle says: {message[1:].decode()}')
            states.append(state := cycle.FrankaState.of_message(message[1:]))
            t = 1e-9 * state.stamp - begin
            if not state.takes_torque:
                start, begin = state.q, 1e-9 * state.stamp
                if len(states) == AFTER:
                    ours.send(cycle.TAKE)
                continue
            w = 2.0 * np.pi * FREQUENCY
            pull = STIFFNESS * (start + 0.5 * SWING * np.sin(w * t) - state.q)
            pull += 0.13 * STIFFNESS * (0.5 * SWING * w * np.cos(w * t) - state.qd)
            pull += JUMP if JUMPS[0] < t < JUMPS[1] else 0.0
            request = cycle.TORQUE if t < HALF else cycle.FINISH
            last = None if t < HALF else len(states)
            ours.send(request + cycle.TORQUES.pack(*pull))
        ours.close()
    steps = np.diff([state.stamp for state in states]) * 1e-6
    swung = np.ptp([state.q for state in states], axis=0).min()
    others = sorted({state.mode for state in states} - {'idle', 'move'})
    held = sum(state.takes_torque for state in states)
    return (
        f'every {stride}. state: {held} torques, states at most {steps.max():g} ms apart, each '
        f'joint swung by {swung:.2g} rad or more, modes beside idle and move: '
        f'{others or "none"}, status {process.returncode}'
    )


def main(words: list[str]) -> int:
    """Do what the first word says."""
    if words[:1] == ['model'] and len(words) == 3:
        write_model(Path(words[1]), Path(words[2]))
        return 0
    if words[:1] == ['cycle'] and len(words) <= 2:
        for stride in (1, 4):
            sys.stdout.write(f'{cycled((*words[1:], "127.0.0.1")[0], stride)}\n')
        return 0
    if words[:1] != ['identify'] or len(words) > 2:
        raise SystemExit(__doc__)
    from safe_sysid.identify.online_identifier import IdentificationFault

    rows = swing(words[1] if len(words) == 2 else '127.0.0.1')
    late = np.diff(rows[:, 0]).max()
    try:
        bounds, truth = identified(rows)
    except IdentificationFault as fault:
        sys.stderr.write(f'{fault}\nDoes the server say that it is overloaded?\n')
        return 1
    is_inside = np.all((bounds.lower <= truth) & (truth <= bounds.upper))
    inside = 'yes' if is_inside else 'NO'
    sys.stdout.write(
        f'{len(rows)} cycles, at most {1e3 * late:.3g} ms apart\n'
        f'mass {bounds.lower[0]:.3f} to {bounds.upper[0]:.3f} kg, it is {truth[0]:.3f} kg; '
        f'all ten figures inside: {inside}\n'
    )
    return 0 if is_inside else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
