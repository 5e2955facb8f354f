"""Bags that end, or have a wrong bit, where a part of them begins: each is read or refused."""

from fuzz.bag_boundaries import NAMES, WAYS, boundaries, written
from fuzz.limits import soon
import pytest

from safe_sysid.errors import SafeSysidError
from safe_sysid.measure.bag.messages import bag_topics
from safe_sysid.measure.recording_choice import RecordingChoice, recording_of_choice

JOINTS = ('a', 'b', 'c')
FEW = [0]  # bits that are wrong by default
ALL = range(8)


def recording(folder):
    """What a command reads of a bag."""
    return recording_of_choice(RecordingChoice(folder), JOINTS)


def read_or_refused(folder):
    """Recording, or none and a sentence."""
    try:
        with soon():
            found = recording(folder)
            bag_topics(folder)
            return found
    except SafeSysidError as error:
        assert 0 < len(str(error)) < 5000
        return None


@pytest.fixture(params=WAYS)
def bag(request, tmp_path):
    """A way to write a bag, and a folder with one."""
    for name, data in written(request.param).items():
        (tmp_path / name).write_bytes(data)
    return request.param, tmp_path


def test_every_kind_of_record_is_there():
    found = {name for way in WAYS if 'mcap' in way for name in boundaries(way)}
    assert {*NAMES.values()} <= found
    assert {'compressed records', 'magic', 'magic at the end'} <= found
    pages = {name for name in boundaries('sqlite3') if name.startswith('kind of a page')}
    assert {'kind of a page 13', 'kind of a page 10'} <= pages  # leaves of tables and indexes


def test_the_bag_itself_is_read(bag):
    _, folder = bag
    assert len(recording(folder).stamp) == 12


@pytest.mark.parametrize(
    'is_nightly', [False, pytest.param(True, marks=pytest.mark.nightly)], ids=['last', 'all']
)
def test_a_bag_that_ends_at_a_boundary_has_no_message_that_was_not_in_it(bag, is_nightly):
    way, folder = bag
    whole = recording(folder)
    name, data = next(iter(written(way).items()))
    for offsets in boundaries(way).values():
        for offset in offsets if is_nightly else offsets[-1:]:
            for cut in (offset, offset + 1) if is_nightly else (offset,):
                (folder / name).write_bytes(data[:cut])
                found = read_or_refused(folder)
                assert found is None or {*found.stamp} <= {*whole.stamp}


@pytest.mark.parametrize(
    ('is_nightly', 'bits'),
    [(False, FEW), pytest.param(True, ALL, marks=pytest.mark.nightly)],
    ids=['first', 'all'],
)
def test_a_wrong_bit_at_a_boundary_ends_in_a_recording_or_a_sentence(bag, is_nightly, bits):
    way, folder = bag
    name, data = next(iter(written(way).items()))
    for offsets in boundaries(way).values():
        for offset in offsets if is_nightly else offsets[:1]:
            for bit in bits:
                flipped = bytearray(data)
                flipped[offset] ^= 1 << bit
                (folder / name).write_bytes(flipped)
                read_or_refused(folder)
