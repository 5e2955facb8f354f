"""Messages of chosen topics of a rosbag, decoded, no ROS installation needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_typestore

from safe_sysid.errors import MeasurementError
from safe_sysid.input_file import check_folder, is_folder
from safe_sysid.measure.bag.sqlite_tables import check_tables
from safe_sysid.measure.bag.unpacked_chunks import use_in_library

use_in_library()


class BagMessage(NamedTuple):
    """A message; its fields are those of its definition, arrays of numbers are numpy arrays."""

    topic: str
    received: int  # [ns] when it was recorded
    data: Any


def bag_topics(path: Path) -> list[str]:
    """Names of all topics of a bag."""
    with _opened(path) as reader:
        return sorted({c.topic for c in reader.connections})


def bag_messages(path: Path, topics: tuple[str, ...]) -> Iterator[BagMessage]:
    """In the order they were recorded; a topic that the bag does not have is left out."""
    types = _known_types()
    with _opened(path) as reader:
        chosen = [c for c in reader.connections if c.topic in topics]
        if not chosen:
            there = sorted({c.topic for c in reader.connections})
            raise MeasurementError(f'{path}: none of {list(topics)}; it has {there}')
        for connection, received, data in reader.messages(chosen):
            message = types.deserialize_cdr(data, connection.msgtype)
            yield BagMessage(connection.topic, received, message)


def decoded(topic: str, kind: str, data: bytes) -> Any:
    """Return a message of a type such as std_msgs/msg/String, as one of a bag looks."""
    try:
        return _known_types().deserialize_cdr(data, kind)
    except Exception as error:  # damaged bytes raise whatever they like
        raise MeasurementError(f'{topic}: what came is no {kind} ({error})') from error


@cache
def _known_types() -> Any:
    return get_typestore(Stores.LATEST)


@contextmanager
def _opened(path: Path) -> Iterator[Reader]:
    """Reader of a bag, whose errors are about measurements."""
    if is_folder(path):
        check_folder(path, MeasurementError)
    check_tables(path)
    try:
        with Reader(path) as reader:
            yield reader
    except MeasurementError:
        raise
    except Exception as error:  # damaged bytes raise whatever they like
        raise MeasurementError(f'{path}: cannot be read as a rosbag ({error})') from error
