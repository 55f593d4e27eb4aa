# A buffer is written to a file, as a whole or in part.
# shows: additions, Device buffers
#   CudaBuffer.copy_to_file: writes a buffer to a file, and returns the number of bytes
#   CudaBuffer.copy_to_file(path): a path, a descriptor, or an open file
#   CudaBuffer.copy_to_file(position): where the copy begins, in bytes; 0 by default
#   CudaBuffer.copy_to_file(nbytes): how many bytes to write; all from `position` on by default
#   CudaBuffer.copy_to_file(offset): where in the file to begin; by default a path has no other
#     bytes afterwards
#   CudaBuffer.copy_to_file(direct): whether to write past the page cache; no by default
#   CudaBuffer.copy_to_file(kvikio): whether KvikIO writes the file; direct writes where GPUDirect
#     Storage is available by default
#   CudaBuffer.copy_to_file(progress): is called with the number of bytes that are written, and that
#     of all
import pathlib
import tempfile

import numpy as np
from pyarrow import cuda

ctx = cuda.Context()
folder = tempfile.TemporaryDirectory()
path = pathlib.Path(folder.name, "digits")
buf = ctx.buffer_from_data(b"0123456789")
buf.copy_to_file(path=path), path.read_bytes()
# By default the file has no other bytes afterwards; with an offset, it keeps them.
buf.copy_to_file(path, 4), path.read_bytes()
buf.copy_to_file(str(path), position=0, nbytes=2, offset=3), path.read_bytes()
with path.open("r+b") as file:
    buf.copy_to_file(file, 9), buf.copy_to_file(file.fileno(), 7, 1, offset=5), file.tell()

path.read_bytes()
# Past the page cache, where the file system can; a callback tells how far it is.
buf.copy_to_file(path, direct=True, kvikio=False, progress=print), path.read_bytes()
# Large buffers.
large = ctx.buffer_from_data(np.arange(5 << 20, dtype="u4"))
large.copy_to_file(path), path.read_bytes() == large.to_pybytes()
ctx.buffer_from_file(path).equals(large), buf.copy_to_file(path)
# A part beyond the buffer's end is refused, and the file stays as it is.
buf.copy_to_file(path, 11)
buf.copy_to_file(path, 2, nbytes=9)
buf.copy_to_file(path, offset=-1)
buf.copy_to_file(path, progress=1)
buf.copy_to_file(None)
path.read_bytes()
try:
    buf.copy_to_file("/dev/full")
except OSError as error:
    print(error)

with path.open("ab") as file:
    try:
        buf.copy_to_file(file)
    except ValueError as error:
        str(error).replace(str(path), "digits")

folder.cleanup()
