"""The failsafe matrix: each cell on an arm in motion, which moves again in the end.

What was seen is a property of the test; `tools/failsafe_table.py` makes a table of it.
"""

import json
from pathlib import Path

import pytest
from ros.failsafe.cells import (
    ANY,
    BESIDE,
    BRAKES,
    BY_ITSELF,
    CELLS,
    DRIVER,
    ENDS,
    GOES_ON,
    RESET,
    UNFOLLOWED,
    spoilt,
)
from ros.faulty_loop import faulty_loop

from safe_sysid.ros.watch.awaited_answers import HEARS
from safe_sysid.ros.watch.told_bounds import TOLD

ARMS = ('two_link', 'kinova_gen3')
NOTHING = ('', '')
REFUSED = 'last plan not taken over'  # figure of the controller
ADVICE = 'then reset_fault; '  # after it, a fault says who saw what
NOTICED = 50.0  # times V_M: more than torques make that a busy machine holds for too long
PLANS = 2  # that are followed one after the other where it goes on
TIERS = {False: pytest.mark.slow, True: pytest.mark.nightly}


@pytest.fixture(scope='module')
def running(tmp_path_factory, request):
    folder = tmp_path_factory.mktemp('failsafe')
    with faulty_loop(folder, request.param, controller__energy_share=NOTICED) as loop:
        yield loop


@pytest.mark.parametrize(
    'running',
    [ARMS[0], pytest.param(ARMS[1], marks=pytest.mark.nightly)],
    indirect=True,
    scope='module',
)
@pytest.mark.parametrize(
    'cell', [pytest.param(cell, id=cell.fault, marks=TIERS[cell.nightly]) for cell in CELLS]
)
def test_the_arm_does_what_the_table_says(running, cell, record_property):
    loop = running
    loop.move()
    with cell.occurs(loop):
        arm = what_the_arm_does(loop, cell)
        if cell.says != NOTHING:
            loop.wait_to_hear(*cell.says)
        if arm == BRAKES and cell.causes:
            loop.wait(
                lambda: not set(cell.causes).isdisjoint(loop.causes), f'one of {cell.causes}'
            )
        causes = loop.causes if loop.mode == 'fault' else []
        told = last_words(loop, cell)
    asked_for = loop.come_back()
    back = RESET if causes or 'reset_fault' in asked_for else BY_ITSELF
    seen = cell.fault, loop.robot, arm, causes, told, back
    record_property('cell', json.dumps(seen))
    assert arm in cell.arm
    assert not causes or not cell.causes or not set(cell.causes).isdisjoint(causes), causes
    rests = isinstance(cell.arm, tuple) and arm != BRAKES
    assert back == cell.back or cell.arm == ANY or (rests and back == BY_ITSELF)


@pytest.mark.slow
@pytest.mark.parametrize('running', ARMS[:1], indirect=True, scope='module')
def test_no_motion_begins_while_the_planner_has_lost_the_bounds_of_another_payload(running):
    loop = running
    loop.move()
    loop.wait(
        lambda: ' ' in (loop.figure('identifier', TOLD) or ''),
        'something was learnt',
    )
    with spoilt('estimate silent', loop):
        loop.call('supervisor/brake')
        loop.wait(
            lambda: (
                loop.mode == 'holding'
                or (loop.mode == 'fault' and loop.call('supervisor/reset_fault').success)
            ),
            'rest, also of a machine that was too slow for its arm',
        )
        assert loop.call('supervisor/new_payload').success
        loop.wait_to_hear('supervisor', f'no motion begins until {HEARS}')
        refused = loop.call('supervisor/start')
        assert not refused.success
        assert HEARS in refused.message
    loop.come_back()


def what_the_arm_does(loop, cell):
    """In words of the table, once it is certain."""
    if cell.arm == DRIVER:
        loop.wait(lambda: loop.mode == 'fault', 'a fault')
        return DRIVER
    if cell.arm == UNFOLLOWED:
        loop.wait(
            lambda: loop.mode == 'fault' or loop.rests_at_the_end_of_its_plan(),
            'a fault, or an arm at the end of its plan',
        )
    if cell.arm in (GOES_ON, ANY):
        before = plan_starts(loop)
        loop.wait(
            lambda: (
                len(plan_starts(loop) - before) >= PLANS
                or loop.mode == 'fault'
                or (cell.arm == ANY and loop.rests_at_the_end_of_its_plan())
            ),
            'plans follow each other, or not',
        )
        if loop.mode != 'fault' and not loop.rests_at_the_end_of_its_plan():
            return GOES_ON
    if cell.arm == BESIDE:
        loop.wait(
            lambda: loop.mode == 'fault' or (loop.is_plan_over() and is_error_noticed(loop)),
            'a fault, or a plan that is refused for the error of the arm',
        )
        if loop.mode != 'fault':
            loop.expect_rest()
            return BRAKES if loop.mode == 'fault' else ENDS
    if cell.arm == BRAKES:
        loop.wait(lambda: loop.mode == 'fault', 'a fault')
    if loop.mode == 'fault':
        loop.expect_rest()
        return BRAKES
    loop.expect_rest_at_the_end_of_its_plan()
    return BRAKES if loop.mode == 'fault' else ENDS


def is_error_noticed(loop):
    """Whether the arm is so far from its plan that none follows; between V_M and `NOTICED`."""
    return 'an assumption is false' in (loop.figure('controller', REFUSED) or '')


def plan_starts(loop):
    """Starts of all plans that were followed."""
    return {(p.header.stamp.sec, p.header.stamp.nanosec) for p in loop.plans if p.points}


def last_words(loop, cell):
    """What a node said of it, or the supervisor of the fault, without what to do about it."""
    node, words = ('supervisor', 'fault: ') if cell.says == NOTHING else cell.says
    said = [sentence for who, sentence in loop.said if who == node and words in sentence]
    head, _, detail = said[-1].partition(ADVICE) if said else ('', '', '')
    told = detail or head.removeprefix('fault: ').partition(';')[0]
    return told.replace(f'{loop.bag.parent}/', '')


@pytest.mark.parametrize('robot', ARMS)
def test_the_docs_have_a_row_for_every_cell(robot):
    page = (Path(__file__).parents[3] / 'docs' / 'ros.md').read_text(encoding='utf-8')
    rows = [line.strip('| ').split(' | ') for line in page.splitlines() if line.startswith('| ')]
    there = {row[0] for row in rows if len(row) > 1 and robot in row[1].split(', ')}
    assert [cell.fault for cell in CELLS if cell.fault not in there] == []
