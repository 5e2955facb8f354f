"""Identification: what a recording says about a payload, as values, text, JSON and YAML."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.identify.change.known_objects import NONE
from safe_sysid.identify.determined import determined, determined_about_com
from safe_sysid.identify.estimate_series import EstimateSeries
from safe_sysid.identify.held_object import HeldObject
from safe_sysid.identify.held_out import TorquePrediction, Validation
from safe_sysid.identify.payload_in_frame import Body
from safe_sysid.model.inertia import LABELS, UNITS, table_rows
from safe_sysid.sets.interval import Interval

PREDICTIONS = {  # attribute of Validation: in words
    'as_described': 'the arm as described',
    'identified': 'with what was identified',
    'within': 'all fitted, within what is known',
    'best_fit': 'all parameters fitted, no bounds',
}

SURE = 0.9  # probability from which on the object is called by its name
DOUBTFUL = 1.5  # times the error of the best fit
AS_EXACT = 0.001  # of the torque: less is the filter's, nobody measures torques so well
UNEXPLAINED = 0.2  # of the torque; a rigid arm whose torques are torques leaves less
MANY = 1000.0  # times better; more is said as that
STOOD = (
    'no joint moved by more than its readings err: one pose tells next to nothing of what is '
    'held. Move every joint (`safe-sysid excite` designs such a motion), or record several poses '
    '(--poses, --empty)'
)
WEIGH_INSTEAD = (
    'The mass is wide for them: a recording of the same arm without the payload (--empty, in '
    'Python empty=[…]) shows what is held, whatever links and friction are.'
)


@dataclass(frozen=True, eq=False)
class Identification:
    """The outcome of `safe-sysid identify`."""

    robot: str
    source: str
    joint_names: tuple[str, ...]
    recording: tuple[str, ...]  # sentences about its stamps and its file
    part: tuple[float, float]  # [s] of the recording that was used
    nominal: Array  # (10,) of everything that the last joint moves, in its frame
    bounds: Interval  # (10,)
    payload: Body | None  # without the arm's own last link; none after a refusal
    assumptions: tuple[str, ...]
    unstated: tuple[str, ...]  # of these, what is a default that nobody stated
    refused: str | None
    validation: Validation | None  # none where nothing was held out
    series: EstimateSeries
    seconds: float  # that all this took
    held: HeldObject | None = None  # what windows say of the object; none: nothing
    alone: Body | None = None  # the object: without all that the URDF has on the last joint
    elsewhere: tuple[str, ...] = ()  # about joints that are not where the settings hold them
    has_moved: bool = True  # any joint, by more than its readings err


def as_mapping(found: Identification) -> dict[str, Any]:
    """Everything a program may want to know, in the types JSON has."""
    return {
        'robot': found.robot,
        'source': found.source,
        'joints': list(found.joint_names),
        'from_s': found.part[0],
        'to_s': found.part[1],
        'recording': list(found.recording),
        'parameters': list(LABELS),
        'units': list(UNITS),
        **_parameters(found),
        'payload': None if found.payload is None else _payload(found.payload),
        'assumptions': list(found.assumptions),
        'unstated': list(found.unstated),
        'refused': found.refused,
        'learned': found.refused is None,
        'caution': caution(found),
        'object': _object(found),
        'validation': None if found.validation is None else _validation(found),
        'seconds': found.seconds,
    }


def _parameters(found: Identification) -> dict[str, Any]:
    """Return values with bounds; none after a refusal, when only the prior would be left."""
    if found.refused is not None:
        return dict.fromkeys(('nominal', 'lower', 'upper', 'determined'))
    return {
        'nominal': found.nominal.tolist(),
        'lower': found.bounds.lower.tolist(),
        'upper': found.bounds.upper.tolist(),
        'determined': determined(found.bounds).tolist(),
    }


def _object(found: Identification) -> dict[str, Any]:
    """Return the answer for the object, whether it is rigid, and which one it is."""
    held = found.held
    tested = None if held is None else held.rigidity
    return {
        'sentence': object_sentence(found),
        'alone': None if found.alone is None else _payload(found.alone),
        'rigid': None if tested is None else not tested.rejects,
        'rigidity': None if tested is None else asdict(tested),
        'probabilities': {} if held is None else dict(held.probabilities),
        'inside_bounds_of': [] if held is None else list(held.inside),
    }


def object_sentence(found: Identification) -> str | None:
    """Answer for the object: what it weighs and where its centre is, without the arm's hand."""
    body = found.alone
    if body is None or not body.mass > 0.0:
        return None
    name = 'the object'
    known = None if found.held is None else found.held.likeliest
    is_sure = known is not None and known[0] != NONE and known[1] >= SURE
    if known is not None and is_sure and determined(body.bounds)[0]:
        name = f'the {known[0]}'
    return body.sentence(name)


