"""Settings files: what is wrong is said with the key, the file and the way out."""

from dataclasses import dataclass
import math
from typing import Annotated

import pytest

from safe_sysid.config import (
    Count,
    Finite,
    Positive,
    Range,
    Settings,
    Share,
    from_mapping,
    meanings,
    read_yaml,
    yaml_value,
)
from safe_sysid.errors import ConfigError


@dataclass(frozen=True)
class Part:
    size: float
    names: tuple[str, ...] = ()

    def __post_init__(self):
        if self.size < 0:
            raise ConfigError(f'size is {self.size}, it has to be 0 or more')


@dataclass(frozen=True)
class Whole:
    count: int
    parts: dict[str, Part]
    limit: float | None = None
    point: tuple[float, float] = (0.0, 0.0)


def test_nested_values_become_dataclasses():
    whole = from_mapping(
        Whole, {'count': 2, 'parts': {'a': {'size': '3e-4', 'names': ['x']}}, 'point': [1, 2]}, 'f'
    )
    assert whole == Whole(2, {'a': Part(3e-4, ('x',))}, None, (1.0, 2.0))


@pytest.mark.parametrize(
    ('values', 'message'),
    [
        ({'cuont': 1}, "f.yaml: unknown key 'cuont', did you mean 'count'?"),
        ({'zzz': 1}, "f.yaml: unknown key 'zzz', known keys are"),
        ({'count': 1}, "f.yaml: key 'parts' is missing"),
        ({'count': 1.5, 'parts': {}}, 'f.yaml: count: 1.5 is a float, expected int'),
        ({'count': True, 'parts': {}}, 'f.yaml: count: True is a bool, expected int'),
        ({'count': 1, 'parts': [1]}, r'f.yaml: parts: \[1\] is not a mapping'),
        ({'count': 1, 'parts': {}, 'point': [1]}, 'f.yaml: point: .* has 1 entries, not 2'),
        ({'count': 1, 'parts': {}, 'point': 3}, 'f.yaml: point: 3 is not a list'),
        ({'count': 1, 'parts': {'a': {'size': -1}}}, 'f.yaml: parts.a: size is -1.0, it has to'),
        ({'count': 1, 'parts': {'a': {'size': 'big'}}}, "size: 'big' is a str, expected float"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(values, message):
    with pytest.raises(ConfigError, match=message):
        from_mapping(Whole, values, 'f.yaml')


def test_annotations_are_read_once_however_often_settings_are(monkeypatch):
    given = {'count': 2, 'parts': {'a': {'size': 1.0}}}
    before = from_mapping(Whole, given, 'f')
    monkeypatch.setattr('safe_sysid.config.get_type_hints', None)
    assert from_mapping(Whole, given, 'f') == before


def test_keys_of_a_large_mapping_are_compared_at_once():
    """Each with each would take minutes here; a number and its text are two keys."""
    text = '\n'.join(f'key_{i}: {i}' for i in range(50_000))
    assert len(yaml_value(text, 'x')) == 50_000
    with pytest.raises(ConfigError, match="'key_7' is there twice"):
        yaml_value(f'{text}\nkey_7: 1', 'x')
    assert yaml_value('1: a\n"1": b', 'x') == {1: 'a', '1': 'b'}


def test_files_that_are_no_settings(tmp_path):
    with pytest.raises(ConfigError, match='missing.yaml: cannot be read'):
        read_yaml(tmp_path / 'missing.yaml')
    for text, message in (
        ('a: 1\nb: 2\na: 3', r"key 'a' is there twice \(line 3\)"),
        ('x: {y: [{b: 1, b: 1}]}', "key 'b' is there twice"),
        ('a: [', 'is not YAML'),
        ('- 1', 'holds list, expected a mapping'),
    ):
        (tmp_path / 'bad.yaml').write_text(text)
        with pytest.raises(ConfigError, match=message):
            read_yaml(tmp_path / 'bad.yaml')


@dataclass(frozen=True)
class Ranged(Settings):
    speed: Positive = 1.0  # [rad/s] at most
    rates: tuple[Share, ...] = (0.5,)  # of samples, one
    # for all joints or one each
    tries: Count = 3
    goal: Finite | None = None  # [rad]
    tilt: Annotated[float, Range(above=-1.0, at_most=0.5)] = 0.0


@pytest.mark.parametrize(
    ('values', 'message'),
    [
        ({'speed': 0.0}, 'speed is 0.0, it has to be above 0 and finite ([rad/s] at most)'),
        ({'speed': math.inf}, 'it has to be above 0 and finite ([rad/s] at most)'),
        ({'speed': math.nan}, 'speed is nan, it has to be above 0 and finite'),
        (
            {'rates': (0.0, 1.0)},
            'rates is (0.0, 1.0), it has to be at least 0 and less than 1 '
            '(of samples, one for all joints or one each)',
        ),
        ({'tries': 0}, 'tries is 0, it has to be at least 1'),
        ({'goal': math.inf}, 'goal is inf, it has to be finite ([rad])'),
        ({'tilt': -1.0}, 'tilt is -1.0, it has to be above -1 and at most 0.5'),
        ({'tilt': 0.6}, 'tilt is 0.6, it has to be above -1 and at most 0.5'),
    ],
)
def test_numbers_out_of_their_range_are_refused(values, message):
    with pytest.raises(ConfigError) as caught:
        Ranged(**values)
    assert message in str(caught.value)


def test_the_ends_of_a_range_are_in_it_where_they_are_said_to_be():
    Ranged(5e-324, (0.0, math.nextafter(1.0, 0.0)), 1, -1e308, 0.5)
    assert 10**400 in Range(at_least=0)
    assert meanings(Ranged)['rates'] == 'of samples, one for all joints or one each'
