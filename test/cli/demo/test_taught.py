"""What a motion taught is the difference between the bounds when it began and when it ended."""

from types import SimpleNamespace

import numpy as np
import pytest

from safe_sysid.cli.demo.carrying import Carrying
from safe_sysid.cli.demo.taught import lessons, taught_text
from safe_sysid.errors import MeasurementError
from safe_sysid.identify.estimate_series import EstimateSeries


@pytest.fixture
def loop():
    """Something is held, standing until 1.5 s, then moved, with bounds each second."""
    time = np.linspace(0.0, 6.0, 61)
    plan = np.searchsorted([1.5, 3.0, 4.5], time, side='right')
    learnt = np.ones((7, 10))
    learnt[1:, 0] = 0.5  # the mass at 1.0 s, standing still
    learnt[3:, [1, 4]] = 0.25, 0.75  # as the second motion begins: by the first one
    learnt[5:, 9] = 0.995  # too little to be named
    width = 4.0 * learnt
    zero = np.zeros_like(width)
    record = SimpleNamespace(
        time=time,
        plan=plan,
        plan_start=np.array([0.0, 1.5, 3.0, 4.5]),
        q_d=np.where(plan > 0, time, 0.0)[:, None],
        estimates=EstimateSeries(np.arange(7.0), zero, zero - 0.5 * width, zero + 0.5 * width),
    )
    modes = (0.0, 'exciting'), (1.5, 'task'), (4.4, 'identified'), (4.5, 'task'), (6.0, 'changing')
    return SimpleNamespace(record=record, modes=modes, grips=(0.0, 7.0))


def test_each_motion_taught_what_was_known_after_it_and_not_before(loop):
    found = lessons(loop, Carrying.of(loop))
    assert [x.kind for x in found] == ['stand', 'lift', 'lift', 'carry']
    assert [(x.begin, x.end) for x in found] == [(0.0, 1.5), (1.5, 3.0), (3.0, 4.5), (4.5, 6.0)]
    assert [(x.before[0], x.after[0]) for x in found] == [(4.0, 2.0)] + 3 * [(2.0, 2.0)]
    assert [x.most for x in found] == [[], [('mcx', 0.75), ('Ixx', 0.25)], [], []]


def test_it_is_told_in_a_line_each(loop):
    lines = taught_text(lessons(loop, Carrying.of(loop))).splitlines()[-4:]
    assert lines[0] == '    0.0 to  1.5 s  stand  mass 4.00 → 2.00 kg   nothing by 1 %'
    assert lines[1].endswith('mass 2.00 → 2.00 kg   mcx 75 %, Ixx 25 %')
    assert lines[3].endswith('nothing by 1 %')


def test_only_what_is_held_teaches_what_is_held(loop):
    loop.grips, loop.modes = (1.5, 5.0), (*loop.modes[1:4], (4.9, 'changing'))
    carrying = Carrying.of(loop)
    assert carrying == Carrying(1.5, (1.5, 4.5), 4.9)
    found = lessons(loop, carrying)
    assert [(x.begin, x.end, x.kind) for x in found] == [
        (1.5, 3.0, 'lift'),
        (3.0, 4.5, 'lift'),
        (4.5, 4.9, 'carry'),
    ]
    assert carrying.known(loop).time.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_an_errand_in_which_nothing_was_picked_has_no_such_part(loop):
    loop.grips = ()
    with pytest.raises(MeasurementError, match='never closed'):
        Carrying.of(loop)
