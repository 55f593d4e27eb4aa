# Compressed messages are read.
# shows: additions, Record batches
#   read_record_batch: compressed messages are read
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
host = pa.default_cpu_memory_manager()
batch = pa.record_batch({"x": list(range(1000)), "s": ["word"] * 1000})
for codec in ("lz4", "zstd"):
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with pa.ipc.new_stream(sink, batch.schema, options=options) as stream:
        stream.write_batch(batch)
    reader = cuda.BufferReader(ctx.buffer_from_data(sink.getvalue()))
    print(cuda.read_message(reader).type)
    message = reader.read_buffer()
    print(message.size < batch.serialize().size)
    there = cuda.read_record_batch(message, batch.schema)
    print(there.column(0).device_type == pa.DeviceAllocationType.CUDA)
    print(there.copy_to(host).equals(batch))
