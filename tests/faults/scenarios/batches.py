"""Record batches, arrays and tables: messages, and copies to a device and back."""

import numpy as np
import pyarrow as pa
from pyarrow import cuda

from support.samples import BATCH, CPU

from . import scenario

LABELS = pa.array(["x", "y", None, "x"]).dictionary_encode()
TABLE = pa.table(
    {
        "a": pa.chunked_array([[1, None], [3]]),
        "s": pa.chunked_array([["x"], [None, "yy"]]),
        "d": pa.chunked_array([LABELS.slice(0, 3)]),
    }
)


@scenario()
def messages():
    ctx = cuda.Context()
    message = cuda.serialize_record_batch(BATCH, ctx)
    there = cuda.read_record_batch(message, BATCH.schema)
    assert there.copy_to(CPU).equals(BATCH)
    assert cuda.read_message(message).type == "record batch"
    reader = cuda.BufferReader(message)
    assert cuda.read_message(reader).type == "record batch"


@scenario()
def messages_of_device_batches():
    ctx = cuda.Context()
    there = BATCH.copy_to(ctx.memory_manager)
    message = cuda.serialize_record_batch(there, ctx)
    assert message.to_pybytes() == BATCH.serialize().to_pybytes()
    parts = BATCH.slice(1, 2).copy_to(ctx.memory_manager)
    message = cuda.serialize_record_batch(parts, ctx)
    assert cuda.read_record_batch(message, BATCH.schema).copy_to(CPU).equals(BATCH.slice(1, 2))


@scenario()
def copies():
    ctx = cuda.Context()
    there = BATCH.copy_to(ctx.memory_manager)
    assert there.copy_to(CPU).equals(BATCH)
    assert there.copy_to(ctx.memory_manager).copy_to(CPU).equals(BATCH)
    assert str(there) == str(BATCH)
    array = pa.array([[1, 2], None, [3]]).copy_to(ctx.memory_manager)
    assert array.slice(1).copy_to(CPU).equals(pa.array([None, [3]], pa.list_(pa.int64())))
    assert repr(array.slice(0, 0))


@scenario()
def whole_tables():
    ctx = cuda.Context()
    there = TABLE.copy_to(ctx.memory_manager)
    assert there.copy_to(CPU).equals(TABLE)
    assert there.copy_to(ctx.device).column("s").copy_to(CPU).equals(TABLE.column("s"))
    batches = there.to_batches()
    assert not any(batch.is_cpu for batch in batches)
    assert pa.Table.from_batches(batches).copy_to(CPU).equals(TABLE)
    assert there.to_reader().copy_to(CPU).read_all().equals(TABLE)


@scenario()
def joined_chunks():
    there = TABLE.copy_to(cuda.Context())
    assert there.combine_chunks().copy_to(CPU).equals(TABLE)
    labels = [
        pa.array(list(each)).dictionary_encode().copy_to(cuda.Context()) for each in ("xy", "zx")
    ]
    assert pa.concat_arrays(labels).copy_to(CPU).to_pylist() == ["x", "y", "z", "x"]
    assert there.slice(1).copy_to(cuda.Context()).copy_to(CPU).equals(TABLE.slice(1))


# Memory that the driver does not know (error 1) is pageable, of which there is no view.
@scenario(others="^Viewing buffer from CPUDevice.* not supported$")
def buffers_to_destinations():
    ctx = cuda.Context()
    there = pa.py_buffer(b"some bytes").copy(ctx.device)
    assert there.copy(ctx.memory_manager).copy(CPU).to_pybytes() == b"some bytes"
    pinned = cuda.new_host_buffer(4)
    np.frombuffer(pinned, np.uint8)[:] = [1, 2, 3, 4]
    assert np.asarray(pinned.view(ctx.device)).tolist() == [1, 2, 3, 4]


@scenario()
def by_pyarrow_itself():
    """Allocations and copies that libarrow asks the memory manager for."""
    ctx = cuda.Context()
    there = pa.array([1.5, None, 2.5]).copy_to(ctx.memory_manager)
    whole = pa.Array.from_buffers(there.type, 3, there.buffers())
    assert whole.copy_to(CPU).to_pylist() == [1.5, None, 2.5]
    buffer = there.buffers()[1]
    assert pa.py_buffer(cuda.CudaBuffer.from_buffer(buffer).copy_to_host()).size == buffer.size
