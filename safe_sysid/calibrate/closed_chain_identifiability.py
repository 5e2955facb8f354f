"""What closed loops hide: base parameters of motor torques against those of the open tree."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from safe_sysid.arrays import AnyArray
from safe_sysid.calibrate.closed_chain_rows import (
    STATES,
    Selection,
    closed_base_parameters,
)
from safe_sysid.calibrate.fit_columns import FitColumns
from safe_sysid.identifiability.base_parameters import BaseParameters, base_parameters
from safe_sysid.model.closed_chain.chain import ClosedChain
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.facts import is_settings, read_facts, settings_of_robot
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.share import robot_names

ALONE = 1e-6  # part of a change that no torque shows; a parameter with less is known alone
NAMED = 12  # parameters that are named one by one


def loop_sentences(robot: str) -> tuple[str, ...]:
    """Say in sentences what the loops of a robot hide, a name or settings, if it has any."""
    if robot not in robot_names() and not is_settings(Path(robot)):
        return ()
    config = settings_of_robot(robot)
    loops = read_facts(config).closed_chain
    if loops is None:
        return ()
    return chain_sentences(ClosedChain(RobotModel.from_config(config), loops))


def chain_sentences(chain: ClosedChain) -> tuple[str, ...]:
    """Found numerically from random closed configurations; the structural result is for trees."""
    model, rng = chain.model, np.random.default_rng(0)
    inertial = Selection(np.arange(10 * model.n), tuple(range(model.n)))
    closed = closed_base_parameters(chain, FitColumns(model.layout, 1e-3), inertial, rng)
    q, qd, qdd = rng.uniform(-1.0, 1.0, (3, STATES, model.n))
    W = standard_regressor(model, np.pi * q, 3.0 * qd, 10.0 * qdd)
    opened = base_parameters(W.reshape(STATES * model.n, -1)[:, : 10 * model.n])
    lost = np.flatnonzero(_alone(opened) & ~_alone(closed))
    names = [model.layout.labels[i] for i in lost[:NAMED]]
    more = f' and {len(lost) - NAMED} others' if len(lost) > NAMED else ''
    hidden = f'Known alone in the open tree, but not with its loops: {", ".join(names)}{more}.'
    count = len(chain.actuated)
    motors = 'its motor' if count == 1 else f'its {count} motors'
    return (
        f'{model.name} has loops ({", ".join(chain.loop_names)}), so the table above is that of '
        'the tree it would be if they were cut and every joint had a motor.',
        f'With closed loops the torque of {motors} shows {closed.count} '
        f'combinations, those of all joints of the cut tree {opened.count}; numerically, in '
        f'{STATES} random closed configurations: {closed.decision}.',
        *([hidden] if names else []),
    )


def _alone(base: BaseParameters) -> AnyArray:
    alone: AnyArray = np.abs(base.undetectable).max(axis=1, initial=0.0) < ALONE
    return alone
