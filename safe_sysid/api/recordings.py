"""Recordings as arguments: a path, or a path with the names of its topics, joints and columns."""

from __future__ import annotations

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
