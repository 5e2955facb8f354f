"""Columns of a table that carry numbers of joints: which joint each of them is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import re

from safe_sysid.errors import MeasurementError

NUMBERED = ('%s_{i}', '%s{i}', '%s[{i}]', '%s_{n}', '%s{n}')  # {i} counts from 0, {n} from 1
NAMES = ('name', 'joint_name', 'joint_names')  # of columns whose cells are names of joints


def filled_pattern(pattern: str, joint: str, i: int) -> str:
    """Return a name with that of a joint and its number, from 0 and from 1, put in."""
    if other := re.search(r'[{}]', re.sub(r'\{(joint|i|n)\}', '', pattern)):
        raise MeasurementError(
            f"the pattern '{pattern}' may hold {{joint}}, {{i}} and {{n}}, and no other "
            f"'{other.group()}'"
        )
    parts = {'{joint}': joint, '{i}': str(i), '{n}': str(i + 1)}
    return re.sub(r'\{(?:joint|i|n)\}', lambda found: parts[found.group()], pattern)


def filled_names(pattern: str, joints: Sequence[str], told: Sequence[str] = ()) -> list[str]:
    """Return one name for each joint; refuse a pattern that gives two of them the same.

    Numbers count the joints that were told, if any were.
    """
    order = told or joints
    names = [filled_pattern(pattern, joint, order.index(joint)) for joint in joints]
    if len(set(names)) < len(names):
        raise MeasurementError(
            f"the pattern '{pattern}' gives several joints the same name; put {{joint}}, {{i}} or "
            '{n} where they differ'
        )
    return names


def refuse_more(source: str, names: Sequence[str], pattern: str, count: int, what: str) -> None:
    """Refuse numbers of more joints than the arm has: nobody knows which are its own."""
    first, other = (filled_pattern(pattern, '', i) for i in (0, count))
    if '{joint}' not in pattern and other in names:
        raise MeasurementError(
            f'{source}: columns {first} to {other} are of more joints than the {count} of the '
            f'arm. If the first {count} are those of the arm, say --columns '
            f"{what}='{pattern}', else '{{n}}' in place of '{{i}}' leaves out number 0; or name "
            'the joints in the columns'
        )


def refuse_two_numberings(source: str, patterns: Mapping[str, str]) -> None:
    """Refuse quantities of which some are numbered from 0 and others from 1."""
    numbered = {what: p for what, p in patterns.items() if p and '{joint}' not in p}
    from_one = {what for what, pattern in numbered.items() if '{n}' in pattern}
    if from_one and from_one != numbered.keys():
        others = sorted(numbered.keys() - from_one)
        raise MeasurementError(
            f'{source}: joints are numbered from 1 in {" and ".join(sorted(from_one))} and from 0 '
            f'in {" and ".join(others)}; say with --columns which columns belong together'
        )


def named_in_rows(names: Sequence[str]) -> list[int]:
    """Return columns whose cells are the names of joints number 0, 1 and so on; empty: none."""
    for pattern in (pattern % word for word in NAMES for pattern in (*NUMBERED[:3], '%s.{i}')):
        wanted = (filled_pattern(pattern, '', i) for i in range(len(names)))
        places = [names.index(name) for name in wanted if name in names]
        if places:
            return places
    return []
