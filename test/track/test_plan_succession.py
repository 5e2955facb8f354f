"""A plan is followed only where it goes on from the one before, in time, for what is known."""

from dataclasses import replace

import numpy as np
import pytest

from safe_sysid.errors import ConfigError
from safe_sysid.measure.clock import Clock
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.dynamics.kinetic_energy import kinetic_energy
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.track.gains import Gains
from safe_sysid.track.plan_succession import PlanSuccession, SuccessionSettings
from safe_sysid.track.seen_start import UNSEEN
from safe_sysid.track.supervisor import Mode
from safe_sysid.track.takeover import TrackedArm
from safe_sysid.trajectory.bezier import Bezier
from safe_sysid.trajectory.plan import Plan

MODEL = RobotModel.named('two_link')
ARM = TrackedArm(MODEL, Gains(np.full(2, 10.0), V_M=0.002, alpha=25.0))
REST = np.zeros(2)
AT = np.array([0.3, -0.4])
KNOWN = ParameterEstimate(MODEL.layout, MODEL.theta, ratio_bounds(MODEL.theta, 0.05))
WIDER = ParameterEstimate(MODEL.layout, MODEL.theta, ratio_bounds(MODEL.theta, 0.06))
NARROWER = ParameterEstimate(MODEL.layout, MODEL.theta, ratio_bounds(MODEL.theta, 0.04))
STIFFEST = np.array([1.0, 0.0])  # direction in which V is largest
MEASURED = JointMeasurement(0, AT, REST, REST)


def plan(start, curve, k=REST):
    return Plan(start, start, curve, k, KNOWN.bounds, 'name', KNOWN.theta)


def standing(start, at=AT):
    return plan(start, Bezier(at, REST, REST, 2.0))


def moving(start, before, k=(0.5, 0.2)):
    return plan(start, before.curve_from(start, 2.0), np.array(k))


def energy_of(off, known=KNOWN):
    """Least and largest V of an arm at rest that is so far off [J]."""
    V = kinetic_energy(MODEL, known.bounds, AT, ARM.gains.K_r * off * STIFFEST)
    return float(V.lower), float(V.upper)


@pytest.fixture
def succession():
    return PlanSuccession(ARM, SuccessionSettings())


def followed(succession, t, estimate=KNOWN):
    return succession.step(t, MEASURED, estimate)


def test_nothing_is_followed_before_there_is_a_plan(succession):
    assert followed(succession, 0.0) is None


def test_a_plan_takes_over_at_its_start_and_not_before(succession):
    first = standing(0.0)
    second = moving(1.0, first)
    succession.offer(first)
    succession.offer(second)
    assert followed(succession, 0.0) is first
    assert followed(succession, 0.999) is first
    assert followed(succession, 1.0) is second
    assert followed(succession, 99.0) is second


@pytest.mark.parametrize('first_begins', [0.0, 0.1])
def test_a_stop_replaces_what_was_told_before_and_would_go_on_from_it_as_well(
    succession, first_begins
):
    """Where the arm stands, a stop ends just where the plan begins that it is a stop from."""
    first = standing(first_begins)
    succession.offer(first)
    assert (followed(succession, 0.0) is first) == (first_begins == 0.0)
    succession.offer(moving(1.0, first))
    stop = plan(0.5, Bezier(AT, REST, REST, 0.2))
    succession.offer(stop)
    assert followed(succession, first_begins) is first
    assert followed(succession, 0.5) is stop
    assert followed(succession, 1.0) is stop
    succession.offer(first)  # told again, to somebody who came late
    onward = moving(1.5, stop)
    succession.offer(onward)
    succession.offer(stop)
    assert followed(succession, 1.5) is onward


def test_the_first_plan_stands_still_and_may_come_late(succession):
    succession.offer(moving(0.0, standing(0.0)))
    assert followed(succession, 0.0) is None
    assert succession.refusal == 'the first plan has to stand still where the arm is'
    late = standing(0.5)
    succession.offer(late)
    assert followed(succession, 1.9) is late