def _object_rows(found: Identification) -> list[str]:
    sentence, held = object_sentence(found), found.held
    rows = [] if sentence is None else ['', f'{sentence[0].upper()}{sentence[1:]}.']
    if held is None:
        return rows
    if held.rigidity is not None and found.refused is None:
        rows += ['', f'Rigid or not: {held.rigidity}.']
    if held.probabilities:
        rows += ['', 'Which of the known objects it is (probabilities, no bounds rest on them):']
        for name, share in held.probabilities.items():
            inside = ', and the bounds are inside its own' if name in held.inside else ''
            rows.append(f'  {name:24} {100 * share:5.1f} %{inside}')
    return rows


def _payload(body: Body) -> dict[str, Any]:
    com, moments = body.com_bounds, body.inertia_bounds
    return {
        'frame': body.frame,
        'contains': body.contains,
        'nominal': body.nominal.tolist(),
        'lower': body.bounds.lower.tolist(),
        'upper': body.bounds.upper.tolist(),
        'determined': determined(body.bounds).tolist(),
        'determined_about_com': determined_about_com(body).tolist(),
        'com_m': _finite(body.com) if body.mass > 0.0 else None,
        'com_lower_m': _finite(com.lower),
        'com_upper_m': _finite(com.upper),
        'inertia_about_com_lower': _finite(moments.lower),
        'inertia_about_com_upper': _finite(moments.upper),
    }


def _finite(values: Array) -> list[float | None]:
    return [float(x) if np.isfinite(x) else None for x in values]


def headline(found: Identification) -> str:
    """Whose prediction counts: what was identified; after a refusal, the fit without bounds."""
    return 'identified' if found.refused is None else 'best_fit'


def caution(found: Identification) -> str | None:
    """Bounds that hold under assumptions which the recording or predictions speak against."""
    doubt = _doubt_of_predictions(found) if found.has_moved else STOOD
    said = [*found.elsewhere, *([] if doubt is None else [doubt])]
    return '; '.join(said) or None


def _doubt_of_predictions(found: Identification) -> str | None:
    validation = found.validation
    if validation is None or found.refused is not None:
        return None
    mine, best = validation.within.filtered, validation.best_fit.filtered
    left = min(mine, best)
    if left > UNEXPLAINED:
        return (
            f'all parameters fitted leave {100 * left:.0f} % of the torque unexplained: coupled '
            'joints, contact, an effort that is no torque, noise or a motion that shows '
            'too little can be the cause, and the bounds rest on the assumption that it is noise'
        )
    if mine <= max(DOUBTFUL * best, AS_EXACT):
        return None
    times = f'{mine / best:.1f}' if mine < MANY * best else f'more than {MANY:g}'
    return (
        f'with all parameters fitted, torque is predicted {times} times better than with all '
        'fitted within what was said of links, friction and payload: one of these is probably '
        'known less well (--known-links, --known-friction), and the bounds rest on it'
    )


