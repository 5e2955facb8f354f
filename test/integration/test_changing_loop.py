"""What is held changes while the loop runs: the arm stays safe, and goes on where it may."""

from dataclasses import replace

import numpy as np
import pytest
from tiers import slow_after

from safe_sysid.bench.experiments.handling import MASSES, handling_arm, thing
from safe_sysid.closed_loop import AT_REST
from safe_sysid.identify.change.change_kinds import Explanation, Kind
from safe_sysid.identify.change.change_test import ChangeSettings
from safe_sysid.identify.change.change_watch import NoticedChange
from safe_sysid.identify.change.held_next import HeldNext
from safe_sysid.identify.change.response import Condition, Source
from safe_sysid.model.dynamics.tip_regressor import tip_regressor
from safe_sysid.plan.receding_horizon import RecedingHorizonPlanner
from safe_sysid.sets.interval import Interval
from safe_sysid.track.seen_start import UNSEEN
from safe_sysid.track.sensed_passivity import SensedPassivityController

HEAVY = thing(MASSES['two_link'][-1])
MILLISECOND = 1_000_000  # [ns]
BLIND = ChangeSettings(unmodelled_torque=1e3)  # [N m]


def moving(seed=1, changes=None):
    """An arm with an empty hand on a plan that teaches."""
    arm = handling_arm('two_link', seed, changes, exciting=6)
    arm.run(2.2)
    while not arm.moves:
        arm.run(0.05)
    return arm


def until_it_is_over(arm, count=1):
    """Go on until so many changes are answered."""
    for _ in range(40):
        arm.run(0.1)
        if len(arm.loop.outcomes) >= count:
            return arm.loop.outcomes[count - 1]
    raise AssertionError('no change was noticed')


def weighs(arm):
    """Whether torques show what is held: a joint turns that would feel a body at the tip."""
    truth, still = arm.robot.truth, np.zeros(arm.model.n)
    felt = tip_regressor(arm.robot.model, truth.position, still, still)[0, :, 1]  # of m c_x
    return bool(np.any((np.abs(truth.velocity) > 0.1) & (np.abs(felt) > 4.0)))


def goes_on(arm):
    """Whether the arm moves again soon, with true bounds and all promises kept."""
    for _ in range(80):
        arm.run(0.1)
        assert arm.is_inside
        if weighs(arm):
            return not arm.broken
    return False


@pytest.mark.slow
def test_a_body_picked_in_motion_is_noticed_and_the_arm_goes_on_with_it():
    arm = moving()
    at = arm.stamp
    arm.pick(HEAVY)
    outcome = until_it_is_over(arm)
    assert outcome.change.source is Source.NOTICED
    assert outcome.change.after <= at <= outcome.change.before
    assert Kind.PICKED in outcome.change.kinds
    assert outcome.goes_on
    assert 'the arm is at rest and goes on' in str(outcome)
    assert arm.is_inside
    assert arm.broken == []


@pytest.mark.slow
def test_what_was_dropped_and_may_have_slipped_waits_for_a_person():
    """In the few windows until the arm stands, torques of this motion do not tell which."""
    arm = moving(seed=0)
    arm.pick(HEAVY)
    assert until_it_is_over(arm).goes_on
    assert goes_on(arm)
    arm.drop()
    outcome = until_it_is_over(arm, 2)
    assert outcome.change.kinds[:2] == (Kind.DROPPED, Kind.SLIPPED)
    assert outcome.failed is Condition.CAUSE
    assert arm.loop.is_held
    assert arm.is_inside
    assert arm.loop.reset().goes_on
    assert goes_on(arm)


