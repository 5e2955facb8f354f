"""Kernels may be called from several Python threads at once."""

from concurrent.futures import ThreadPoolExecutor

from exact_polynomials import random_model
import numba
import numpy as np

from safe_sysid.sets.monomials import monomials


def test_parallel_kernels_run_in_several_threads_at_once(rng):
    a, b = (random_model(rng, monomials(7, 2), (500,)) for _ in range(2))
    alone = (a * b).rows
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda _: (a * b).rows, range(40)))
    assert numba.threading_layer() in ('omp', 'tbb')
    assert all(np.array_equal(rows, alone) for rows in results)
