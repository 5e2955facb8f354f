"""What is wrong with a damaged bag is a sentence, however much of it is damage."""

import struct

import pytest

from safe_sysid.measure.bag.damaged import CHUNK, MCAP_MAGIC, Damage, messages


def test_a_long_name_of_a_compression_is_not_said_in_full(tmp_path):
    name = b'x' * 7000
    content = bytes(28) + struct.pack('<I', len(name)) + name + struct.pack('<Q', 0)
    path = tmp_path / 'bag.mcap'
    path.write_bytes(MCAP_MAGIC + struct.pack('<BQ', CHUNK, len(content)) + content)
    with pytest.raises(Damage, match=r"compressed with 'x{40}', which") as damage:
        list(messages(path))
    assert len(str(damage.value)) < 200
