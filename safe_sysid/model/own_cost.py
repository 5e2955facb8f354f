"""A user's own cost of motions, as settings name it; light, as every command reads settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from safe_sysid.config import NotNegative, OneOf, Settings

if TYPE_CHECKING:
    from safe_sysid.model.motion_objective import MotionObjective
    from safe_sysid.model.robot_model import RobotModel

WAYS = ('integral', 'max')  # of the cost of samples becoming one of the motion


@dataclass(frozen=True)
class OwnCostSettings(Settings):
    """A CasADi function as a cost of motions (docs/casadi.md)."""

    file: str = ''  # written by casadi.Function.save; empty: none
    weight: NotNegative = 1.0  # against the other costs
    over: Annotated[str, OneOf(WAYS)] = 'integral'  # of the samples of a motion
    link: str = ''  # whose R and p the function may take
    unit: str = ''  # of the function's result, for reports

    def objective(self, model: RobotModel) -> MotionObjective | None:
        """Return what the settings ask for; CasADi is imported only if they ask for something."""
        if not self.file:
            return None
        from safe_sysid.model.motion_objective import MotionObjective
        from safe_sysid.model.symbolic.sample_costs import CasadiSampleCosts, read_function

        function = read_function(Path(self.file))
        samples = CasadiSampleCosts(model, function, self.link)
        return MotionObjective(samples, function.name(), self.weight, self.over, self.unit)