@pytest.mark.slow
@pytest.mark.parametrize('seed', [1, 3, 5, 6])
def test_picked_dropped_and_picked_again(seed):
    """The third change in a mission is one too many to go on from alone."""
    arm = moving(seed=seed)
    arm.pick(HEAVY)
    assert until_it_is_over(arm).goes_on
    assert goes_on(arm)
    arm.drop()
    second = until_it_is_over(arm, 2)
    assert second.goes_on
    assert Kind.DROPPED in second.change.kinds
    assert goes_on(arm)
    arm.pick(HEAVY)
    third = until_it_is_over(arm, 3)
    assert third.failed is Condition.COUNT
    assert 'the arm is held and stays' in str(third)
    stood = arm.robot.truth.position
    arm.run(1.0)
    assert arm.loop.is_held
    assert np.abs(arm.robot.truth.position - stood).max() < 0.01
    assert arm.loop.reset().goes_on
    assert goes_on(arm)


@pytest.mark.slow
def test_a_drive_that_is_stuck_is_no_body_that_was_picked():
    arm = moving()
    arm.push(np.array([6.0, 0.0]))
    outcome = until_it_is_over(arm)
    assert outcome.failed is Condition.CAUSE
    assert Kind.DRIVE in outcome.change.kinds or outcome.change.source is Source.PROVEN
    assert 'the arm is held and stays' in str(outcome)
    assert np.abs(arm.robot.truth.velocity).max() <= AT_REST


@pytest.mark.slow
def test_a_body_that_slips_in_the_hand_is_noticed_and_waits_for_a_person():
    """It is not where its bounds and shapes say."""
    arm = moving()
    arm.pick(HEAVY)
    assert until_it_is_over(arm).goes_on
    assert goes_on(arm)
    arm.slip(np.array([-0.15, 0.0, 0.0]))
    outcome = until_it_is_over(arm, 2)
    assert Kind.SLIPPED in outcome.change.kinds
    assert outcome.failed is Condition.CAUSE
    assert arm.is_inside
    assert arm.broken == []


@pytest.mark.parametrize('kind', slow_after(1, [Kind.PICKED, Kind.DROPPED]))
def test_after_a_false_alarm_bounds_contain_what_was_held_all_along(monkeypatch, kind):
    """It is none of what may be held next, as nobody has said that it changes."""
    arm = handling_arm('two_link', 1, exciting=6)
    arm.robot.attach(thing(1.2 * MASSES['two_link'][-1]))
    arm.run(0.2)
    identifier = arm.loop._identifier
    held = arm.robot.model.theta[arm.model.layout.end_effector]
    assert identifier.estimate.end_effector_bounds.contains(held)
    assert not arm.held.bounds.contains(held)
    at = arm.stamp
    explanations = (Explanation(kind, 200.0, (1.0, 0.0, 0.0, 0.0)),)
    found = NoticedChange(at, at - 60 * MILLISECOND, at, explanations, is_explained=True)
    alarm = identifier._watch
    monkeypatch.setattr(alarm, 'judged', lambda: found)
    monkeypatch.setattr(type(alarm), 'has_noticed', True)
    monkeypatch.setattr(alarm, 'new_payload', lambda *_: monkeypatch.undo())
    outcome = until_it_is_over(arm)
    assert outcome.change.source is Source.NOTICED
    assert outcome.goes_on
    assert outcome.held.bounds.contains(held)
    assert arm.is_inside
    assert arm.broken == []


def resting(seed=1):
    """An arm with an empty hand that stands on its first plan."""
    arm = handling_arm('two_link', seed)
    arm.run(0.1)
    return arm


def test_an_announced_change_is_granted_at_rest_and_the_bounds_after_it_hold():
    arm = resting()
    answer = arm.loop.announce()
    assert answer.is_granted, answer.sentence
    assert arm.loop.last.estimate.end_effector_bounds.contains(arm.held.bounds)
    arm.run(0.1)
    at = arm.stamp
    arm.pick(HEAVY)
    arm.run(0.1)
    outcome = arm.loop.changed(at - MILLISECOND, at + MILLISECOND)
    assert outcome.goes_on
    assert outcome.is_braking_certified
    assert arm.held.bounds.contains(arm.loop.last.estimate.end_effector_bounds)
    assert arm.is_inside
    assert arm.broken == []


