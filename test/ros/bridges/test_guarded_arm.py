"""A real edge of a bridge, its node and its holder told: what the arm gets in the end."""

from unittest.mock import MagicMock

import numpy as np
import pytest
from std_msgs.msg import String

from safe_sysid.config import read_yaml
from safe_sysid.loop_settings import GainSettings, LoopPriorSettings
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.plan.message import PlanNotice, name_of
from safe_sysid.ros.bridges.bridge_settings import BridgeSettings
from safe_sysid.ros.bridges.guarded_edge import GuardedEdge
from safe_sysid.share import share_directory
from safe_sysid.track.guarded_torque import Command, GuardOutcome
from safe_sysid.track.obey_probe import ProbeSettings
from safe_sysid.track.torque_guard import GuardSettings
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.task_motion import Piece, TaskMotion

MILLISECOND = 1_000_000
PLACE, REST = np.array([0.2, 0.3]), np.zeros(2)
AWAY = PLACE + np.array([0.5, -0.4])


def settings():
    told = read_yaml(share_directory() / 'config/loop/two_link.yaml')['/**']['ros__parameters']
    sides = {
        side: tuple(map(float, told['prior'][side])) for side in ('lower', 'nominal', 'upper')
    }
    return BridgeSettings(
        robot='two_link',
        prior=LoopPriorSettings(ratio=told['prior']['ratio'], **sides),
        gains=GainSettings(K_r=(10.0,), V_M=0.002, alpha=25.0),
        waits_to_be_activated=True,
        simulated=False,
        guard=GuardSettings(max_age=0.02),
    )


SETTINGS = settings()
ARM = SETTINGS.arm()


class Holder:
    """Does what it is asked for at once, or refuses to hold the arm."""

    def __init__(self, holds, refuses=False, has_torque=False):
        self.holds, self.listens, self._refuses = holds, not holds, refuses
        self.has_torque, self.can_tell = has_torque, True
        self.asked, self.looks = [], 0

    def look(self):
        self.looks += 1

    def take(self):
        self.asked.append('take')
        if not self._refuses:
            self.holds, self.listens = True, False

    def give(self):
        self.asked.append('give')
        self.holds, self.listens = False, True

    def __str__(self):
        return 'the holder'


class Bench:
    """The edge of a bridge, and an arm that is where it is put."""

    def __init__(self, holder, driver='trusted'):
        node = MagicMock()
        node.get_fully_qualified_name.return_value = node.get_name.return_value = '/bridge'
        self.edge = GuardedEdge(node, ARM, SETTINGS, holder, ProbeSettings(driver=driver))
        self.holder, self.now = holder, 0

    def say(self, mode):
        self.edge._on_mode(String(data=mode))

    def plan(self, place):
        """Stand in a place from here on, on a plan that somebody follows."""
        curve = Bezier(place, REST, REST, 0.05)
        self.edge._told.learn(ARM.prior)
        motion = TaskMotion((Piece(curve, REST),))
        self.edge._notice = PlanNotice(self.now + MILLISECOND, motion, name_of(ARM.prior))

    def measured(self, place):
        return JointMeasurement(self.now, place, REST, REST)

    def go_on(self, steps, place=None, commanded=None):
        """Steps of 1 ms with the arm in a place, or not seen; the last torque."""
        torque = None
        for _ in range(steps):
            self.now += MILLISECOND
            if commanded is not None:
                self.edge._command = Command(commanded, self.now)
            measured = None if place is None else self.measured(place)
            torque = self.edge.torque(self.now, measured)
        return torque

    @property
    def outcome(self):
        return self.edge._given.outcome


def held_at(place):
    """What an arm in motion gets whose last plan ends in a place, and who is told of a fault."""
    bench = Bench(Holder(holds=False, refuses=True))
    bench.plan(place)
    bench.say('exciting')
    bench.go_on(60, place)
    bench.say('fault')
    return bench


@pytest.mark.parametrize('is_seen_at_once', [False, True])
def test_an_arm_that_was_lost_stays_where_it_was_found_after_a_reset_as_well(is_seen_at_once):
    """Where nobody else holds it, the plan of before is that of another place."""
    bench = held_at(PLACE)
    if is_seen_at_once:
        bench.now += 300 * MILLISECOND
    else:
        bench.go_on(300)
        assert bench.edge._is_lost
    found = bench.go_on(700, AWAY)
    bench.say('holding')
    after = bench.go_on(60, AWAY)
    np.testing.assert_allclose(after, found, atol=0.5)
    expected = held_at(AWAY).go_on(200, AWAY)
    np.testing.assert_allclose(after, expected, atol=0.5)


def test_an_arm_that_was_seen_all_the_time_stays_on_its_plan_after_a_reset():
    bench = held_at(PLACE)
    bench.go_on(150)  # not seen, but not for long enough to be anywhere
    bench.go_on(60, PLACE)
    bench.say('holding')
    pushed = PLACE + 1e-3
    bench.go_on(60, pushed)
    assert bench.outcome is GuardOutcome.HOLDING
    np.testing.assert_array_equal(bench.edge._guard._braking._plan.end_position, PLACE)


def test_a_bridge_that_got_no_processor_hands_the_arm_over_and_pulls_it_nowhere():
    """Its driver has gone on with the last torque meanwhile."""
    bench = Bench(Holder(holds=False, refuses=True))
    bench.plan(PLACE)
    bench.say('exciting')
    bench.go_on(100, PLACE, commanded=np.array([25.0, 5.0]))
    old = bench.measured(PLACE)
    bench.now += 5000 * MILLISECOND
    bench.edge.torque(bench.now, old)
    assert bench.edge._is_lost
    assert bench.edge.condition().trouble.startswith('the arm was not seen for longer than 0.2 s')
    torque = bench.go_on(700, AWAY)
    assert bench.holder.asked == ['give', 'take']
    np.testing.assert_allclose(torque, held_at(AWAY).go_on(200, AWAY), atol=0.5)


