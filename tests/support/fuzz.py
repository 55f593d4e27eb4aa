"""Damages messages at random and reads them from the device, in a process of its own.

``python fuzz.py KIND NAME FIRST COUNT`` prints each seed before it is used, so that the last line
of a process that died names the one that killed it.
"""

import random
import struct
import sys

import pyarrow as pa
from pyarrow import cuda

from support.samples import ALL, CPU, wait_for_release, written

#: Exceptions that damaged data may raise.
REFUSALS = (pa.ArrowException, OSError, ValueError, KeyError, NotImplementedError, EOFError)
NUMBERS = [0, 1, 2, 3, 7, 8, 64, 255, -1, -8, 2**15, 2**31 - 1, -(2**31), 2**32, 2**62, -(2**63)]


def batch_of(name):
    array = ALL[name]
    return pa.record_batch([array, array.slice(0, len(array))], names=["first", "second"])


def message_of(batch, codec):
    stream = written([batch, batch], compression=codec)
    reader = pa.ipc.MessageReader.open_stream(pa.BufferReader(stream))
    return [message.serialize().to_pybytes() for message in reader][-1]


def damaged(data, dice):
    """`data` with one to three places changed, most of them in the metadata."""
    data = bytearray(data)
    metadata = 8 + int.from_bytes(data[4:8], "little") if data[:4] == b"\xff" * 4 else len(data)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        limit = min(metadata, len(data)) if dice.random() < 0.8 else len(data)
        place = dice.randrange(limit)
        how = dice.randrange(5)
        if how == 0:
            data[place] = dice.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif how == 1:
            code, width = dice.choice((("<i", 4), ("<q", 8)))
            place -= place % width
            number = dice.choice(NUMBERS)
            number = number if width == 8 else (number + 2**31) % 2**32 - 2**31
            if place + width <= len(data):
                struct.pack_into(code, data, place, number)
        else:
            data[place] ^= 1 << dice.randrange(8)
    if dice.random() < 0.05:
        del data[dice.randrange(len(data)) :]
    return bytes(data)


def touch(batch):
    """Uses a batch as one may that comes from a stranger: validated before it is looked into."""
    assert batch.num_rows >= 0
    assert batch.schema is not None
    batch.validate()
    for column in batch:
        assert len(column) == batch.num_rows
    host = batch.copy_to(CPU)
    host.validate(full=True)
    # Valid on the host, so the device's own text is safe as well, and the same.
    assert str(batch) == str(host)
    assert host.serialize().size > 0


def read_batch(buffer, schema):
    touch(cuda.read_record_batch(buffer, schema))


def read_message(buffer, schema):
    message = cuda.read_message(buffer)
    assert message.metadata.size > 0
    assert message.type != "none"
    assert message.body is None or message.body.size >= 0
    touch(pa.ipc.read_record_batch(message, schema))


def read_stream(buffer, _schema):
    with pa.ipc.open_stream(cuda.BufferReader(buffer)) as reader:
        for batch in reader:
            touch(batch)


def read_file(buffer, _schema):
    with pa.ipc.open_file(cuda.BufferReader(buffer)) as reader:
        for index in range(min(reader.num_record_batches, 5)):
            touch(reader.get_batch(index))


def read_table(buffer, _schema):
    table = buffer.context.table_from_file(buffer)
    host = table.copy_to(CPU)
    host.validate(full=True)
    assert str(table) == str(host)


def sources(kind, name):
    """The intact data and how it is read."""
    codec = {"lz4": "lz4", "zstd": "zstd", "table": "zstd"}.get(kind)
    batch = batch_of(name)
    if kind in READERS:
        opener, read = READERS[kind]
        return batch, written([batch, batch], opener, compression=codec).to_pybytes(), read
    return batch, message_of(batch, codec), read_message if kind == "message" else read_batch


#: How the data of a kind is written and read.
READERS = {
    "stream": (pa.ipc.new_stream, read_stream),
    "file": (pa.ipc.new_file, read_file),
    "table": (pa.ipc.new_file, read_table),
}


def main(kind, name, first, count):
    ctx = cuda.Context()
    before = ctx.bytes_allocated
    batch, intact, read = sources(kind, name)
    if name != "dictionary":
        read(ctx.buffer_from_data(intact), batch.schema)
    accepted = 0
    for seed in range(first, first + count):
        print(kind, name, seed, flush=True)
        data = damaged(intact, random.Random(f"{kind} {name} {seed}"))
        try:
            read(ctx.buffer_from_data(data), batch.schema)
            accepted += 1
        except REFUSALS as refusal:
            if any(word in str(refusal) for word in ("Cuda error", "panic")):
                raise RuntimeError(f"not refused but failed: {refusal}") from refusal
    wait_for_release(ctx, before)
    print("survived, accepted", accepted)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
