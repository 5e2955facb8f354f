"""Recordings as arguments: a path, or a path with the names of its topics, joints and columns."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from safe_sysid.errors import ConfigError
from safe_sysid.measure.recording_choice import RecordingChoice

Recording = RecordingChoice | str | PathLike[str]


def recording_choice(recording: Recording) -> RecordingChoice:
    """Return the choice that a path stands for."""
    if isinstance(recording, RecordingChoice):
        return recording
    if not isinstance(recording, (str, PathLike)):
        raise ConfigError(f'recording is {recording!r}, it has to be a path or a RecordingChoice')
    return RecordingChoice(Path(recording))


def recording_choices(
    name: str, given: Recording | Iterable[Recording]
) -> tuple[RecordingChoice, ...]:
    """Return the choices that one recording or several stand for."""
    if isinstance(given, RecordingChoice | str | PathLike):
        return (recording_choice(given),)
    if not isinstance(given, Iterable):
        raise ConfigError(f'{name} is {given!r}, it has to be a recording or a list of them')
    return tuple(recording_choice(each) for each in given)


def some_choices(name: str, given: Recording | Iterable[Recording]) -> tuple[RecordingChoice, ...]:
    """Return the same, and refuse none."""
    choices = recording_choices(name, given)
    if not choices:
        raise ConfigError(f'{name} has no recording in it; did a pattern of paths find none?')
    return choices
