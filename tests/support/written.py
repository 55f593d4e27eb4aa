"""Arrow files and streams of one batch, changed to what other writers write."""

import struct
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from support import samples

WRITERS = {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}
READERS = {"file": pa.ipc.open_file, "stream": pa.ipc.open_stream}
#: The kinds of a message's header.
_SCHEMA, _BATCH = 1, 3


def table_at(data: Any, place: int) -> int:
    """Where a table or list begins to which an offset at this place leads."""
    (offset,) = struct.unpack_from("<I", data, place)
    return place + int(offset)


def field(data: Any, table: int, number: int) -> int:
    """Where a table's field is."""
    slot = slot_of(data, table, number)
    return table + int(struct.unpack_from("<H", data, slot)[0])


def slot_of(data: Any, table: int, number: int) -> int:
    """Where it is written how far a table's field is from the table's start."""
    (before,) = struct.unpack_from("<i", data, table)
    return table - int(before) + 4 + 2 * number


class Written:
    """The bytes of a file or stream, or of the message in it that has a batch."""

    def __init__(
        self, batch: pa.RecordBatch, kind: str, compression: str | None = None, **options: Any
    ) -> None:
        self.kind = kind
        writer = WRITERS["file" if kind == "file" else "stream"]
        sink = samples.written([batch], writer, compression=compression, **options)
        self.data = bytearray(sink.to_pybytes())

    def message(self) -> bytes:
        """The message with the batch."""
        begin = self._begin(_BATCH)
        (size,) = struct.unpack_from("<i", self.data, begin + 4)
        return bytes(self.data[begin : begin + 8 + size + self._number(self._body_length())])

    def nodes(self) -> int:
        """Where the lengths and null counts of the batch's arrays begin."""
        return table_at(self.data, field(self.data, self._batch(), 1)) + 4

    def buffers(self) -> int:
        """Where the places and sizes of the batch's buffers begin."""
        return table_at(self.data, field(self.data, self._batch(), 2)) + 4

    def put(self, place: int, *numbers: int) -> "Written":
        """Writes numbers of 8 bytes."""
        struct.pack_into(f"<{len(numbers)}q", self.data, place, *numbers)
        return self

    def without_version(self) -> "Written":
        """The file with a footer that has no version."""
        slot = slot_of(self.data, self._footer(), 0)
        self.data[slot : slot + 2] = bytes(2)
        return self

    def with_moved_counts(self) -> "Written":
        """The numbers of further buffers of views are moved to the end of the metadata, between two
        multiples of 8, as Polars 1.0 to 1.30 writes them."""
        begin, place = self._begin(_BATCH), field(self.data, self._batch(), 4)
        (size,) = struct.unpack_from("<i", self.data, begin + 4)
        counts = table_at(self.data, place)
        length = 4 + 8 * int(struct.unpack_from("<I", self.data, counts)[0])
        moved, end = (
            bytes(self.data[counts : counts + length]).ljust(-(-length // 8) * 8, b"\0"),
            begin + 8 + size,
        )
        struct.pack_into("<I", self.data, place, end - place)
        struct.pack_into("<i", self.data, begin + 4, size + len(moved))
        self.data[end:end] = moved
        if self.kind == "file":
            block = self._block()
            (of_block,) = struct.unpack_from("<i", self.data, block + 8)
            struct.pack_into("<i", self.data, block + 8, of_block + len(moved))
        return self

    def with_body(self, *buffers: bytes) -> "Written":
        """Other bytes of the batch's buffers."""
        begin, old = self._begin(_BATCH), self._number(self._body_length())
        (size,) = struct.unpack_from("<i", self.data, begin + 4)
        body = bytearray()
        for number, buffer in enumerate(buffers):
            self.put(self.buffers() + 16 * number, len(body), len(buffer))
            body += buffer + bytes(-len(buffer) % 64)
        self.put(self._body_length(), len(body))
        if self.kind == "file":
            self.put(self._block() + 16, len(body))
        start = begin + 8 + size
        self.data[start : start + old] = body
        return self

    def with_interval_unit(self, unit: int) -> "Written":
        """A column of intervals, the first one, gets another unit: 0 for months, 1 for days and
        milliseconds."""
        for schema in self._schemas():
            first = table_at(self.data, table_at(self.data, field(self.data, schema, 1)) + 4)
            kind = table_at(self.data, field(self.data, first, 3))
            struct.pack_into("<h", self.data, field(self.data, kind, 0), unit)
        return self

    def swap_bytes(self) -> "Written":
        """The schema's byte order is the other one: its field refers to one that is not 0."""
        for schema in self._schemas():
            order, fields = slot_of(self.data, schema, 0), slot_of(self.data, schema, 1)
            self.data[order : order + 2] = self.data[fields : fields + 2]
        return self

    def _schemas(self) -> Iterator[int]:
        """Where the schemas of the first message and of a file's footer are."""
        message = table_at(self.data, self._begin(_SCHEMA) + 8)
        yield table_at(self.data, field(self.data, message, 2))
        if self.kind == "file":
            yield table_at(self.data, field(self.data, self._footer(), 1))

    def _number(self, place: int) -> int:
        return int(struct.unpack_from("<q", self.data, place)[0])

    def _begin(self, wanted: int) -> int:
        """Where the first message of a kind begins."""
        return next(begin for begin, kind in self._messages() if kind == wanted)

    def _messages(self) -> Iterator[tuple[int, int]]:
        begin = 8 if self.kind == "file" else 0
        while True:
            (size,) = struct.unpack_from("<i", self.data, begin + 4)
            message = table_at(self.data, begin + 8)
            kind = self.data[field(self.data, message, 1)]
            yield begin, kind
            length = 0 if kind == _SCHEMA else self._number(field(self.data, message, 3))
            begin += 8 + size + length

    def _batch(self) -> int:
        return table_at(self.data, field(self.data, self._message(), 2))

    def _message(self) -> int:
        return table_at(self.data, self._begin(_BATCH) + 8)

    def _body_length(self) -> int:
        return field(self.data, self._message(), 3)

    def _footer(self) -> int:
        (size,) = struct.unpack_from("<i", self.data, len(self.data) - 10)
        return table_at(self.data, len(self.data) - 10 - size)

    def _block(self) -> int:
        """Where the place and sizes of the batch's message are in the footer."""
        return table_at(self.data, field(self.data, self._footer(), 3)) + 4