def test_a_plan_that_stands_still_may_begin_where_the_last_one_ends_whatever_is_rounded(rng):
    beside = AT + 1e-3  # the arm is where the first one has it but for this
    seen = JointMeasurement(0, beside, REST, REST)
    rounded = 0
    for begin in rng.integers(0, 10**11, 200):
        first, then = (Clock(0).seconds(int(begin) + later) for later in (0, 2_000_000_000))
        succession = PlanSuccession(ARM, SuccessionSettings())
        succession.offer(standing(first))
        assert succession.step(first, MEASURED, KNOWN) is not None
        succession.offer(standing(then, beside))
        assert succession.step(then, seen, KNOWN).start_time == then, succession.refusal
        rounded += then < standing(first).end_time
    assert rounded > 0


def test_a_plan_that_stands_still_elsewhere_is_refused(succession):
    succession.offer(standing(0.0, AT + np.array([0.0, 0.03])))
    assert followed(succession, 0.0) is None
    assert succession.refusal.startswith('the tracking error would begin with up to 0.0')
    assert succession.refusal.endswith('joint_2 is 0.03 rad and 0 rad/s off')


def test_a_plan_that_came_late_is_refused(succession):
    first = standing(0.0)
    for each in (first, moving(1.0, first)):
        succession.offer(each)
    assert followed(succession, 0.5) is first
    assert followed(succession, 1.006) is first
    assert succession.refusal == 'the next plan came 0.006 s late; 0.005 s are allowed'


def test_a_plan_that_is_a_little_late_takes_over(succession):
    first = standing(0.0)
    second = moving(1.0, first)
    for each in (first, second):
        succession.offer(each)
    assert followed(succession, 0.5) is first
    assert followed(succession, 1.004) is second


def astray(plan, t):
    """Measured state in which V of this plan is V_M, of the figures of the arm; less of others."""
    q, qd, _ = plan.desired(t)
    energy = kinetic_energy(MODEL, ratio_bounds(MODEL.theta, 0.0), q, np.ones(2))
    off = np.sqrt(ARM.gains.V_M / energy.upper)
    return JointMeasurement(0, q, qd - off * np.ones(2), REST)


@pytest.mark.parametrize(('before', 'is_on_time'), [(0.9995, True), (1.001, False)])
def test_a_late_plan_takes_over_where_its_energy_is_measured_to_be_small_enough(
    before, is_on_time
):
    """An assumption speaks for one on time; who was on another plan since has to be near."""
    succession = PlanSuccession(ARM, SuccessionSettings(), longest_step=0.0015)
    first = standing(0.0)
    second = moving(1.0, first)
    succession.offer(first)
    assert followed(succession, before) is first
    succession.offer(second)
    t = 1.0005 if is_on_time else 1.002
    found = succession.step(t, astray(second, t), KNOWN)
    assert found is (second if is_on_time else first)
    assert is_on_time or 'the tracking error has up to 0.002' in succession.refusal


@pytest.mark.parametrize('late', [0.0, 0.004, 0.0067, 0.0099, 0.0103])  # [s]
def test_the_first_sample_after_its_start_has_a_plan_however_long_the_period_is(late):
    succession = PlanSuccession(ARM, SuccessionSettings(), longest_step=0.015)
    first = standing(0.0)
    second = moving(1.0, first)
    for each in (first, second):
        succession.offer(each)
    assert followed(succession, 0.99 + late) is (first if late < 0.01 else second)
    assert followed(succession, 1.0 + late) is second, succession.refusal


def test_a_plan_is_late_where_the_arm_went_on_along_the_other_one_or_a_sample_was_lost():
    for before, comes, late in ((1.001, 1.001, 1.011), (0.99, 0.5, 1.016)):
        succession = PlanSuccession(ARM, SuccessionSettings(), longest_step=0.015)
        first = standing(0.0)
        second = moving(1.0, first)
        succession.offer(first)
        if comes < 1.0:
            succession.offer(second)
        assert followed(succession, before) is first
        succession.offer(second)
        assert followed(succession, late) is first
        said = f'the next plan came {late - 1.0:.3f} s late; 0.005 s are allowed'
        assert succession.refusal == said


