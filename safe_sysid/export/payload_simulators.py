"""What was identified as URDF and MJCF, with its bounds as comments."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.errors import ModelError
from safe_sysid.export.held_joints import fix_joints, held_within_bodies
from safe_sysid.export.payload_controllers import comments
from safe_sysid.export.urdf_file import comment_text, urdf_text, with_comments
from safe_sysid.identify.determined import determined
from safe_sysid.identify.payload_in_frame import Body
from safe_sysid.model import inertia
from safe_sysid.model.arm import Arm
from safe_sysid.model.inertia import LABELS, UNITS
from safe_sysid.sets.outward_digits import at_least, at_most

ENTRIES = {
    'ixx': (0, 0),
    'ixy': (0, 1),
    'ixz': (0, 2),
    'iyy': (1, 1),
    'iyz': (1, 2),
    'izz': (2, 2),
}


def urdf(arm: Arm, body: Body) -> str:
    """Return the URDF of the arm; its link `tip` has the inertia of all that the last joint moves.

    Other links that it moves lose theirs, which is part of that, and joints between them become
    fixed where they are held.
    """
    root = with_comments(arm.urdf)
    tip, frames = arm.facts.tip, arm.model.frames
    fixed = held_within_bodies(root, arm.model, arm.facts.held, [arm.model.layout.tip])
    for link in root.findall('link'):
        name = str(link.get('name'))
        if name in frames and frames[name].joint == arm.model.layout.tip:
            for element in link.findall('inertial'):
                link.remove(element)
        if name == tip:
            frame = frames[tip]
            in_link = inertia.moved(body.nominal, frame.R.T, -frame.R.T @ frame.p)
            link.insert(0, _inertial(in_link))
            link.insert(0, ElementTree.Comment(comment_text(_bounds_text(arm, body, fixed))))
    fix_joints(root, fixed)
    return urdf_text(root, arm.urdf)


def _inertial(body: Array) -> ElementTree.Element:
    if not inertia.is_consistent(body):
        raise ModelError(f'a body with the parameters {body.tolist()} cannot exist')
    mass, com, about_com = inertia.mass_com_inertia(body)
    element = ElementTree.Element('inertial')
    place = {'xyz': ' '.join(repr(float(x)) for x in com), 'rpy': '0 0 0'}
    ElementTree.SubElement(element, 'origin', place)
    ElementTree.SubElement(element, 'mass', value=repr(float(mass)))
    moments = {name: repr(float(about_com[place])) for name, place in ENTRIES.items()}
    ElementTree.SubElement(element, 'inertia', moments)
    return element


def _bounds_text(arm: Arm, body: Body, fixed: Mapping[str, float]) -> str:
    bounds, doubts = body.bounds, _doubts(body)
    joint = arm.model.layout.joint_names[arm.model.layout.tip]
    rows = [
        f'    {name:4} {at_least(low):>12} to {at_most(high):>12} {unit}'
        + ('' if is_known else ', NOT DETERMINED by the motion')
        for name, unit, low, high, is_known in zip(
            LABELS, UNITS, bounds.lower, bounds.upper, determined(bounds), strict=True
        )
    ]
    still = ''.join(
        f'    joint {name} is fixed at {value:g}, where it was held; `held` of settings for this '
        'file is without it\n'
        for name, value in fixed.items()
    )
    return (
        f' identified by safe-sysid: everything that {joint} moves. Bounds about the origin of '
        f'the frame of that joint{doubts}:\n' + '\n'.join(rows) + f'\n{still}  '
    )


def _doubts(body: Body) -> str:
    """Say what the bounds are, what they rest on, and why they may not hold."""
    rest = f'they rest on what nobody stated: {", ".join(body.assumed)}' if body.assumed else ''
    caution = f'CAUTION: {body.caution}' if body.caution else ''
    return ''.join(f'; {each}' for each in (body.kind, rest, caution) if each)


def mjcf(body: Body) -> str:
    """Return a model with one body; attach it where the frame of the flange is."""
    if not inertia.is_consistent(body.nominal):
        raise ModelError(f'a payload with the parameters {body.nominal.tolist()} cannot exist')
    mass, com, about_com = inertia.mass_com_inertia(body.nominal)
    order = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    moments = ' '.join(repr(float(about_com[place])) for place in order)
    position = ' '.join(repr(float(x)) for x in np.asarray(com))
    bounds = comment_text(comments(body, '      '))
    return (
        '<mujoco model="payload">\n'
        '  <worldbody>\n'
        f'    <body name="payload">\n      <!--\n{bounds}      -->\n'
        f'      <inertial pos="{position}" mass="{float(mass)!r}" fullinertia="{moments}"/>\n'
        '    </body>\n'
        '  </worldbody>\n'
        '</mujoco>\n'
    )
