"""Kernels may be called from several threads at once, and are those of the files as they are."""

from concurrent.futures import ThreadPoolExecutor
import os
from pathlib import Path
import re
import shutil
import subprocess
import sys

import numba
import numpy as np
import pytest
from sets.exact_polynomials import random_model
from tiers import slow_after

from safe_sysid.sets import compiled
from safe_sysid.sets.monomials import monomials


def test_kernels_run_in_several_threads_at_once(rng):
    a, b = (random_model(rng, monomials(7, 2), (500,)) for _ in range(2))
    alone = (a * b).rows
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda _: (a * b).rows, range(40)))
    assert all(np.array_equal(rows, alone) for rows in results)


@compiled.jit
def entry(x, i):
    return x[i]


@compiled.jit
def sum_of_three(x):
    return entry(x, 0) + entry(x, 1) + entry(x, 2)


def test_a_kernel_is_compiled_once_whatever_integers_its_callers_write_out():
    assert sum_of_three(np.arange(3.0)) == 3.0
    assert len(entry.signatures) <= 1  # none where an earlier run has kept its caller


PART = re.compile(r'@part_jit\ndef (\w+)\(')


def test_what_is_compiled_is_counted_and_what_is_ready_is_not():
    kernel = numba.njit(lambda x: x + 1.0)  # which is not kept on disk
    before = compiled.compiled_here()
    counts = []
    for value in (1.0, 2.0, np.float64(3.0), 1.0j):
        kernel(value)
        counts.append(compiled.compiled_here() - before)
    assert counts == [1, 1, 1, 2]


def test_what_is_compiled_into_its_caller_has_one_caller():
    package = Path(compiled.__file__).parents[1]
    texts = {path: path.read_text(encoding='utf-8') for path in package.rglob('*.py')}
    parts = [(path, name) for path, text in texts.items() for name in PART.findall(text)]
    assert len(parts) > 10
    for path, name in parts:
        within = [texts[path]] if name.startswith('_') else texts.values()
        calls = sum(
            len(re.findall(rf'(?<!def )\b{name}\(', text)) for text in within if f'{name}(' in text
        )
        assert calls == 1, f'{name} of {path}'


CALLER = """
{imported}
from safe_sysid.sets.compiled import jit


@jit
def outer(x):
    return {inner}(x)
"""
CALLEE = """
from safe_sysid.sets.compiled import jit, part_jit


@{}
def inner(x):
    return {} * x
"""
CALL = """
from safe_sysid.caller import outer
print(outer(1.0), sum(outer.stats.cache_hits.values()))
"""


@pytest.mark.parametrize(
    ('imported', 'inner', 'way'),
    slow_after(
        0,
        [
            ('from safe_sysid.callee import inner', 'inner', 'jit'),
            ('from safe_sysid.callee import inner', 'inner', 'part_jit'),
            ('from safe_sysid import callee', 'callee.inner', 'jit'),
            ('from safe_sysid import (\n    callee as other,\n)', 'other.inner', 'jit'),
        ],
    ),
)
def test_a_kernel_is_compiled_anew_when_one_that_it_calls_changes(tmp_path, imported, inner, way):
    package = tmp_path / 'safe_sysid'
    (package / 'sets').mkdir(parents=True)
    for folder in (package, package / 'sets'):
        (folder / '__init__.py').write_text('')
    shutil.copy(Path(compiled.__file__), package / 'sets' / 'compiled.py')
    (package / 'caller.py').write_text(CALLER.format(imported=imported, inner=inner))

    def call(factor):
        callee = package / 'callee.py'
        callee.write_text(CALLEE.format(way, factor))
        os.utime(callee, (1e8 * factor, 1e8 * factor))  # Python itself tells texts by the second
        run = [sys.executable, '-c', CALL]
        return subprocess.run(
            run, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout.split()

    assert call(2.0) == ['2.0', '0']
    assert call(2.0) == ['2.0', '1']
    assert call(3.0) == ['3.0', '0']


RENAMED = """
from typing import NamedTuple
from safe_sysid.sets.compiled import jit


class {name}(NamedTuple):
    x: float


@jit
def outer(point):
    return 2.0 * point.x
"""


@pytest.mark.slow
def test_a_kernel_whose_types_are_renamed_is_compiled_anew(tmp_path):
    package = tmp_path / 'safe_sysid'
    (package / 'sets').mkdir(parents=True)
    for folder in (package, package / 'sets'):
        (folder / '__init__.py').write_text('')
    shutil.copy(Path(compiled.__file__), package / 'sets' / 'compiled.py')
    for name, second in (('Point', 1), ('Place', 2)):
        caller = package / 'caller.py'
        caller.write_text(RENAMED.format(name=name))
        os.utime(caller, (1e8 * second, 1e8 * second))  # Python itself tells texts by the second
        call = f'from safe_sysid.caller import {name}, outer; print(outer({name}(1.5)))'
        run = [sys.executable, '-c', call]
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.stdout.strip() == '3.0', done.stderr


def test_the_stamp_covers_what_kernels_call_and_the_types_they_take():
    found = {}
    compiled._collect('safe_sysid.reach.torque_reach', found)
    assert {
        'safe_sysid.sets.taylor_kernels',
        'safe_sysid.model.robot_model',
        'safe_sysid.sets.compiled',
    } <= found.keys()
    assert 'safe_sysid.errors' not in found
