# From one device buffer to another: everything that fits, to a position, and so many bytes.
# shows: cuda_buffer, copy_from_device
#   CudaBuffer.copy_from_device: copies from another buffer on the device
#   CudaBuffer.copy_from_device(buf): the source, a device buffer
#   CudaBuffer.copy_from_device(position): where in this buffer the copy begins, in bytes
#   CudaBuffer.copy_from_device(nbytes): how many bytes to copy
#   CudaBuffer.copy_from_device(nbytes): default -1: the whole source, or as much as fits
#   CudaBuffer.copy_from_device: returns the number of bytes copied
#   CudaBuffer.copy_from_device(buf): objects that are not device buffers are refused
#   CudaBuffer.copy_from_device(position): positions outside the buffer are refused
#   CudaBuffer.copy_from_device(nbytes): more bytes than the source has, or than fit, are refused
# shows: additions, Device buffers
#   CudaBuffer.copy_from_device: copies within one buffer, overlapping or not
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
source = ctx.buffer_from_data(b"0123456789")


def copied(*arguments, **options):
    """How many bytes were copied into a buffer of dashes, and what it holds then."""
    buf = ctx.buffer_from_data(b"--------")
    return buf.copy_from_device(*arguments, **options), buf.to_pybytes()


# The number of bytes copied comes back.
buf = ctx.new_buffer(10)
buf.copy_from_device(source), buf.to_pybytes(), copied(buf=source.slice(0, 3))
copied(source.slice(2, 3), position=4), copied(source, position=4, nbytes=2)
# Until the buffer is full.
copied(source, nbytes=2), copied(source, position=0, nbytes=-1), copied(source, position=5)
# Nothing, and at the end.
copied(source, 7, 1), copied(source, nbytes=0), copied(source, position=8)
copied(ctx.new_buffer(0), position=3)
# Into a slice; within one buffer, even where the parts overlap.
buf = ctx.buffer_from_data(b"--------")
buf.slice(2, 3).copy_from_device(source), buf.to_pybytes()
moved = ctx.buffer_from_data(b"0123456789")
(moved.copy_from_device(moved.slice(0, 6), position=2), moved.to_pybytes())
moved = ctx.buffer_from_data(b"0123456789")
(moved.copy_from_device(moved.slice(3)), moved.to_pybytes())
large = bytes(range(256)) * 4096
moved = ctx.buffer_from_data(large)
moved.copy_from_device(moved, position=1, nbytes=len(large) - 1)
moved.to_pybytes() == large[:1] + large[:-1]
# The source is as it was, and the copy does not follow it.
source.to_pybytes(), buf.copy_from_device(source), source.copy_from_host(b"x" * 10)
buf.to_pybytes()

# Arguments that a copy on the device refuses; then it writes nothing.
whole = ctx.buffer_from_data(b"0123456789abcdef")
buf = whole.slice(3, 10)
source = ctx.buffer_from_data(b"xyz")
buf.copy_from_device(source, position=-1)
buf.copy_from_device(source, position=11)
buf.copy_from_device(source, nbytes=4)
buf.copy_from_device(source, position=8, nbytes=3)
buf.copy_from_device(ctx.new_buffer(20), nbytes=11)
buf.copy_from_device(source, nbytes=2.0)
buf.copy_from_device(buf=None)
buf.copy_from_device(b"xyz")
buf.copy_from_device(cuda.new_host_buffer(3))
cuda.CudaBuffer.from_buffer(pa.Buffer.slice(whole, 0)).copy_from_device(source)
whole.to_pybytes()
# Any negative number of bytes stands for as many as fit.
buf.copy_from_device(source, position=8, nbytes=-9), whole.to_pybytes()
