"""A xacro file becomes a URDF without ROS, its packages found as meshes are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import contextlib
import io
from pathlib import Path
import re

from safe_sysid.errors import ModelError
from safe_sysid.model.collision.mesh_files import package_folder

MISSING = re.compile(r'Undefined substitution argument (\S+)')
ARGUMENT = re.compile(r'<xacro:arg\s+name="([^"]+)"(?:\s+default="([^"]*)")?')


def expanded_xacro(
    path: Path, arguments: Mapping[str, str], package_paths: Sequence[Path] = ()
) -> str:
    """Text of the URDF that a xacro file stands for."""
    try:
        import xacro
        from xacro import substitution_args
    except ImportError as error:
        raise ModelError(
            f"{path}: xacro is not installed: pip install 'safe_sysid[xacro]', or make a URDF of "
            f'it where ROS is: xacro {path} > arm.urdf'
        ) from error
    if not path.is_file():
        raise ModelError(f'{path}: cannot be read (no such file)')
    usual = substitution_args._eval_find, substitution_args._eval_dict['find']

    def find(package: str) -> str:
        return str(package_folder(package, path, package_paths))

    substitution_args._eval_find = substitution_args._eval_dict['find'] = find
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            return str(xacro.process_file(str(path), mappings=dict(arguments)).toprettyxml())
    except ModelError:
        raise
    except Exception as error:  # xacro raises whatever its expressions do
        raise ModelError(f'{path}: {_told(xacro, error, path)}') from error
    finally:
        substitution_args._eval_find, substitution_args._eval_dict['find'] = usual


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
