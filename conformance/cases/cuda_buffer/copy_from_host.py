# From the host to the device: everything that fits, to a position, and so many bytes.
# shows: cuda_buffer, copy_from_host
#   CudaBuffer.copy_from_host: copies from the host into existing memory
#   CudaBuffer.copy_from_host(data): the source may be named
#   CudaBuffer.copy_from_host(position): where in this buffer the copy begins, in bytes
#   CudaBuffer.copy_from_host(nbytes): how many bytes to copy
#   CudaBuffer.copy_from_host(nbytes): default -1: the whole source, or as much as fits
#   CudaBuffer.copy_from_host: returns the number of bytes copied
from pyarrow import cuda

ctx = cuda.Context(0)


def fresh():
    return ctx.buffer_from_data(b"----------")


buf = fresh()

# The number of bytes copied comes back.
buf.copy_from_host(b"0123456789")
buf.to_pybytes()
buf = fresh()
(buf.copy_from_host(b"abc"), buf.to_pybytes())
buf = fresh()
(buf.copy_from_host(b"abc", position=4), buf.to_pybytes())
buf = fresh()
(buf.copy_from_host(b"abcdef", position=4, nbytes=2), buf.to_pybytes())
buf = fresh()
(buf.copy_from_host(b"abcdef", nbytes=2), buf.to_pybytes())
buf = fresh()
(buf.copy_from_host(data=b"abcdef", position=0, nbytes=-1), buf.to_pybytes())

# Until the buffer is full.
buf = fresh()
(buf.copy_from_host(b"0123456789ABCDEF"), buf.to_pybytes())
buf = fresh()
(buf.copy_from_host(b"abcdef", position=7), buf.to_pybytes())
(buf.copy_from_host(b"X", 9, 1), buf.to_pybytes())

# Nothing, and at the end.
buf = fresh()
(buf.copy_from_host(b""), buf.copy_from_host(b"abc", nbytes=0), buf.copy_from_host(b"abc", 10))
buf.to_pybytes()

# Into a slice: neighbours stay as they are.
part = buf.slice(3, 4)
(part.copy_from_host(b"0123456789"), buf.to_pybytes())
(part.copy_from_host(b"xyz", position=3), buf.to_pybytes())
