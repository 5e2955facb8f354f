"""identifiable_parameters: what can be known of an arm at all, before anything is recorded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from safe_sysid.api.arguments import path_from, settings_or_default
from safe_sysid.api.shown_as_text import ShownAsText
from safe_sysid.calibrate.closed_chain_identifiability import loop_sentences
from safe_sysid.errors import ConfigError
from safe_sysid.identifiability.examination import Question, examine
from safe_sysid.identifiability.links import Identifiability
from safe_sysid.output_file import write_text
from safe_sysid.report.identifiability_text import as_plain, as_text


@dataclass(frozen=True, eq=False)
class IdentifiabilityResult(ShownAsText):
    """Class of every inertial parameter, link by link, and the base parameters."""

    answer: Identifiability

    @property
    def base_parameters(self) -> int:
        """Number of combinations that torques determine."""
        return self.answer.base.count

    def as_dict(self) -> dict[str, Any]:
        """Return everything in the types of JSON."""
        return as_plain(self.answer)

    def report(self, path: str | PathLike[str]) -> None:
        """Write a page (HTML) with the table and a drawing of the arm."""
        from safe_sysid.report.identifiability_page import page

        write_text(path_from(path), page(self.answer))

    def __str__(self) -> str:
        return as_text(self.answer)


def identifiable_parameters(
    robot: str | PathLike[str], question: Question | None = None
) -> IdentifiabilityResult:
    """Decide exactly which inertial parameters of an arm torques can determine.

    Args:
        robot: path of a URDF or of settings (YAML), or name of an arm that comes with the package.
        question: fixed or floating base, torques in motion or at rest, rotors, known links.

    Returns:
        Every parameter as alone, in combination, or not at all; print it for a table.

    Raises:
        ConfigError, ModelError: the files are missing or contradict themselves.

    """
    if not isinstance(robot, str | PathLike):
        raise ConfigError(
            f'robot is of type {type(robot).__name__}, it has to be a name or a path'
        )
    name = str(robot)
    answer = examine(name, settings_or_default(question, Question, name='question'))
    return IdentifiabilityResult(replace(answer, notes=(*answer.notes, *loop_sentences(name))))