@pytest.mark.parametrize('is_told_before', [True, False])
def test_what_was_told_is_answered_whatever_is_announced(is_told_before):
    """Nothing is granted before; told later, no sample since is of the body before."""
    arm = resting()
    told = arm.stamp - 50 * MILLISECOND
    if is_told_before:
        arm.loop.tell(told, told)
        answer = arm.loop.announce()
        assert not answer.is_granted
        assert 'as was told' in answer.sentence
        return
    assert arm.loop.announce().is_granted
    arm.loop.tell(told, told)
    outcome = arm.loop.changed(arm.stamp, arm.stamp)
    window = arm.loop._identifier.longest_window
    assert outcome.change.after == told - 30 * MILLISECOND - window


@pytest.mark.slow
@pytest.mark.parametrize('seed', range(3))
def test_a_picked_object_is_carried_and_put_down_as_announced(seed):
    arm = resting(seed=seed)
    for payload in (HEAVY, None):
        assert arm.loop.announce().is_granted
        arm.run(0.2)
        at = arm.stamp
        arm.drop() if payload is None else arm.pick(payload)
        arm.run(0.2)
        outcome = arm.loop.changed(at - MILLISECOND, at + MILLISECOND)
        assert outcome.goes_on
        assert outcome.is_braking_certified
        for _ in range(120):
            arm.run(0.1)
            assert arm.is_inside
            assert arm.robot.truth.stamp < 60e9
            if arm.loop.last.result.outcome.name == 'NOTHING_DUE':
                break
        arm.run(2.0)
    assert arm.broken == []
    assert [each.change.source for each in arm.loop.outcomes] == [Source.TOLD] * 2


@pytest.mark.parametrize(('speed', 'granted'), [(0.025, True), (0.4, False)])
def test_an_arm_that_is_shaken_may_change_what_it_holds_while_its_energy_is_certified(
    speed, granted
):
    """Torque that nobody modelled shakes it; what counts is V of every body that may be held."""
    arm = resting()
    shaken = replace(arm.robot.measure(), velocity=np.array([speed, 0.0]))
    arm.robot.measure = lambda: shaken
    answer = arm.loop.announce()
    assert answer.is_granted == granted, answer.sentence
    assert granted or 'V_M' in answer.sentence


class Sees(SensedPassivityController):
    """A law that says what it sees of an arm."""

    def __init__(self, forgotten, refusal):
        self._says = forgotten, refusal

    def forgets(self, *_):
        return self._says[0]

    def refusal_to_begin(self, *_):
        return self._says[1]

    @property
    def ahead(self):
        return 0.0


@pytest.mark.parametrize(
    ('forgotten', 'refusal'), [(False, 'V is 0.03 J'), (True, ''), (False, '')]
)
def test_a_law_that_sees_the_arm_late_is_asked_before_a_change_is_granted(forgotten, refusal):
    arm = resting()
    bounds = arm.loop.last.estimate.end_effector_bounds
    arm.loop._controller = Sees(forgotten, refusal)
    answer = arm.loop.announce()
    assert answer.is_granted == (not forgotten and not refusal), answer.sentence
    if not answer.is_granted:
        assert answer.sentence == f'for what may be held next {refusal or UNSEEN}'
        assert not arm.loop.may_change
        assert bounds.contains(arm.loop.last.estimate.end_effector_bounds)


@pytest.mark.slow
def test_while_the_arm_moves_nothing_may_change():
    arm = moving()
    answer = arm.loop.announce()
    assert not answer.is_granted
    assert 'the arm moves' in answer.sentence


