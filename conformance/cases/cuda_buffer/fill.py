# Bytes of a buffer are set to a value.
# shows: additions, Device buffers
#   CudaBuffer.fill: sets bytes of a buffer to a value
#   CudaBuffer.fill(value): the value, from 0 to 255
#   CudaBuffer.fill(position): where to begin, in bytes; 0 by default
#   CudaBuffer.fill(nbytes): how many bytes to set; by default all from the position on
from pyarrow import cuda

from pyarrow_cuda_compat import Stream

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
buf.fill(value=ord("-"), position=7)
buf.fill(ord("x"), position=1, nbytes=3)
buf.fill(ord("."), position=5, nbytes=0)
buf.fill(ord("."), position=10)
buf.to_pybytes()
buf.slice(4, 2).fill(255)
buf.to_pybytes()
stream = Stream(ctx)
buf.fill(0, nbytes=2, stream=stream)
stream.synchronize()
buf.to_pybytes()
# Refused: what is no byte, parts that there are not, memory that must not change.
buf.fill(256)
buf.fill(-1)
buf.fill("x")
buf.fill(0, 1)
buf.fill(0, position=11)
buf.fill(0, position=-1)
buf.fill(0, position=3, nbytes=8)


class ReadOnly:
    __cuda_array_interface__ = buf.__cuda_array_interface__ | {"data": (buf.address, True)}


ctx.buffer_from_object(ReadOnly()).fill(0)
buf.to_pybytes()
