"""casadi_model, own_cost: an arm as CasADi functions, and CasADi functions as costs of motions."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safe_sysid.api.arguments import payload_from
from safe_sysid.api.arms import ArmLike, load_arm
from safe_sysid.errors import ConfigError
from safe_sysid.model.closed_chain.chain import ClosedChain
from safe_sysid.model.motion_objective import MotionObjective
from safe_sysid.model.payload import Payload

if TYPE_CHECKING:
    from safe_sysid.model.symbolic.casadi_model import CasadiModel


def casadi_model(
    arm: ArmLike, payload: Payload | str | PathLike[str] | None = None
) -> CasadiModel:
    """Return an arm as CasADi functions; needs the extra `[casadi]`.

    Args:
        arm: what `load_arm` returns or takes.
        payload: what it holds (`dumbbell_8lb`, a YAML file), lumped into theta of the result.

    Returns:
        Functions of q [rad], qd, qdd, tau [N m] and theta (14 n): `inverse_dynamics`,
        `forward_dynamics`, `mass_matrix`, `bias`, `gravity`, `friction`, regressors,
        `forward_kinematics(link)`, `jacobian(link)`, `loop_closure`; `theta` is the nominal one.

    Raises:
        ModelError: CasADi is not installed, or the arm has no such link.

    """
    from safe_sysid.model.symbolic.casadi_model import CasadiModel

    loaded = load_arm(arm)
    chain = loaded.facts.closed_chain
    loops = None if chain is None else ClosedChain(loaded.model, chain).loops
    held = payload_from(payload)
    model = loaded.model if held is None else loaded.model.with_payload(held)
    return CasadiModel(model, loops)


def own_cost(
    arm: ArmLike,
    function: Any,
    weight: float = 1.0,
    over: str = 'integral',
    link: str = '',
    unit: str = '',
) -> MotionObjective:
    """Return a cost of your own for `plan` and `design_excitation`; needs the extra `[casadi]`.

    Args:
        arm: what `load_arm` returns or takes.
        function: a casadi.Function of one sample, or the path of a `.casadi` file. Its arguments
            are any of q, qd, qdd, tau, theta, t, R and p, by name; its first result is the cost,
            others are limits that have to be at most 0.
        weight: against the other costs of the search.
        over: `integral` over time, or `max` of the samples.
        link: whose rotation R and origin p [m] in the base frame the function takes.
        unit: of the function's first result, for reports.

    Returns:
        The cost. It steers a search and proves nothing: where it raises or is not a number the
        search loses one candidate.

    Raises:
        ConfigError: an argument of the function is not known, or has another shape.

    """
    from safe_sysid.model.symbolic.sample_costs import CasadiSampleCosts, read_function

    taken = read_function(Path(function)) if isinstance(function, (str, PathLike)) else function
    if not hasattr(taken, 'name_in'):
        raise ConfigError(
            f'function is {function!r}, it has to be a casadi.Function or a .casadi file'
        )
    samples = CasadiSampleCosts(load_arm(arm).model, taken, link)
    return MotionObjective(samples, taken.name(), weight, over, unit)
