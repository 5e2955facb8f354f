"""Verdicts about pairs of capsules, kept on disk: proving them takes seconds, reading them none.

A file is named after everything a verdict follows from: joints, limits, capsules, and the text of
the proof itself. What cannot be read, or does not carry the digest of its own content, is proven
again; what cannot be written is proven again next time.
"""

from __future__ import annotations

from collections.abc import Sequence
import hashlib
import json
import os
from pathlib import Path

import numpy as np

from safe_sysid.model.collision import pair_separation
from safe_sysid.model.collision.pair_separation import Chain, Verdict, separation

_known: dict[str, list[Verdict]] = {}  # of this process


def verdicts(chains: Sequence[Chain]) -> list[Verdict]:
    """Return what is proven of every pair."""
    key = _key(chains)
    if key not in _known:
        _known[key] = _read(key, len(chains)) or _proven(key, chains)
    return _known[key]


def cache_folder() -> Path:
    """Where verdicts are kept."""
    home = os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache'
    return Path(home) / 'safe_sysid' / 'pairs'


def _key(chains: Sequence[Chain]) -> str:
    digest = hashlib.sha256(Path(pair_separation.__file__).read_bytes())
    for chain in chains:
        for value in chain:
            array = np.asarray(value)
            digest.update(f'{array.dtype} {array.shape}'.encode() + array.tobytes())
    return digest.hexdigest()


def _proven(key: str, chains: Sequence[Chain]) -> list[Verdict]:
    found = [separation(chain).verdict for chain in chains]
    words = [verdict.value for verdict in found]
    target = cache_folder() / f'{key}.json'
    part = target.with_suffix(f'.{os.getpid()}')
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps({'verdicts': words, 'digest': _digest(key, words)}))
        part.replace(target)
    except OSError:
        pass
    return found


def _read(key: str, count: int) -> list[Verdict]:
    """Return the verdicts of a file; empty where there is none to rely on."""
    try:
        kept = json.loads((cache_folder() / f'{key}.json').read_text())
        words = kept['verdicts']
        is_whole = len(words) == count and kept['digest'] == _digest(key, words)
        return [Verdict(word) for word in words] if is_whole else []
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _digest(key: str, words: list[str]) -> str:
    return hashlib.sha256(' '.join([key, *words]).encode()).hexdigest()
