"""Rules find the figures that were made for simulators, and leave measured ones alone."""

from xml.etree import ElementTree

import numpy as np
import pytest

from safe_sysid.model.description.doubtful_figures import (
    JointFigures,
    LinkShape,
    friction_doubts,
    inertia_doubts,
    joint_figures,
    limit_doubts,
    position_doubts,
    weightless,
)

NAN = float('nan')
MEASURED = ((0.137, 0.42), (0.091, 0.33), (0.214, 0.61), (0.03, 0.12))  # damping, friction


def arm(friction=MEASURED, effort=(87.0, 60.0, 30.0, 12.0), velocity=(2.1, 2.2, 2.4, 2.9)):
    rows = zip(friction, effort, velocity, strict=True)
    return [JointFigures(f'j{i}', *f, e, v) for i, (f, e, v) in enumerate(rows)]


def rules(doubts):
    return {(doubt.name, doubt.rule) for doubt in doubts}


def test_measured_figures_are_not_doubted():
    static = np.array([0.0, 40.0, 20.0, 1.0])
    assert rules(friction_doubts(arm())) == set()
    assert rules(limit_doubts(arm(), static)) == set()


@pytest.mark.parametrize(
    ('friction', 'found'),
    [
        (((0.7, 0.0),) * 4, {(f'j{i}', 'friction-alike') for i in range(4)}),
        ((*MEASURED[:3], (10.0, 1.0)), {('j3', 'friction-round')}),
        ((*MEASURED[:3], (0.31, 0.31)), {('j3', 'friction-is-damping')}),
        ((*MEASURED[:3], (5.0, NAN)), {('j3', 'friction-round')}),
        (((0.0, 0.0),) * 4, set()),  # says nothing, and counts as unknown anyway
        (((NAN, NAN),) * 4, set()),
    ],
)
def test_friction_of_simulators(friction, found):
    assert rules(friction_doubts(arm(friction))) == found


@pytest.mark.parametrize(
    ('change', 'found'),
    [
        ({'effort': (87.0, 60.0, 30.0, 0.0)}, {('j3', 'effort-zero')}),
        ({'effort': (87.0, 60.0, 30.0, NAN)}, {('j3', 'effort-zero')}),
        ({'effort': (87.0, 60.0, 30.0, 2000.0)}, {('j3', 'effort-large')}),
        ({'effort': (87.0, 47.0, 30.0, 12.0)}, {('j1', 'effort-weak')}),
        ({'effort': (90.0,) * 4}, {(f'j{i}', 'effort-alike') for i in range(4)}),
        ({'velocity': (2.1, 2.2, 2.4, 0.0)}, {('j3', 'velocity-zero')}),
        ({'velocity': (2.1, 2.2, 2.4, 100.0)}, {('j3', 'velocity-large')}),
        ({'velocity': (2.1, 2.2, 2.4, 3.1415)}, {('j3', 'velocity-half-turn')}),
        ({'velocity': (2.1, 2.2, 2.4, 3.14)}, {('j3', 'velocity-half-turn')}),
        ({'velocity': (10.0,) * 4}, {(f'j{i}', 'velocity-alike') for i in range(4)}),
    ],
)
def test_limits_of_simulators(change, found):
    assert rules(limit_doubts(arm(**change), np.array([0.0, 40.0, 20.0, 1.0]))) == found


def test_efforts_may_be_alike_where_loads_are():
    assert rules(limit_doubts(arm(effort=(90.0,) * 4), np.array([0.0, 40.0, 20.0, 8.0]))) == set()


