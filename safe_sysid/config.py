"""YAML values become the frozen dataclass a part declares; unknown keys are refused."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
import difflib
from pathlib import Path
import types
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import yaml

from safe_sysid.errors import ConfigError

T = TypeVar('T')


def read_yaml(path: Path) -> dict[str, Any]:
    """Mapping that a YAML file holds."""
    try:
        text = path.read_text(encoding='utf-8')
    except OSError as error:
        raise ConfigError(f'{path}: cannot be read ({error.strerror})') from error
    return parsed_yaml(text, str(path))


def parsed_yaml(text: str, source: str) -> dict[str, Any]:
    """Mapping that a YAML text holds; `source` names the place in error messages."""
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f'{source}: is not YAML: {error}') from error
    if not isinstance(values, dict):
        raise ConfigError(f'{source}: holds {type(values).__name__}, expected a mapping of keys')
    return values


def yaml_text(values: Mapping[str, Any]) -> str:
    """The mapping as YAML, its keys in their order."""
    return str(yaml.safe_dump(dict(values), sort_keys=False, allow_unicode=True, width=99))


def from_mapping(cls: type[T], values: Mapping[str, Any], source: str) -> T:
    """Dataclass built from a mapping; `source` names the place in error messages."""
    if not isinstance(values, Mapping):
        raise ConfigError(f'{source}: {values!r} is not a mapping of keys')
    fields = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    for name in sorted(str(key) for key in values.keys() - fields.keys()):
        raise ConfigError(f"{source}: unknown key '{name}', {_suggestion(name, sorted(fields))}")
    hints = get_type_hints(cls)
    arguments = {}
    for name, field in fields.items():
        if name in values:
            arguments[name] = _convert(hints[name], values[name], f'{source}: {name}')
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise ConfigError(f"{source}: key '{name}' is missing")
    try:
        return cls(**arguments)
    except ConfigError as error:
        raise ConfigError(f'{source}: {error}') from error


def _convert(hint: Any, value: Any, source: str) -> Any:
    """Value of a YAML node as the annotated type: dataclass, tuple, dict, optional or scalar."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        if value is None:
            return None
        return _convert(next(a for a in arguments if a is not type(None)), value, source)
    if dataclasses.is_dataclass(hint):
        return from_mapping(hint, value, source)  # type: ignore[arg-type]
    if origin is tuple:
        return _sequence(arguments, value, source)
    if origin is dict:
        if not isinstance(value, Mapping):
            raise ConfigError(f'{source}: {value!r} is not a mapping of keys')
        return {
            str(key): _convert(arguments[1], item, f'{source}.{key}')
            for key, item in value.items()
        }
    return _scalar(hint, value, source)


def _sequence(arguments: tuple[Any, ...], value: Any, source: str) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise ConfigError(f'{source}: {value!r} is not a list')
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        arguments = (arguments[0],) * len(value)
    if len(value) != len(arguments):
        raise ConfigError(f'{source}: {value!r} has {len(value)} entries, not {len(arguments)}')
    return tuple(
        _convert(hint, item, f'{source}[{i}]')
        for i, (hint, item) in enumerate(zip(arguments, value, strict=True))
    )


def _scalar(hint: Any, value: Any, source: str) -> Any:
    if hint is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if hint is float and isinstance(value, str):  # YAML 1.1 reads 3e-4 as text
        try:
            return float(value)
        except ValueError:
            pass
    elif hint is not float and type(value) is hint:
        return value
    raise ConfigError(f'{source}: {value!r} is a {type(value).__name__}, expected {hint.__name__}')


def _suggestion(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean '{close[0]}'?" if close else f'known keys are {known}'
