"""What is wrong with a damaged bag is a sentence, however much of it is damage."""

import struct

import pytest

from safe_sysid.measure.bag.damaged import (
    CHANNEL,
    CHUNK,
    MESSAGE,
    SCHEMA,
    Damage,
    messages,
)
from safe_sysid.measure.recorded_file import MCAP_MAGIC


def test_a_long_name_of_a_compression_is_not_said_in_full(tmp_path):
    name = b'x' * 7000
    content = bytes(28) + struct.pack('<I', len(name)) + name + struct.pack('<Q', 0)
    path = tmp_path / 'bag.mcap'
    path.write_bytes(MCAP_MAGIC + struct.pack('<BQ', CHUNK, len(content)) + content)
    with pytest.raises(Damage, match=r"compressed with 'x{40}', which") as damage:
        list(messages(path))
    assert len(str(damage.value)) < 200


@pytest.mark.parametrize('kind', [SCHEMA, CHANNEL, MESSAGE])
@pytest.mark.parametrize('size', [0, 1, 5])
def test_a_record_that_is_too_short_for_what_it_is_is_damage(kind, size, tmp_path):
    path = tmp_path / 'bag.mcap'
    path.write_bytes(MCAP_MAGIC + struct.pack('<BQ', kind, size) + bytes(size))
    with pytest.raises(Damage, match='a record that is too short for what it is'):
        list(messages(path))
