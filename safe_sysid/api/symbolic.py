"""casadi_model: an arm as CasADi functions, for optimal control, estimation and own costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from safe_sysid.api.arms import ArmLike, load_arm
from safe_sysid.model.closed_chain.chain import ClosedChain
from safe_sysid.model.payload import Payload, read_payload

if TYPE_CHECKING:
    from safe_sysid.model.symbolic.casadi_model import CasadiModel


def casadi_model(arm: ArmLike, payload: Payload | str | None = None) -> CasadiModel:
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
    held = read_payload(payload) if isinstance(payload, str) else payload
    model = loaded.model if held is None else loaded.model.with_payload(held)
    return CasadiModel(model, loops)
