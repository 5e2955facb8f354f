"""A motion that is not proven free of contact is written on demand only, and says so."""

import numpy as np
import pytest

from safe_sysid.errors import BoundError
from safe_sysid.export.motion import MotionSamples, write_motion

DOUBTS = ('meshes: link0 and link6 come within -107.0 mm', 'the tool has no capsules')


def motion(doubts):
    return MotionSamples(('a', 'b'), np.arange(3.0), np.zeros((3, 3, 2)), doubts)


def test_a_doubtful_motion_is_refused(tmp_path):
    with pytest.raises(BoundError, match='link0 and link6 come within -107.0 mm; the tool has no'):
        write_motion(tmp_path / 'out', motion(DOUBTS), ['good'], unproven_contact=False)
    assert not (tmp_path / 'out').exists()


def test_on_demand_it_begins_with_its_doubts(tmp_path):
    paths = write_motion(tmp_path, motion(DOUBTS), ['good'], unproven_contact=True)
    for path in paths[:2]:
        head = path.read_text(encoding='utf-8').splitlines()[:2]
        for line, doubt in zip(head, DOUBTS, strict=True):
            assert line.startswith('# WARNING, NOT proven free of contact, written because of --')
            assert line.endswith(doubt)
    with pytest.raises(ValueError, match='columns'):  # CSV readers stumble over it on purpose
        np.genfromtxt(paths[0], delimiter=',', names=True)


def test_a_proven_motion_carries_no_warning(tmp_path):
    paths = write_motion(tmp_path, motion(()), ['good'], unproven_contact=True)
    assert paths[0].read_text(encoding='utf-8').startswith('time,position_a')
    assert paths[1].read_text(encoding='utf-8').startswith('# good\njoint_names')