@pytest.mark.slow
def test_a_refusal_says_how_heavy_it_could_be():
    """The wrist has 30 N m: with its joint level, half of what may come is too much."""
    arm = resting()
    prior = arm.loop._identifier._prior
    limits = arm.model.limits
    weak = replace(limits, torque=np.array([60.0, 2.0]))
    problem = arm.loop._planner._problem
    arm.loop._planner._problem = replace(problem, model=replace(arm.model, limits=weak))
    answer = arm.loop.announce(HeldNext(prior.end_effector_bounds, prior.end_effector))
    assert not answer.is_granted
    assert 'standing is not certified' in answer.sentence
    if answer.heaviest is not None:
        now = arm.loop.last.estimate.end_effector_bounds.upper[0]
        assert now <= answer.heaviest < prior.end_effector_bounds.upper[0]
        assert f'up to {answer.heaviest:.3g} kg' in answer.sentence
    before = arm.loop.last.estimate
    arm.run(0.2)
    assert before.end_effector_bounds.contains(arm.loop.last.estimate.end_effector_bounds)


@pytest.mark.slow
@pytest.mark.parametrize('off', [-60, -30, 0, 30, 60])
def test_stamps_that_are_off_never_make_a_wrong_interval(off):
    """Within what is promised of them (30 ms), and as far beyond; torques tell nothing here."""
    arm = moving(changes=BLIND)
    at = arm.stamp
    arm.pick(HEAVY)
    arm.run(0.02)
    told = at + off * MILLISECOND
    arm.loop.tell(told, told)
    outcome = until_it_is_over(arm)
    assert outcome.change.source is Source.TOLD
    assert outcome.goes_on
    assert outcome.change.after <= at <= outcome.change.before
    assert goes_on(arm)


@pytest.mark.slow
@pytest.mark.parametrize('off', [-800, -400, 400, 800])
def test_stamps_that_are_far_off_are_corrected_by_what_torques_show(off):
    """Told late, at rest after braking: the time that was noticed is part of what counts."""
    arm = moving()
    at = arm.stamp
    arm.pick(HEAVY)
    told = at + off * MILLISECOND
    arm.loop.tell(told, told)
    arm.run(0.2)
    outcome = until_it_is_over(arm)
    assert outcome.change.after <= at <= outcome.change.before
    assert goes_on(arm)


@pytest.mark.slow
def test_an_arm_that_swings_does_not_go_on(monkeypatch):
    """V of the next body at the measured state is above V_M."""
    arm = moving()
    arm.pick(HEAVY)
    measure, rest = arm.robot.measure, RecedingHorizonPlanner.rest

    def swinging(planner, measurement, estimate):
        swung = replace(measurement, velocity=np.array([0.4, 0.0]))
        return rest(planner, swung, estimate)

    monkeypatch.setattr(RecedingHorizonPlanner, 'rest', swinging)
    outcome = until_it_is_over(arm)
    assert outcome.failed is Condition.ENERGY
    assert 'V_M' in outcome.reason
    assert arm.loop.is_held
    assert measure() is not None


@pytest.mark.slow
def test_energy_of_the_next_body_when_it_came_is_part_of_the_outcome():
    """Something knocks against the arm while it grasps: that moment is not certified."""
    arm = resting()
    assert arm.loop.announce().is_granted
    arm.pick(HEAVY)
    theta = arm.robot.model.theta.copy()
    knocked = theta.copy()
    knocked[arm.model.layout.joint_entries('beta')] += 20.0
    own = arm.robot.model
    arm.robot.become(own.with_parameters(knocked))
    arm.loop._told = None
    for _ in range(8):
        arm.run(0.002)
    arm.robot.become(own.with_parameters(theta))
    arm.run(0.3)
    if arm.loop.may_change:
        outcome = arm.loop.changed(arm.stamp, arm.stamp)
        assert not outcome.is_braking_certified
        assert 'certified for the body before only' in str(outcome)
    else:  # the loop saw that a promise was broken, and braked
        assert not arm.loop.outcomes[-1].is_braking_certified


def test_what_may_be_held_next_has_to_be_within_the_prior():
    arm = resting()
    box = arm.loop._identifier._prior.end_effector_bounds
    wide = HeldNext(Interval(box.lower, 2.0 * np.abs(box.upper) + 1.0), box.center)
    with pytest.raises(Exception, match='beyond the prior'):
        arm.loop.announce(wide)
