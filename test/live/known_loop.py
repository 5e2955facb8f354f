"""What the loop of a UR5e says that stands and knows what it holds, to one percent."""

from functools import cache

import numpy as np
import yaml

from safe_sysid.config import read_yaml
from safe_sysid.model.inertia import from_mass_com_inertia, moved
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.share import share_directory

SECOND = 10**9  # [ns]
COM = np.array([0.004, -0.003, 0.08])  # [m] in the axes of tool0
MOMENTS = np.diag([0.004, 0.005, 0.003])  # [kg m^2]
BODY = from_mass_com_inertia(np.array(1.5), COM, MOMENTS)  # in the axes of tool0
SETTINGS = share_directory() / 'config/loop/ur5e.yaml'


@cache
def arm():
    return RobotModel.named('ur5e')


def estimate_of_load(width=0.01, body=BODY):
    """Rows lower, nominal and upper of theta; the load to a share, the arm as it is."""
    model = arm()
    flange = model.frames['tool0']
    theta = model.theta.copy()
    load = moved(body, flange.R, flange.p)
    theta[model.layout.end_effector] += load
    radius = np.zeros(theta.size)
    size = np.array([load[0], *(np.linalg.norm(load[1:4]),) * 3, *(load[[4, 6, 9]].min(),) * 6])
    radius[model.layout.end_effector] = width * size
    return (theta - radius).tolist(), theta.tolist(), (theta + radius).tolist()


def rows_with(lower, upper):
    """The same with other bounds on theta_e."""
    rows = np.array(estimate_of_load())
    rows[:, arm().layout.end_effector] = [lower, 0.5 * (np.array(lower) + upper), upper]
    return rows


def prior():
    """Bounds on theta_e in the settings of the loop."""
    told = read_yaml(SETTINGS)['/**']['ros__parameters']['prior']
    return told['lower'], told['upper']


def _flat(values, prefix=''):
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f'{prefix}{name}.')
        else:
            yield f'{prefix}{name}', value


def heard(rows=None, parameters=None, **changed):
    """What is heard of that loop."""
    shared = dict(_flat(read_yaml(SETTINGS)['/**']['ros__parameters']))
    told = {'/identifier': {'ros__parameters': {**shared, **(parameters or {})}}}
    said = {
        'parameters': yaml.safe_dump(told),
        'labels': ['lower, nominal, upper', ', '.join(arm().layout.labels)],
        'numbers': np.ravel(estimate_of_load() if rows is None else rows).tolist(),
        'stamp': 7 * SECOND,
        'newest': 10 * SECOND,
        'mode': 'idle',
        'torque': False,
        'faults': [],
        'change': '',
        'announced': False,
        'event': -1,
        'replays': False,
    }
    return {**said, **changed}
