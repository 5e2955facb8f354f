"""Limits that keep files readable: size, names, and no options that are switches."""

import ast
from functools import cache
import gc
from pathlib import Path
import re

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

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def named(path):
    return path.relative_to(ROOT).as_posix()


@pytest.fixture(autouse=True, scope='module')
def trees_are_kept():
    """Looking for garbage among syntax trees takes longer than making them."""
    gc.disable()
    yield
    gc.enable()


@cache
def nodes(path):
    """Functions and classes of a file."""
    tree = ast.parse(path.read_text(encoding='utf-8'))
    return [node for node in ast.walk(tree) if isinstance(node, (*FUNCTIONS, ast.ClassDef))]


def functions(path):
    return [node for node in nodes(path) if isinstance(node, FUNCTIONS)]


def body_lines(function):
    """Lines of a function without its docstring."""
    first = function.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    docstring = first.end_lineno - first.lineno + 1 if documented else 0
    return function.end_lineno - function.lineno + 1 - docstring


def switches(function):
    """Parameters with True or False as their default."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    defaults = [*arguments.defaults, *arguments.kw_defaults]
    with_default = every[len(every) - len(defaults) :]
    return {
        argument.arg
        for argument, default in zip(with_default, defaults, strict=True)
        if isinstance(default, ast.Constant) and isinstance(default.value, bool)
    }


def long_files(path):
    lines = len(path.read_text(encoding='utf-8').splitlines())
    if lines > FILE_LINES:
        yield f'{named(path)} has {lines} lines: one idea to a file'


def vague_file_names(path):
    if VAGUE.search(path.stem):
        yield f'{named(path)}: name the file after its content'


def vague_class_names(path):
    for node in nodes(path):
        if isinstance(node, ast.ClassDef):
            words = re.sub(r'(?<!^)(?=[A-Z])', '_', node.name).lower()
            if VAGUE.search(words):
                yield f'{named(path)}: class {node.name}'


def large_functions(path):
    for function in functions(path):
        if body_lines(function) > FUNCTION_LINES:
            yield f'{named(path)}: {function.name} is long'
        count = len(function.args.posonlyargs + function.args.args + function.args.kwonlyargs)
        if count > ARGUMENTS:
            yield f'{named(path)}: {function.name} takes {count} arguments'


def functions_with_switches(path):
    for function in functions(path):
        if switches(function):
            yield (
                f'{named(path)}: {function.name} has {sorted(switches(function))}; '
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
    (function,) = ast.parse(
        'def solve(x, fast: bool = True, *, quiet=False, tol=1e-3, name=None):\n'
        '    "One line."\n'
        '    return x'
    ).body
    assert switches(function) == {'quiet', 'fast'}
    assert body_lines(function) == 2
    for name in ('rotation_utils', 'common', 'base', 'data_manager', 'helpers'):
        assert VAGUE.search(name)
    for name in ('base_parameters', 'baseline', 'misconduct', 'interval'):
        assert not VAGUE.search(name)