STARTED_AGAIN = [('probed', 'fault'), ('trusted', 'fault'), ('probed', 'holding')]


@pytest.mark.parametrize(('driver', 'mode'), STARTED_AGAIN)
def test_a_bridge_that_is_started_in_a_fault_gives_no_torque_where_none_is_at_work(driver, mode):
    """As in idle: the arm is held by its driver, or its robot knows the load that was handed over.

    A driver that was refused by the bridge before is refused by this one until it is probed.
    """
    bench = Bench(Holder(holds=True), driver)
    assert bench.go_on(3, PLACE) is None
    for _ in range(3):
        bench.say(mode)
        assert bench.go_on(300, PLACE) is None
    assert not bench.edge.gives_torque
    assert bench.holder.asked == []
    bench.say('holding')
    is_given = bench.go_on(3, PLACE) is not None
    assert is_given is (driver == 'trusted')  # what a person has asked for
    bench.say('probing')
    assert bench.go_on(3, PLACE) is not None


def test_a_bridge_that_is_started_in_a_fault_brakes_an_arm_that_it_finds_under_torque():
    """Its driver repeats the last torque of the bridge before, for ever."""
    bench = Bench(Holder(holds=False, has_torque=True))
    bench.say('fault')
    assert bench.go_on(60, PLACE) is not None
    assert bench.outcome is GuardOutcome.HOLDING
    assert bench.holder.asked == ['give']


@pytest.mark.parametrize('mode', ['fault', 'exciting', 'holding'])
def test_an_arm_under_torque_is_handed_over_where_nobody_has_seen_its_driver_obey(mode):
    """It may be in motion, so somebody has to stop it; until then the law of the guard does."""
    bench = Bench(Holder(holds=False, refuses=True, has_torque=True), 'probed')
    bench.say(mode)
    assert bench.go_on(300, PLACE) is not None
    assert set(bench.holder.asked) == {'take'}
    bench.holder.holds = True
    assert bench.go_on(300, PLACE) is None
    assert bench.edge.is_free
    for told in ('fault', 'holding', 'exciting'):
        bench.say(told)
        assert bench.go_on(3, PLACE) is None


@pytest.mark.parametrize('driver', ['probed', 'trusted'])
def test_who_holds_an_arm_is_asked_again_until_it_is_known(driver):
    """And nobody takes the arm to be released before that."""
    bench = Bench(Holder(holds=False, has_torque=None), driver)
    bench.say('fault')
    assert bench.go_on(1000, PLACE) is None
    assert 4 <= bench.holder.looks <= 6
    bench.say('releasing')
    assert bench.go_on(4000, PLACE) is None
    assert bench.edge.condition().figures['released'] is False
    assert bench.edge.condition().trouble.startswith('looked for')
    bench.holder.has_torque = True
    assert (bench.go_on(1, PLACE) is not None) is (driver == 'trusted')
    bench.go_on(600, PLACE)
    assert bench.edge.condition().figures['released'] is True
    assert bench.holder.holds


def test_a_bridge_that_is_told_to_release_lets_go_what_nobody_gives_torque():
    bench = Bench(Holder(holds=True, has_torque=None), 'probed')
    bench.say('releasing')
    bench.go_on(10, PLACE)
    assert not bench.edge.is_free
    bench.holder.has_torque = False
    bench.go_on(1, PLACE)
    assert bench.edge.is_free
    assert bench.holder.asked == []


def started_in_fault(driver='trusted', mode='fault'):
    """A bridge of an arm that nothing holds without its torque, and of which nobody tells."""
    holder = Holder(holds=False, refuses=True, has_torque=None)
    holder.can_tell = False
    bench = Bench(holder, driver)
    bench.say(mode)
    return bench


@pytest.mark.parametrize('stood', [50, 1000])
def test_an_arm_that_moves_is_braked_where_nobody_can_tell_whether_a_torque_is_at_work(stood):
    """The bridge before may have died, and its driver repeats the last torque; however late."""
    bench, place = started_in_fault(), PLACE.copy()
    assert bench.go_on(stood, place) is None
    for _ in range(50):
        place = place + 2e-4
        torque = bench.go_on(1, place)
    assert torque is not None
    assert bench.holder.asked == ['give']


def test_an_arm_that_stands_gets_no_torque_where_nobody_can_tell():
    bench = started_in_fault()
    assert bench.go_on(1000, PLACE) is None
    assert bench.holder.asked == []


@pytest.mark.parametrize(('driver', 'mode'), [
    ('trusted', 'fault'), ('probed', 'fault'), ('probed', 'releasing'),
])  # fmt: skip
def test_nobody_takes_an_arm_to_be_released_that_may_stand_under_a_torque_of_before(driver, mode):
    """Friction may hold it, and a driver that repeats what a bridge told that has died."""
    bench = started_in_fault(driver, mode)
    bench.go_on(1000, PLACE)
    bench.say('releasing')
    assert bench.go_on(300, PLACE) is None
    condition = bench.edge.condition()
    assert condition.figures['released'] is False
    assert condition.trouble.startswith('looked for')
    assert bench.holder.asked == []
    bench.edge.ask('SIGINT', 1)
    assert not bench.edge.is_due()
    bench.edge.ask('SIGINT', 2)
    assert bench.edge.is_due()
