"""When a bridge may be ended from outside: never while an arm depends on it."""

from itertools import product
from types import SimpleNamespace

from safe_sysid.ros.bridges.guarded_edge import GuardedEdge


def test_a_bridge_may_be_killed_only_once_it_was_told_to_end_and_the_arm_is_in_other_hands():
    names = ('_is_told', 'lets_go', 'is_free')
    may = GuardedEdge.may_be_killed.fget
    states = [dict(zip(names, s, strict=True)) for s in product([False, True], repeat=3)]
    killable = [state for state in states if may(SimpleNamespace(**state))]
    assert killable == [dict.fromkeys(names, True)]
