"""Payloads as robot controllers want them: units, order of inertias and frames of each maker.

All of them take the centre of mass in the flange frame and the inertia about the centre of mass.
"""

from __future__ import annotations

from collections.abc import Iterable
import itertools

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ConfigError, ModelError
from safe_sysid.export.formats import WHOLE
from safe_sysid.identify.determined import determined_about_com
from safe_sysid.identify.payload_in_frame import IN_TIP, Body
from safe_sysid.model import inertia
from safe_sysid.model.inertia import is_consistent
from safe_sysid.sets.outward_digits import at_least, at_most

UR_LARGEST = 133.0  # [kg m^2] that URScript takes


NOT_DETERMINED = 'NOT DETERMINED by the motion, '


def comments(body: Body, mark: str) -> str:
    """Return the bounds as comment lines, with what the motion has not determined marked."""
    com, moments = body.com_bounds, body.inertia_bounds
    entries = inertia.symmetric_entries(body.inertia)
    rows = [
        ('mass [kg]', body.bounds.lower[0], body.mass, body.bounds.upper[0]),
        *(
            (f'centre of mass {axis} [m]', *values)
            for axis, *values in zip('xyz', com.lower, body.com, com.upper, strict=True)
        ),
        *(
            (f'inertia {name} about it [kg m^2]', *values)
            for name, *values in zip(
                ('xx', 'xy', 'yy', 'xz', 'yz', 'zz'),
                moments.lower, entries, moments.upper, strict=True,
            )
        ),
    ]  # fmt: skip
    doubted = body.assumed or body.caution or body.kind is not None
    certainly = '' if doubted else 'certainly '
    lines = [f'payload identified by safe-sysid, in the frame {body.frame}; with bounds:']
    if body.assumed:
        lines[0] += f' they rest on what nobody stated: {", ".join(body.assumed)}'
    if body.kind is not None:
        lines[0] += f' {body.kind}'
    if body.contains:
        lines.append(f'included: {body.contains}')
    if body.caution:
        lines.append(f'CAUTION: {body.caution}')
    for (name, low, nominal, high), is_known in zip(rows, determined_about_com(body), strict=True):
        doubt = '' if is_known else NOT_DETERMINED
        bounds = f'from {at_least(low)} to {at_most(high)}'
        lines.append(f'{name}: {nominal:.6g}, {doubt}{certainly}{bounds}')
    return ''.join(f'{mark} {_on_one_line(line)}\n' for line in lines)


def _on_one_line(text: str) -> str:
    """Return the text with blanks for what would end a comment: line breaks of all kinds."""
    return ''.join(character if character.isprintable() else ' ' for character in text)


def refuse_short(to: str, body: Body) -> None:
    """Refuse a payload without the gripper for a robot that adds the weight of what it is told."""
    if to in WHOLE and body.contains.endswith(IN_TIP):
        raise ConfigError(
            f'{to} is told of all that is behind the flange, and this payload is {IN_TIP}: the '
            'last link of the calibrated arm contains that (gripper_in_tip). Identify with the '
            'settings of the arm as described, or add it yourself'
        )


def universal_robots(body: Body) -> str:
    """URScript: kg, m, [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] in the axes of the flange."""
    moments = checked_inertia(body)
    if np.abs(moments).max() > UR_LARGEST:
        raise ModelError(
            f'an inertia of {np.abs(moments).max():.4g} kg m^2 is more than set_target_payload '
            f'takes ({UR_LARGEST:g})'
        )
    order = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    entries = _numbers(moments[i, j] for i, j in order)
    return (
        comments(body, '#')
        + f'set_target_payload({_number(body.mass)}, [{_numbers(body.com)}], [{entries}])\n'
    )


def without_inertia(body: Body) -> str:
    """URScript without the inertia, in whose place the robot takes zero: a point mass."""
    return (
        comments(body, '#')
        + '# inertia left out, as the motion has not determined it: the robot takes zero for it,\n'
        + '# that of a point mass\n'
        + f'set_target_payload({_number(body.mass)}, [{_numbers(body.com)}])\n'
    )


