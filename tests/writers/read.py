"""The ways to read a file onto the device, each compared with what pyarrow reads on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import cuda

from support.samples import CPU

CONTEXT = cuda.Context(0)
EQUAL, BOTH_REFUSE, REFUSED, DIFFERENT = "equal", "refused by both", "refused", "different"


def _reader(path: Path, source: Any) -> Any:
    return (pa.ipc.open_file if path.suffix == ".arrow" else pa.ipc.open_stream)(source)


def _on_host(path: Path) -> pa.Table:
    return _reader(path, path).read_all()


def table_from_file(path: Path) -> pa.Table:
    return CONTEXT.table_from_file(path)


def reader_from_file(path: Path) -> pa.Table:
    with CONTEXT.reader_from_file(path) as reader:
        return reader.read_all()


def reader_on_device(path: Path) -> pa.Table | None:
    """Of pyarrow, which gets the file in device memory, where no dictionary can grow."""
    source = cuda.BufferReader(CONTEXT.buffer_from_data(path.read_bytes()))
    try:
        return _reader(path, source).read_all()
    except pa.ArrowNotImplementedError as error:
        if "delta dictionary cannot be appended to one in device memory" not in str(error):
            raise
        return None


def messages(path: Path) -> pa.Table | None:
    """Those of a stream, which has no dictionaries."""
    if path.suffix == ".arrow":
        return None
    data = CONTEXT.buffer_from_data(path.read_bytes())
    reader = cuda.BufferReader(data)
    schema = pa.ipc.read_schema(cuda.read_message(reader))
    batches = []
    while (start := reader.tell()) < data.size:
        try:
            message = cuda.read_message(reader)
        except EOFError:
            break
        if message.type == "dictionary":
            return None
        batches.append(cuda.read_record_batch(data.slice(start, reader.tell() - start), schema))
    return pa.Table.from_batches(batches, schema)


WAYS = (table_from_file, reader_from_file, reader_on_device, messages)


def compared(path: Path) -> Iterator[tuple[str, str, str]]:
    """The name, the verdict and the reason of each way."""
    expected = _outcome(_on_host, path)
    for way in WAYS:
        found = _outcome(way, path)
        if found is not None:
            yield way.__name__, *_verdict(found, expected)


def _outcome(read: Callable[[Path], pa.Table | None], path: Path) -> list[pa.Table] | str | None:
    """All rows and a slice of them, in host memory; or the error."""
    try:
        table = read(path)
        if table is None:
            return None
        parts = [it.copy_to(CPU) for it in (table, table.slice(1))]
        for it in parts:
            it.validate()
        return parts
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _verdict(found: list[pa.Table] | str, expected: list[pa.Table] | str) -> tuple[str, str]:
    match found, expected:
        case str(), str():
            return BOTH_REFUSE, expected
        case str(), _:
            return REFUSED, found
        case _, str():
            return DIFFERENT, f"pyarrow refuses it: {expected}"
    if not found[0].schema.equals(expected[0].schema, check_metadata=True):
        return DIFFERENT, "another schema, or other metadata"
    return (EQUAL, "") if all(map(_same, found, expected)) else (DIFFERENT, "other rows")


def _same(table: pa.Table, other: pa.Table) -> bool:
    # A NaN equals no other, but its bytes do.
    return table.equals(other) or _bytes(table) == _bytes(other)


def _bytes(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()
