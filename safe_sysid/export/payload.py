"""What was identified in the language of simulators and robot controllers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from safe_sysid.errors import ConfigError
from safe_sysid.export.compared_body import compared_body, with_mounted
from safe_sysid.export.flange import refuse_other_frame
from safe_sysid.export.formats import ALONE, FORMATS, NO_OBJECT, WHOLE
from safe_sysid.export.payload_controllers import (
    abb,
    franka,
    kuka,
    refuse_short,
    universal_robots,
    without_inertia,
)
from safe_sysid.export.payload_simulators import mjcf, urdf
from safe_sysid.identify.determined import NAMES, determined_about_com, handed_on
from safe_sysid.identify.difference.answer_text import caution as caution_between
from safe_sysid.identify.difference.from_recordings import IdentifiedDifference
from safe_sysid.identify.identification import Identification, caution
from safe_sysid.identify.payload_in_frame import Body, into_frame, mounted_beyond, nearest_body
from safe_sysid.model.arm import Arm
from safe_sysid.output_file import write_text
from safe_sysid.sets.interval import Interval

CONTROLLERS: dict[str, Callable[[Body], str]] = {
    'mjcf': mjcf,
    'ur': universal_robots,
    'franka': franka,
    'kuka': kuka,
    'abb': abb,
}


def exported(form: str, found: Identification, arm: Arm) -> str:
    """Text of a file in this format; nothing is exported after a refusal."""
    _check_form(form)
    return _text(form, _body(form, found), arm)


def written(form: str, path: Path, found: Identification | Body, arm: Arm, guesses: str) -> None:
    """Write a file; what is not determined is refused (`refuse`), or of a `compact` body."""
    if guesses not in GUESSES:
        raise ConfigError(f"undetermined is '{guesses}', it has to be one of {list(GUESSES)}")
    _check_form(form)
    GUESSES[guesses](form, path, found, arm)


def _check_form(form: str) -> None:
    if str(form) not in FORMATS:
        raise ConfigError(f"no export '{form}', there are {list(FORMATS)}")


def _text(form: str, body: Body, arm: Arm) -> str:
    refuse_other_frame(form, arm, body.frame)
    body = handed_on(body)
    return urdf(arm, body) if form == 'urdf' else CONTROLLERS[form](body)


def undetermined(form: str, found: Identification | Body) -> list[str]:
    """Names of what the file would say although the motion has not determined it."""
    _check_form(form)
    body = found if isinstance(found, Body) else _body(form, found)
    known = determined_about_com(body)
    return [name for name, is_known in zip(NAMES, known, strict=True) if not is_known]


def _body(form: str, found: Identification) -> Body:
    """Return all that the last joint moves for a URDF, else the payload or the object alone."""
    if found.payload is None:
        raise ConfigError(f'there is nothing to export: {found.refused}')
    if form == 'urdf':
        return _doubted(Body('', found.nominal, found.bounds), found)
    if form not in ALONE:
        refuse_short(form, found.payload)
        return _doubted(found.payload, found)
    if found.alone is None:
        raise ConfigError(f'there is nothing to export for {form}: {NO_OBJECT}')
    return _doubted(found.alone, found)


def _doubted(body: Body, found: Identification) -> Body:
    """Return a body with what its bounds rest on, and why they may not hold."""
    return replace(body, assumed=found.unstated, caution=caution(found) or '')


def body_between(form: str, given: IdentifiedDifference) -> Body:
    """Return the payload found against empty recordings, with what else there is where needed.

    A URDF has the last body of the arm, some robots are told of all behind their flange.
    """
    _check_form(form)
    found = given.found
    confidence = None if found.statistical is None else found.statistical.confidence
    intervals = found.statistical_bounds, found.guaranteed_bounds
    body = compared_body(found.frame, found.nominal, intervals, confidence, given.contains)
    if body is None:
        raise ConfigError(f'there is nothing to export: {found.refused}')
    body = replace(body, caution=caution_between(found) or '')
    refuse_short(form, body)
    if form in WHOLE:
        return with_mounted(body, mounted_beyond(given.arm, found.frame))
    if form != 'urdf':
        return body
    model = given.arm.model
    into = np.linalg.inv(into_frame(model.frames[found.frame]))
    last = model.theta[model.layout.end_effector]
    whole = into @ body.bounds + Interval(last, last)
    near = nearest_body(into @ found.nominal + last, whole)
    return Body('', near, whole, kind=body.kind, caution=body.caution)


def write_determined(form: str, path: Path, found: Identification | Body, arm: Arm) -> None:
    """Write what the motion has determined; raise a ConfigError where a format needs more.

    URScript takes a payload without inertia, all other formats need one.
    """
    guesses = undetermined(form, found)
    if not guesses:
        write_export(form, path, found, arm)
        return
    if form != 'ur' or not set(guesses).isdisjoint(NAMES[:4]):
        raise ConfigError(
            f'{path} is not written: the motion has not determined {", ".join(guesses)}, which '
            f'{form} needs; move joints that show them, or ask for a compact body in their place'
        )
    body = found if isinstance(found, Body) else _body(form, found)
    refuse_other_frame(form, arm, body.frame)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, without_inertia(body))


def write_export(form: str, path: Path, found: Identification | Body, arm: Arm) -> None:
    """Write the file, and make its folder if there is none."""
    body = found if isinstance(found, Body) else _body(form, found)
    text = _text(form, body, arm)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text)


GUESSES = {'refuse': write_determined, 'compact': write_export}
