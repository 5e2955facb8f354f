"""DifferenceResult: a payload found by comparing a loaded arm with the empty one."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

import numpy as np

from safe_sysid.api.arguments import natural, path_from
from safe_sysid.api.shown_as_text import ShownAsText
from safe_sysid.arrays import Array
from safe_sysid.identify.difference.answer_text import as_mapping, as_table
from safe_sysid.identify.difference.from_recordings import IdentifiedDifference
from safe_sysid.identify.difference.self_test import SelfTest
from safe_sysid.sets.interval import Interval


@dataclass(frozen=True, eq=False)
class DifferenceResult(ShownAsText):
    """Inertial parameters of a payload with a statistical and a guaranteed interval.

    Order and units of the ten parameters are those of `PayloadResult`; they are about the origin
    of the frame of the flange, without the arm's own last link.
    """

    recorded: IdentifiedDifference

    @property
    def nominal(self) -> Array:
        """Best estimate, (10,)."""
        return self.recorded.found.nominal

    @property
    def statistical(self) -> Interval | None:
        """Interval at `confidence` under repetitions of recordings; None where it is withheld."""
        found = self.recorded.found.statistical
        return None if found is None else found.bounds

    @property
    def confidence(self) -> float | None:
        """Probability of the statistical interval."""
        found = self.recorded.found.statistical
        return None if found is None else found.confidence

    @property
    def guaranteed(self) -> Interval | None:
        """Interval that holds under `assumptions`; None where it is withheld."""
        return self.recorded.found.guaranteed_bounds

    @property
    def refused(self) -> str | None:
        """Why there is no interval at all; None where there is one."""
        return self.recorded.found.refused

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the intervals rest on, in sentences that say of which they speak."""
        return self.recorded.assumptions

    def self_test(self, seed: int = 0) -> list[SelfTest]:
        """Add bodies to pieces of the empty recordings and identify them; print them for tables.

        One for each length of piece that the recordings are long enough for.
        """
        return self.recorded.self_test(np.random.default_rng(natural('seed', seed)))

    def export(
        self,
        form: str,
        path: str | PathLike[str],
        undetermined: Literal['refuse', 'compact'] = 'refuse',
    ) -> None:
        """Write the payload for a controller or simulator, as `PayloadResult.export` does.

        Comments have the statistical interval, or the guaranteed one where there is no other,
        and say which.
        """
        from safe_sysid.export.payload import body_between, written

        body = body_between(form, self.recorded)
        written(form, path_from(path), body, self.recorded.arm, undetermined)

    def undetermined(self, form: str) -> list[str]:
        """Names of what a file of this format would say although the motion does not tell."""
        from safe_sysid.export.payload import body_between, undetermined

        return undetermined(form, body_between(form, self.recorded))

    def report(self, path: str | PathLike[str]) -> None:
        """Write a page (HTML) with intervals, what limits them, residuals and assumptions."""
        from safe_sysid.report.difference_page import difference_page
        from safe_sysid.report.html_page import write_page

        write_page(path_from(path), difference_page(self.recorded))

    def figures(self, folder: str | PathLike[str]) -> None:
        """Write the plots of that page as PNG and SVG."""
        from safe_sysid.report.difference_page import difference_page
        from safe_sysid.report.page_figures import write_figures

        write_figures(path_from(folder), difference_page(self.recorded))

    def as_dict(self) -> dict[str, Any]:
        """Return everything in the types of JSON."""
        return as_mapping(self.recorded)

    def __str__(self) -> str:
        return as_table(self.recorded)
