"""While samples come in, what swings in the hand is named, and what is rigid is not."""

from concurrent.futures import Future
from dataclasses import replace
import pickle
import select
import socket
from threading import Thread

import numpy as np
import pytest

from safe_sysid.bench.experiments.quiet_motions import quiet
from safe_sysid.bench.experiments.sloshing_payload import ROWS, outward, recorded_motion
from safe_sysid.identify.change.change_test import ChangeSettings
from safe_sysid.identify.change.change_watch import ChangeWatch, LooksAtOnce
from safe_sysid.identify.change.looks_in_background import LONGEST_MESSAGE, serve
from safe_sysid.identify.change.response import Change
from safe_sysid.identify.change.rigidity_watch import SECONDS, RigidityWatch
from safe_sysid.identify.online_identifier import (
    IdentificationFault,
    IdentifierSettings,
    OnlineIdentifier,
)
from safe_sysid.identify.recorded_windows import moving, recorded_windows
from safe_sysid.identify.solves import SolvesAtOnce
from safe_sysid.measure.joint_log import JointLog
from safe_sysid.model.dynamics.regressors import standard_regressor
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.simulate.mujoco import Swinging

ROBOT = 'kinova_gen3'
SECOND = 1_000_000_000  # [ns]
RECORDED = SECONDS + 1.0
PLACE = tuple(outward(RobotModel.named(ROBOT)).tolist())
SWINGING = Swinging(0.5, 2.0, PLACE)
UNMODELLED = 0.1  # [N m]
ROUGH = replace(ROWS, torque_error=(0.5,))  # what swings contradicts no promise of torques
SETTINGS = ChangeSettings(unmodelled_torque=UNMODELLED)


@pytest.fixture(scope='module')
def swung():
    rng = np.random.default_rng(3)
    return recorded_motion(rng, ROBOT, RECORDED, UNMODELLED, SWINGING)


@pytest.fixture(scope='module')
def rigid():
    return recorded_motion(np.random.default_rng(3), ROBOT, RECORDED, UNMODELLED, None)


def batches(log, later=0):
    """Windows of a recording, the stamps of which are so much later [ns]."""
    samples = np.stack([log.position, log.velocity, log.torque], axis=1)
    for first in range(0, len(log) - ROWS.window, ROWS.window):
        part = slice(first, first + ROWS.window)
        yield log.stamp[part] + later, samples[part]


def looks_at(held, observation=ROWS):
    return LooksAtOnce(held.model, held.prior, observation, SETTINGS)


def watched(held, observation=ROUGH, looks=LooksAtOnce):
    watch = ChangeWatch(held.model, held.prior, observation, SETTINGS, looks)
    settings = IdentifierSettings(observation)
    return OnlineIdentifier(held.model, held.prior, settings, SolvesAtOnce, watch)


def test_an_identifier_has_no_bounds_on_what_swings_and_says_why(swung):
    identifier = watched(swung)
    with pytest.raises(IdentificationFault, match='NOT RIGID: it pulls .* at (1.9|2.0|2.1) Hz'):
        for k in range(len(swung.log)):
            identifier.step(swung.log[k])
    assert (swung.log.stamp[k] - swung.log.stamp[0]) * 1e-9 < SECONDS + 0.5
    assert identifier.estimate is swung.prior
    identifier.new_payload(int(swung.log.stamp[k]))
    assert not identifier.has_fault
    identifier.step(swung.log[k + 1])
    identifier.close()


def test_bounds_on_a_rigid_body_stay(rigid):
    looks = looks_at(rigid)
    for batch in batches(rigid.log):
        looks.add(batch)
        assert not looks.not_rigid()


@pytest.mark.slow
@pytest.mark.parametrize('number', range(5))
def test_arms_that_move_and_rest_with_a_rigid_body_raise_no_alarm(number, monkeypatch):
    """With friction of any sign and size in its bound where a joint stands."""
    tested = []
    judged = RigidityWatch._judged

    def noted(self, *what):
        tested.append(judged(self, *what))
        return tested[-1]

    monkeypatch.setattr(RigidityWatch, '_judged', noted)
    assert quiet(0, number).called_not_rigid == 0
    assert sum(each is not None for each in tested) >= 6


