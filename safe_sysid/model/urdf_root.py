"""The root element of a URDF, which the first bytes of a file tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from safe_sysid.errors import ModelError
from safe_sysid.input_file import LARGEST_TEXT, check_file, shortened

FIRST = 65536  # bytes that are looked at
ROOT = 'robot'


def check_root(path: Path) -> None:
    """Refuse what does not begin as a URDF does."""
    check_file(path, ModelError, LARGEST_TEXT)
    parser: ElementTree.XMLPullParser[Any] = ElementTree.XMLPullParser(events=('start',))
    try:
        with path.open('rb') as file:
            data = file.read(FIRST)
        parser.feed(data)
        if len(data) < FIRST:
            parser.close()
        begun: Any = next(iter(parser.read_events()), None)  # nothing: a long remark
    except OSError as error:
        raise ModelError(f'{path}: cannot be read ({error.strerror})') from error
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # of an unknown encoding
        raise no_xml(path, error) from error
    if begun is not None:
        check_tag(path, begun[1])


def check_tag(path: Path, root: ElementTree.Element) -> None:
    """Refuse the root of something else."""
    if root.tag != ROOT:
        raise ModelError(
            f'{path}: the root element is <{shortened(root.tag)}>, a URDF has <{ROOT}>'
        )


def no_xml(path: Path, error: Exception) -> ModelError:
    """Return the sentence that something is no XML at all."""
    return ModelError(f'{path}: is not XML ({error})')
