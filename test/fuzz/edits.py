"""Damage to a file: what torn transfers, wrong editors and hostile people do to its bytes."""

import re

from hypothesis import strategies as st

WORDS = [
    *(b'', b'0', b'-1', b'nan', b'inf', b'-inf', b'1e308', b'-1e308', b'1e-320', b'1e999'),
    *(b'9223372036854775808', b'4294967295', b'-2147483649', b'0x10', b'1,5', b'1_000', b'.5.'),
    *(b'null', b'true', b'[]', b'{}', b'[[[[', b'"', b"'", b'<', b'>', b'&', b'&amp;', b'/>'),
    *(b'../../../../etc/passwd', b'/dev/zero', b'/', b'~', b'*x', b'&x', b'!!python/object:os.x'),
    *(b'\x00', b'\xff\xfe', b'\xef\xbb\xbf', 'ß\u202e\u0301'.encode(), b'\r', b'\n', b'\t', b' '),
    *(b'${1/0}', b'$(find nowhere)', b'a' * 300, b':', b': ', b'- ', b'#', b'%s{0}{x}'),
]
TOKEN = re.compile(rb'[A-Za-z0-9_.+-]+')


def _at(size: int, place: float) -> int:
    return min(int(place * size), max(size - 1, 0))


def _cut(data: bytes, place: float, word: bytes, size: int) -> bytes:
    del word, size
    return data[: _at(len(data), place)]


def _flip(data: bytes, place: float, word: bytes, size: int) -> bytes:
    del word
    if not data:
        return data
    at = _at(len(data), place)
    return data[:at] + bytes([data[at] ^ (1 << size % 8)]) + data[at + 1 :]


def _remove(data: bytes, place: float, word: bytes, size: int) -> bytes:
    del word
    at = _at(len(data), place)
    return data[:at] + data[at + size :]


def _repeat(data: bytes, place: float, word: bytes, size: int) -> bytes:
    del word
    at = _at(len(data), place)
    return data[:at] + data[at : at + size] + data[at:]


def _insert(data: bytes, place: float, word: bytes, size: int) -> bytes:
    del size
    at = _at(len(data), place)
    return data[:at] + word + data[at:]


def _replace(data: bytes, place: float, word: bytes, size: int) -> bytes:
    """Put something else where a name or a number stands."""
    del size
    token = TOKEN.search(data, _at(len(data), place))
    return data if token is None else data[: token.start()] + word + data[token.end() :]


def _without_line(data: bytes, place: float, word: bytes, size: int) -> bytes:
    del word
    lines = data.splitlines(keepends=True)
    at = _at(len(lines), place)
    return b''.join(lines[:at] + lines[at + 1 + size % 4 :])


KINDS = [_cut, _flip, _remove, _repeat, _insert, _replace, _replace, _without_line]
EDITS = st.lists(
    st.tuples(
        st.sampled_from(KINDS),
        st.floats(0.0, 1.0, exclude_max=True),
        st.sampled_from(WORDS),
        st.integers(1, 400),
    ),
    min_size=1,
    max_size=5,
)


def edited(data: bytes, edits) -> bytes:
    """Return the file after some edits."""
    for kind, place, word, size in edits:
        data = kind(data, place, word, size)
    return data
