"""XML files of other people: elements and their depth are counted while they are read."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from safe_sysid.errors import ModelError
from safe_sysid.input_file import LARGEST_TEXT, check_file

MOST_ELEMENTS = 1_000_000
DEEPEST = 100  # elements in each other


def xml_root(path: Path, largest: int = LARGEST_TEXT) -> ElementTree.Element:
    """Root element of a file of at most so many bytes."""
    check_file(path, ModelError, largest)
    parser = ElementTree.XMLParser(target=_CountedTree(path))
    try:
        root: ElementTree.Element = ElementTree.parse(path, parser).getroot()
    except OSError as error:
        raise ModelError(f'{path}: cannot be read ({error.strerror})') from error
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # of an unknown encoding
        raise ModelError(f'{path}: is not XML ({error})') from error
    return root


class _CountedTree(ElementTree.TreeBuilder):
    """A tree that ends with an error where it has more elements than a file may have."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._count = self._depth = 0

    def start(self, tag: str, attrs: dict[str, str], /) -> ElementTree.Element:
        """Begin an element."""
        self._count += 1
        self._depth += 1
        if self._count > MOST_ELEMENTS:
            raise ModelError(f'{self._path}: has more than {MOST_ELEMENTS} elements')
        if self._depth > DEEPEST:
            raise ModelError(f'{self._path}: more than {DEEPEST} elements are in each other')
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> ElementTree.Element:
        """End an element."""
        self._depth -= 1
        return super().end(tag)