def _validation(found: Identification) -> dict[str, Any]:
    validation = found.validation
    assert validation is not None
    chosen: TorquePrediction = getattr(validation, headline(found))
    return {
        'filter_hz': validation.filter_hz,
        'filter': validation.filter,
        'fitted_until_s': validation.fitted_until,
        'held_out_s': list(validation.held_out),
        'of': headline(found),
        'relative_error_filtered': chosen.filtered,
        'relative_error_recorded': chosen.recorded,
        'predictions': {
            name: {
                'relative_error_filtered': prediction.filtered,
                'relative_error_recorded': prediction.recorded,
                'by_joint_filtered': prediction.by_joint.tolist(),
            }
            for name in PREDICTIONS
            if (prediction := getattr(validation, name))
        },
    }


def as_table(found: Identification) -> str:
    """For a person at a terminal."""
    lines = [f'{found.robot}, {found.source}, {found.part[0]:.3f} to {found.part[1]:.3f} s']
    lines += [f'  {sentence}' for sentence in found.recording]
    if found.refused is not None:
        lines += ['', f'REFUSED: {found.refused}', '', 'Nothing was learned; there are no bounds.']
    else:
        lines += ['', f'Everything that {found.joint_names[-1]} moves, in its frame:']
        lines += _parameter_rows(found.nominal, found.bounds)
    if found.payload is not None:
        lines += _payload_rows(found.payload)
    lines += _object_rows(found)
    if found.validation is not None:
        lines += _prediction_rows(found.validation)
    doubt = caution(found)
    if doubt is not None:
        lines += ['', f'CAUTION: {doubt}']
    certain = 'The bounds hold if' if found.refused is None else 'Bounds would have held if'
    defaults = sentence_of_defaults(found)
    if defaults:
        lines += ['', defaults]
    lines += ['', f'{certain}', *(f'  - {sentence}' for sentence in found.assumptions)]
    return '\n'.join(lines)


def sentence_of_defaults(found: Identification) -> str:
    """Say what nobody stated, and how to do without it where the mass is wide for that."""
    if not found.unstated:
        return ''
    said = f'Nobody stated {", ".join(found.unstated)}: these are defaults.'
    return said if found.refused or determined(found.bounds)[0] else f'{said} {WEIGH_INSTEAD}'


def _parameter_rows(nominal: Array, bounds: Interval) -> list[str]:
    names, *rows = table_rows(bounds.lower, nominal, bounds.upper)
    doubts = [
        '' if is_known else f'{"":{8 - len(unit)}}not determined by the motion'
        for unit, is_known in zip(UNITS, determined(bounds), strict=True)
    ]
    return [names, *(row + doubt for row, doubt in zip(rows, doubts, strict=True))]


def _payload_rows(body: Body) -> list[str]:
    rows = ['', f"The payload, without the arm's own last link, in the frame {body.frame}:"]
    rows += _parameter_rows(body.nominal, body.bounds)
    com = body.com_bounds
    if body.mass > 0.0 and np.isfinite(com.lower).all():
        for axis, low, nominal, high in zip('xyz', com.lower, body.com, com.upper, strict=True):
            rows.append(f'  c{axis}   {low:10.4f} {nominal:10.4f} {high:10.4f}  m')
    return rows


def _prediction_rows(validation: Validation) -> list[str]:
    begin, end = validation.held_out
    rows = [
        '',
        f'Torque from {begin:.2f} to {end:.2f} s, predicted from what came before, as share of it',
        f'(low-pass {validation.filter_hz:g} Hz, {validation.filter}):',
        f'  {"":34} {"filtered":>9} {"recorded":>9}',
    ]
    for name, words in PREDICTIONS.items():
        prediction: TorquePrediction = getattr(validation, name)
        shares = f'{100 * prediction.filtered:8.2f}% {100 * prediction.recorded:8.2f}%'
        rows.append(f'  {words:34} {shares}')
    return rows
