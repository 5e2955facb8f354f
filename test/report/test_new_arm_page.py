"""The page of a new arm: joints that turn as the model does, pairs and their distances."""

from dataclasses import replace

from model.collision.hull_distance import box
import numpy as np
import pytest
from report.page_in_browser import DRAWN, picture

from safe_sysid.model.collision.arm_distances import contacts_of
from safe_sysid.model.collision.capsules import Capsules
from safe_sysid.model.collision.obstacles import NO_OBSTACLES
from safe_sysid.report.arm_scene import arm_scene
from safe_sysid.report.html_page import Page, write_page
from safe_sysid.report.new_arm_page import (
    MOST_TRIANGLES,
    clustered,
    every_joint_in_turn,
    shown_joints,
)
from safe_sysid.report.page_scene import ShownGap
from safe_sysid.simulate.random_arm import random_tree


def tree_with_capsules(rng, n=4):
    model = random_tree(rng, n, serial=False)
    m = n + 1
    pairs = np.array([(i, j) for i in range(m) for j in range(i + 1, m)])
    capsules = Capsules(
        tuple(f'body {j}' for j in range(m)),
        np.arange(-1, n),
        rng.normal(scale=0.2, size=(m, 3)),
        rng.normal(scale=0.2, size=(m, 3)),
        rng.uniform(0.01, 0.05, size=m),
        pairs[:-2],
        apart=pairs[-2:-1],
        left_out=pairs[-1:],
    )
    ends = {'position_lower': np.full(n, -1.0), 'position_upper': np.full(n, 0.8)}
    return replace(model, capsules=capsules, limits=replace(model.limits, **ends))


@pytest.mark.slow
def test_joints_of_the_page_turn_as_those_of_the_model(browser, rng, tmp_path):
    model = tree_with_capsules(rng)
    q = every_joint_in_turn(model)
    mesh = clustered(box((0, 0, 0), (0.1, 0.1, 0.1)), 1, False)
    scene = arm_scene(model, 0.1 * np.arange(len(q)), q, NO_OBSTACLES, meshes=(mesh,))
    pair = model.capsules.named(model.capsules.left_out)[0]
    gap = ShownGap(1, np.zeros(3), '12 mm')
    joints = shown_joints(model, q, {pair: 'hulls <apart>'}, (gap,))
    path = tmp_path / 'arm.html'
    whole = replace(scene, joints=joints)
    write_page(path, Page('arm', '', True, ('Contained.', ''), (), whole, (), ''))
    browser.open(path, 800, 1100)
    browser.value(DRAWN)
    for pose in rng.uniform(-1.0, 0.8, (5, model.n)):
        browser.value(
            f'{pose.tolist()}.forEach((x, j) => {{'
            'const s = document.querySelectorAll(".joint")[j]; s.value = x;'
            's.dispatchEvent(new Event("input")); })'
        )
        browser.value(DRAWN)
        shown = browser.value(
            '[...document.querySelectorAll(".pairs tbody tr")].map(r => [...r.cells].map(c => '
            'c.textContent).concat(r.cells[3].className))'
        )
        kinds = model.capsules.pairs, model.capsules.apart, model.capsules.left_out
        everything = np.concatenate(kinds)
        capsules = replace(model.capsules, pairs=everything)
        bare = replace(model, capsules=capsules)
        contacts = contacts_of(bare, bare, None, rng.uniform(-1.0, 0.8, (300, model.n)))
        known = dict(zip(contacts.names, contacts.distances(pose[None])[0], strict=True))
        assert [row[2] for row in shown[-2:]] == ['left out: hulls <apart>', 'proven apart']
        for first, second, verdict, distance, mark in shown:
            exact = known.get(f'{first} and {second}')
            if exact is not None:
                assert float(distance) == pytest.approx(1e3 * exact, abs=0.6)
            assert (mark == 'touching') == (verdict == 'looked at' and float(distance) < 0.0)
    before = picture(browser).astype(int)
    for name in ('capsules', 'meshes', 'gaps'):
        browser.value(f'document.getElementById("show-{name}").click()')
        browser.value(DRAWN)
        after = picture(browser).astype(int)
        assert name == 'gaps' or np.abs(after - before).max() > 30
        before = after
    assert browser.value('document.documentElement.scrollWidth') <= 800
    assert browser.complaints() == []
    assert browser.requests() == [path.resolve().as_uri()]


def test_a_mesh_for_a_page_is_small_and_lies_on_the_true_one():
    steps = np.linspace(0.0, np.pi, 90), np.linspace(0.0, 2.0 * np.pi, 180)
    at = np.stack(np.meshgrid(*steps, indexing='ij'), axis=-1)
    theta, phi = at[..., 0], at[..., 1]
    ball = 0.1 * np.stack(
        [np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=-1
    )
    quads = ball[:-1, :-1], ball[1:, :-1], ball[1:, 1:], ball[:-1, 1:]
    triangles = np.concatenate(
        [np.stack([quads[i] for i in corners], axis=2).reshape(-1, 3, 3) for corners in
         ((0, 1, 2), (0, 2, 3))]
    )  # fmt: skip
    mesh = clustered(triangles, 2, True)
    assert 500 < len(mesh.triangles) <= MOST_TRIANGLES
    middles = mesh.vertices[mesh.triangles].mean(axis=1)
    np.testing.assert_allclose(np.linalg.norm(middles, axis=1), 0.1, atol=0.003)
    np.testing.assert_allclose(np.linalg.norm(mesh.vertices, axis=1), 0.1, atol=1e-12)


def test_every_joint_goes_from_limit_to_limit_alone(rng):
    model = tree_with_capsules(rng)
    q = every_joint_in_turn(model)
    np.testing.assert_allclose(q.max(axis=0), 0.8)
    np.testing.assert_allclose(q.min(axis=0), -1.0)
    assert ((np.abs(q) > 1e-12).sum(axis=1) <= 1).all()