@pytest.mark.parametrize('row', [0, 1, 2])
def test_a_plan_that_does_not_go_on_from_the_one_in_force_is_refused(succession, row):
    first = standing(0.0)
    second = moving(1.0, first)
    succession.offer(first)
    succession.offer(second)
    followed(succession, 0.0)
    followed(succession, 1.0)
    state = np.array(second.desired(1.5))
    state[row, 1] += 2e-6
    succession.offer(plan(1.5, Bezier(*state, 2.0), np.array([0.1, 0.1])))
    assert followed(succession, 1.5) is second
    assert 'does not go on from the one in force, it jumps by 2e-06' in succession.refusal


def test_while_one_plan_goes_on_none_that_stands_still_takes_over(succession):
    first = standing(0.0)
    second = moving(1.0, first)
    for each in (first, second, standing(1.5)):
        succession.offer(each)
    assert followed(succession, 0.0) is first
    assert followed(succession, 1.0) is second
    assert followed(succession, 1.6) is second


def test_after_the_end_of_a_plan_another_may_begin_where_the_arm_is(succession):
    first = standing(0.0)
    succession.offer(first)
    followed(succession, 0.0)
    again = standing(5.0, AT + 0.003)
    succession.offer(again)
    assert followed(succession, 5.4) is again


@pytest.mark.parametrize(
    ('off', 'late', 'mode', 'goes_on'),
    [
        (0.0079, 0.0, Mode.EXCITING, True),  # V may be above V_M for the heaviest, and need not
        (0.0079, 0.4, Mode.IDENTIFIED, True),
        (0.0079, 0.0, Mode.HOLDING, False),
        (0.0079, 0.4, Mode.CHANGING, False),
        (0.0079, 0.4, Mode.FAULT, False),
        (0.0079, 0.0, None, False),
        (0.003, 0.4, Mode.HOLDING, True),
        (0.02, 0.4, Mode.TASK, False),
    ],
)
def test_an_arm_stays_where_a_plan_has_brought_it_unless_it_may_hold_something_else(
    succession, off, late, mode, goes_on
):
    """Its tracking error is part of what the plan was certified for, as far as V says so."""
    seen = JointMeasurement(0, AT - off * STIFFEST, REST, REST)
    first, again = standing(0.0), standing(5.0)
    succession.offer(first)
    followed(succession, 0.0)
    succession.begin_anew()
    succession.leave(mode)
    followed(succession, 4.9)
    succession.offer(again)
    assert succession.step(5.0 + late, seen, KNOWN) is (again if goes_on else first)
    assert bool(succession.refusal) != goes_on
    least, most = energy_of(off)
    assert (least < ARM.gains.V_M < most) == (off == 0.0079)


def test_a_doubt_ends_with_a_plan_that_has_begun_and_with_all_plans(succession):
    near = JointMeasurement(0, AT - 0.003 * STIFFEST, REST, REST)
    far = JointMeasurement(0, AT - 0.0079 * STIFFEST, REST, REST)
    for begin, forget in ((0.0, succession.reset), (20.0, lambda: None)):
        forget()
        first, second, third = (standing(begin + later) for later in (0.0, 5.0, 10.0))
        succession.offer(first)
        assert succession.step(begin, near, KNOWN) is first
        succession.leave(Mode.CHANGING)
        succession.offer(second)
        assert succession.step(begin + 5.0, near, KNOWN) is second
        succession.offer(third)
        assert succession.step(begin + 10.0, far, KNOWN) is third
    succession.leave(Mode.CHANGING)
    succession.reset()
    succession.offer(standing(40.0))
    succession.step(40.0, near, KNOWN)
    succession.offer(then := standing(50.0))
    assert succession.step(50.0, far, KNOWN) is then


def test_a_doubt_asks_the_arm_to_rest_first(succession):
    first = standing(0.0)
    succession.offer(first)
    followed(succession, 0.0)
    succession.leave(Mode.HOLDING)
    for each in (moving(1.0, first), standing(1.5)):
        succession.offer(each)
        assert followed(succession, each.start_time) is first
        assert succession.refusal.startswith('what is held may have changed')


