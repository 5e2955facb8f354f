"""Files from outside, damaged: each is read or refused in a sentence, soon, in little memory."""

import contextlib
import os

from fuzz.edits import EDITS, edited
from fuzz.file_kinds import file_kinds
from fuzz.limits import soon
from fuzz.searched import searched, some_or
from hypothesis import given
from hypothesis import strategies as st
import pytest

from safe_sysid.errors import SafeSysidError

KINDS = (
    *('URDF', 'URDF of a hand', 'URDF of a loop', 'xacro', 'SRDF', 'arm', 'arm with loops'),
    *('loop', 'payload', 'world', 'excitation', 'calibration', 'gains', 'promise'),
    *('promised arrays', 'table', 'poses', 'mcap', 'sqlite3', 'metadata', 'STL', 'OBJ', 'COLLADA'),
)


def read_or_refused(kind, folder, data):
    """Read a file as a command does; a sentence is as good as a result, which is returned."""
    path = folder / kind.name
    path.write_bytes(data)
    try:
        with soon():
            return kind.read(path)
    except SafeSysidError as error:
        assert str(error).strip(), type(error)
        assert len(str(error)) < 5000
        return None


@pytest.fixture(params=KINDS)
def kind(request, tmp_path):
    """A kind of file, in a folder with what is usually beside it."""
    kind = file_kinds()[request.param]
    for name, data in (kind.beside or {}).items():
        (tmp_path / name).write_bytes(data)
    return kind


def test_every_kind_is_looked_at():
    assert set(KINDS) == set(file_kinds())


def test_the_file_itself_is_read(kind, tmp_path):
    path = tmp_path / kind.name
    path.write_bytes(kind.data)
    kind.read(path)


@some_or(20, 4500)
def test_a_damaged_file_is_read_or_refused_in_a_sentence(kind, tmp_path, search):
    @searched(search)
    @given(EDITS)
    def damage(edits):
        read_or_refused(kind, tmp_path, edited(kind.data, edits))

    damage()


@pytest.mark.parametrize('name', ['mcap', 'sqlite3', 'metadata', 'promised arrays'])
@some_or(15, 2000)
def test_files_that_end_anywhere_or_have_a_wrong_bit_anywhere(name, tmp_path, search):
    kind = file_kinds()[name]
    for beside, data in (kind.beside or {}).items():
        (tmp_path / beside).write_bytes(data)

    @searched(search)
    @given(st.integers(0, len(kind.data) - 1), st.integers(0, 7))
    def damage(at, bit):
        flipped = bytearray(kind.data)
        flipped[at] ^= 1 << bit
        for data in (kind.data[:at], bytes(flipped)):
            read_or_refused(kind, tmp_path, data)

    damage()


@pytest.mark.parametrize('what', ['empty', 'folder', 'nothing', 'pipe of zeros', 'no reading'])
def test_what_is_no_file_of_the_kind_is_refused_in_a_sentence(kind, tmp_path, what):
    path = tmp_path / kind.name
    if what == 'empty':
        path.write_bytes(b'')
    elif what == 'folder':
        path.mkdir()
    elif what == 'pipe of zeros':
        path.write_bytes(bytes(100_000))
    elif what == 'no reading':
        path.symlink_to(path)  # a circle, which nobody can follow, whoever they are
    with soon(), contextlib.suppress(SafeSysidError, OSError):  # the command says either
        kind.read(path)
    assert os.path.lexists(path) or what == 'nothing'
