"""Text that defines a message type, as bags need it, from the Python class of the type."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
import re
from typing import Any

from safe_sysid.errors import MessageError

# Names in the Python classes (IDL), and in .msg files.
PRIMITIVES = {'boolean': 'bool', 'octet': 'byte', 'float': 'float32', 'double': 'float64'}
SEQUENCE = re.compile(r'sequence<(.+?)(?:, (\d+))?>$')
ARRAY = re.compile(r'(.+)\[(\d+)\]$')
BOUNDED_STRING = re.compile(r'(w?string)<(\d+)>$')
TYPE = re.compile(r'[A-Za-z][A-Za-z0-9_]*/(msg|srv|action)/[A-Za-z][A-Za-z0-9_]*')
SEPARATOR = '=' * 80


def message_class(type_name: str) -> Any:
    """Python class of a type such as std_msgs/msg/String, or of a message of an action."""
    if not TYPE.fullmatch(type_name):
        raise MessageError(f"'{type_name[:99]}' is no type such as std_msgs/msg/String")
    package, kind, name = type_name.split('/')
    try:
        if not _has_interfaces(package, kind):
            raise ImportError(f'no package {package} has {kind}')
        module = importlib.import_module(f'{package}.{kind}')
        if kind == 'action':
            action, _, part = name.rpartition('_')
            return _of_action(getattr(module, action), part)
        return getattr(module, name)
    except (ImportError, AttributeError) as error:
        raise MessageError(
            f'{type_name} is not installed here ({error}); install or source its package'
        ) from error


def _has_interfaces(package: str, kind: str) -> bool:
    """Whether there is a package with such a folder, of which nothing is run to find out."""
    found = importlib.util.find_spec(package)
    places = None if found is None else found.submodule_search_locations
    return any((Path(place) / kind).is_dir() for place in places or ())


def _of_action(action: Any, part: str) -> Any:
    """Python class of what is told of an action: FeedbackMessage, and Feedback within."""
    return getattr(action.Impl if part == 'FeedbackMessage' else action, part)


def definition(type_name: str) -> str:
    """Fields of a type, then of every type they need; without comments and constants.

    Parts of an action keep `action` in their name, as its hash counts that, and fields spell them
    without a package: so each of the readers that are in use finds them.
    """
    texts: dict[str, str] = {}
    waiting = [type_name]
    while waiting:
        name = waiting.pop(0)
        if name in texts:
            continue
        fields = message_class(name).get_fields_and_field_types()
        kinds = {field: _in_msg(kind) for field, kind in fields.items()}
        texts[name] = ''.join(f'{_spelt(kind, name)} {field}\n' for field, kind in kinds.items())
        needed = (kind.partition('[')[0] for kind in kinds.values())
        waiting += [_whole(kind, name) for kind in needed if '/' in kind]
    first, *others = texts.items()
    parts = [first[1]] + [f'MSG: {_short(name)}\n{text}' for name, text in others]
    return f'{SEPARATOR}\n'.join(parts)


def _whole(kind: str, parent: str) -> str:
    """Type of a field of another type: only an action's own messages have parts of an action."""
    package, _, name = kind.partition('/')
    is_part = parent.startswith(f'{package}/action/') and '_' in name
    return f'{package}/{"action" if is_part else "msg"}/{name}'


def _spelt(kind: str, parent: str) -> str:
    """Type of a field as its definition has it; a part of an action is named beside its parent."""
    is_part = '/' in kind and '/action/' in _whole(kind, parent)
    return kind.partition('/')[2] if is_part else kind


def _short(type_name: str) -> str:
    """Type as it is announced."""
    package, kind, name = type_name.split('/')
    return type_name if kind == 'action' else f'{package}/{name}'


def _in_msg(kind: str) -> str:
    """Type of a field as a .msg file spells it."""
    if match := SEQUENCE.match(kind):
        return f'{_in_msg(match[1])}[{"<=" + match[2] if match[2] else ""}]'
    if match := ARRAY.match(kind):
        return f'{_in_msg(match[1])}[{match[2]}]'
    if match := BOUNDED_STRING.match(kind):
        return f'{match[1]}<={match[2]}'
    return PRIMITIVES.get(kind, kind)
