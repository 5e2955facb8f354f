"""YAML values become the frozen dataclass a part declares; unknown keys are refused.

Beside a field stand the values that are allowed, as a Range, a OneOf or a number of Entries, and
in a comment its unit and meaning. What is checked, what an error says, what `--help` and
`ros2 param describe` show is what stands there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import dataclasses
import difflib
from functools import cache
import inspect
import linecache
import math
from numbers import Real
from os import PathLike
from pathlib import Path
import re
import types
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from safe_sysid.errors import ConfigError
from safe_sysid.input_file import name_trouble, text_of
from safe_sysid.yaml_loader import FLOAT, INTEGER, MOST_VALUES, TEXT, WORDS, TooMuch, yaml_loader

T = TypeVar('T')

LEADING_ZERO = re.compile(r'[-+]?0[0-9]+')  # of an integer
NAMES_OF_KINDS = {bool: 'True or False', str: 'a text', Path: 'the path of a file'}
YES, NO = ('yes', 'on'), ('no', 'off')  # as some write true and false

COMMENT = re.compile(r'^    (\w+): [^#\n]*#\s*(.*(?:\n    # .*)*)$', re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Range:
    """Finite numbers that are allowed."""

    above: float = -math.inf
    at_least: float = -math.inf
    less_than: float = math.inf
    at_most: float = math.inf

    @property
    def lower(self) -> float:
        """Lower end, itself allowed or not."""
        return max(self.above, self.at_least)

    @property
    def upper(self) -> float:
        """Upper end, itself allowed or not."""
        return min(self.less_than, self.at_most)

    def __contains__(self, x: Any) -> bool:
        number: Any = x
        return isinstance(x, Real) and bool(
            self.above < number < self.less_than and self.at_least <= number <= self.at_most
        )

    def __str__(self) -> str:
        phrases = [
            f'{name.replace("_", " ")} {end:g}'
            for name, end in dataclasses.asdict(self).items()
            if math.isfinite(end)
        ]
        if self.upper == math.inf and not isinstance(self.lower, int):  # integers are finite
            phrases.append('finite')
        return ' and '.join(phrases)


@dataclasses.dataclass(frozen=True)
class OneOf:
    """Words or numbers of which one is allowed."""

    values: tuple[str | int, ...]

    def __contains__(self, x: Any) -> bool:
        return isinstance(x, (str, int)) and x in self.values

    def __str__(self) -> str:
        return f'one of {", ".join(map(str, self.values))}'


@dataclasses.dataclass(frozen=True)
class Entries:
    """Numbers of entries that a list may have."""

    at_least: int
    at_most: float = math.inf

    def __contains__(self, x: Any) -> bool:
        return isinstance(x, tuple) and self.at_least <= len(x) <= self.at_most

    def __str__(self) -> str:
        number = '' if self.at_most == self.at_least else ' or more'
        return f'a list of {self.at_least}{number}'


Allowed = Range | OneOf
Finite = Annotated[float, Range()]
Positive = Annotated[float, Range(above=0.0)]
Mass = Annotated[float, Range(above=0.0, at_most=1e6)]  # [kg]
Length = Annotated[float, Range(above=0.0, at_most=1e4)]  # [m]
Angle = Annotated[float, Range(at_least=-6.2832, at_most=6.2832)]  # [rad] a turn either way
NotNegative = Annotated[float, Range(at_least=0.0)]
Share = Annotated[float, Range(at_least=0.0, less_than=1.0)]
PositiveShare = Annotated[float, Range(above=0.0, less_than=1.0)]
Natural = Annotated[int, Range(at_least=0)]
Count = Annotated[int, Range(at_least=1)]


class Settings:
    """Parent of the dataclasses whose values have to be in what stands beside them."""

    def __post_init__(self) -> None:
        for name, hint in field_types(type(self)).items():
            given = getattr(self, name)
            value = _taken(hint, given)
            if value is not given:
                object.__setattr__(self, name, value)
            for allowed in _broken(hint, value):
                meaning = meanings(type(self)).get(name)
                about = f' ({meaning})' if meaning else ''
                shown = repr(value) if isinstance(value, str) else value
                raise ConfigError(f'{name} is {shown}, it has to be {allowed}{about}')


def field_types(cls: type) -> dict[str, Any]:
    """Return the annotated types of the fields, with what is allowed."""
    of: Any = cls  # classes can be hashed, whatever mypy makes of their objects
    return _field_types(of)


@cache
def _field_types(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls, include_extras=True)


@cache
def _plain_types(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls)


def allowed_values(cls: type) -> dict[str, Allowed]:
    """Return what is allowed, by the name of the field."""
    of: Any = cls
    return _allowed_values(of)


@cache
def _allowed_values(cls: Any) -> dict[str, Allowed]:
    found = {name: _allowed_in(hint) for name, hint in field_types(cls).items()}
    return {name: allowed for name, allowed in found.items() if allowed is not None}


def _taken(hint: Any, value: Any) -> Any:
    """Return a value of Python as declared: lists, arrays, one entry are tuples, texts paths."""
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    for part in parts:
        plain = get_args(part)[0] if get_origin(part) is Annotated else part
        if plain is Path and isinstance(value, (str, PathLike)):
            return Path(value)
        if get_origin(plain) is tuple and not any(_is_of(each, value) for each in parts):
            entries = value.tolist() if hasattr(value, 'tolist') else value
            return tuple(entries) if isinstance(entries, list) else (entries,)
    return value


def _broken(hint: Any, value: Any) -> Iterator[Allowed | Entries | str]:
    """Yield what is allowed where a value, or an entry of it, is not in it."""
    arguments = get_args(hint)
    if not arguments:
        yield from _of_another_kind(hint, value)
    elif get_origin(hint) is Annotated:
        if get_args(arguments[0]):
            yield from _broken(arguments[0], value)
        yield from (mark for mark in arguments[1:] if value not in mark)
    elif get_origin(hint) in (Union, types.UnionType):
        fitting = (part for part in arguments if _is_of(part, value))
        yield from _broken(next(fitting, arguments[0]), value)
    elif get_origin(hint) is tuple:
        entries = value if isinstance(value, tuple) else (value,)
        hints = arguments[:1] if arguments[-1] is Ellipsis else arguments
        for part, entry in zip((*hints, *hints[-1:] * len(entries)), entries, strict=False):
            yield from _broken(part, entry)
        if arguments[-1] is not Ellipsis and len(hints) != len(entries):
            yield Entries(len(hints), len(hints))
    elif get_origin(hint) is dict and isinstance(value, dict):
        for entry in value.values():
            yield from _broken(arguments[1], entry)


def _of_another_kind(hint: Any, value: Any) -> Iterator[str]:
    """Yield what a text, a truth, a path or a dataclass has to be, where a value is none."""
    if (hint in NAMES_OF_KINDS or dataclasses.is_dataclass(hint)) and not _is_of(hint, value):
        yield NAMES_OF_KINDS.get(hint, f'of the class {hint.__name__}')


def _is_of(hint: Any, value: Any) -> bool:
    """Whether a value is of an annotated type; an int is a float, too."""
    plain = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    plain = get_origin(plain) or plain
    return isinstance(value, (int, float) if plain is float else plain)


def _allowed_in(hint: Any) -> Allowed | None:
    """Return the first one in the annotation of a value, of several, or of none or one."""
    if isinstance(hint, (Range, OneOf)):
        return hint
    return next((x for part in get_args(hint) if (x := _allowed_in(part)) is not None), None)


def meanings(cls: type) -> dict[str, str]:
    """Comment beside every field of a dataclass, inherited ones included."""
    of: Any = cls
    return _meanings(of)


@cache
def _meanings(cls: Any) -> dict[str, str]:
    comments: dict[str, str] = {}
    ancestors: list[Any] = [c for c in cls.__mro__ if dataclasses.is_dataclass(c)]
    for ancestor in reversed(ancestors):
        for name, comment in COMMENT.findall(_source(ancestor)):
            comments[name] = comment.replace('\n    #', '').partition('  #')[0]
    return comments


def _source(cls: type) -> str:
    """Return the text of a class; none from an interpreter that was given no sources.

    `inspect.getsource` parses the whole file, for each class anew.
    """
    try:
        lines = linecache.getlines(inspect.getsourcefile(cls) or '')
    except TypeError:
        return ''
    head = re.compile(rf'class {cls.__qualname__}\b')
    begin = next((i for i, line in enumerate(lines) if head.match(line)), len(lines))
    behind = (i for i in range(begin + 1, len(lines)) if re.match(r'[^\s#)]', lines[i]))
    return ''.join(lines[begin : next(behind, len(lines))])


def read_yaml(path: Path) -> dict[str, Any]:
    """Return mapping that a YAML file holds."""
    return parsed_yaml(text_of(path, ConfigError), str(path))


def parsed_yaml(text: str, source: str) -> dict[str, Any]:
    """Return mapping that a YAML text holds; `source` names the place in error messages."""
    values = yaml_value(text, source)
    if not isinstance(values, dict):
        raise ConfigError(f'{source}: holds {type(values).__name__}, expected a mapping of keys')
    return values


def yaml_value(text: str, source: str) -> Any:
    """Return what a YAML text holds, a mapping or not."""
    import yaml

    try:
        loader = yaml_loader()(text)
        node = loader.get_single_node()
        if node is None:
            return None
        if wrong := _octal_or_key_twice(node):
            raise ConfigError(f'{source}: {wrong}')
        if not _size(node, {}) <= MOST_VALUES:
            raise ConfigError(
                f'{source}: its aliases (*name) stand for more than {MOST_VALUES} values, or for '
                'themselves'
            )
        return loader.construct_document(node)
    except TooMuch as error:
        raise ConfigError(f'{source}: {error}') from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # 1_: is an int of no digits
        raise ConfigError(f'{source}: is not YAML: {error}') from error


def _octal_or_key_twice(node: Any) -> str:
    """Return which key is there twice, or which number starts with a 0.

    A reader would keep the last one of two keys alone, and some take 060 for 48. Words for true,
    false and nothing are names where they are keys.
    """
    left, seen = [node], set()  # a mapping may be large, and its aliases many
    while left:
        each = left.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if each.tag == INTEGER and LEADING_ZERO.fullmatch(each.value):
            return _leading_zero(each)
        pairs = _pairs(each)
        for key, _ in pairs:
            key.tag = TEXT if key.tag in WORDS else key.tag
        for key, _ in pairs:
            if isinstance(key.value, str) and (trouble := name_trouble(key.value)):
                return f'{trouble} (line {key.start_mark.line + 1})'
        if twice := _key_twice(pairs):
            return twice
        left += [x for pair in pairs for x in pair] or _parts(each)
    return ''


def _parts(node: Any) -> list[Any]:
    """Nodes in a list or a mapping, none in a scalar."""
    return node.value if isinstance(node.value, list) else []


def _pairs(node: Any) -> list[tuple[Any, Any]]:
    """Keys with values of a mapping, none of another node."""
    return [part for part in _parts(node) if isinstance(part, tuple)]


def _key_twice(pairs: list[tuple[Any, Any]]) -> str:
    """Say which key is there twice: 5, '5', 0x5 and 5.0 are one to readers of names or numbers."""
    names = set[Any]()
    for key, _ in pairs:
        known = _names_of(key)
        if known & names:
            return f"key '{key.value}' is there twice (line {key.start_mark.line + 1})"
        names |= known
    return ''


def _names_of(key: Any) -> set[Any]:
    """Names that a key of YAML may be read by: its text, its number, and the text of that."""
    if not isinstance(key.value, str):
        return {('node', id(key))}
    if key.tag not in (INTEGER, FLOAT):
        return {key.value}
    plain = key.value.lower().replace('.inf', 'inf').replace('.nan', 'nan')
    try:
        number = int(plain, 0) if key.tag == INTEGER else float(plain)
    except ValueError:
        return {key.value}
    return {key.value, number, str(number)}


def _leading_zero(node: Any) -> str:
    """Say what to write instead of an integer that starts with a 0."""
    text = node.value
    whole = f'{int(text)}'
    is_octal = not set(text) & set('89+-')
    octal = f' or 0o{whole}' if is_octal else ''
    taken = f'{int(text, 8)} to some readers' if is_octal else 'another number, or none, to some'
    return (
        f'{text} (line {node.start_mark.line + 1}) is {taken}: write {whole}{octal}, or '
        f"'{text}' for a name"
    )


def _size(node: Any, known: dict[int, float]) -> float:
    """Values below a node of YAML, each alias written out; infinite where it holds itself."""
    if id(node) not in known:
        known[id(node)] = math.inf
        parts = node.value if isinstance(node.value, list) else ()
        inner = [x for part in parts for x in (part if isinstance(part, tuple) else (part,))]
        known[id(node)] = 1.0 + sum(_size(x, known) for x in inner)
    return known[id(node)]


def yaml_text(values: Mapping[str, Any]) -> str:
    """Return the mapping as YAML, its keys in their order."""
    import yaml

    return str(yaml.safe_dump(dict(values), sort_keys=False, allow_unicode=True, width=99))


def from_mapping(cls: type[T], values: Mapping[str, Any], source: str) -> T:
    """Dataclass built from a mapping; `source` names the place in error messages."""
    if not isinstance(values, Mapping):
        raise ConfigError(f'{source}: {values!r} is not a mapping of keys')
    fields = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    for name in sorted(str(key) for key in values.keys() - fields.keys()):
        raise ConfigError(f"{source}: unknown key '{name}', {_suggestion(name, sorted(fields))}")
    of: Any = cls
    hints = _plain_types(of)
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


def nested(given: dict[str, Any]) -> dict[str, Any]:
    """Names with dots as mappings in mappings."""
    mapping: dict[str, Any] = {}
    for name, value in given.items():
        *folders, last = name.split('.')
        place: Any = mapping
        for folder in folders:
            place = place.setdefault(folder, {})
            if not isinstance(place, dict):
                raise ConfigError(f"parameter '{name}': '{folder}' is a value already")
        if isinstance(place.get(last), dict):
            raise ConfigError(f"parameter '{name}': {value!r} is not a mapping of keys")
        place[last] = value
    return mapping


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
        if len({str(key) for key in value}) < len(value):
            raise ConfigError(f'{source}: two of its keys are the same name, {list(value)}')
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
        try:
            return float(value)
        except OverflowError as error:
            raise ConfigError(f'{source}: a whole number of more than 308 digits') from error
    if hint is float and isinstance(value, str) and '_' not in value:  # YAML leaves 3e-4 a text
        try:
            return float(value)
        except ValueError:
            pass
    elif hint is bool and str(value).lower() in (*YES, *NO):
        return value.lower() in YES
    elif hint is not float and type(value) is hint:
        return value
    raise ConfigError(f'{source}: {value!r} is a {type(value).__name__}, expected {hint.__name__}')


def _suggestion(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean '{close[0]}'?" if close else f'known keys are {known}'
