"""Options that set a setting: name, meaning, unit, range and default are those of its field."""

from __future__ import annotations

import argparse
from collections.abc import Callable
import dataclasses
import re
import types
from typing import Annotated, Any, Union, get_args, get_origin

from safe_sysid.config import OneOf, field_types, meanings
from safe_sysid.errors import ConfigError

UNIT = re.compile(r'^\[([^]]+)\] ')


def add_setting(
    group: argparse._ActionsContainer,
    cls: type,
    field: str,
    *flags: str,
    **given: Any,
) -> None:
    """Declare an option; `chosen` tells its value where it was used.

    `given` goes to argparse, over what follows from the field.
    """
    hint, declared = field_types(cls)[field], _field(cls, field)
    unit, meaning = _unit_and_meaning(meanings(cls).get(field, ''))
    follows: dict[str, Any] = {'help': _help(meaning, unit, _shown(declared))}
    if hint is bool:
        follows |= {'action': 'store_true'}
    elif words := _words(hint):
        follows |= {'choices': words}
    else:
        entry = get_args(_bare(hint))[0] if 'nargs' in given else hint
        follows |= {'type': value_of(entry), 'metavar': unit.upper() or None}
    dest = f'{cls.__name__}.{field}'
    group.add_argument(*flags, dest=dest, default=argparse.SUPPRESS, **(follows | given))


def chosen(options: argparse.Namespace, cls: type) -> dict[str, Any]:
    """Return the settings of a class that the command line states, by field."""
    given = vars(options)
    every = {field.name: f'{cls.__name__}.{field.name}' for field in dataclasses.fields(cls)}
    found = {name: given[dest] for name, dest in every.items() if dest in given}
    return {name: tuple(x) if isinstance(x, list) else x for name, x in found.items()}


def value_of(hint: Any) -> Callable[[str], Any]:
    """Return what makes a value of an annotated type out of a text."""

    def convert(text: str) -> Any:
        try:
            return _converted(hint, text)
        except ConfigError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return convert


def _converted(hint: Any, text: str) -> Any:
    """Return a number, a word, or several after commas."""
    arguments = get_args(hint)
    if get_origin(hint) in (Union, types.UnionType):
        return _first_that_fits([x for x in arguments if x is not types.NoneType], text)
    if get_origin(hint) is tuple:
        return tuple(_converted(arguments[0], part) for part in text.split(','))
    if get_origin(hint) is not Annotated:
        return _plain(hint, text)
    value = _converted(arguments[0], text)
    for allowed in arguments[1:]:
        if value not in allowed:
            raise ConfigError(f"'{text}' has to be {allowed}")
    return value


def _first_that_fits(hints: list[Any], text: str) -> Any:
    refusals = []
    for hint in hints:
        try:
            return _converted(hint, text)
        except ConfigError as error:
            refusals.append(str(error))
    raise ConfigError('; '.join(refusals))


def _plain(kind: type, text: str) -> Any:
    """Return a text as it is, as a whole number, or as a number: 5% is 0.05."""
    is_share = kind is float and text.endswith('%')
    try:
        return float(text[:-1]) / 100.0 if is_share else kind(text)
    except ValueError:
        whole = 'whole ' if kind is int else ''
        raise ConfigError(f"'{text}' is not a {whole}number") from None


def _bare(hint: Any) -> Any:
    """Return a type without what is allowed of it."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _words(hint: Any) -> tuple[str, ...]:
    """Return the words of which a setting is one, if it is."""
    marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((tuple(map(str, x.values)) for x in marks if isinstance(x, OneOf)), ())


def _field(cls: type, name: str) -> dataclasses.Field[Any]:
    return next(field for field in dataclasses.fields(cls) if field.name == name)


def _shown(field: dataclasses.Field[Any]) -> str:
    """Return the default as it would be typed; none where the comment says what holds."""
    value = field.default
    if value is None or value is dataclasses.MISSING or isinstance(value, bool):
        return ''
    entries = value if isinstance(value, tuple) else (value,)
    return ','.join(x if isinstance(x, str) else f'{x:g}' for x in entries)


def _unit_and_meaning(comment: str) -> tuple[str, str]:
    found = UNIT.match(comment)
    return (found.group(1), comment[found.end() :]) if found else ('', comment)


def _help(meaning: str, unit: str, default: str) -> str:
    """Return meaning, unit, and what holds where nothing is said, as argparse wants it."""
    said, mark, otherwise = meaning.partition('; none: ')
    text = f'{said} [{unit}]' if unit else said
    default = otherwise if mark else default
    return (f'{text}; default: {default}' if default else text).replace('%', '%%')
