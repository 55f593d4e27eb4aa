# An Arrow stream is written to device memory and read from there.
# shows: pyarrow_cuda
#   BufferWriter: an Arrow stream is written to the device
# shows: pyarrow_devices, Streams
#   pyarrow.ipc.open_stream: streams are read from device memory
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
batch = pa.record_batch({"x": [1, None, 3], "s": ["one", None, "three"]})
buf = ctx.new_buffer(4096)
with cuda.BufferWriter(buf) as writer:
    writer.buffer_size = 256
    with pa.ipc.new_stream(writer, batch.schema) as stream:
        for start in range(3):
            stream.write_batch(batch.slice(start))
    end = writer.tell()
reader = pa.ipc.open_stream(cuda.BufferReader(buf.slice(0, end)))
reader.schema == batch.schema
host = pa.default_cpu_memory_manager()
for part in reader:
    column = part.column(0)
    print(column.device_type == pa.DeviceAllocationType.CUDA, part.copy_to(host).to_pylist())
