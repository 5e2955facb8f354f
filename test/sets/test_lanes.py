"""Every lane of a pool holds what a pool of numbers holds alone: it encloses as numbers do."""

import numpy as np
import pytest
from sets.test_error_variables import MODELS, random_pool

from safe_sysid.sets import taylor_kernels as kernels
from safe_sysid.sets import taylor_maps as maps
from safe_sysid.sets import taylor_sums as sums
from safe_sysid.sets.compiled import jit
from safe_sysid.sets.lanes import LANES, lane_pool
from safe_sysid.sets.monomials import monomials

NAMES = ['two', 'cubic', 'none']
OUT, ROWS, USED = 12, 40, 40  # first row that is written, rows, end of those that are written
SCALES = (1.0, 1.0, 1e-3, 1e160, 1e300, 1e-160, 1e-310)


@jit
def operate(pool, sizes, numbers, table):
    """Do everything that can be done to a pool, into rows from OUT on."""
    center, radius = numbers[0, 0, 0], numbers[1, 0, 0]
    kernels.add(pool, 0, 1, 12)
    kernels.subtract(pool, 1, 2, 13)
    kernels.add_interval(pool, center, radius, 14)
    kernels.scale(pool, 0, center, radius, 15)
    kernels.add_scaled(pool, 2, center, radius, 16)
    kernels.add_product(pool, 0, 1, 1.0, 17, table)
    kernels.square(pool, 6, 20, table)
    for a in range(OUT):
        pool[31, a % 2], pool[32, a % 2] = kernels.bounds(pool, a, table)
        pool[33, a % 2] = max(-pool[31, a % 2], pool[32, a % 2])
    kernels.clear_vector(pool, 21)
    kernels.copy(pool, 11, 28)
    sums.note_sizes(pool, 0, OUT, sizes, table)
    sums.set_inner_product(pool, sizes, 0, 3, 3, 29, table)
    sums.add_inner_product(pool, sizes, 1, 4, 1, 29, table)
    sums.add_two_products(pool, sizes, (0, 1), (7, 8), (0.5, -1.0), 30, table)
    maps.add_multiples(pool, sizes, 0, 2, numbers[0, 1], 30)
    sums.set_turned(pool, sizes, 0, 3, 34, table)
    maps.set_linear(pool, sizes, numbers, 3, 37)
    maps.add_linear(pool, sizes, numbers, 6, 37)


@jit
def operate_in_lanes(memory, sizes, numbers, table):
    """Do the same in every lane."""
    operate(lane_pool(memory), lane_pool(sizes), numbers, table)


def some_pool(rng, table, errors):
    """Rows of any size, some of them zero or without a radius."""
    pool = random_pool(rng, table, ROWS)
    if not errors:
        pool = np.delete(pool, slice(table.count, -1), axis=1)
    pool *= rng.choice(SCALES, size=(ROWS, 1)) if rng.random() < 0.5 else 1.0
    pool[rng.random(ROWS) < 0.2] = 0.0
    pool[rng.random(ROWS) < 0.2, -1] = 0.0
    pool[rng.random(ROWS) < 0.1, : table.count] = 0.0
    pool[31:USED, :2] = 0.0
    return pool


@pytest.mark.parametrize('errors', [True, False])
@pytest.mark.parametrize('table', [*MODELS, monomials(2, 4)], ids=[*NAMES, 'quartic'])
def test_lanes_hold_what_pools_hold_alone(table, errors, rng):
    overflows = unlike = 0
    for _ in range(40):
        pools = [some_pool(rng, table, errors) for _ in range(LANES)]
        numbers = rng.normal(size=(2, 3, 3)) * (rng.random((2, 3, 3)) < 0.7)
        numbers[1] = np.abs(numbers[1])
        memory = np.ascontiguousarray(np.stack(pools, axis=-1))
        operate_in_lanes(memory, np.empty((ROWS, table.degree + 1, LANES)), numbers, table.kernel)
        for lane, pool in enumerate(pools):
            operate(pool, np.empty((ROWS, table.degree + 1)), numbers, table.kernel)
            np.testing.assert_array_equal(memory[..., lane], pool)
            overflows += not np.all(np.isfinite(pool))
        unlike += np.any((memory == 0.0).all(axis=1) != (memory == 0.0).all(axis=(1, 2))[:, None])
    assert overflows > 0
    assert unlike > 0


def test_a_row_that_is_zero_in_some_lanes_changes_nothing_there(rng):
    """Without error variables, whose size is never taken for zero."""
    table = MODELS[0]
    width = table.count + 1
    memory = rng.uniform(0.5, 1.0, (ROWS, width, LANES))
    memory[0, :, ::2] = 0.0
    before = memory[17].copy()
    operate_in_lanes(
        memory, np.empty((ROWS, table.degree + 1, LANES)), np.ones((2, 3, 3)), table.kernel
    )
    changed = np.any(memory[17] != before, axis=0)
    np.testing.assert_array_equal(changed, np.arange(LANES) % 2 == 1)


def test_a_pool_has_as_many_lanes_as_kernels_take():
    memory = np.zeros((ROWS, 4, LANES - 1))
    with pytest.raises(ValueError, match='another number of lanes'):
        operate_in_lanes(memory, memory, np.ones((2, 3, 3)), MODELS[0].kernel)
