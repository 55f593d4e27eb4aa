"""The C Device interface: exports and imports, with and without events."""

import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import Stream
from support.c_device import ArrowDeviceArray, ArrowSchema, Release
from support.samples import BATCH, CPU

from . import scenario


@scenario()
def capsules():
    ctx = cuda.Context()
    there = BATCH.copy_to(ctx.memory_manager)
    back = pa.RecordBatch._import_from_c_device_capsule(*there.__arrow_c_device_array__())
    assert back.copy_to(CPU).equals(BATCH)
    there.__arrow_c_device_array__()  # nobody takes it


# By error 1, the driver says that it does not know the memory of an import.
@scenario(others="the memory at 0x[0-9a-f]+ ends after 0 bytes")
def events():
    """While work is in flight, exports have an event, and imports wait for it."""
    ctx = cuda.Context()
    array = pa.array(range(100)).copy_to(ctx.memory_manager)
    memory = cuda.CudaBuffer.from_buffer(array.buffers()[1])
    stream, pinned = Stream(ctx), cuda.new_host_buffer(memory.size)
    memory.copy_to_host(buf=pinned, stream=stream)
    memory.fill(1, stream=stream)
    back = pa.Array._import_from_c_device_capsule(*array.__arrow_c_device_array__())
    assert back.copy_to(CPU)[3].as_py() == 0x0101010101010101


@scenario()
def structures():
    ctx = cuda.Context()
    there = BATCH.copy_to(ctx.memory_manager).slice(1)
    array, schema = ArrowDeviceArray(), ArrowSchema()
    there._export_to_c_device(array.address, schema.address)
    try:
        back = pa.RecordBatch._import_from_c_device(array.address, schema.address)
    finally:
        for each, release in ((array, array.array.release), (schema, schema.release)):
            if release:
                Release(release)(each.address)
    assert back.copy_to(CPU).equals(BATCH.slice(1))


@scenario()
def slices():
    """The nulls of slices are counted on a copy of their bitmap."""
    ctx = cuda.Context()
    there = pa.array([1, None, 3, None]).copy_to(ctx.memory_manager)
    schema, array = there.slice(1).__arrow_c_device_array__()
    assert pa.Array._import_from_c_device_capsule(schema, array).copy_to(CPU).null_count == 2


# Memory of which the driver does not know where it begins.
@scenario(others="the memory at 0x[0-9a-f]+ ends after 0 bytes")
def streams_of_batches():
    """Null counts, events and empty buffers, of each of a stream's arrays."""
    ctx = cuda.Context()
    there = BATCH.copy_to(ctx.memory_manager)
    batches = [there.slice(1), there.slice(0, 0), there]
    reader = pa.RecordBatchReader.from_batches(BATCH.schema, batches)
    stream = Stream(ctx)
    cuda.CudaBuffer.from_buffer(there.column(0).buffers()[1]).fill(0, nbytes=1, stream=stream)
    taken = pa.RecordBatchReader._import_from_c_device_capsule(reader.__arrow_c_device_stream__())
    table = taken.read_all()
    assert table.copy_to(CPU).column("s").to_pylist() == [None, "yy", "x", None, "yy"]
    chunks = table.column("a").__arrow_c_device_stream__()
    assert pa.ChunkedArray._import_from_c_device_capsule(chunks).copy_to(CPU).null_count == 2
    table.__arrow_c_device_stream__()  # nobody takes it
