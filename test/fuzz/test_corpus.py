"""Files that broke something, or that break others: each is read or refused as its folder says.

corpus/KIND/read and corpus/KIND/refused are promises about the first reader of a kind; of files in
corpus/KIND/any it does what its libraries let it. The other readers of a kind do either. A file
that a nightly search finds belongs here, under a name that says what is wrong with it.
"""

from pathlib import Path
import shutil

from fuzz.file_kinds import JOINTS, file_kinds
from fuzz.limits import soon
import pytest

from safe_sysid.calibrate.pose_table import read_poses
from safe_sysid.cli import hand_over
from safe_sysid.config import read_yaml
from safe_sysid.errors import SafeSysidError
from safe_sysid.export.hand_over import body_of
from safe_sysid.measure.bag.messages import bag_topics
from safe_sysid.measure.recording_choice import RecordingChoice, recording_of_choice

FOLDER = Path(__file__).parent / 'corpus'
FILES = sorted(path for path in FOLDER.rglob('*') if path.is_file())
SOON, LITTLE = 5.0, 2**19  # [s] of the processor, [kB]
YAML = ('payload', 'arm', 'loop', 'world', 'excitation', 'calibration', 'gains')
XML = ('URDF', 'URDF of a hand', 'URDF of a loop', 'xacro', 'SRDF', 'COLLADA')


def recording(path):
    return recording_of_choice(RecordingChoice(path), JOINTS)


def topics(path):
    return bag_topics(path)


def readers():
    """Functions that read a kind of file, the one whose answers are promised first."""
    kinds = {name: kind.read for name, kind in file_kinds().items()}
    return {
        'yaml': [*(kinds[name] for name in YAML), read_yaml],
        'xml': [kinds[name] for name in XML],
        'table': [recording, lambda path: read_poses(path, JOINTS)],
        'json': [lambda path: body_of(hand_over._read(path), 'inertia')],
        'mcap': [recording, topics],
        'db3': [recording, topics],
        'mesh': [kinds['STL']],
    }


def fate(read, path):
    """What comes of reading a file, soon and in little memory."""
    try:
        with soon(SOON, memory=LITTLE):
            read(path)
    except SafeSysidError as error:
        assert 0 < len(str(error)) < 5000
        str(error).encode()  # can be printed
        return 'refused'
    return 'read'


def name_of(path):
    return path.relative_to(FOLDER).as_posix()


def test_every_kind_has_files():
    assert {path.parts[-3] for path in FILES} == set(readers())
    assert {path.parts[-2] for path in FILES} == {'read', 'refused', 'any'}


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_a_file_is_read_or_refused_as_its_folder_says(path, tmp_path):
    copy = Path(shutil.copy(path, tmp_path))  # readers may look at what is beside it
    first, *others = readers()[path.parts[-3]]
    promised = path.parts[-2]
    found = fate(first, copy)
    assert promised in (found, 'any')
    for read in others:
        fate(read, copy)
