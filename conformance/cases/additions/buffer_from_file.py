# A file goes straight to the device, as a whole or in part.
# shows: additions, Device buffers
#   Context.buffer_from_file: a new buffer with the bytes of a file
#   Context.buffer_from_file(path): a path, a descriptor, or an open file
#   Context.buffer_from_file(offset): where in the file to begin, in bytes; 0 by default
#   Context.buffer_from_file(nbytes): how many bytes to read; all from `offset` on by default
#   Context.buffer_from_file(direct): whether to read past the page cache; judged by default
#   Context.buffer_from_file(kvikio): whether KvikIO reads the file; where GPUDirect Storage is
#     available by default
#   Context.buffer_from_file(progress): is called with the number of bytes that have arrived, and
#     that of all
import os
import pathlib
import tempfile

import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
folder = tempfile.TemporaryDirectory()
path = pathlib.Path(folder.name, "data.bin")
path.write_bytes(bytes(range(100)))
buf = ctx.buffer_from_file(path=path)
type(buf), buf.size, buf.is_mutable
buf.to_pybytes() == path.read_bytes()
ctx.buffer_from_file(os.fsencode(path), offset=5, nbytes=3).to_pybytes()
ctx.buffer_from_file(str(path), 98).to_pybytes()
with path.open("rb") as file:
    file.seek(50), ctx.buffer_from_file(file, 1, 2).to_pybytes(), file.tell()
    ctx.buffer_from_file(file.fileno(), 1, 2).to_pybytes()

# Past the page cache, where the file system can; a callback tells how far it is.
ctx.buffer_from_file(path, 1, direct=True).equals(buf.slice(1))
whole = ctx.buffer_from_data(bytes(range(256)) * 40)
whole.copy_to_file(folder.name + "/pages", direct=True)
ctx.buffer_from_file(folder.name + "/pages", 1, direct=True).equals(whole.slice(1))
ctx.buffer_from_file(path, direct=False, kvikio=False, progress=print).size


def enough(done, total):
    raise RuntimeError(f"{done} of {total} are enough")


used = ctx.bytes_allocated
ctx.buffer_from_file(path, progress=enough)
# A part beyond the file's end is refused.
ctx.buffer_from_file(path, 100, progress=print).size
try:
    ctx.buffer_from_file(path, 101)
except ValueError as error:
    str(error).replace(str(path), "data.bin")

try:
    ctx.buffer_from_file(path, 90, nbytes=11)
except ValueError as error:
    str(error).replace(str(path), "data.bin")

ctx.buffer_from_file(path, -1)
ctx.buffer_from_file(path, nbytes=-1)
ctx.buffer_from_file("/dev/null", nbytes=1)
try:
    ctx.buffer_from_file(path.with_name("none"))
except FileNotFoundError as error:
    error.filename == str(path.with_name("none"))

try:
    ctx.buffer_from_file(folder.name)
except IsADirectoryError as error:
    error.filename == folder.name

ctx.buffer_from_file(None)
ctx.buffer_from_file(path, progress=1)
ctx.bytes_allocated == used
reading, writing = os.pipe()
buf.slice(0, 9).copy_to_file(writing), os.close(writing)
ctx.buffer_from_file(reading, nbytes=4, progress=print).to_pybytes()
ctx.buffer_from_file(reading, progress=print).to_pybytes()
ctx.buffer_from_file("/proc/version", 1 << 20)
# The batches of an Arrow file stay on the device.
batch = pa.record_batch({"x": [1, 2, None], "y": ["a", "b", "c"]})
with pa.ipc.new_file(path, batch.schema) as writer:
    writer.write_batch(batch)

there = pa.ipc.open_file(cuda.BufferReader(ctx.buffer_from_file(path))).get_batch(0)
cuda.CudaBuffer.from_buffer(there["y"].buffers()[2]).is_cpu
there.copy_to(pa.default_cpu_memory_manager()).equals(batch)
folder.cleanup()