def test_another_process_says_the_same(swung):
    """What it is sent is taken one after the other; the test is done beside it."""
    at_once, (ours, theirs) = (
        looks_at(swung),
        socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET),
    )
    with ours, theirs:
        thread = Thread(target=serve, args=(theirs,))
        thread.start()
        begin = ('begin', swung.model, swung.prior, ROWS, SETTINGS, ())
        ours.send(pickle.dumps(begin))
        for batch in batches(swung.log):
            at_once.add(batch)
            ours.send(pickle.dumps(('add', 7, batch)))
        told = []
        while not told or not told[-1][3]:  # answers come with samples
            ours.send(pickle.dumps(('add', 7, batch)))
            told += [pickle.loads(ours.recv(LONGEST_MESSAGE))] if is_readable(ours) else []
        assert told[-1] == (7, None, {}, at_once.not_rigid())
        ours.shutdown(socket.SHUT_WR)
        thread.join()


def is_readable(connection):
    return bool(select.select([connection], [], [], 0.05)[0])


@pytest.mark.slow
def test_nobody_tests_what_may_swing_as_was_promised(swung):
    looks = looks_at(swung, replace(ROWS, beyond_rigid=(1.0,)))
    for batch in batches(swung.log):
        looks.add(batch)
    assert looks.not_rigid() == ''


@pytest.mark.slow
@pytest.mark.parametrize(
    'forget',
    [
        lambda looks, stamp: looks.trust(),  # noqa: ARG005
        lambda looks, stamp: looks.new_payload(looks._prior.end_effector_bounds, stamp),
    ],
)
def test_samples_of_before_do_not_count(swung, forget):
    """Nor does what they said."""
    looks, parts = looks_at(swung), list(batches(swung.log))
    half = len(parts) // 2
    for batch in parts[:half]:
        looks.add(batch)
    forget(looks, int(parts[half - 1][0][-1]))
    for batch in parts[half:]:
        looks.add(batch)
    assert looks.not_rigid() == ''
    assert looks._rigidity.tests == 0
    for batch in batches(swung.log, 2 * int(swung.log.stamp[-1])):
        looks.add(batch)  # after a gap
    assert 'NOT RIGID' in looks.not_rigid()
    forget(looks, 5 * int(swung.log.stamp[-1]))
    assert looks.not_rigid() == ''


