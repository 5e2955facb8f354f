"""How every kernel of the project is compiled: cached on disk, strict floating point, thread-safe.

No fast-math anywhere: rounding bounds need each operation to be the IEEE one (or a fused one,
which they cover). Kernels hold no interpreter lock, so several threads call them at once (planner,
identifier, and `steps`, which shares a call out among the cores); none has threads of its own.

Numba keeps a compiled kernel until its own file changes. The kernels that it calls are inside it,
and a bound computed by an old one of them would be wrong, so what is kept here is also stamped
with the text of every file it may come from.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
import hashlib
from pathlib import Path
import re
import sys
from typing import Any

import numba
from numba import types
from numba.core import event
from numba.core.runtime import rtsys

ROOT = Path(__file__).parents[2]
IMPORT = re.compile(r'^ *from (safe_sysid[\w.]*) import (?:\(([^)]*)\)|(.*))$', re.MULTILINE)
NO_PART = {'safe_sysid.arrays', 'safe_sysid.errors', 'safe_sysid.sets.steps'}  # of any kernel
COMPILED = 'safe_sysid.sets.compiled'
OPTIONS = {
    'cache': True,
    'nogil': True,
    'error_model': 'numpy',
    'no_cfunc_wrapper': True,  # nobody calls kernels from C
}


def jit(kernel: Callable[..., Any]) -> Any:
    """Compile a kernel at its first call."""
    return _stamped(numba.njit(**OPTIONS)(kernel))


def inline_jit(kernel: Callable[..., Any]) -> Any:
    """Compile into the kernels that call it.

    By LLVM: numba's own `inline` types a body again for each of its calls, which takes seconds.
    """
    return _stamped(numba.njit(forceinline=True, **OPTIONS)(kernel))


def part_jit(kernel: Callable[..., Any]) -> Any:
    """Make a function part of the one kernel that calls it, in which alone it is compiled.

    A kernel of its own would be compiled twice, as its caller contains it.
    """
    return _stamped(numba.njit(inline='always', **OPTIONS)(kernel))


class _Compilations(event.Listener):
    """Counts what this process compiles, and not what it finds on disk."""

    count = 0

    def on_start(self, event: object) -> None:
        """Count one more."""
        del event
        self.count += 1

    def on_end(self, event: object) -> None:
        """Nothing."""


_COMPILATIONS = _Compilations()
event.register('numba:compile', _COMPILATIONS)


def compiled_here() -> int:
    """How many kernels this process has compiled so far; those found on disk do not count."""
    return _COMPILATIONS.count


def _stamped(kernel: Any) -> Any:
    kernel.compile = _for_any_integer(kernel.compile)
    kept = getattr(kernel._cache, '_cache_file', None)  # there is none where nothing can be kept
    if kept is not None:
        kept._source_stamp = (kept._source_stamp, text_stamp(kernel.py_func.__module__))
        kept._load_index = _forgiving(kept._load_index)
        kernel._cache.load_overload = _ready_made(kernel._cache)
    return kernel


def _for_any_integer(compiled: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Compile once for all integers: numba would once more for each that a caller writes out."""

    def once(signature: Any) -> Any:
        return compiled(tuple(types.unliteral(each) for each in signature))

    return once


def _forgiving(load_index: Callable[[], Any]) -> Callable[[], Any]:
    """Read what is kept as nothing where its types are gone, by a rename for instance."""

    def loaded() -> Any:
        try:
            return load_index()
        except (AttributeError, ImportError):
            return {}

    return loaded


def _ready_made(kept: Any) -> Callable[[Any, Any], Any]:
    """Load a kernel that is kept without what only compiling needs.

    Numba reads all it knows about types and operations before it looks whether there is anything
    to compile, 0.3 s in every process; its compiler does so itself. Memory it allocates needs
    the runtime, in a kernel that is loaded too.
    """

    def loaded(signature: Any, target: Any) -> Any:
        rtsys.initialize(target)
        with kept._guard_against_spurious_io_errors():
            return kept._load_overload(signature, target)

    return loaded


@cache
def text_stamp(module: str) -> str:
    """Digest of the files that a kernel of a module may come from."""
    found: dict[str, str] = {}
    _collect(module, found)
    whole = ''.join(f'{name} {found[name]}\n' for name in sorted(found))
    return hashlib.sha256(whole.encode()).hexdigest()


def _collect(module: str, found: dict[str, str]) -> None:
    """Collect a module, its imports, and theirs where they hold kernels."""
    if module in found or module in NO_PART:
        return
    text, imported = _read(module)
    found[module] = text
    if COMPILED in imported or module == COMPILED:
        for name in imported:
            _collect(name, found)


@cache
def _read(module: str) -> tuple[str, tuple[str, ...]]:
    """Digest of a module, and the modules of the package it imports."""
    loaded = getattr(sys.modules.get(module), '__file__', None)
    path = Path(loaded) if loaded else ROOT.joinpath(*module.split('.')).with_suffix('.py')
    text = path.read_bytes() if path.is_file() else b''
    return hashlib.sha256(text).hexdigest(), _imported(text.decode())


def _imported(text: str) -> tuple[str, ...]:
    """Modules that a text imports, also as `from safe_sysid.sets import interval`."""
    found: dict[str, None] = {}
    for source, several, one in IMPORT.findall(text):
        found[source] = None
        for name in re.findall(r'(\w+)(?: as \w+)?', several or one.split('#')[0]):
            if ROOT.joinpath(*source.split('.'), f'{name}.py').is_file():
                found[f'{source}.{name}'] = None
    return tuple(found)
