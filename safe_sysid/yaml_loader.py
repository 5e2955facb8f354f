"""A loader of YAML that takes words and numbers as YAML 1.2 does, and no more than there may be.

Values and their depth are counted while they are read, before there is anything of the rest.
"""

from __future__ import annotations

from functools import cache
import re
from typing import Any

KINDS = ('timestamp', 'str', 'int', 'float')
DATE, TEXT, INTEGER, FLOAT = (f'tag:yaml.org,2002:{kind}' for kind in KINDS)
WORDS = ('tag:yaml.org,2002:bool', 'tag:yaml.org,2002:null')
PLAIN = {  # what a text without quotes has to be for more than a text
    INTEGER: re.compile(r'[-+]?[0-9]+$|0o[0-7]+$|0x[0-9a-fA-F]+$'),
    FLOAT: re.compile(
        r'[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$|[-+]?\.(inf|Inf|INF)$|\.(nan|NaN|NAN)$'
    ),
    WORDS[0]: re.compile(r'(true|True|TRUE|false|False|FALSE)$'),
}
MOST_VALUES = 1_000_000  # of a YAML file, its aliases written out
DEEPEST = 100  # lists and mappings in each other


class TooMuch(Exception):  # noqa: N818 - a limit, in a sentence
    """More values than a file may have, or deeper in each other."""


@cache
def yaml_loader() -> Any:
    """Return a loader, a compiled one if there is.

    Of YAML 1.1 it leaves dates, 1:30 for 90, 0b101, 1_000 and `no` for false as texts.
    """
    import yaml  # not above: `--help` reads no file

    class Loader(getattr(yaml, 'CSafeLoader', yaml.SafeLoader)):  # type: ignore[misc]
        yaml_implicit_resolvers = {  # noqa: RUF012 - declared so by its parent
            first: [(tag, PLAIN.get(tag, words)) for tag, words in pairs if tag != DATE]
            for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }
        values = depth = 0

        def descend_resolver(self, _: Any, __: Any) -> None:
            """Count a value when it begins; its parts come before it ends."""
            self.values += 1
            self.depth += 1
            if self.values > MOST_VALUES:
                raise TooMuch(f'has more than {MOST_VALUES} values')
            if self.depth > DEEPEST:
                raise TooMuch(f'has more than {DEEPEST} lists or mappings in each other')

        def ascend_resolver(self) -> None:
            """Come back from a value."""
            self.depth -= 1

    return Loader
