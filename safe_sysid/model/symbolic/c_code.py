"""C code of CasADi functions: a source and a header, matrices dense and column by column."""

from __future__ import annotations

from collections.abc import Iterable
import os
from pathlib import Path
import subprocess
import tempfile
from typing import Any

from safe_sysid.model.symbolic.library import casadi as cs

Function = Any  # casadi.Function, which has no types


def write_c(functions: Iterable[Function], folder: Path, name: str) -> list[Path]:
    """Write NAME.c and NAME.h, in which every function is called NAME_FUNCTION."""
    folder.mkdir(parents=True, exist_ok=True)
    generator = cs.CodeGenerator(f'{name}.c', {'with_header': True})
    for function in functions:
        generator.add(dense(function, f'{name}_{function.name()}'))
    generator.generate(f'{folder}{os.sep}')
    return [folder / f'{name}.c', folder / f'{name}.h']


def dense(function: Function, name: str) -> Function:
    """Return a function of another name whose results have no structural zeros."""
    arguments = function.sx_in()
    results = [cs.densify(result) for result in function.call(arguments)]
    return cs.Function(name, arguments, results, function.name_in(), function.name_out())


def compiled(functions: list[Function], compiler: str) -> dict[str, Function]:
    """Return functions compiled by a C compiler, by their names."""
    with tempfile.TemporaryDirectory() as folder:
        source, _ = write_c(functions, Path(folder), 'arm')
        library = str(source.with_suffix('.so'))
        command = [compiler, '-O2', '-fPIC', '-shared', str(source), '-o', library, '-lm']
        subprocess.run(command, check=True)
        return {f.name(): cs.external(f'arm_{f.name()}', library) for f in functions}
