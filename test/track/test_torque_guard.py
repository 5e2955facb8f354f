"""Nothing that is wrong with a command, a measurement or a clock reaches the robot."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from track.arm_simulation import ArmInMotion
from track.law_states import CLOCK, estimate_of, gains_for, random_plan

from safe_sysid.errors import ConfigError
from safe_sysid.measure.joint_log import JointMeasurement
from safe_sysid.model.parameters import ParameterEstimate, ratio_bounds
from safe_sysid.model.robot_model import RobotModel
from safe_sysid.model.sensing import stamp_error
from safe_sysid.track.guarded_torque import Command, GuardInput, GuardOutcome
from safe_sysid.track.robust_passivity import RobustPassivityController
from safe_sysid.track.torque_guard import GuardSettings, TorqueGuard

ARM = RobotModel.named('kinova_gen3')
ESTIMATE = estimate_of(ARM)
PLAN = random_plan(np.random.default_rng(5), ESTIMATE, speed=0.0)
LIMIT = ARM.limits.torque
MILLISECOND = 1_000_000
SETTINGS = GuardSettings()
STOPPED = (GuardOutcome.BRAKING, GuardOutcome.HOLDING, GuardOutcome.BLIND, GuardOutcome.STUCK)


class Failing:
    """A law that is no help."""

    def __init__(self, torque):
        self.torque = torque

    ahead = 0.0

    def step(self, measurement, plan, estimate):
        del measurement, plan, estimate
        return self.torque

    brake = note = step


def robust():
    return RobustPassivityController(ARM, gains_for(ARM.n), CLOCK)


def guard_with(law=None, **changes):
    return TorqueGuard(ARM, replace(SETTINGS, **changes), CLOCK, law or robust(), counts=False)


def on_the_plan(stamp, plan=PLAN, torque=0.0):
    q, qd, _ = plan.desired(max(CLOCK.seconds(stamp), plan.start_time))
    return JointMeasurement(stamp, q, qd, np.full(ARM.n, torque))


def seen_at(stamp, torque, plan=PLAN):
    return GuardInput(Command(torque, stamp), on_the_plan(stamp), plan, ESTIMATE)


def commanded(guard, torque, steps, start=0):
    """Outputs for a constant command, one per millisecond."""
    stamps = [CLOCK.origin + (start + i) * MILLISECOND for i in range(steps)]
    return [guard.step(stamp, seen_at(stamp, torque)) for stamp in stamps]


def test_the_first_torque_is_the_measured_one_and_the_command_is_approached_from_there():
    guard = guard_with()
    wanted = np.linspace(-9.0, 9.0, 7)
    stamps = [CLOCK.origin + i * MILLISECOND for i in range(10)]
    outputs = [
        guard.step(t, replace(seen_at(t, wanted), measurement=on_the_plan(t, torque=2.0)))
        for t in stamps
    ]
    assert np.array_equal(outputs[0].torque, np.full(7, 2.0))
    torques = np.array([output.torque for output in outputs])
    assert np.allclose(np.abs(np.diff(torques, axis=0)).max(axis=1)[:3], 3.0)  # 3000 N m/s
    assert np.array_equal(torques[-1], wanted)
    assert [output.outcome for output in outputs[:2]] == [GuardOutcome.LIMITED] * 2
    assert outputs[-1].outcome is GuardOutcome.PASSED
    assert outputs[-1].reason == ''
    assert 'joint_1 is -9.0 N m, 11 N m further than 3000.0 N m/s allow' in outputs[0].reason


@pytest.mark.parametrize(
    ('torque', 'reason'),
    [
        (np.full(7, np.nan), 'joint_1 is nan N m; 56.7 N m are allowed'),
        (np.array([0, 0, 0, 0, -np.inf, 0, 0]), 'joint_5 is -inf N m; 29.4 N m are allowed'),
        (np.array([0, 0, 0, 0, 0, 29.5, 0]), 'joint_6 is 29.5 N m; 29.4 N m are allowed'),
        (np.zeros(6), '7 numbers are needed'),
        (np.zeros((7, 1)), '7 numbers are needed'),
        (0.0, '7 numbers are needed'),
        ('stop', "the command is 'stop'; 7 numbers"),
        ([[1.0], [1.0, 2.0]], '7 numbers are needed'),
        (None, 'the command is None; 7 numbers'),
    ],
)
def test_a_bad_command_makes_the_guard_brake_until_it_is_reset(torque, reason):
    guard = guard_with()
    last = commanded(guard, np.zeros(7), 3)[-1]
    for i in range(3, 40):
        stamp = CLOCK.origin + i * MILLISECOND
        output = guard.step(stamp, seen_at(stamp, torque if i == 3 else np.zeros(7)))
        assert output.outcome is GuardOutcome.BRAKING
        assert reason in output.reason
        assert np.all(np.abs(output.torque - last.torque) <= 3.0 + 1e-9)
        last = output
    guard.reset()
    assert commanded(guard, last.torque, 1, start=40)[0].outcome is GuardOutcome.PASSED


def test_an_old_command_is_refused_and_a_missing_one_after_the_first_too():
    for late, complaint in (
        (lambda seen: replace(seen, command=replace(seen.command, stamp=CLOCK.origin)), '0.012 s'),
        (lambda seen: replace(seen, command=None), 'there is no command any more'),
        (
            lambda s: replace(s, command=replace(s.command, stamp=s.command.stamp + 200_000)),
            '-0.0002 s',
        ),
    ):
        guard = guard_with()
        commanded(guard, np.zeros(7), 12)
        stamp = CLOCK.origin + 12 * MILLISECOND
        output = guard.step(stamp, late(seen_at(stamp, np.zeros(7))))
        assert output.outcome is GuardOutcome.BRAKING
        assert complaint in output.reason


def test_a_first_command_that_is_late_is_waited_for():
    guard = guard_with()
    for i, age in ((20, 15), (21, -1), (22, 11)):
        stamp = CLOCK.origin + i * MILLISECOND
        seen = seen_at(stamp, np.zeros(7))
        late = replace(seen, command=Command(np.zeros(7), stamp - age * MILLISECOND))
        output = guard.step(stamp, late)
        assert output.outcome in (GuardOutcome.BRAKING, GuardOutcome.HOLDING)
        assert 'no command yet' in output.reason
        assert not guard.refusal
    (passed,) = commanded(guard, output.torque, 1, start=23)
    assert passed.outcome is GuardOutcome.PASSED


def test_stamps_may_be_ahead_by_what_is_promised_of_them_and_no_more():
    """Else every second sample of an arm whose stamps are off is none, and brakes are blind."""
    off = stamp_error(ARM, [])
    assert off == 1e-4
    for ahead, outcomes in (
        (round(1e9 * off), (GuardOutcome.PASSED, GuardOutcome.BRAKING)),
        (round(1e9 * off) + 1, (GuardOutcome.BLIND, GuardOutcome.BLIND)),
    ):
        guard = guard_with()
        commanded(guard, np.zeros(7), 12)
        for i, expected in zip((12, 13), outcomes, strict=True):
            stamp = CLOCK.origin + i * MILLISECOND
            seen = seen_at(stamp + ahead, np.zeros(7))
            output = guard.step(stamp, seen if i == 12 else replace(seen, command=None))
            assert output.outcome is expected, (ahead, i)


@pytest.mark.parametrize('robot', ['kinova_gen3', 'two_link', 'lbr_med7', 'ur5e'])
def test_an_age_in_which_an_arm_can_be_at_its_velocity_limit_is_said(robot):
    model = RobotModel.named(robot)
    reached = np.min(model.limits.velocity / model.limits.acceleration)
    assert replace(SETTINGS, max_age=0.99 * reached).caution(model) == ''
    said = replace(SETTINGS, max_age=1.01 * reached).caution(model)
    assert f'can be at its velocity limit after {reached:.3g} s' in said


def test_before_the_first_command_the_arm_is_held_where_it_is():
    guard = guard_with()
    arm = ArmInMotion(ARM, PLAN.curve.q0, np.zeros(7), CLOCK.origin)
    arm.hold(np.zeros(7), 1)
    seen = GuardInput(None, None, None, ESTIMATE)
    for _ in range(300):
        output = guard.step(arm.stamp, replace(seen, measurement=arm.measure()))
        assert output.outcome in (GuardOutcome.BRAKING, GuardOutcome.HOLDING)
        assert output.reason == 'there is no command yet'
        arm.hold(output.torque, MILLISECOND)
    assert np.allclose(arm.q, PLAN.curve.q0, atol=0.01)
    first = guard.step(arm.stamp, seen_at(arm.stamp, output.torque))
    assert first.outcome is GuardOutcome.PASSED


def test_after_a_refusal_the_arm_rests_at_the_end_of_the_plan_in_force():
    """A later plan is not looked at; the command is NaN for ever."""
    guard, law = guard_with(), robust()
    arm = ArmInMotion(ARM, *PLAN.desired(0.0)[:2], CLOCK.origin)
    other = random_plan(np.random.default_rng(6), ESTIMATE)
    outcomes = []
    for i in range(3500):
        measured = arm.measure()
        torque = law.step(measured, PLAN, ESTIMATE) if i < 700 else np.full(7, np.nan)
        seen = GuardInput(
            Command(torque, arm.stamp), measured, PLAN if i < 900 else other, ESTIMATE
        )
        output = guard.step(arm.stamp, seen)
        outcomes.append(output.outcome)
        arm.hold(output.torque, MILLISECOND)
    assert outcomes[100] is GuardOutcome.PASSED
    assert outcomes[700] is GuardOutcome.BRAKING
    assert outcomes[2999] is GuardOutcome.BRAKING
    assert outcomes[3001] is GuardOutcome.HOLDING
    assert np.allclose(arm.q, PLAN.end_position, atol=0.005)
    assert np.max(np.abs(arm.qd)) < 0.01


def blinded(guard, steps, plan, estimate):
    """An arm that nobody sees after 500 steps, and what the guard knows of it."""
    law, arm = robust(), ArmInMotion(ARM, *PLAN.desired(0.0)[:2], CLOCK.origin)
    for i in range(steps):
        blind = i >= 500
        measured = None if blind else arm.measure()
        command = None if blind else Command(law.step(measured, PLAN, ESTIMATE), arm.stamp)
        output = guard.step(arm.stamp, GuardInput(command, measured, plan, estimate))
        assert (output.outcome is GuardOutcome.BLIND) == blind
        assert guard.is_lost(arm.stamp) == (i > 699)  # the last one is that of 499
        arm.hold(output.torque, MILLISECOND)
    return arm


def test_without_measurements_it_goes_on_as_the_plan_needs():
    """Blind for 200 ms on an arm it knows, it stays near the plan."""
    arm = blinded(guard_with(), 700, PLAN, ESTIMATE)
    assert np.allclose(arm.q, PLAN.desired(0.7)[0], atol=0.01)


def test_an_arm_that_was_lost_is_stopped_where_it_is_found():
    """Blind for long it falls from its plan, which it is not pulled back to."""
    little = ParameterEstimate(ARM.layout, 0.3 * ARM.theta, ratio_bounds(0.3 * ARM.theta, 0.05))
    wrong = replace(PLAN, theta_0=little.theta, theta_bounds=little.bounds)
    guard = guard_with()
    arm = blinded(guard, 2000, wrong, little)
    found, speed = arm.q, np.abs(arm.qd).max()
    assert speed > 1.0
    assert np.abs(found - PLAN.desired(2.0)[0]).max() > 0.5
    fastest = 0.0
    for _ in range(1500):
        seen = GuardInput(None, arm.measure(), PLAN, ESTIMATE)
        arm.hold(guard.step(arm.stamp, seen).torque, MILLISECOND)
        fastest = max(fastest, np.abs(arm.qd).max())
    assert not guard.is_lost(arm.stamp)
    assert fastest < 1.2 * speed
    assert np.abs(arm.qd).max() < 0.01
    assert np.abs(arm.q - found).max() < 0.5 * speed


@pytest.mark.parametrize(('max_age', 'passes'), [(0.01, False), (0.7, True)])
def test_no_fresh_command_leads_an_arm_on_that_was_not_seen_for_long(max_age, passes):
    """Unless the guard was told to be more patient."""
    guard, law = guard_with(max_age=max_age), robust()
    arm = ArmInMotion(ARM, PLAN.curve.q0, np.zeros(7), CLOCK.origin)
    for _ in range(100):
        torque = law.step(arm.measure(), PLAN, ESTIMATE)
        guard.step(
            arm.stamp, GuardInput(Command(torque, arm.stamp), arm.measure(), PLAN, ESTIMATE)
        )
        arm.hold(torque, MILLISECOND)
    arm.stamp += 600 * MILLISECOND
    arm.q, arm.qd = arm.q + 0.5, np.zeros(7)
    found = arm.q.copy()
    fresh = GuardInput(Command(torque, arm.stamp), arm.measure(), PLAN, ESTIMATE)
    output = guard.step(arm.stamp, fresh)
    assert (output.outcome is GuardOutcome.PASSED) is passes
    if passes:
        return
    assert output.reason == 'the arm was not seen for 0.601 s'
    for _ in range(600):
        seen = GuardInput(None, arm.measure(), PLAN, ESTIMATE)
        arm.hold(guard.step(arm.stamp, seen).torque, MILLISECOND)
    assert guard.has_left_its_plan
    assert np.abs(arm.q - found).max() < 0.05


@pytest.mark.parametrize('is_commanded', [True, False])
def test_an_arm_is_lost_while_the_guard_gets_no_processor_and_is_not_pulled_back(is_commanded):
    """Drivers go on with the last torque; the first look after it may see nothing new yet."""
    guard, law = guard_with(), robust()
    arm = ArmInMotion(ARM, PLAN.curve.q0, np.zeros(7), CLOCK.origin)
    for _ in range(100):
        measured = arm.measure()
        torque = law.step(measured, PLAN, ESTIMATE)
        command = Command(torque, arm.stamp) if is_commanded else None
        guard.step(arm.stamp, GuardInput(command, measured, PLAN, ESTIMATE))
        arm.hold(torque, MILLISECOND)
    arm.stamp += 5000 * MILLISECOND
    arm.q, arm.qd = arm.q + 0.5, np.zeros(7)
    found = arm.q.copy()
    old = GuardInput(command, measured, PLAN, ESTIMATE)
    assert guard.step(arm.stamp, old).outcome is GuardOutcome.BLIND
    assert guard.is_lost(arm.stamp)
    for _ in range(600):
        torque = guard.step(arm.stamp, replace(old, measurement=arm.measure())).torque
        assert not guard.is_lost(arm.stamp)
        arm.hold(torque, MILLISECOND)
    assert guard.has_left_its_plan
    assert np.abs(arm.q - found).max() < 0.05


def test_no_arm_is_lost_whose_time_waits_or_goes_back_or_that_was_without_torque():
    """In lockstep a stamp follows the other, whatever time passes in between."""
    guard = guard_with()
    commanded(guard, np.zeros(7), 300)
    for stamp in (300, 300, 20, 21):
        now = CLOCK.origin + stamp * MILLISECOND
        seen = GuardInput(None, None, PLAN, ESTIMATE)
        assert guard.step(now, seen).outcome is GuardOutcome.BLIND
        assert not guard.is_lost(now)
    now = CLOCK.origin + 222 * MILLISECOND
    guard.step(now, seen)
    assert guard.is_lost(now)
    guard.reset()
    assert not guard.has_left_its_plan
    commanded(guard, np.zeros(7), 1, start=9000)
    assert not guard.is_lost(CLOCK.origin + 9000 * MILLISECOND)


@pytest.mark.parametrize('back', [3.0, 3600.0])
def test_an_arm_in_motion_rests_after_one_stamp_from_the_future(back):
    """What was begun at a stamp that comes later is nothing to go by before."""
    guard, law = guard_with(), robust()
    arm = ArmInMotion(ARM, *PLAN.desired(0.0)[:2], CLOCK.origin)
    for i in range(800):
        measured = arm.measure()
        command = Command(law.step(measured, PLAN, ESTIMATE), arm.stamp)
        if i == 700:  # of one state alone
            now = arm.stamp + round(back * 1e9)
            measured = replace(measured, stamp=now)
            seen = GuardInput(replace(command, stamp=arm.stamp), measured, PLAN, ESTIMATE)
            output = guard.step(now, seen)
        else:
            output = guard.step(arm.stamp, GuardInput(command, measured, PLAN, ESTIMATE))
        assert output.outcome is not GuardOutcome.STUCK
        arm.hold(output.torque, MILLISECOND)
    assert np.abs(PLAN.desired(0.7)[1]).max() > 0.1
    for _ in range(1500):
        output = guard.step(arm.stamp, GuardInput(None, arm.measure(), PLAN, ESTIMATE))
        assert output.outcome is not GuardOutcome.STUCK
        arm.hold(output.torque, MILLISECOND)
    assert guard.is_at_its_end(arm.stamp)
    assert np.abs(arm.qd).max() < 0.01


@pytest.mark.parametrize('back', [0.1, 2.0, 3600.0])
def test_an_arm_that_is_held_goes_on_being_held_when_the_clock_goes_back(back):
    guard = guard_with()
    arm = ArmInMotion(ARM, PLAN.end_position, np.zeros(7), CLOCK.origin + 3900 * 10**9)
    seen = GuardInput(None, None, None, ESTIMATE)
    for i in range(1500):
        if i == 500:
            arm.stamp -= round(back * 1e9)
        output = guard.step(arm.stamp, replace(seen, measurement=arm.measure()))
        assert output.outcome is not GuardOutcome.STUCK
        arm.hold(output.torque, MILLISECOND)
    assert guard.is_at_its_end(arm.stamp)
    assert np.abs(arm.q - PLAN.end_position).max() < 0.01


@pytest.mark.parametrize(
    'useless', [np.full(7, np.nan), np.zeros(3), None, np.array(['x'] * 7)], ids=str
)
def test_with_a_law_that_fails_the_last_torque_stays(useless):
    guard = guard_with(Failing(useless))
    commanded(guard, np.full(7, 1.0), 30)
    outputs = commanded(guard, np.full(7, np.nan), 5, start=30)
    assert all(output.outcome is GuardOutcome.STUCK for output in outputs)
    assert np.array_equal(outputs[-1].torque, np.full(7, 1.0))


@pytest.mark.parametrize('counts', [False, True])
def test_a_torque_that_is_cut_off_is_counted_and_refused_where_the_law_counts_on_it(counts):
    """Not before one has passed: the first one is approached from what held the arm before."""
    guard = TorqueGuard(ARM, SETTINGS, CLOCK, robust(), counts=counts)
    far = np.array([0.0, 8.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert commanded(guard, far, 5)[-1].outcome is GuardOutcome.PASSED
    assert (guard.cuts, guard.refusal) == (0, '')
    cut = commanded(guard, np.zeros(7), 1, start=5)[0]
    assert cut.outcome is GuardOutcome.LIMITED
    assert guard.cuts == 1
    assert 'joint_2 is 0.0 N m, 5 N m further than 3000.0 N m/s allow' in guard.last_cut
    assert bool(guard.refusal) == counts
    after = commanded(guard, np.zeros(7), 3, start=6)[-1]
    assert after.outcome is (GuardOutcome.BRAKING if counts else GuardOutcome.PASSED)
    guard.reset()
    assert commanded(guard, far, 5, start=9)[-1].outcome is GuardOutcome.PASSED
    assert not guard.refusal


def test_a_command_out_of_reach_for_longer_than_patience_is_refused():
    guard = guard_with(rate=(1.0,))
    outputs = commanded(guard, np.full(7, 20.0), 60)
    assert all(output.outcome is GuardOutcome.LIMITED for output in outputs[:52])
    assert outputs[52].outcome is GuardOutcome.BRAKING
    assert 'N m/s allow, for 0.05 s' in outputs[52].reason


def test_torque_does_not_move_while_time_stands_still_or_goes_back():
    guard = guard_with()
    given = commanded(guard, np.zeros(7), 5)[-1]
    for back in (0, 3):
        stamp = CLOCK.origin + (4 - back) * MILLISECOND
        output = guard.step(stamp, seen_at(stamp, np.full(7, 5.0)))
        assert np.array_equal(output.torque, given.torque)


NUMBERS = st.one_of(
    st.floats(-60.0, 60.0), st.sampled_from([np.nan, np.inf, -np.inf, 1e308, -1e308, 0.0])
)
VECTORS = st.one_of(
    st.lists(NUMBERS, min_size=7, max_size=7).map(np.array),
    st.just(np.zeros(7)),
    st.lists(NUMBERS, max_size=9).map(np.array),
    st.sampled_from([None, 'x', np.array([None] * 7), np.zeros((7, 7))]),
)
MEASUREMENTS = st.one_of(
    st.none(),
    st.builds(lambda *parts: parts, st.integers(-20, 3), VECTORS, VECTORS, VECTORS),
    st.just('on the plan'),
)
EVENTS = st.fixed_dictionaries(
    {
        'elapsed': st.sampled_from([0, 1, 1, 1, 1, 2, 20, 5000, -7]),
        'torque': st.one_of(VECTORS, st.just(np.zeros(7)), st.just('nothing')),
        'age': st.integers(-3, 20),
        'measurement': MEASUREMENTS,
        'plan': st.sampled_from([None, PLAN, replace(PLAN, start_time=1.0, switch_time=2.0)]),
        'reset': st.booleans(),
    }
)
SHARED_LAW = robust()


@settings(max_examples=70, deadline=None, derandomize=True)
@given(st.lists(EVENTS, min_size=1, max_size=12))
def test_whatever_happens_what_leaves_is_finite_within_limits_and_no_jump(events):
    guard = guard_with(SHARED_LAW)
    now, last, refused = CLOCK.origin + MILLISECOND, None, False
    for event in events:
        previous = now
        now += event['elapsed'] * MILLISECOND
        if event['reset']:
            guard.reset()
            refused = False
        output = guard.step(now, seen_of(event, now))
        assert output.torque.shape == (7,)
        assert np.all(np.isfinite(output.torque))
        assert np.all(np.abs(output.torque) <= LIMIT)
        if last is not None:
            most = 3000.0 * np.clip((now - previous) / 1e9, 0.0, 0.01)
            assert np.all(np.abs(output.torque - last) <= most * (1.0 + 1e-12) + 1e-12)
        if refused:
            assert output.outcome in STOPPED
        if output.outcome is GuardOutcome.PASSED:
            assert np.array_equal(output.torque, event['torque'])
        else:
            assert output.reason
        refused = refused or (output.outcome in STOPPED and 'no command yet' not in output.reason)
        last = output.torque


def seen_of(event, now):
    """What an event looks like to the guard."""
    nothing = isinstance(event['torque'], str) and event['torque'] == 'nothing'
    command = None if nothing else Command(event['torque'], now - event['age'] * MILLISECOND)
    measurement = event['measurement']
    if measurement == 'on the plan':
        measurement = on_the_plan(now)
    elif measurement is not None:
        late, *values = measurement
        measurement = JointMeasurement(now + late * MILLISECOND, *values)
    return GuardInput(command, measurement, event['plan'], ESTIMATE)


def test_settings_out_of_range_are_refused():
    for change in ({'rate': (0.0,)}, {'max_age': np.nan}, {'patience': -1.0}):
        with pytest.raises(ConfigError, match='has to be above 0'):
            replace(SETTINGS, **change)
