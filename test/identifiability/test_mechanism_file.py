"""Mechanisms of the package against those that tests build by hand, and rows that are refused."""

from fractions import Fraction

from identifiability import reference_mechanisms as reference
import pytest

from safe_sysid import identifiable_parameters
from safe_sysid.errors import ConfigError
from safe_sysid.identifiability.examination import Question
from safe_sysid.identifiability.mechanism_file import Mechanism, mechanism_named
from safe_sysid.share import mechanism_names

BY_HAND = {
    'cheetah3_leg': (reference.LEG, reference.leg_rotors(reference.LEG)),
    'puma560': (reference.PUMA, reference.rotors_at(reference.PUMA, 5)),
    'scara': (reference.SCARA, reference.rotors_at(reference.SCARA, 5)),
    'two_r_parallel': (reference.PARALLEL, reference.rotors_at(reference.PARALLEL, 5)),
    'two_r_perpendicular': (
        reference.PERPENDICULAR,
        reference.rotors_at(reference.PERPENDICULAR, 5),
    ),
}


@pytest.mark.parametrize('name', BY_HAND)
def test_mechanisms_of_the_package_are_those_built_by_hand(name):
    mechanism = mechanism_named(name)
    bare, driven = BY_HAND[name]
    assert [(j.placement.position, j.screws) for j in mechanism.tree.joints] == [
        (j.placement.position, j.screws) for j in bare.joints
    ]
    for tree, by_hand in (
        (mechanism.tree, bare),
        (mechanism.with_rotors(mechanism.tree, Fraction(mechanism.ratio)), driven),
    ):
        assert [j.rotor for j in tree.joints] == [j.rotor for j in by_hand.joints]


def test_every_mechanism_is_known_by_name():
    assert mechanism_names() == sorted(BY_HAND)
    assert identifiable_parameters('puma560').base_parameters == 36
    air = Question(is_floating=True, rotors=Fraction(10))
    assert identifiable_parameters('cheetah3_leg', air).base_parameters == 34


@pytest.mark.parametrize(
    ('rows', 'said'),
    [
        ({'alpha': (0,)}, 'have .* entries, not the same'),
        ({'alpha': (0, 45)}, 'alpha'),
        ({'kinds': ('R', 'S')}, 'kinds'),
        ({'gravity': (0.0, 0.0, 0.0)}, 'is no direction'),
        ({'driven_from_below': (1,)}, 'joint 1 has no joint before it; 2 to 2 have'),
    ],
)
def test_rows_that_make_no_chain_are_refused(rows, said):
    good = {'kinds': ('R', 'R'), 'alpha': (0, 90), 'a': ('0', '0.1'), 'd': ('0', '0')}
    with pytest.raises(ConfigError, match=said):
        Mechanism(**{**good, **rows})


def test_a_length_that_is_no_number_is_refused():
    with pytest.raises(ConfigError, match=r"a: 'ten' is not a decimal number \[m\]"):
        _ = Mechanism(kinds=('R',), alpha=(0,), a=('ten',), d=('0',)).tree
