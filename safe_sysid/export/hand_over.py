"""An identified payload as what a driver that runs is asked or told, by maker.

Each has a type of message, the name it usually has, its fields in the units of the maker, and
sentences on frame, unit and interval: how wrong it may be. What the motion has not determined is
not handed over. Centres are in the axes of the flange, inertias about the centre of mass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError
from safe_sysid.export.compared_body import compared_body, with_mounted
from safe_sysid.export.flange import FLANGES
from safe_sysid.export.formats import ALONE, NO_OBJECT, WHOLE
from safe_sysid.export.payload_controllers import (
    checked_inertia,
    comments,
    refuse_short,
    universal_robots,
)
from safe_sysid.identify.determined import NAMES, determined_about_com, handed_on
from safe_sysid.identify.payload_in_frame import Body
from safe_sysid.sets.interval import Interval

INERTIA = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
ENTRIES = {
    'ixx': (0, 0),
    'ixy': (0, 1),
    'ixz': (0, 2),
    'iyy': (1, 1),
    'iyz': (1, 2),
    'izz': (2, 2),
}
COMPENSATES = ('ur', 'ur-script', 'franka')  # add the gravity of their load to every torque
POINT_MASS = (
    'the inertia is zero, that of a point mass, as the motion has not determined it; that of a '
    'compact body is in what `identify --export ur=FILE --export-undetermined` writes'
)


@dataclass(frozen=True)
class Asked:
    """What somebody wants to hand over, beside the payload."""

    transition: float = 0.0  # [s] over which a robot changes over
    object: str = ''  # of MoveIt's scene
    link: str = ''  # that it is attached to
    frame: str = ''  # that is the flange, whatever its name; none: as the maker's drivers call it


@dataclass(frozen=True)
class HandOver:
    """One request or message."""

    type: str  # such as ur_msgs/srv/SetPayload
    name: str  # of the service or topic, where nobody says another one
    fields: Mapping[str, Any]
    sentences: tuple[str, ...]  # frame, units, intervals, and what to mind
    newer: tuple[str, ...] = ()  # fields that older drivers do not have
    without_them: str = ''  # what a driver does that has none of them
    others: tuple[Mapping[str, Any], ...] = ()  # the same in fields of other versions

    @property
    def is_service(self) -> bool:
        """Whether it is answered."""
        return '/srv/' in self.type


def body_of(found: Mapping[str, Any], to: str) -> Body:
    """Return what `identify --json` printed of the payload, or of the object alone.

    A Franka and MoveIt know the gripper by themselves; a UR is told all behind its flange.
    """
    payload = _told(found, to)
    body = _stated(found, payload) if 'lower' in payload else _compared(payload)
    body = replace(body, caution=str(found.get('caution') or ''))
    refuse_short(to, body)
    if to in WHOLE and 'lower' not in payload:
        body = with_mounted(body, _ten(payload.get('mounted', np.zeros(10))))
    nominal, bounds = body.nominal, body.bounds
    room = 1e-6 * (1e-3 + np.abs(nominal))
    inside = (bounds.lower - room <= nominal) & (nominal <= bounds.upper + room)
    if not (inside & np.isfinite(nominal)).all():
        raise ConfigError(
            f'the payload {nominal.tolist()} is not within its interval, {bounds.lower.tolist()} '
            f'to {bounds.upper.tolist()}'
        )
    return body


def _stated(found: Mapping[str, Any], payload: Mapping[str, Any]) -> Body:
    """Return a payload with bounds on one recording, and what they rest on."""
    unstated = found.get('unstated', [])
    if not isinstance(unstated, list):
        raise ConfigError(
            'the payload is not what `identify --json` prints: '
            f'unstated is {unstated!r}, it has to be a list'
        )
    frame, nominal = _nominal(payload)
    bounds = _interval((payload['lower'], payload.get('upper')))
    assumed, contains = tuple(map(str, unstated)), str(payload.get('contains', ''))
    return Body(frame, nominal, bounds, assumed, contains=contains)


def _compared(payload: Mapping[str, Any]) -> Body:
    """Return a payload found against empty recordings, as exports have it."""
    given = [payload.get(kind) for kind in ('statistical', 'guaranteed')]
    if not any(given):
        raise ConfigError('there is nothing to hand over: the payload has no interval')
    statistical, guaranteed = (_interval(each) if each else None for each in given)
    frame, nominal = _nominal(payload)
    if not np.isfinite(nominal).all():
        raise ConfigError(f'the payload is {nominal.tolist()}; ten finite numbers are needed')
    confidence = payload.get('confidence')
    if not isinstance(confidence, float | int | None):
        raise ConfigError(f'the confidence is {confidence!r}, it has to be a number')
    contains = str(payload.get('contains', ''))
    body = compared_body(frame, nominal, (statistical, guaranteed), confidence, contains)
    assert body is not None
    return body


def _nominal(payload: Mapping[str, Any]) -> tuple[str, Array]:
    """Return the frame and ten numbers."""
    try:
        return str(payload['frame']), _ten(payload['nominal'])
    except KeyError as error:
        raise ConfigError(f'the payload is not what `identify --json` prints: {error}') from error


def _interval(pair: Any) -> Interval:
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        raise ConfigError(f'the payload has no interval, but {pair!r}')
    return Interval(_ten(pair[0]), _ten(pair[1]))


def _ten(values: Any) -> Array:
    try:
        numbers = np.array(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ConfigError(f'the payload is not what `identify --json` prints: {error}') from error
    if numbers.shape != (10,):
        raise ConfigError(f'the payload has {numbers.shape} parameters; ten are needed')
    return numbers


def _told(found: Mapping[str, Any], to: str) -> Mapping[str, Any]:
    """Return the payload; of the object alone, if somebody knows the rest by himself."""
    payload, reason, alone = found.get('payload'), 'it has no payload', found.get('object')
    if alone is not None and not isinstance(alone, Mapping):
        raise ConfigError(
            f'the object is not what `identify --json` prints: {alone!r}, it has to be a mapping'
        )
    if to in ALONE and alone is not None:
        payload, reason = alone.get('alone'), NO_OBJECT
    if found.get('refused') or not isinstance(payload, Mapping):
        raise ConfigError(f'there is nothing to hand over: {found.get("refused") or reason}')
    return payload


def handed_over(to: str, body: Body, asked: Asked) -> HandOver:
    """Return what a driver is asked or told; raise a ConfigError where that is not determined."""
    if to not in MAKERS:
        raise ConfigError(f"nothing is handed over to '{to}'; there are {list(MAKERS)}")
    by_name = _taken_for_flange(to, body.frame, asked.frame)
    made = MAKERS[to](body, asked)
    told = tuple(comments(handed_on(body), '').strip().splitlines())
    return replace(made, sentences=(*(line.strip() for line in told), *made.sentences, *by_name))


def _taken_for_flange(to: str, frame: str, said: str) -> tuple[str, ...]:
    """Say by what name a frame is the flange; refuse one that is not.

    It is the one that was said, or one of a driver's name with the prefix of an arm.
    """
    flange = said or FLANGES.get(to, '')
    if not flange or frame == flange:
        return ()
    prefix = '' if said else frame.removesuffix(flange)
    if frame != prefix + flange or prefix[-1:].isalnum() or not prefix.isprintable():
        raise ConfigError(
            f"the payload is in the frame '{frame}', and {to} takes it in the axes of its "
            f"flange, '{flange}'; identify with --flange, or say which frame is the flange"
        )
    return (f"by its name, '{frame}' is taken for the flange of the arm",)


def _ur(body: Body, asked: Asked) -> HandOver:
    knows = _knows_inertia(body, 'set_payload')
    inertia = _moments(body) if knows else dict.fromkeys(INERTIA, 0.0)
    seconds, rest = divmod(round(asked.transition * 1e9), 1_000_000_000)
    duration = {'sec': seconds, 'nanosec': rest}
    fields = {
        'mass': body.mass,
        'center_of_gravity': _vector(body.com),
        **inertia,
        'transition_time': duration,
    }
    number = {'transition_time': float(asked.transition)}  # [s], as some versions have it
    since_3 = {  # ur_msgs 3.0
        'payload': {'m': body.mass, 'com': _vector(body.com), **inertia},
        **number,
    }
    others = since_3, {**fields, **number}, {**since_3, 'transition_time': duration}
    said = 'kg, m, kg m^2 in the axes of the tool flange; what hangs behind the flange is meant'
    without = (
        'this driver knows no inertia, and the robot forgets the one it had; --to ur-script says '
        'it' if knows else ''
    )  # fmt: skip
    more = () if knows else (POINT_MASS,)
    return HandOver(
        'ur_msgs/srv/SetPayload', '/io_and_status_controller/set_payload', fields,
        (said, *more), (*INERTIA, 'transition_time'), without, others,
    )  # fmt: skip


def _ur_script(body: Body, asked: Asked) -> HandOver:
    _refuse_undetermined(body, NAMES, 'ur-script')
    call = universal_robots(handed_on(body)).splitlines()[-1]
    call = f'{call[:-1]}, {asked.transition:.6f})' if asked.transition else call
    return HandOver(
        'std_msgs/msg/String', '/urscript_interface/script_command',
        {'data': f'sec hand_over():\n  {call}\nend\n'},
        (
            'kg, m, kg m^2 in the axes of the tool flange',
            'a secondary program: the program that runs goes on; in remote control only, and '
            'nobody answers: look at the payload on the pendant',
        ),
    )  # fmt: skip


def _franka(body: Body, asked: Asked) -> HandOver:
    del asked
    _refuse_undetermined(body, NAMES, 'franka')
    columns = checked_inertia(handed_on(body)).T.ravel().tolist()
    return HandOver(
        'franka_msgs/srv/SetLoad', '/service_server/set_load',
        {'mass': body.mass, 'center_of_mass': body.com.tolist(), 'load_inertia': columns},
        (
            'kg, m from the flange, kg m^2 column by column in its axes; without the end effector '
            'that the robot is told in Desk',
            'it is refused while the arm moves; never while a torque that holds the load as well '
            'is commanded',
        ),
    )  # fmt: skip


def _moveit(body: Body, asked: Asked) -> HandOver:
    _refuse_undetermined(body, NAMES[:1], 'moveit')
    if not (asked.object and asked.link):
        raise ConfigError(
            'MoveIt is told the weight of an object of its scene: give --object and --link'
        )
    return HandOver(
        'moveit_msgs/msg/AttachedCollisionObject', '/attached_collision_object',
        {
            'link_name': asked.link,
            'object': {'id': asked.object, 'operation': [0]},
            'weight': body.mass,
        },
        (
            f'kg; the object {asked.object} of the scene, with its shape there, is attached to '
            f'{asked.link}',
            'the message has no field for a centre of mass or an inertia, nor for bounds',
        ),
    )  # fmt: skip


def _inertia(body: Body, asked: Asked) -> HandOver:
    del asked
    _refuse_undetermined(body, NAMES, 'inertia')
    fields = {'m': body.mass, 'com': _vector(body.com), **_moments(body)}
    return HandOver(
        'geometry_msgs/msg/InertiaStamped', '/payload',
        {'header': {'frame_id': body.frame}, 'inertia': fields},
        (f'kg, m and kg m^2 about the centre of mass, in the axes of {body.frame}',),
    )  # fmt: skip


def _kuka(body: Body, asked: Asked) -> HandOver:
    del body, asked
    raise ConfigError(
        'KUKA: no ROS driver takes a load while it runs (FRI has no message for it, and Sunrise '
        'and KSS read load data when a tool is attached); write the file instead, `safe-sysid '
        'identify … --export kuka=FILE`'
    )


MAKERS: dict[str, Callable[[Body, Asked], HandOver]] = {
    'ur': _ur,
    'ur-script': _ur_script,
    'franka': _franka,
    'moveit': _moveit,
    'inertia': _inertia,
    'kuka': _kuka,
}


def _refuse_undetermined(body: Body, needed: tuple[str, ...], to: str) -> None:
    known = dict(zip(NAMES, determined_about_com(body), strict=True))
    guesses = [name for name in needed if not known[name]]
    if guesses:
        raise ConfigError(
            f'nothing is handed over: the motion has not determined {", ".join(guesses)}, which '
            f'{to} needs; move joints that show them'
        )


def _knows_inertia(body: Body, to: str) -> bool:
    """Whether the inertia is determined; mass and centre have to be."""
    _refuse_undetermined(body, NAMES[:4], to)
    return bool(determined_about_com(body)[4:].all())


def _vector(values: Array) -> dict[str, float]:
    return dict(zip('xyz', values.tolist(), strict=True))


def _moments(body: Body) -> dict[str, float]:
    moments = checked_inertia(handed_on(body))
    return {name: float(moments[place]) for name, place in ENTRIES.items()}
