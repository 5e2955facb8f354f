"""What is compressed in a bag, unpacked to no more bytes than it says it has, or than `LARGEST`.

A kilobyte of zstd may unpack to megabytes, so that a small file could fill memory or disk. rosbags
unpacks chunks, messages and files whole, however much comes out; here it finds our functions.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
import os
from types import SimpleNamespace
from typing import Any, BinaryIO, Protocol

from lz4.frame import LZ4FrameDecompressor
from rosbags.rosbag2 import reader, storage_mcap

from safe_sysid.errors import MeasurementError

LARGEST = 1 << 30  # [bytes] of a chunk or a message; recorders write chunks of some MB
MANY_TIMES = 100  # as much as a whole file may unpack to, where that is more


class Decompressor(Protocol):
    """Of one frame."""

    eof: bool
    unused_data: bytes

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return the first bytes that come out."""


def unpacked_lz4(content: bytes, size: int) -> bytes:
    """Return what is in frames of LZ4."""
    return _unpacked(LZ4FrameDecompressor, content, size)


def unpacked_zstd(content: bytes, size: int) -> bytes:
    """Return what is in frames of zstd."""
    return _unpacked(_zstd().ZstdDecompressor, content, size)


def unpacked_as_it_is(content: bytes, _: int) -> bytes:
    """Return what was not compressed, which is no larger than its file."""
    return content


UNPACKED: dict[str, Callable[[bytes, int], bytes]] = {
    '': unpacked_as_it_is,
    'lz4': unpacked_lz4,
    'zstd': unpacked_zstd,
}


def use_in_library() -> None:
    """Have rosbags unpack chunks, and messages that are compressed one by one, so."""
    storage_mcap.DECOMPRESSORS.update(UNPACKED)
    reader.zstd = SimpleNamespace(decompress=unpacked_message, open=opened_file)


def unpacked_message(content: bytes) -> bytes:
    """Return a message, which does not tell how long it is."""
    return unpacked_zstd(content, LARGEST)


def opened_file(file: BinaryIO, mode: str) -> LimitedFile:
    """Open a file that is compressed as a whole, which rosbags copies to a temporary folder."""
    most = max(LARGEST, MANY_TIMES * os.fstat(file.fileno()).st_size)
    return LimitedFile(_zstd().open(file, mode), most)


class LimitedFile:
    """A file of which no more than some bytes can be read."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self._file, self._left, self._most = file, most, most

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        content = self._file.read(size)
        self._left -= len(content)
        if self._left < 0:
            raise MeasurementError(
                f'a compressed file that unpacks to more than {self._most} bytes'
            )
        return content

    def __enter__(self) -> LimitedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _zstd() -> Any:
    try:
        return import_module('compression.zstd')  # from Python 3.14 on
    except ImportError:
        return import_module('backports.zstd')


def _unpacked(begin: Callable[[], Decompressor], content: bytes, size: int) -> bytes:
    """Return what is in all frames; errors of the library where one is cut or damaged."""
    _check(0, size)
    parts, left = [], size
    while content:
        frame = begin()
        part = frame.decompress(content, max_length=left + 1)
        parts.append(part)
        left -= len(part)
        _check(size - left, size)
        if not frame.eof:
            raise MeasurementError('a compressed chunk that ends too early')
        content = frame.unused_data or b''
    return b''.join(parts)


def _check(there: int, size: int) -> None:
    if size > LARGEST:
        raise MeasurementError(f'a chunk of {size} bytes; at most {LARGEST} are read')
    if there > size:
        raise MeasurementError(f'a chunk that unpacks to more than the {size} bytes it tells')
