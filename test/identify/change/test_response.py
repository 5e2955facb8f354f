"""An arm goes on by itself only after a change that nothing but a load explains."""

from itertools import combinations

import pytest

from safe_sysid.identify.change.change_kinds import Explanation, Kind
from safe_sysid.identify.change.change_watch import NoticedChange
from safe_sysid.identify.change.response import Change, Condition, ResponseSettings, unmet

SETTINGS = ResponseSettings(most=2)


def noticed(kinds, **others):
    size = (1.0, 0.0, 0.0, 0.0)
    explanations = tuple(Explanation(kind, 0.0, size) for kind in kinds)
    is_explained = others.get('is_explained', True)
    return Change.noticed(NoticedChange(30, 10, 20, explanations, is_explained))


@pytest.mark.parametrize('count', [1, 2, 3])
def test_only_loads_are_gone_on_from(count):
    for kinds in combinations(Kind, count):
        found = unmet(noticed(kinds), 0, SETTINGS)
        assert (found is None) == (set(kinds) <= {Kind.PICKED, Kind.DROPPED}), kinds


def test_what_may_have_slipped_is_where_nobody_says_it_is():
    condition, reason = unmet(noticed([Kind.DROPPED, Kind.SLIPPED]), 0, SETTINGS)
    assert condition is Condition.CAUSE
    assert 'slipped is not where its bounds and shapes say' in reason


@pytest.mark.parametrize('first', Kind)
@pytest.mark.parametrize('second', Kind)
def test_an_event_decides_what_torques_leave_open_and_nothing_else(first, second):
    loads = {Kind.PICKED, Kind.DROPPED, Kind.SLIPPED}
    both = Change.told(1, 2).joined(noticed([first, second]))
    assert (unmet(both, 0, SETTINGS) is None) == bool({first, second} & loads)
    assert first.value in both.sentence
    assert 'was told' in both.sentence


def test_a_sentence_does_not_grow_with_the_number_of_events():
    both = Change.told(1, 2).joined(Change.told(3, 4)).joined(Change.told(0, 1))
    assert both.sentence == Change.told(1, 2).sentence
    assert (both.after, both.before) == (0, 4)


def test_an_event_does_not_explain_what_no_load_explains():
    both = Change.told(1, 2).joined(noticed([Kind.PICKED], is_explained=False))
    assert unmet(both, 0, SETTINGS)[0] is Condition.CAUSE
    assert unmet(both.joined(Change.told(3, 4)), 0, SETTINGS)[0] is Condition.CAUSE


def test_a_load_that_does_not_explain_all_is_none():
    condition, reason = unmet(noticed([Kind.PICKED], is_explained=False), 0, SETTINGS)
    assert condition is Condition.CAUSE
    assert reason == 'it may have been picked'


def test_a_contradiction_alone_says_no_cause():
    assert unmet(Change.proven(5, 'rows exclude each other'), 0, SETTINGS) == (
        Condition.CAUSE,
        'nobody knows what it was',
    )


def test_changes_of_a_mission_are_counted():
    told = Change.told(1, 2)
    assert [unmet(told, count, SETTINGS) is None for count in range(4)] == [
        True,
        True,
        False,
        False,
    ]


def test_stamps_are_made_wide_and_joined():
    wide = Change.told(100, 200).apart(30)
    assert (wide.after, wide.before) == (70, 230)
    both = wide.joined(noticed([Kind.PICKED]))
    assert (both.after, both.before, both.is_load) == (10, 230, True)