def test_bodies_that_nobody_weighed():
    link = (
        '<link name="{}"><inertial><mass value="{}"/>'
        '<inertia ixx="{}" iyy="{}" izz="{}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    bodies = {
        'good': (2.0, 0.02, 0.021, 0.01), 'round': (2.0, 0.01, 0.01, 0.01),
        'no body': (2.0, 0.1, 0.01, 0.01), 'light': (1e-5, 1e-8, 1.1e-8, 1e-8),
        'lead': (30.0, 0.2, 0.21, 0.1),
    }  # fmt: skip
    root = ElementTree.fromstring(
        '<robot>' + ''.join(link.format(n, *v) for n, v in bodies.items()) + '</robot>'
    )
    shapes = dict.fromkeys(bodies, LinkShape(0.2, 0.001))
    assert rules(inertia_doubts(root, bodies, shapes)) == {
        ('round', 'inertia-isotropic'), ('no body', 'inertia-impossible'),
        ('light', 'inertia-light'), ('lead', 'inertia-density'),
    }  # fmt: skip


def test_a_shape_without_a_mass_is_named_and_a_frame_is_not():
    root = ElementTree.fromstring(
        '<robot><link name="seen"><visual/></link><link name="felt"><collision/></link>'
        '<link name="frame"/><link name="wall"><collision/></link></robot>'
    )
    found = list(inertia_doubts(root, ['seen', 'felt', 'frame'], {}))
    assert rules(found) == {('seen', 'inertia-none'), ('felt', 'inertia-none')}


def test_a_shape_without_a_mass_is_part_of_the_link_that_it_is_fixed_to():
    """As calibrated arms are written; a mass that is fixed to it does not weigh it."""
    bolt = '<joint name="{0}" type="fixed"><parent link="{0}"/><child link="{1}"/></joint>'
    root = ElementTree.fromstring(
        '<robot><link name="arm"><visual/></link><link name="bar"><inertial/></link>'
        '<link name="frame"/><link name="cap"><visual/></link>'
        + bolt.format('arm', 'bar') + bolt.format('bar', 'frame') + bolt.format('frame', 'cap')
        + '</robot>'
    )  # fmt: skip
    assert weightless(root, ['arm', 'bar', 'frame', 'cap']) == ['arm']


@pytest.mark.parametrize(('xyz', 'is_doubted'), [('0.1 0.06 0', False), ('0 0.3 1.4', True)])
def test_a_centre_of_mass_is_within_the_shape(xyz, is_doubted):
    """As where somebody wrote centres of mass in the frame of the base."""
    root = ElementTree.fromstring(
        f'<robot><link name="a"><inertial><origin xyz="{xyz}"/><mass value="1"/>'
        '<inertia ixx="0.02" iyy="0.021" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '</robot>'
    )
    box = np.vstack([np.hstack([side * np.eye(3), np.full((3, 1), -0.05)]) for side in (1, -1)])
    found = list(inertia_doubts(root, ['a'], {'a': LinkShape(0.1, 0.001, box)}))
    assert rules(found) == ({('a', 'inertia-outside')} if is_doubted else set())
    assert not list(inertia_doubts(root, ['a'], {'a': LinkShape(0.1, 0.001)}))


def test_figures_are_read_where_they_are():
    root = ElementTree.fromstring(
        '<robot><joint name="a"><limit effort="9" velocity="x"/><dynamics damping="0.1"/></joint>'
        '<joint name="b"/></robot>'
    )
    a, b = joint_figures(root, ['a', 'b'])
    np.testing.assert_array_equal(a[1:], [0.1, NAN, 9.0, NAN, NAN, NAN])
    np.testing.assert_array_equal(b[1:], [NAN] * 6)


@pytest.mark.parametrize(
    ('lower', 'upper', 'is_doubted'),
    [
        (-170.0, 170.0, True),
        (0.0, 150.0, True),
        (-360.0, 360.0, True),
        (-6.2832, 6.2832, False),
        (-2.9, 2.9, False),
        (-100.5, 100.5, False),  # a winch
        (-1e6, 1e6, False),  # what is written where there is none
        (NAN, NAN, False),
    ],
)
def test_position_limits_in_degrees(lower, upper, is_doubted):
    joint = JointFigures('j0', 0.1, 0.2, 50.0, 2.0, lower, upper)
    assert bool(list(position_doubts([joint]))) == is_doubted
