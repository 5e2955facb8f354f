"""Settings files: what is wrong is said with the key, the file and the way out."""

from dataclasses import dataclass, field
import math
import re
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
from safe_sysid.yaml_loader import DEEPEST


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
    """Each with each would take half a minute here."""
    text = '\n'.join(f'key_{i}: {i}' for i in range(20_000))
    with pytest.raises(ConfigError, match="'key_7' is there twice"):
        yaml_value(f'{text}\nkey_7: 1', 'x')


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


@pytest.mark.parametrize(
    ('text', 'value'),
    [
        ('60', 60), ('-7', -7), ('0', 0), ('0x3C', 60), ('0o74', 60), ('1.5e3', 1500.0),
        ('.5', 0.5), ('-.inf', -math.inf), ('true', True), ('~', None),
        ('1:30', '1:30'), ('1:30.5', '1:30.5'), ('0b101', '0b101'), ('1_000', '1_000'),
        ('no', 'no'), ('On', 'On'), ('2026-01-01', '2026-01-01'), ('"060"', '060'),
    ],
)  # fmt: skip
def test_a_text_is_a_number_or_a_word_only_as_people_read_it(text, value):
    found = yaml_value(f'a: {text}', 'x')['a']
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize('text', ['a: {b: [1, 060]}', '060: 1', 'a:\n- 060'])
def test_a_number_with_a_leading_zero_is_refused(text):
    with pytest.raises(ConfigError, match=r'x: 060 \(line \d\) is 48 to .* write 60 or 0o60, or'):
        yaml_value(text, 'x')
    for other in ('089', '-017', '+00'):
        with pytest.raises(ConfigError, match=f'write {int(other)}, or .{re.escape(other)}. for'):
            yaml_value(f'a: {other}', 'x')


def test_names_that_are_words_for_true_and_false_stay_names():
    assert yaml_value('{no: 1, true: 2, null: 3}', 'x') == {'no': 1, 'true': 2, 'null': 3}
    with pytest.raises(ConfigError, match="'true' is there twice"):
        yaml_value('{true: 1, "true": 2}', 'x')


@pytest.mark.parametrize(
    'one_and_other',
    [('5', "'5'"), ("'5'", '5'), ('5', '0x5'), ('5', '5.0'), ('5.0', "'5.0'"), ('-0', '0'),
     ('1.50', "'1.5'"), ('.inf', "'inf'"), ('.nan', '.NaN'), ('!!int "5"', '5'),
     ('!!int "x"', 'x'), ('+5', '5')],
)  # fmt: skip
def test_keys_that_readers_take_for_one_name_are_refused(one_and_other):
    one, other = one_and_other
    with pytest.raises(ConfigError, match='is there twice'):
        yaml_value(f'obstacles: {{{one}: 1, {other}: 2}}', 'x')


def test_keys_that_are_different_names_are_kept():
    assert yaml_value("{5: 1, '0x6': 2, '5.': 3, 1e3: 4}", 'x') == {
        5: 1, '0x6': 2, '5.': 3, '1e3': 4,
    }  # fmt: skip


@dataclass(frozen=True)
class Named(Settings):
    boxes: dict[str, float]


def test_a_mapping_of_names_has_each_of_them_once():
    assert from_mapping(Named, {'boxes': {5: 1.0, '6': 2.0}}, 'x').boxes == {'5': 1.0, '6': 2.0}
    with pytest.raises(ConfigError, match='x: boxes: two of its keys are the same name'):
        from_mapping(Named, {'boxes': {5: 1.0, '5': 2.0}}, 'x')


@dataclass(frozen=True)
class Switch:
    is_on: bool
    speed: float = 1.0


def test_a_setting_that_is_true_or_false_may_be_yes_or_no():
    for text, value in (('yes', True), ('Off', False), ('true', True), ('FALSE', False)):
        assert from_mapping(Switch, yaml_value(f'is_on: {text}', 'x'), 'x').is_on is value
    for text in ('is_on: 1', 'is_on: nein', 'is_on: yes\nspeed: 1_0', 'is_on: yes\nspeed: 1:30'):
        with pytest.raises(ConfigError, match='expected'):
            from_mapping(Switch, yaml_value(text, 'x'), 'x')


@dataclass(frozen=True)
class Ranged(Settings):
    speed: Positive = 1.0  # [rad/s] at most
    rates: tuple[Share, ...] = (0.5,)  # of samples, one
    # for all joints or one each
    tries: Count = 3
    goal: Finite | None = None  # [rad]
    tilt: Annotated[float, Range(above=-1.0, at_most=0.5)] = 0.0
    kept: dict[str, Finite] = field(default_factory=dict)  # [rad]


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
        ({'kept': {'a': 1.0, 'b': math.nan}}, "kept is {'a': 1.0, 'b': nan}, it has to be finite"),
        ({'kept': {'a': math.inf}}, 'it has to be finite ([rad])'),
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


def test_a_key_of_any_length_is_refused_with_one_sentence():
    text = f'obstacles: {{\n  {"x" * 500}: 1}}'
    with pytest.raises(ConfigError) as refused:
        yaml_value(text, 'world.yaml')
    assert str(refused.value) == (
        f"world.yaml: the name '{'x' * 40}...' has 500 letters; 200 are allowed (line 2)"
    )


@pytest.mark.parametrize('open', ['[', '{a: ', '- ', '? '])
def test_values_too_deep_in_each_other_are_refused(open):
    assert yaml_value(DEEPEST * '[' + DEEPEST * ']', 'x')
    with pytest.raises(ConfigError, match='x: has more than 100 lists or mappings in each other'):
        yaml_value('\n' + 100_000 * open, 'x')  # of which compiled parsers end the process
