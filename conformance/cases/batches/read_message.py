# A message is read: its metadata on the host, its body still on the device.
# shows: pyarrow_cuda
#   read_message: a Message: its metadata on the host, its body on the device
#   read_message(source): a device buffer
#   read_message(pool): a memory pool for the metadata; the default one by default
#   read_message: a reader advances past the message, to the next one
#   read_message: a damaged message is refused
#   read_record_batch: a damaged message is refused
# shows: additions, Record batches
#   read_message: reads a BufferReader message by message, and raises EOFError at its end
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
host = pa.default_cpu_memory_manager()
batch = pa.record_batch({"x": [1, None, 3]})
buf = cuda.serialize_record_batch(batch, ctx)
message = cuda.read_message(buf)
type(message), message.type, message.metadata.is_cpu
(message.body.is_cpu, message.body.device_type == pa.DeviceAllocationType.CUDA)
body = cuda.CudaBuffer.from_buffer(message.body)
body.address + body.size == buf.address + buf.size
expected = pa.ipc.read_message(batch.serialize())
message.metadata.equals(expected.metadata), message.serialize().equals(batch.serialize())
body.to_pybytes() == expected.body.to_pybytes()
pa.ipc.read_record_batch(message, batch.schema).copy_to(host).equals(batch)
cuda.read_message(source=buf, pool=None).type
cuda.read_message(buf, pool=pa.default_memory_pool()).type
reader = cuda.BufferReader(ctx.buffer_from_data(b"8 bytes." + batch.serialize().to_pybytes()))
reader.seek(8), cuda.read_message(reader).type
# The message keeps the memory.
del buf, body
pa.ipc.read_record_batch(message, batch.schema).copy_to(host).equals(batch)

# Messages one after another are read from one reader, until the stream ends.
sink = pa.BufferOutputStream()
with pa.ipc.new_stream(sink, batch.schema) as stream:
    stream.write_batch(batch)
    stream.write_batch(batch.slice(1))
reader = cuda.BufferReader(ctx.buffer_from_data(sink.getvalue()))
schema = cuda.read_message(reader)
schema.type, pa.ipc.read_schema(schema) == batch.schema
first = cuda.read_message(reader)
(first.type, first.body.is_cpu)
pa.ipc.read_record_batch(first, batch.schema).copy_to(host).to_pylist()
second = cuda.read_message(reader)
pa.ipc.read_record_batch(second, batch.schema).copy_to(host).to_pylist()
cuda.read_message(reader)
reader.tell() == reader.size()
cuda.read_message(ctx.new_buffer(0))

# A damaged message is refused, whatever is wrong with it.
whole = batch.serialize().to_pybytes()


def read(data):
    buf = ctx.buffer_from_data(data)
    for call in (cuda.read_message, lambda buf: cuda.read_record_batch(buf, batch.schema)):
        try:
            call(buf)
        except (pa.ArrowInvalid, EOFError) as error:
            yield type(error).__name__
        except OSError as error:
            yield type(error).__name__
        else:
            yield "read"


list(read(whole)), list(read(whole[:-1])), list(read(whole[: len(whole) // 2]))
list(read(whole[:6]))
# Metadata of an impossible length, and noise.
list(read(whole[:4] + (2**31 - 1).to_bytes(4, "little") + whole[8:]))
list(read(whole[:4] + b"\xff\xff\xff\x80" + whole[8:]))
list(read(b"\xff" * 4 + (8).to_bytes(4, "little") + b"no metadata at all......"))
list(read(bytes(64)))
list(read(whole.replace((24).to_bytes(8, "little"), (1 << 40).to_bytes(8, "little"))))
# More nulls than values, and a buffer between two places.
eight, three, one = ((n).to_bytes(8, "little") for n in (8, 3, 1))
list(read(whole.replace(three + one, three + eight))), list(read(whole.replace(eight, one)))
# Whatever was refused, good messages are read.
cuda.read_record_batch(ctx.buffer_from_data(whole), batch.schema).num_rows
