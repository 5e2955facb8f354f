"""Files that are written as a whole or not at all, against disks that are full."""

import errno
import os
from pathlib import Path

import pytest

from safe_sysid.output_file import filled_folder, new_file, write_bytes, write_text


class FullError(OSError):
    """What a disk says."""

    def __init__(self):
        super().__init__(errno.ENOSPC, os.strerror(errno.ENOSPC))


def refuse(path, content):
    """Write the beginning of a file, and find the disk full."""
    with new_file(path) as part:
        part.write_text(content, encoding='utf-8')
        raise FullError


def test_a_file_that_could_not_be_written_leaves_nothing_and_is_named(tmp_path):
    path = tmp_path / 'page.html'
    with pytest.raises(OSError, match='No space left') as refusal:
        refuse(path, 'half')
    assert refusal.value.filename == str(path)
    assert refusal.value.errno == errno.ENOSPC
    assert not [*tmp_path.iterdir()]


def test_what_was_there_stays_where_writing_fails(tmp_path):
    path = tmp_path / 'arm.yaml'
    write_text(path, 'before')
    with pytest.raises(OSError, match='No space left'):
        refuse(path, 'half')
    assert path.read_text(encoding='utf-8') == 'before'
    write_bytes(path, b'after')
    assert [*tmp_path.iterdir()] == [path]
    assert path.read_bytes() == b'after'


def test_an_interruption_leaves_nothing_either(tmp_path):
    def interrupted():
        with new_file(tmp_path / 'plot.svg') as part:
            part.write_text('half', encoding='utf-8')
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not [*tmp_path.iterdir()]


def test_links_stay_links_and_devices_are_written_to(tmp_path):
    target, link = tmp_path / 'a' / 'of.json', tmp_path / 'to.json'
    target.parent.mkdir()
    link.symlink_to(target)
    write_text(link, 'first')
    write_text(link, 'again')
    assert link.is_symlink()
    assert target.read_text(encoding='utf-8') == 'again'
    with pytest.raises(OSError, match='No space left') as refusal:
        write_text(Path('/dev/full'), 'anything')
    assert refusal.value.filename == '/dev/full'
    write_text(Path('/dev/null'), 'anything')
    assert Path('/dev/null').is_char_device()


def test_of_a_folder_nothing_new_stays(tmp_path):
    def filled(folder):
        with filled_folder(folder):
            write_text(folder / 'urdf', 'whole')
            (folder / 'meshes').mkdir()
            write_text(folder / 'meshes' / 'link', 'whole')
            raise FullError

    kept = tmp_path / 'kept'
    write_text(tmp_path / 'beside', 'whole')
    kept.mkdir()
    write_text(kept / 'notes', 'of a person')
    for folder in (tmp_path / 'new' / 'deeper', kept):
        with pytest.raises(OSError, match='No space left'):
            filled(folder)
    assert not (tmp_path / 'new' / 'deeper').exists()
    assert [path.name for path in kept.iterdir()] == ['notes']


def test_what_somebody_else_writes_into_a_folder_meanwhile_stays(tmp_path):
    def filled():
        with filled_folder(tmp_path):
            write_text(tmp_path / 'ours', 'new')
            write_text(tmp_path / 'notes', 'written anew')
            (tmp_path / 'bag').mkdir()
            (tmp_path / 'bag' / 'bag_0.mcap').write_text('of a recorder')
            raise FullError

    write_text(tmp_path / 'notes', 'of a person')
    with pytest.raises(OSError, match='No space left'):
        filled()
    assert sorted(path.name for path in tmp_path.rglob('*')) == ['bag', 'bag_0.mcap', 'notes']
    write_text(tmp_path / 'later', 'whole')
    with filled_folder(tmp_path / 'other'):
        write_text(tmp_path / 'other' / 'ours', 'whole')
    assert (tmp_path / 'other' / 'ours').exists()


def test_names_as_long_as_the_system_allows(tmp_path):
    path = tmp_path / ('n' * 250 + '.csv')
    write_text(path, 'whole')
    assert path.read_text(encoding='utf-8') == 'whole'
    with pytest.raises(OSError, match='File name too long'):
        write_text(tmp_path / ('n' * 260), 'whole')
