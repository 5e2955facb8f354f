"""What bounds from a recording rest on, in sentences with their figures."""

from __future__ import annotations

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.momentum_observation import ObservationSettings
from safe_sysid.identify.recording_settings import RecordingSettings
from safe_sysid.model.arm import Arm
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import TorqueErrors
from safe_sysid.sets.interval import Interval


def effort_sentences(arm: Arm) -> list[str]:
    """Say how the effort signal is read."""
    sign = arm.model.sensors.effort_sign
    if (sign == sign[0]).all():
        counted = 'in the sense of the joint axes' if sign[0] > 0 else 'against the joint axes'
    else:
        counted = f'with the signs {[int(s) for s in sign]}'
    scale = arm.model.sensors.effort_scale
    unit = '' if (scale == 1.0).all() else f', times {[float(f"{s:.4g}") for s in scale]}'
    said = [f'effort is read as {arm.facts.effort.kind}, counted {counted}{unit}']
    sliding = np.flatnonzero(arm.model.tree.is_prismatic)
    if sliding.size:
        names = ', '.join(arm.model.layout.joint_names[j] for j in sliding)
        said.append(
            f'prismatic: {names}; for such a joint read N for N m, m for rad, and kg for the '
            'kg m^2 of its armature'
        )
    return said


def beyond_rigid(settings: RecordingSettings) -> list[str]:
    """Say what is allowed for beside a rigid body."""
    if not settings.slosh_force:
        return []
    return [
        f'what sloshes, swings or flexes pulls with at most {settings.slosh_force:g} N beyond a '
        f'rigid body, nowhere farther than {settings.payload_reach:g} m from the last joint; the '
        'bounds are on that body'
    ]


def clock_sentences(cut_short: int) -> list[str]:
    """Say so where what is found depends on how busy the machine was."""
    if not cut_short:
        return []
    return [
        f'nothing more, but {cut_short} solves were ended by the clock: on another day or machine '
        'the bounds may be wider or narrower, and hold as well, and the nominal value another'
    ]


def assumptions(
    settings: ObservationSettings, model: RobotModel, prior: Interval, velocity_source: str
) -> list[str]:
    """A1 and A3 to A6 of the identifier with their figures; A2 is the prior."""
    position, velocity = settings.position_error, settings.velocity_error
    assert position is not None
    assert velocity is not None
    torque = settings.torques(model, prior)
    return [
        'A1: the arm is a chain of rigid bodies with the kinematics of the URDF, and friction is '
        f'Coulomb, viscous, rotor inertia and offset{_beyond(torque)}; nothing touches it, and '
        'from the first sample to the last it holds one and the same body',
        f'A3: every torque is within {_shares(_entries(torque.ratio))} of its value and '
        f'{_figures(_entries(torque.absolute))} N m{_lag(torque)}, every position within '
        f'{_figures(position)} rad{_constant(settings.zero_error)}, every velocity within '
        f'{_figures(velocity)} rad/s of the truth at its stamp ({velocity_source})',
        'A4: between two samples a velocity departs from the cubic through positions and '
        f"velocities at both by at most {0.5 * settings.safety_factor:g} times that cubic's own "
        'bulge, or, where errors hide it, times the change of velocity (docs/identification.md)',
        f'A5: torque is {settings.torque_signal} between samples',
        'A6: no joint stops and breaks away, or breaks away and stops, between two samples',
        'A2: theta is inside what is known before:',
    ]


def _constant(zero: tuple[float, ...] | None) -> str:
    """Say by how much joints read wrong all the time."""
    return f' (and a constant of up to {_figures(zero)} rad)' if zero and any(zero) else ''


def _beyond(torque: TorqueErrors) -> str:
    """Say what the model may lack."""
    said = ''
    if torque.friction.any():
        said += f', with up to {_figures(_entries(torque.friction))} N m more at rest'
    if torque.tilt:
        said += f'; gravity is within {torque.tilt:g} rad of its direction'
    return said


def _lag(torque: TorqueErrors) -> str:
    least, largest = (1e3 * x for x in torque.filter)
    if not largest:
        return ''
    return f' behind a low-pass of first order with a time constant of {least:g} to {largest:g} ms'


def _entries(values: Array) -> tuple[float, ...]:
    """Return one entry if all are the same."""
    distinct = tuple(values.tolist())
    return distinct if len(set(distinct)) > 1 else distinct[:1]


def _shares(values: tuple[float, ...]) -> str:
    return ', '.join(f'{100 * x:g} %' for x in values)


def _figures(values: tuple[float, ...]) -> str:
    distinct = values if len(set(values)) > 1 else values[:1]
    return ', '.join(f'{x:.3g}' for x in distinct)
