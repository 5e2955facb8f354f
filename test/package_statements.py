"""What Python files consist of, for tests that look at how the package is written."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
import gc
from pathlib import Path

PARTS = ('body', 'orelse', 'finalbody', 'handlers', 'cases')  # of a statement, that hold others
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Function:
    """What its limits are about."""

    name: str
    lines: int  # without its docstring
    arguments: int
    switches: list[str]  # parameters with True or False as their default


@dataclass(frozen=True)
class Written:
    """What is asked of a file."""

    docstring: str
    imports: list[ast.stmt]  # at any depth
    functions: list[Function]
    classes: list[str]


@cache
def written(path: Path) -> Written:
    """Read a file once for all tests of a process, and keep little: its tree is large."""
    gc.disable()  # looking for garbage in a tree takes longer than making it
    try:
        return written_in(path.read_text(encoding='utf-8'))
    finally:
        gc.enable()


def written_in(source: str) -> Written:
    """Tell what a text consists of."""
    tree = ast.parse(source)
    found = list(_statements(tree))
    return Written(
        ast.get_docstring(tree) or '',
        [each for each in found if isinstance(each, (ast.Import, ast.ImportFrom))],
        [_function(each) for each in found if isinstance(each, FUNCTIONS)],
        [each.name for each in found if isinstance(each, ast.ClassDef)],
    )


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Statements inside a node, at any depth; expressions, most of a tree, are passed over."""
    for part in PARTS:
        inner = getattr(node, part, [])
        for each in inner if isinstance(inner, list) else []:
            yield each
            yield from _statements(each)


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return Function(node.name, _body_lines(node), len(every), _switches(arguments, every))


def _body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its docstring."""
    first = node.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    docstring = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
    return (node.end_lineno or 0) - node.lineno + 1 - docstring


def _switches(arguments: ast.arguments, every: list[ast.arg]) -> list[str]:
    defaults = [*arguments.defaults, *arguments.kw_defaults]
    with_default = every[len(every) - len(defaults) :]
    return [
        argument.arg
        for argument, default in zip(with_default, defaults, strict=True)
        if isinstance(default, ast.Constant) and isinstance(default.value, bool)
    ]
