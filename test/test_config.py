"""Settings files: what is wrong is said with the key, the file and the way out."""

from dataclasses import dataclass

import pytest

from safe_sysid.config import from_mapping, read_yaml
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


def test_files_that_are_no_settings(tmp_path):
    with pytest.raises(ConfigError, match='missing.yaml: cannot be read'):
        read_yaml(tmp_path / 'missing.yaml')
    for text, message in (('a: [', 'is not YAML'), ('- 1', 'holds list, expected a mapping')):
        (tmp_path / 'bad.yaml').write_text(text)
        with pytest.raises(ConfigError, match=message):
            read_yaml(tmp_path / 'bad.yaml')
