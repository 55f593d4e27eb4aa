# Messages one after another are read from one reader, until the stream ends.
# shows: additions, Record batches
#   read_message: reads a BufferReader message by message, and raises EOFError at its end
# shows: pyarrow_cuda
#   read_message: a reader advances past the message, to the next one
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
host = pa.default_cpu_memory_manager()
batch = pa.record_batch({"x": [1, None, 3]})
sink = pa.BufferOutputStream()
with pa.ipc.new_stream(sink, batch.schema) as stream:
    stream.write_batch(batch)
    stream.write_batch(batch.slice(1))
reader = cuda.BufferReader(ctx.buffer_from_data(sink.getvalue()))
schema = cuda.read_message(reader)
schema.type
pa.ipc.read_schema(schema) == batch.schema
first = cuda.read_message(reader)
(first.type, first.body.is_cpu)
pa.ipc.read_record_batch(first, batch.schema).copy_to(host).to_pylist()
second = cuda.read_message(reader)
pa.ipc.read_record_batch(second, batch.schema).copy_to(host).to_pylist()
cuda.read_message(reader)
reader.tell() == reader.size()
cuda.read_message(ctx.new_buffer(0))
