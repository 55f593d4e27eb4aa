# Whole files and streams, from device memory and into it.
# shows: pyarrow_cuda
#   BufferReader.get_stream: a stream over a slice of the buffer
#   BufferReader.get_stream(file_offset): where the slice begins, in bytes
#   BufferReader.get_stream(nbytes): its size in bytes
#   BufferReader.download: the whole content into another file
#   BufferReader.metadata: an empty dict
#   BufferWriter.upload: the content of another file
#   BufferWriter.writelines: each of the given pieces
#   BufferWriter: an Arrow stream is written to the device
#   BufferReader: large data can be read at once and in pieces
# shows: pyarrow_devices, Streams
#   pyarrow.ipc.open_stream: streams are read from device memory
import io
import tempfile

import pyarrow as pa
from pyarrow import cuda

# Further file operations: streams of a part, and copies of the bytes elsewhere.
reader = cuda.BufferReader(cuda.Context().buffer_from_data(b"one\ntwo\nthree"))
reader.get_stream(file_offset=4, nbytes=3).read()
sink = io.BytesIO()
reader.download(sink)
sink.getvalue(), reader.metadata()
io.BufferedReader(cuda.BufferReader(cuda.Context().buffer_from_data(b"a\nb\n"))).readlines()

# Device memory is filled from a file.
buf = cuda.Context().buffer_from_data(b"..........")
with cuda.BufferWriter(buf) as writer:
    writer.upload(io.BytesIO(b"uploaded"))
buf.to_pybytes()
with cuda.BufferWriter(buf) as writer:
    writer.writelines([b"one", b"two"])
buf.to_pybytes()
with tempfile.TemporaryFile() as file, cuda.BufferWriter(buf) as writer:
    file.write(b"123456"), file.seek(2), writer.upload(file), file.tell(), writer.tell()
    writer.upload(type("Source", (), {"read": print}), buffer_size=2)
buf.to_pybytes()

# An Arrow stream is written to device memory and read from there.
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

# Much data is read piece by piece, and at once.
size = (4 << 20) + 3
data = bytes(range(251)) * (size // 251 + 1)
data = data[:size]
reader = cuda.BufferReader(cuda.Context().buffer_from_data(data))
reader.size() == size, reader.read() == data, reader.seek(0)
pieces = [piece for piece in iter(lambda: reader.read(300_007), b"")]
(len(pieces), b"".join(pieces) == data)
target = bytearray(size)
reader.seek(1), reader.readinto(target), target[:-1] == data[1:], target[-1]
reader.read_at(1 << 20, 3 << 20) == data[3 << 20 : 4 << 20], reader.seek(size - 5)
reader.read_buffer().to_pybytes() == data[-5:]
