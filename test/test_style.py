"""Limits that keep files readable: size, names, and no options that are switches."""

from pathlib import Path
import re

from package_statements import written, written_in
import pytest

ROOT = Path(__file__).parent.parent
PYTHON = sorted(
    path for top in ('safe_sysid', 'test', 'benchmarks') for path in (ROOT / top).rglob('*.py')
)
PACKAGE = [path for path in PYTHON if path.is_relative_to(ROOT / 'safe_sysid')]

# Back stops: 300 and 40 are what to aim at.
FILE_LINES = 500
FUNCTION_LINES = 60
ARGUMENTS = 8
VAGUE = re.compile(r'(^|_)(managers?|helpers?|utils?|handlers?|common|misc|processors?|base)$')


def named(path):
    return path.relative_to(ROOT).as_posix()


def long_files(path):
    lines = len(path.read_text(encoding='utf-8').splitlines())
    if lines > FILE_LINES:
        yield f'{named(path)} has {lines} lines: one idea to a file'


def vague_file_names(path):
    if VAGUE.search(path.stem):
        yield f'{named(path)}: name the file after its content'


def vague_class_names(path):
    for name in written(path).classes:
        words = re.sub(r'(?<!^)(?=[A-Z])', '_', name).lower()
        if VAGUE.search(words):
            yield f'{named(path)}: class {name}'


def large_functions(path):
    for function in written(path).functions:
        if function.lines > FUNCTION_LINES:
            yield f'{named(path)}: {function.name} is long'
        if function.arguments > ARGUMENTS:
            yield f'{named(path)}: {function.name} takes {function.arguments} arguments'


def functions_with_switches(path):
    for function in written(path).functions:
        if function.switches:
            yield (
                f'{named(path)}: {function.name} has {sorted(function.switches)}; '
                'two behaviours are two functions'
            )


@pytest.mark.parametrize(
    ('rule', 'paths'),
    [
        (long_files, PYTHON),
        (vague_file_names, PYTHON),
        (vague_class_names, PACKAGE),
        (large_functions, PACKAGE),
        (functions_with_switches, PACKAGE),
    ],
)
def test_every_file_keeps_the_rule(rule, paths):
    assert len(paths) > 100
    assert [complaint for path in paths for complaint in rule(path)] == []


def test_the_limits_can_be_exceeded():
    (function,) = written_in(
        'def solve(x, fast: bool = True, *, quiet=False, tol=1e-3, name=None):\n'
        '    "One line."\n'
        '    return x'
    ).functions
    assert function.switches == ['fast', 'quiet']
    assert function.lines == 2
    assert function.arguments == 5
    for name in ('rotation_utils', 'common', 'base', 'data_manager', 'helpers'):
        assert VAGUE.search(name)
    for name in ('base_parameters', 'baseline', 'misconduct', 'interval'):
        assert not VAGUE.search(name)
