"""A contradiction names the promise that was broken, and by how much it has to grow."""

import re
import time

import numpy as np
import pytest

from safe_sysid.identify.momentum_observation import ObservationSettings, observe
from safe_sysid.identify.set_membership import SetMembership
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.arm_knowledge import ArmKnowledge
from safe_sysid.model.payload import read_payload
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.uncertainty import Uncertainty, Width
from safe_sysid.sets.interval import Interval
from safe_sysid.simulate.excited_motion import fourier_motion, recorded, true_torque

NARROW = Width((0.01,), (0.01,))
KNOWN = ArmKnowledge(
    links=0.01,
    stated=Uncertainty(coulomb=NARROW, viscous=NARROW, armature=NARROW, offset=NARROW),
)
ERRORS = ObservationSettings(
    window=50,
    torque_ratio=(0.002,),
    torque_error=(0.01,),
    position_error=(0.0,),
    velocity_error=(0.0,),
    longest_step=0.003,
)
PAYLOAD_MASS = np.array([5.0, *(1.0,) * 3, *(0.5,) * 6])


def contradiction_of(robot, changes, delay=0.0):
    """What the rows of an arm say of which some parameters are not what was promised."""
    model = RobotModel.named(robot)
    if robot == 'kinova_gen3':
        model = model.with_payload(read_payload('dumbbell_4lb'))
    layout, theta = model.layout, model.theta.copy()
    for label, change in changes.items():
        theta[layout.labels.index(label)] += change
    motion = fourier_motion(np.random.default_rng(5), model.n, 4.0, 0.002, base=0.4)
    log = recorded(motion, true_torque(model.with_parameters(theta), motion))
    late = [np.interp(motion.t - delay, motion.t, torque) for torque in log.torque.T]
    log = JointLog(log.stamp, log.position, log.velocity, np.array(late).T)
    bounds = KNOWN.bounds(model)
    rows = observe(model, bounds, ERRORS, log)
    body = model.theta[layout.end_effector]
    labels = [layout.labels[i] for i in layout.rest]
    membership = SetMembership(layout.joint_names, None, labels)
    prior = Interval.from_center_radius(body, PAYLOAD_MASS)
    return membership.solve(rows, bounds[layout.rest], prior).contradiction


@pytest.mark.parametrize(
    ('changes', 'promise', 'size'),
    [
        ({'joint_1.Fc': 2.0}, 'Coulomb friction of joint_1', 2.0),
        ({'joint_2.Fv': 2.0}, 'viscous friction of joint_2', 2.0),
        ({'joint_1.Ia': 0.5}, 'armature of joint_1', 0.5),
        ({'joint_2.beta': -2.0}, 'torque offset of joint_2', 2.0),
    ],
)
def test_the_promise_that_was_broken_is_named_first(changes, promise, size):
    found = contradiction_of('two_link', changes)
    assert found is not None
    assert found.promises[0].startswith(f'{promise} ')
    growth = float(re.search(r' ([\d.e-]+) [NkK][^,]*? beyond', found.promises[0])[1])
    assert 0.3 * size < growth <= 1.01 * size  # what was promised explains a part
    assert found.promises[0] in str(found)


def test_gravity_and_delay_are_named():
    links = {'joint_1.mcx': 0.4, 'joint_1.m': 0.5}
    assert any('gravity' in x for x in contradiction_of('two_link', links).promises)
    promises = contradiction_of('two_link', {}, delay=0.02).promises
    assert promises[0].startswith('a delay of the torque of all joints 0.01')


def test_a_contradiction_of_seven_joints_is_explained_in_time():
    begin = time.process_time()
    found = contradiction_of('kinova_gen3', {'joint_4.beta': 3.0})
    assert found.promises[0].startswith('torque offset of joint_4')
    assert time.process_time() - begin < 30.0


def test_without_a_contradiction_nothing_is_named():
    assert contradiction_of('two_link', {'joint_1.Fc': 0.005}) is None
