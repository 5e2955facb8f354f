"""McapChunk: messages that wait to be written to an MCAP file together."""

from __future__ import annotations

from collections import defaultdict

from safe_sysid.measure.bag import mcap_records as mcap


class McapChunk:
    """Records of messages in the order of their stamps, and where they are."""

    def __init__(self) -> None:
        self.records = bytearray()
        self.times: dict[int, mcap.Times] = defaultdict(list)  # by channel
        self.span = (0, 0)  # [ns] stamps of the first and last message
        self.messages = 0

    def describe(self, records: bytes) -> None:
        """Say something that the messages after it need."""
        self.records += records

    def add(self, channel: int, stamp: int, published: int, data: bytes) -> None:
        """Add a message; stamps never go back."""
        self.times[channel].append((stamp, len(self.records)))
        self.records += mcap.MESSAGE_HEADER.pack(
            mcap.MESSAGE, mcap.MESSAGE_BYTES + len(data), channel, 0, stamp, published
        )
        self.records += data
        self.span = (self.span[0] if self.messages else stamp, stamp)
        self.messages += 1

    def at(self, start: int) -> tuple[bytes, bytes]:
        """Chunk with its message indexes as they stand in a file from `start` on; its index."""
        block = bytearray(mcap.chunk(*self.span, self.records))
        length, places = len(block), {}
        for channel, times in self.times.items():
            places[channel] = start + len(block)
            block += mcap.message_index(channel, times)
        sizes = (len(block) - length, len(self.records))
        return bytes(block), mcap.chunk_index(self.span, (start, length), places, sizes)
