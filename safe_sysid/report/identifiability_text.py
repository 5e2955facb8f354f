"""Identifiability as a table in a terminal, and as plain values for JSON."""

from __future__ import annotations

from safe_sysid.identifiability.links import Identifiability, LinkParameters, written
from safe_sysid.identifiability.parameter_classes import MEANINGS, SYMBOLS, ParameterClass
from safe_sysid.model import inertia
from safe_sysid.report.terminal_lines import columns_that_fit

ROWS = ('m', 'mcx', 'mcy', 'mcz', 'Ixx', 'Iyy', 'Izz', 'Iyz', 'Ixz', 'Ixy')  # order of the table


def as_text(answer: Identifiability, width: int | None = None) -> str:
    """Table (several, where it is wider), counts, sentences, combinations and assumptions."""
    return '\n'.join(
        [
            summary(answer),
            '',
            *_table(answer, width),
            '',
            *[
                f'  {SYMBOLS[kind]}  {MEANINGS[kind]}: {n}'
                for kind, n in answer.counts.items()
                if n
            ],
            '',
            *_links(answer),
            'Base parameters',
            *[f'  {written(answer.combination(row))}' for row in range(answer.base.count)],
            '',
            *_snapped(answer),
            *answer.notes,
        ]
    )


def summary(answer: Identifiability) -> str:
    """Return the count, in one sentence."""
    return (
        f'{answer.name}: {answer.base.count} combinations of {len(answer.entries)} inertial '
        f'parameters of {len(answer.links)} links can be known.'
    )


def row_labels(answer: Identifiability) -> list[str]:
    """Names of the rows of the table: the ten, then those of rotors."""
    extra = [label for link in answer.links for label in link.labels if label not in ROWS]
    return [*ROWS, *dict.fromkeys(extra)]


def symbol(link: LinkParameters, label: str) -> str:
    """Return what stands in a cell."""
    kind = kind_of(link, label)
    return ' ' if kind is None else kind.symbol


def kind_of(link: LinkParameters, label: str) -> ParameterClass | None:
    """Class of a parameter; None where the link has no such parameter."""
    return link.classes[link.labels.index(label)] if label in link.labels else None


def as_plain(answer: Identifiability) -> dict[str, object]:
    """Everything, as values that JSON knows; parameters in the order of `labels`."""
    base = answer.base
    return {
        'robot': answer.name,
        'base_parameters': base.count,
        'parameters': len(answer.entries),
        'labels': list(inertia.LABELS),
        'classes': {
            link.link: [kind.value for kind in link.classes[:10]] for link in answer.links
        },
        'rotor_classes': {
            link.link: {
                label: kind.value
                for label, kind in list(zip(link.labels, link.classes, strict=True))[10:]
            }
            for link in answer.links
        },
        'counts': {kind.value: n for kind, n in answer.counts.items()},
        'dimensions': {
            link.link: {'V': link.dimensions.V, 'K': link.dimensions.K, 'T': link.dimensions.T}
            for link in answer.links
            if link.dimensions
        },
        'combinations': [
            {
                'text': written(answer.combination(row)),
                'terms': {name: size for size, name in answer.combination(row)},
            }
            for row in range(base.count)
        ],
        'numbers': {link.link: link.number for link in answer.links},
        'sentences': {link.link: ' '.join(answer.sentences(link)) for link in answer.links},
        'snapped': [
            {'place': s.place, 'given': s.given, 'meant': s.meant} for s in answer.snapped
        ],
        'assumptions': list(answer.notes),
        'smallest_accepted': base.decision.smallest_accepted,
        'largest_rejected': base.decision.largest_rejected,
    }


def _table(answer: Identifiability, most: int | None) -> list[str]:
    labels = row_labels(answer)
    width = max(len(label) for label in (*labels, 'dim V'))
    cell = max(3, len(str(len(answer.links))) + 1)
    rows = [('link', [str(link.number) for link in answer.links])]
    rows += [(label, [symbol(link, label) for link in answer.links]) for label in labels]
    for name in ('V', 'K', 'T'):
        if all(link.dimensions for link in answer.links):
            sizes = [str(getattr(link.dimensions, name)) for link in answer.links]
            rows.append((f'dim {name}', sizes))
    lines = []
    columns = columns_that_fit([2 + width, *[cell] * len(answer.links)], 0, most)
    for number, chosen in enumerate(columns):
        lines += [''] if number else []
        lines += [
            f'  {name:<{width}}' + ''.join(f'{cells[i - 1]:>{cell}}' for i in chosen[1:])
            for name, cells in rows
        ]
    return lines


def _links(answer: Identifiability) -> list[str]:
    lines = []
    for link in answer.links:
        lines.append(f"Link {link.number}, {link.link}, moved by joint '{link.joint}'")
        lines += [f'  {sentence}' for sentence in answer.sentences(link)]
        lines.append('')
    return lines


def _snapped(answer: Identifiability) -> list[str]:
    if not answer.snapped:
        return []
    return ['Read as what was meant', *[f'  {snap}' for snap in answer.snapped], '']
