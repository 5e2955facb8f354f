"""C code of CasADi functions: a source and a header, matrices dense and column by column."""

from __future__ import annotations

from collections.abc import Iterable
import errno
import os
from pathlib import Path
import subprocess
import tempfile
from typing import Any

from safe_sysid.model.symbolic.library import casadi as cs
from safe_sysid.output_file import write_bytes

Function = Any  # casadi.Function, which has no types


def write_c(functions: Iterable[Function], folder: Path, name: str) -> list[Path]:
    """Write NAME.c and NAME.h, in which every function is called NAME_FUNCTION."""
    generator = cs.CodeGenerator(f'{name}.c', {'with_header': True})
    for function in functions:
        generator.add(dense(function, f'{name}_{function.name()}'))
    paths = [folder / f'{name}.c', folder / f'{name}.h']
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        generator.generate(f'{place}{os.sep}')
        for path in paths:
            write_bytes(path, _whole(Path(place) / path.name))
    return paths


def casadi_text(function: Function) -> str:
    """Return what `casadi.Function.load` reads from a file."""
    serializer = cs.StringSerializer()
    serializer.pack(function)
    return str(serializer.encode())


def _whole(path: Path) -> bytes:
    """Return what CasADi wrote; it does not say where a disk was full."""
    content = path.read_bytes()
    if not content.endswith(b'#endif\n'):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    return content


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