def test_where_an_arm_stays_counts_what_is_known_by_now(succession):
    """Late as well as in time."""
    first, again = standing(0.0), standing(5.0)
    succession.offer(first)
    followed(succession, 0.0)
    least, _ = energy_of(1.0, NARROWER)
    off = 1.001 * np.sqrt(ARM.gains.V_M / least)
    assert energy_of(off)[0] < ARM.gains.V_M
    succession.offer(again)
    seen = JointMeasurement(0, AT - off * STIFFEST, REST, REST)
    assert succession.step(5.4, seen, NARROWER) is first


def test_wider_bounds_than_a_plan_was_certified_for_stop_its_take_over(succession):
    first = standing(0.0)
    second = moving(1.0, first)
    for each in (first, second):
        succession.offer(each)
    assert followed(succession, 0.0, NARROWER) is first
    assert followed(succession, 1.0, WIDER) is first
    assert succession.refusal == 'the next plan was made for tighter bounds than are known now'


def test_what_is_declined_is_not_followed_later(succession):
    first = standing(0.0)
    second = moving(1.0, first)
    for each in (first, second):
        succession.offer(each)
    followed(succession, 0.0)
    succession.decline(1.0, 'mode is braking')
    assert followed(succession, 1.0) is first
    assert succession.refusal == 'mode is braking'


def test_a_plan_that_moves_does_not_begin_in_another_mode_unless_one_that_stands_still_did(
    succession,
):
    first = standing(0.0)
    for each in (first, moving(1.0, first)):
        succession.offer(each)
    followed(succession, 0.0)
    succession.begin_anew()  # in time for what was to come next
    assert followed(succession, 1.0) is first
    assert succession.refusal == 'the first plan in another mode has to stand still'
    again = standing(2.0)
    then = moving(3.0, again)
    for each in (again, then):
        succession.offer(each)
    assert followed(succession, 2.0) is again
    assert followed(succession, 3.0) is then


def test_what_was_told_for_the_mode_before_is_forgotten(succession):
    begin = standing(0.0)
    for each in (begin, moving(1.0, begin)):
        succession.offer(each)
    succession.end_in_force()
    assert followed(succession, 0.0) is None
    then = standing(0.5)
    succession.offer(then)
    assert followed(succession, 0.5) is then
    assert followed(succession, 1.0) is then


def test_a_plan_of_joints_that_turn_without_end_may_be_whole_turns_away():
    model = RobotModel.named('kinova_gen3')
    assert model.limits.is_continuous[0]
    q, rest = np.zeros(7), np.zeros(7)
    turned = JointMeasurement(0, q + 2 * np.pi * model.limits.is_continuous, rest, rest)
    estimate = ParameterEstimate(model.layout, model.theta, ratio_bounds(model.theta, 0.1))
    each = Plan(0.0, 0.0, Bezier(q, rest, rest, 1.0), rest, estimate.bounds, '', estimate.theta)
    arm = TrackedArm(model, Gains(np.full(7, 5.0), V_M=0.02, alpha=25.0))
    succession = PlanSuccession(arm, SuccessionSettings())
    succession.offer(each)
    assert succession.step(0.0, turned, estimate) is each


def test_settings_out_of_range_are_refused():
    with pytest.raises(ConfigError, match='late is 0.0, it has to be above 0'):
        replace(SuccessionSettings(), late=0.0)
    with pytest.raises(ConfigError, match='late is 0.2, it has to be above 0 and at most 0.1'):
        replace(SuccessionSettings(), late=0.2)


class SeenAfter:
    """An arm that is not seen long enough before its third sample."""

    def __init__(self):
        self.asked = 0

    def refusal_to_begin(self, *_):
        self.asked += 1
        return UNSEEN if self.asked < 3 else ''

    def refusal_to_go_on(self, *_):
        return ''


def test_a_plan_that_stands_still_waits_until_the_arm_was_seen():
    """And the one after it does not come first."""
    succession = PlanSuccession(SeenAfter(), SuccessionSettings())
    first = standing(0.0)
    second = moving(1.0, first)
    succession.offer(first)
    succession.offer(second)
    assert followed(succession, 0.0) is None
    assert succession.refusal == UNSEEN
    assert followed(succession, 0.05) is None
    assert followed(succession, 0.1) is first
    assert succession.refusal == ''
    assert followed(succession, 1.0) is second