@pytest.mark.slow
def test_a_clock_that_was_set_back_begins_anew(swung):
    looks, parts = looks_at(swung), list(batches(swung.log))
    later = 3 * int(swung.log.stamp[-1])
    for stamps, samples in parts[: len(parts) // 2]:
        looks.add((stamps + later, samples))
    for batch in parts:
        looks.add(batch)
    assert 'NOT RIGID' in looks.not_rigid()


def test_joints_that_stand_say_nothing(rigid):
    """Their friction may have either sign; and a force explains whatever three joints do."""
    log = rigid.log
    velocity = log.velocity.copy()
    velocity[:, 2] = 0.0
    velocity[: len(log) // 2, 3:5] = 0.0
    velocity[: len(log) // 4, 5] = 0.019
    log = JointLog(log.stamp, log.position, velocity, log.torque)
    windows = recorded_windows(rigid.model, rigid.prior.bounds, ROWS, log)
    found = moving(windows, log)
    assert 0 < len(found) < len(windows)
    assert min(each.rows.start[0] for each in found) * 4 >= (len(log) - ROWS.window) * 1e-3
    for each in found:
        first, last = np.searchsorted(
            (log.stamp - log.stamp[0]) * 1e-9, (each.rows.start[0], each.rows.end[0])
        )
        speed = np.abs(velocity[first : last + 1])
        assert sorted(set(each.rows.joint)) == [j for j in range(7) if speed[:, j].min() > 0.02]
        assert len(each.rows) > 3


def test_an_arm_at_rest_is_not_tested(rigid):
    log = rigid.log
    still = JointLog(log.stamp, log.position * 0.0, log.velocity * 0.0, log.torque)
    looks = looks_at(rigid)
    for batch in batches(still):
        looks.add(batch)
    assert looks.not_rigid() == ''
    assert looks._rigidity.tests == 0


@pytest.mark.slow
@pytest.mark.parametrize(('mass', 'is_named'), [(0.5, True), (None, False)])
def test_what_was_noticed_as_a_change_is_tested_on_either_side_of_it(swung, rigid, mass, is_named):
    """An arm that comes to rest, after something heavy was picked up beside what swings."""
    held = rigid if mass is None else swung
    settings = replace(SETTINGS, velocity_noise=0.0005)
    looks = LooksAtOnce(held.model, held.prior, ROWS, settings)
    log, noticed = held.log, None
    more = gravity_of(held.model, log.position, 2.0)
    for k, (stamps, samples) in enumerate(batches(log)):
        measured = samples.copy()
        if stamps[0] > log.stamp[0] + 6 * SECOND:
            part = slice(k * ROWS.window, (k + 1) * ROWS.window)
            measured[:, 2] += more[part]
        looks.add((stamps, measured))
        if noticed is None and looks.found() is not None:
            noticed = stamps[0]
        if noticed is not None and stamps[0] > noticed + SECOND:
            break
    assert noticed is not None
    assert looks.judged().not_rigid == ''
    assert looks.judged().is_undecided  # until it rests
    still = np.concatenate([measured[:, :1], 0.0 * measured[:, :1], measured[:, 2:]], axis=1)
    looks.add((stamps + stamps[-1] - stamps[0] + 1_000_000, still))
    change = looks.judged()
    assert not change.is_undecided
    assert ('NOT RIGID' in change.not_rigid) is is_named
    assert ('NOT RIGID' in str(change)) is is_named
    assert looks.not_rigid() == ''
    assert Change.noticed(change).is_load <= (not is_named)
    assert Change.noticed(change).is_explained <= (not is_named)


def gravity_of(model, position, mass):
    """Torques of a mass [kg] at the last joint, which was not there before."""
    body = np.zeros(10)
    body[0] = mass
    theta = np.zeros_like(model.theta)
    theta[model.layout.end_effector] = body
    still = np.zeros_like(position)
    return standard_regressor(model, position, still, still) @ theta


def test_samples_of_which_no_rows_can_be_made_are_not_tested(rigid):
    """Too far apart for a while, as a driver that stutters sends them."""
    looks, log = looks_at(rigid), rigid.log
    every_second = np.arange(0, len(log), 2)
    chosen = np.concatenate([np.arange(4000), every_second[every_second >= 4000]])
    samples = np.stack([log.position, log.velocity, log.torque], axis=1)[chosen]
    stamps = log.stamp[chosen]
    for first in range(0, len(stamps) - ROWS.window, ROWS.window):
        looks.add((stamps[first : first + ROWS.window], samples[first : first + ROWS.window]))
    assert looks.not_rigid() == ''
    assert looks._rigidity.tests == 0


def test_a_test_that_goes_on_is_waited_for_and_samples_until_then_are_kept(rigid):
    """A change that was noticed meanwhile is tested after it."""
    waiting = []

    def submit(task):
        waiting.append((task, Future()))
        return waiting[-1][1]

    watch = RigidityWatch(rigid.model, rigid.prior, SETTINGS, submit)
    parts = list(batches(rigid.log))
    for batch in parts:
        watch.add(batch, ROWS)
    assert len(waiting) == 1
    stamps, samples = parts[-1]
    still = np.concatenate([samples[:, :1], 0.0 * samples[:, :1], samples[:, 2:]], axis=1)
    change = int(stamps[-1]) - 2_000_000, int(stamps[-1]) - 1_000_000
    for k in range(2):
        rest = stamps + (k + 1) * (stamps[-1] - stamps[0] + 1_000_000), still
        watch.add(rest, ROWS, lambda: change)
        assert len(waiting) == 1
        assert watch.is_undecided
    waiting[0][1].set_result(waiting[0][0]())
    watch.add((rest[0] + (rest[0][-1] - rest[0][0] + 1_000_000), still), ROWS, lambda: change)
    assert len(waiting) == 2
    assert watch.is_undecided
    waiting[1][1].set_result(waiting[1][0]())
    assert not watch.is_undecided
    assert watch.found() is None
