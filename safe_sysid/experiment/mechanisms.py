"""Which parameters of published mechanisms can be known: tables 2, 4, 5 and 6, symbol by symbol.

Counts and symbols are exact; a trial has nothing random in it. Table 6 is repeated with masses
drawn at random, as those of the publication are not printed: which torques are wrong is compared,
not by how much.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from safe_sysid.arrays import Array
from safe_sysid.experiment.published import published
from safe_sysid.experiment.result_table import ResultTable
from safe_sysid.experiment.settings import ExperimentSettings
from safe_sysid.experiment.trial import Row, Trial, seed_of
from safe_sysid.identifiability.examination import Question, examine
from safe_sysid.identifiability.joint_conditions import Torques
from safe_sysid.identifiability.kinematic_tree import KinematicTree
from safe_sysid.identifiability.links import Identifiability
from safe_sysid.identifiability.mechanism_file import mechanism_named
from safe_sysid.identifiability.mechanism_regressor import stacked_regressor

NAME = 'mechanisms'
PAPER = 'observability'
FLOATING = ', floating'
LEG = 'cheetah3_leg'
STATES = 60  # random ones, of each recording of table 6
DRAWS = 5  # of masses
ZERO = 1e-8  # [N m], [N] torque errors that are rounding


def trials(settings: ExperimentSettings) -> list[Trial]:
    """Return each mechanism with and without rotors, and draws of table 6."""
    structures = [
        Trial(
            NAME, {'mechanism': mechanism, 'kind': kind}, seed_of(settings.seed, (mechanism,), 0)
        )
        for mechanism in published(PAPER)['counts']
        for kind in ('links', 'rotors')
    ]
    draws = [
        Trial(NAME, {'mechanism': LEG, 'kind': 'table6', 'number': number}, seed)
        for number in range(settings.trials or (1 if settings.quick else DRAWS))
        for seed in [seed_of(settings.seed, (LEG, 'table6'), number)]
    ]
    return structures + draws


def trial(spec: Trial) -> Row:
    """Examine a mechanism, or learn from a fixed torso and predict a free one."""
    mechanism, kind = str(spec.settings['mechanism']), str(spec.settings['kind'])
    if kind == 'table6':
        return _fixed_torso(np.random.default_rng(spec.seed))
    name = mechanism.removesuffix(FLOATING)
    ratio = Fraction(mechanism_named(name).ratio) if kind == 'rotors' else None
    answer = examine(name, Question(is_floating=mechanism != name, rotors=ratio))
    expected = published(PAPER)
    row: Row = {
        'base_parameters': answer.base.count,
        'published': expected['counts'][mechanism][kind],
    }
    if kind == 'rotors' and mechanism in expected['symbols']:
        found = _symbols(answer, expected['labels'], skipped=mechanism != name)
        row['symbols'] = ' '.join(found)
        row['other_symbols'] = _differences(found, expected['symbols'][mechanism])
    return row


def _symbols(answer: Identifiability, labels: Sequence[str], *, skipped: bool) -> list[str]:
    """Rows of the published table; a free torso, which they leave out, is our first link."""
    links = answer.links[1:] if skipped else answer.links
    return [
        ''.join(link.classes[link.labels.index(label)].symbol for link in links)
        for label in labels
    ]


def _differences(ours: Sequence[str], theirs: Sequence[str]) -> int:
    return sum(
        a != b for x, y in zip(ours, theirs, strict=True) for a, b in zip(x, y, strict=True)
    )


def _fixed_torso(rng: np.random.Generator) -> Row:
    """RMS errors of the leg in the air, identified in the air, and on a stand."""
    leg = mechanism_named(LEG)
    ratio = Fraction(leg.ratio)
    air = leg.with_rotors(leg.tree.on_floating_base('torso'), ratio)
    stand = leg.with_rotors(leg.tree, ratio)
    learn_air, judge_air, learn_stand, judge_stand = (
        _recording(tree, rng) for tree in (air, air, stand, stand)
    )
    truth = np.asarray(rng.uniform(0.5, 2.0, size=learn_air.shape[1]))
    torso = slice(0, 10)
    taught = np.concatenate([truth[torso], _least_squares(learn_stand, truth[10:])])
    free = _least_squares(learn_air, truth)
    wrong = _rms(judge_air, taught - truth, 9)
    names = list(published(PAPER)['table6'])
    ours = dict(zip(names, [*wrong[6:], *wrong[3:6], *wrong[:3]], strict=True))
    return {
        **{name: float(value) for name, value in ours.items()},
        'stand_error': float(_rms(judge_stand, taught[10:] - truth[10:], 3).max()),
        'air_error': float(_rms(judge_air, free - truth, 9).max()),
    }


def _recording(tree: KinematicTree, rng: np.random.Generator) -> Array:
    return stacked_regressor(tree, Torques.OF_MOTION, STATES, rng)


def _least_squares(Y: Array, truth: Array) -> Array:
    """Parameters of least norm that explain the torques of the truth."""
    found: Array = np.linalg.pinv(Y, rcond=1e-9) @ (Y @ truth)
    return found


def _rms(Y: Array, error: Array, torques: int) -> Array:
    found: Array = np.sqrt(np.mean((Y @ error).reshape(-1, torques) ** 2, axis=0))
    return found


def tables(rows: Sequence[Row]) -> list[ResultTable]:
    """Return counts and symbols, then which torques a fixed torso leaves wrong."""
    structures = [row for row in rows if row['kind'] != 'table6']
    draws = [row for row in rows if row['kind'] == 'table6']
    counts = ResultTable(
        'Base parameters',
        (
            *('mechanism', 'links, ours', 'links, theirs', 'rotors, ours', 'rotors, theirs'),
            'symbols that differ',
        ),
        tuple(_counts(structures, name) for name in dict.fromkeys(r['mechanism'] for r in rows)),
        ('Of links alone, and with a rotor at each joint; exact, without rounding.',),
    )
    symbols = [_symbol_table(row) for row in structures if row.get('symbols')]
    return [counts, *symbols, *([_table6(draws)] if draws else [])]


def _counts(rows: Sequence[Row], name: object) -> tuple[str, ...]:
    found = {row['kind']: row for row in rows if row['mechanism'] == name}
    cells = [
        str(found[kind][column]) if kind in found else '–'
        for kind in ('links', 'rotors')
        for column in ('base_parameters', 'published')
    ]
    differing = found.get('rotors', {}).get('other_symbols')
    return (str(name), *cells, '–' if differing is None else str(differing))


def _symbol_table(row: Row) -> ResultTable:
    labels = published(PAPER)['labels']
    lines = [
        (label, *symbols)
        for label, symbols in zip(labels, str(row['symbols']).split(), strict=True)
    ]
    return ResultTable(
        f'Parameters of {row["mechanism"]}',
        ('', *(str(i + 1) for i in range(len(lines[0]) - 1))),
        tuple(lines),
        (
            '★ can be known alone, ● stands for a combination, ○ is only in combinations of '
            'others, × has no effect.',
        ),
    )


def _table6(rows: Sequence[Row]) -> ResultTable:
    theirs = published(PAPER)['table6']
    lines = []
    for name, value in theirs.items():
        errors = [float(str(row[name])) for row in rows]
        said = '0' if max(errors) < ZERO else f'{min(errors):.2g} to {max(errors):.2g}'
        lines.append((name, said, f'{value:.2f}'))
    return ResultTable(
        'Table 6: identified on a fixed torso, predicted in the air',
        ('torque or force', 'ours', 'theirs'),
        tuple(lines),
        (
            f'RMS errors [N m], [N] over {len(rows)} draws of masses, which the paper does not '
            'print: which errors are zero is compared. Identified in the air, or judged on the '
            f'stand, all are below {ZERO:g}.',
        ),
    )
