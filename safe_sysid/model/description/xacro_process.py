"""A xacro is expanded in a process of its own: its expressions compute, and open, what they like.

    python -m safe_sysid.model.description.xacro_process    told by JSON on standard input

Nothing but files is opened there, and neither its time nor its memory is more than is allowed.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
import contextlib
import io
import json
import os
from pathlib import Path
import re
import resource
import stat
import sys

from safe_sysid.errors import ModelError
from safe_sysid.model.collision.mesh_files import package_folder

SECONDS = 8  # [s] of processor time
MEMORY = 2_000_000_000  # [byte] of addresses
REFUSED = 3  # exit status: standard output has a sentence instead of a URDF
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
NEVER = ('os.', 'subprocess.', 'socket.', 'ctypes.', 'pty.', 'shutil.', 'signal.')  # events
READS = ('os.listdir', 'os.scandir', 'os.walk', 'os.fwalk')  # beside these of them
OF_CODE = {  # attributes that lead from a value to the code that made it
    *('f_back', 'f_builtins', 'f_code', 'f_globals', 'f_locals', 'tb_frame', 'tb_next'),
    *('gi_frame', 'gi_code', 'gi_yieldfrom', 'cr_frame', 'cr_code', 'cr_await', 'cr_origin'),
    *('ag_frame', 'ag_code', 'ag_await', 'func_globals', 'func_code', 'mro'),
}
FUNCTIONS = {  # of $(eval ...)
    each.__name__: each
    for each in (
        *(abs, all, any, bool, dict, divmod, enumerate, filter, float, int, len, list, map, max),
        *(min, pow, range, reversed, round, set, sorted, str, sum, tuple, zip),
    )
}
MISSING = re.compile(r'Undefined substitution argument (\S+)')
ARGUMENT = re.compile(r'<xacro:arg\s+name="([^"]+)"(?:\s+default="([^"]*)")?')


class Asked(dict[str, str]):
    """Arguments of a xacro that keep the names under which one was asked for."""

    def __init__(self, given: dict[str, str]) -> None:
        super().__init__(given)
        self.names: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        return super().__getitem__(name)


def expansion(path: Path, arguments: dict[str, str], package_paths: list[Path]) -> str:
    """Text of the URDF; changes how xacro finds packages, in this process for ever."""
    import xacro
    from xacro import substitution_args

    def find(package: str) -> str:
        return str(package_folder(package, path, package_paths))

    substitution_args._eval_find = substitution_args._eval_dict['find'] = find
    xacro.safe_eval = evaluated
    substitution_args.eval = with_functions
    said, asked = io.StringIO(), Asked(arguments)
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            text = str(xacro.process_file(str(path), mappings=asked).toprettyxml())
    except ModelError:
        raise
    except Exception as error:  # xacro raises whatever its expressions do
        cause = getattr(error, 'exc', None)
        if isinstance(cause, MemoryError | ModelError):
            raise cause from error
        raise ModelError(f'{path}: {_told(xacro, error, path)}') from error
    for name in arguments:
        if name not in asked.names:
            names = ', '.join(sorted(asked.names)) or 'none'
            raise ModelError(
                f"{path}: nothing in it asks for the argument '{name}' (--xacro-arg); those that "
                f'it asks for are: {names}'
            )
    return text


def evaluated(
    expression: str, names: dict[str, object], more: Mapping[str, object] | None = None
) -> object:
    """Return the value of an expression, in place of xacro's own.

    That looks for two underscores in the names of the expression itself, not in those of a lambda
    or a comprehension, which lead to everything that Python can do.
    """
    tree = ast.parse(expression.strip(), '<expression>', 'eval')
    for node in ast.walk(tree):
        name = getattr(node, 'attr', getattr(node, 'id', ''))
        if name.startswith('__') or (isinstance(node, ast.Attribute) and name in OF_CODE):
            raise ValueError(f"an expression uses the name '{name}', which is not allowed")
    names.update(__builtins__={})
    return eval(compile(tree, '<expression>', 'eval'), names, more)


def with_functions(expression: str, _: object, names: Mapping[str, object]) -> object:
    """Return the value of $(eval ...), which may call what computes."""
    return evaluated(expression, dict(FUNCTIONS), names)


def only_files(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse all but to read files: pipes and devices may never say anything, or never end."""
    if event.startswith(NEVER) and event not in READS:
        raise PermissionError(f'an expression does what is not allowed ({event})')
    if event != 'open' or not isinstance(arguments[0], str | bytes):
        return
    name, flags = Path(os.fsdecode(arguments[0])), arguments[2]
    if isinstance(flags, int) and flags & WRITES:
        raise PermissionError(f'{name}: is not written to')
    try:
        mode = name.stat().st_mode
    except OSError:
        return  # the caller finds out
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise ModelError(f'{name}: cannot be read (it is a pipe or a device)')


def limit() -> None:
    """Let neither time nor memory grow beyond what any description needs."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _told(xacro: object, error: Exception, path: Path) -> str:
    """Words of an error, and the files it was met in, innermost first."""
    if missing := MISSING.match(str(error)):
        name = missing.group(1)
        return f"argument '{name}' is missing; give --xacro-arg {name}:=VALUE. {_declared(path)}"
    with contextlib.redirect_stderr(io.StringIO()) as where:
        xacro.print_location()  # type: ignore[attr-defined]
    places = ' '.join(where.getvalue().split())
    return f'{error or type(error).__name__} ({places})'


def _declared(path: Path) -> str:
    found = ARGUMENT.findall(path.read_text(encoding='utf-8', errors='replace'))
    words = [f'{name} (default {default})' if default else name for name, default in found]
    return f'Its arguments: {", ".join(words) or "none"}'


def main() -> int:
    """Write the URDF, or why there is none, to standard output."""
    asked = json.load(sys.stdin)
    sys.dont_write_bytecode = True
    limit()
    sys.addaudithook(only_files)
    try:
        paths = [Path(each) for each in asked['package_paths']]
        said, status = expansion(Path(asked['path']), asked['arguments'], paths), 0
    except ModelError as error:
        said, status = str(error), REFUSED
    except MemoryError:
        said = f'{asked["path"]}: its expressions need more than {MEMORY / 1e9:g} GB of memory'
        status = REFUSED
    sys.stdout.buffer.write(said.encode())
    return status


if __name__ == '__main__':
    sys.exit(main())
