"""How every kernel of the project is compiled: cached on disk, strict floating point, thread-safe.

No fast-math anywhere: rounding bounds need each operation to be the IEEE one (or a fused one,
which they cover). Kernels are called from several Python threads at once (planner, identifier),
which numba's workqueue layer does not allow, so a layer that does (OpenMP or TBB) is required.

In a `prange` body, `result.field[t] = row` is silently lost where `field` is an array of a
NamedTuple (numba 0.68): pass the array itself, or let a function that is called there write it.
"""

from __future__ import annotations

import numba

numba.config.THREADING_LAYER = 'threadsafe'

jit = numba.njit(cache=True, nogil=True, error_model='numpy')
inline_jit = numba.njit(cache=True, nogil=True, error_model='numpy', inline='always')
parallel_jit = numba.njit(cache=True, nogil=True, error_model='numpy', parallel=True)
prange = numba.prange
