"""Problems that the tests of the excitation design share: the arm with the rod, a small arm."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from safe_sysid.excite.design import design_problem
from safe_sysid.excite.settings import read_settings
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel


@lru_cache
def rod_arm():
    bare = RobotModel.named('lbr_med7')
    return bare, bare.with_payload(read_payload('rod_tool'))


@lru_cache
def rod_problem():
    return design_problem(*rod_arm(), read_settings())


@lru_cache
def small_problem(**changes):
    """Two joints in a vertical plane, without a floor, and few samples: quick to search."""
    arm = RobotModel.named('two_link')
    few = {'floor': None, 'order': 3, 'sample_rate': 5.0, 'check_rate': 5.0}
    settings = replace(read_settings(), **{**few, **changes})
    return design_problem(arm, arm, settings)


def differences(function, x, h=1e-5):
    """Central differences of a function of an array, entry by entry."""
    slopes = []
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = h
        slopes.append((function(x + step) - function(x - step)) / (2.0 * h))
    return np.moveaxis(np.array(slopes), 0, -1)