def franka(body: Body) -> str:
    """libfranka: kg, m, nine inertias column by column."""
    com, columns = _numbers(body.com), _numbers(checked_inertia(body).T.ravel())
    command = f'robot.setLoad({_number(body.mass)}, {{{{{com}}}}}, {{{{{columns}}}}});\n'
    return comments(body, '//') + command


def kuka(body: Body) -> str:
    """KRL: kg, mm, angles A B C [degrees] about z, y, x of the principal axes, and moments."""
    moments, R = principal(checked_inertia(body))
    b = -np.arcsin(np.clip(R[2, 0], -1.0, 1.0))
    a, c = np.arctan2(R[1, 0], R[0, 0]), np.arctan2(R[2, 1], R[2, 2])
    place = zip('XYZABC', [*(1000.0 * body.com), *np.degrees([a, b, c])], strict=True)
    axes = zip('XYZ', moments, strict=True)
    return (
        comments(body, ';')
        + f'LOAD_DATA[1]={{M {_number(body.mass)},CM {{{_named(place)}}},J {{{_named(axes)}}}}}\n'
    )


def abb(body: Body) -> str:
    """RAPID: kg, mm, quaternion (w, x, y, z) of the principal axes, and moments."""
    moments, R = principal(checked_inertia(body))
    return (
        comments(body, '!')
        + f'PERS loaddata payload := [{_number(body.mass)}, [{_numbers(1000.0 * body.com)}], '
        f'[{_numbers(quaternion(R))}], {_numbers(moments)}];\n'
    )


def checked_inertia(body: Body) -> Array:
    """Inertia about the centre of mass, of a body that can exist."""
    about_com = body.inertia
    if not is_consistent(body.nominal):
        words = ', '.join(f'{moment:.4g}' for moment in np.linalg.eigvalsh(about_com))
        raise ModelError(
            f'the payload, {body.mass:.4g} kg with principal moments {words} kg m^2, is no body '
            "that can exist: the bounds are too wide, or the arm's own last link is not what its "
            'URDF says'
        )
    return about_com


def principal(about_com: Array) -> tuple[Array, Array]:
    """Principal moments and axes as columns, as near to the axes of the frame as they can be."""
    moments, axes = np.linalg.eigh(about_com)
    order = max(
        itertools.permutations(range(3)),
        key=lambda o: sum(abs(axes[i, o[i]]) for i in range(3)),
    )
    moments, axes = moments[list(order)], axes[:, list(order)]
    axes = axes * np.where(np.diag(axes) < 0.0, -1.0, 1.0)
    if np.linalg.det(axes) < 0.0:
        weakest = int(np.argmin(np.abs(np.diag(axes))))
        axes[:, weakest] *= -1.0
    return moments, axes


def quaternion(R: Array) -> Array:
    """(w, x, y, z) with w >= 0 of a rotation, from the eigenvector that belongs to it."""
    x, y, z = R.T  # columns
    K = np.array(
        [
            [x[0] + y[1] + z[2], y[2] - z[1], z[0] - x[2], x[1] - y[0]],
            [y[2] - z[1], x[0] - y[1] - z[2], x[1] + y[0], x[2] + z[0]],
            [z[0] - x[2], x[1] + y[0], y[1] - x[0] - z[2], y[2] + z[1]],
            [x[1] - y[0], x[2] + z[0], y[2] + z[1], z[2] - x[0] - y[1]],
        ]
    )
    q: Array = np.linalg.eigh(K)[1][:, -1]
    return -q if q[0] < 0.0 else q


def _number(value: float) -> str:
    """Return fixed notation: not every controller reads exponents."""
    text = f'{value:.9f}'.rstrip('0')
    return text + '0' if text.endswith('.') else text


def _numbers(values: Iterable[float]) -> str:
    return ', '.join(_number(float(value)) for value in values)


def _named(pairs: Iterable[tuple[str, float]]) -> str:
    return ','.join(f'{name} {_number(float(value))}' for name, value in pairs)
