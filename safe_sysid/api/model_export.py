"""export_model: an arm as files for CasADi, C or acados."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path

from safe_sysid.api.arguments import of_kind, path_from
from safe_sysid.api.arms import ArmLike, load_arm
from safe_sysid.api.loop_file import read_loop
from safe_sysid.api.symbolic import casadi_model
from safe_sysid.model.parameters import ParameterEstimate
from safe_sysid.model.payload import Payload


def export_model(
    arm: ArmLike,
    folder: str | PathLike[str],
    form: str = 'casadi',
    payload: Payload | str | PathLike[str] | None = None,
    bounds: ParameterEstimate | None = None,
) -> list[Path]:
    """Write an arm as functions for optimal control elsewhere; needs the extra `[casadi]`.

    Args:
        arm: what `load_arm` returns or takes.
        folder: made if there is none.
        form: `casadi` (a file per function), `c` (source, header, CMake) or `acados`.
        payload: what it holds, part of the nominal theta.
        bounds: an estimate whose theta and interval are written in place of the nominal theta.

    Returns:
        Paths of the files; `theta.yaml` names every entry of theta, with unit and value.

    """
    loaded = load_arm(arm)
    if bounds is not None:
        of_kind(
            'bounds', bounds, ParameterEstimate, 'what `OnlineIdentifier.step` returns, or None'
        )
    model = casadi_model(loaded, payload)
    from safe_sysid.export.optimal_control import write_model

    links = (loaded.facts.tip,)
    if bounds is None:
        return write_model(str(form), path_from(folder), model, links, None)
    model = replace(model, arm=model.arm.with_parameters(bounds.theta))
    return write_model(str(form), path_from(folder), model, links, bounds.bounds)


def prior_bounds(
    arm: ArmLike,
    loop: str | PathLike[str] | None = None,
    payload: Payload | str | PathLike[str] | None = None,
) -> ParameterEstimate:
    """Return what a loop file states of theta before anything is measured."""
    return read_loop(load_arm(arm), loop, payload).prior
