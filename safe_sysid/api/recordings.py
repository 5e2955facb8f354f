"""Recordings as arguments: a path, or a path with the names of its topics, joints and columns."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from safe_sysid.measure.recording_choice import RecordingChoice

Recording = RecordingChoice | str | PathLike[str]


def recording_choice(recording: Recording) -> RecordingChoice:
    """Return the choice that a path stands for."""
    if isinstance(recording, RecordingChoice):
        return recording
    return RecordingChoice(Path(recording))
