# Buffers have no hash, and can be referenced weakly.
# shows: cuda_buffer, class
#   CudaBuffer: it cannot be hashed, and can be referenced weakly
import weakref

from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
hash(buf)
reference = weakref.ref(buf)
reference() is buf
gone = []
finalizer = weakref.finalize(buf, gone.append, "gone")
part = buf.slice(2)
del buf
(reference() is None, gone)

# The memory itself stays for the slice.
(ctx.bytes_allocated, part.to_pybytes())
try:
    part.note = "no attributes of its own"
except AttributeError:
    "AttributeError"
