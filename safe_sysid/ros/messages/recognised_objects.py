"""Which known object is held, as the identifier tells it on /diagnostics; statistics."""

from __future__ import annotations

from collections.abc import Mapping

RECOGNISED = 'known objects [probability]'
SURE = 0.9  # probability from which on an object is called by its name


def told_objects(probabilities: Mapping[str, float]) -> str:
    """Return names and probabilities, the likeliest first; empty without any."""
    return ', '.join(f'{name}: {share:.3f}' for name, share in probabilities.items())


def object_sentence(told: str) -> str:
    """Return what that says of the object; empty where nobody looked."""
    name, _, share = told.partition(',')[0].rpartition(': ')
    if not name:
        return ''
    likely = f'{100.0 * float(share):.0f} %'
    if float(share) < SURE:
        return f'which of the known objects it is, is open ({told})'
    return f'it is {name} ({likely})'
