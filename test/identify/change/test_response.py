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
    loads = {Kind.PICKED, Kind.DROPPED, Kind.SLIPPED}
    for kinds in combinations(Kind, count):
        found = unmet(noticed(kinds), 0, SETTINGS)
        assert (found is None) == (set(kinds) <= loads), kinds


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
