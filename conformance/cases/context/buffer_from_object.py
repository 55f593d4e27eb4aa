# Views of objects that the device can reach: no bytes are copied.
# shows: pyarrow_cuda
#   Context.buffer_from_object: a CudaBuffer over the object's memory, without a copy
#   Context.buffer_from_object(obj): a CudaBuffer, a HostBuffer or a generic buffer over device
#     memory
#   Context.buffer_from_object: an object without device memory raises an ArrowTypeError that names
#     its type
#   Context.buffer_from_object: an object with the CUDA array interface: any shape, type and order
#     of contiguous elements; gaps are a ValueError
import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
buf = ctx.buffer_from_data(b"0123456789")
same = ctx.buffer_from_object(obj=buf)
(same is buf, same.address == buf.address, same.size)
# A generic buffer over device memory.
generic = pa.Array.from_buffers(pa.uint8(), 10, [None, buf]).buffers()[1]
type(generic)
view = ctx.buffer_from_object(generic.slice(3, 4))
(type(view), view.address - buf.address, view.to_pybytes())
# Page-locked host memory.
pinned = cuda.new_host_buffer(4)
mapped = ctx.buffer_from_object(pinned)
(type(mapped), mapped.address == pinned.address, mapped.size, mapped.is_mutable)
mapped.copy_from_host(b"both"), pinned.to_pybytes()
del pinned
mapped.to_pybytes(), ctx.buffer_from_object(cuda.new_host_buffer(0)).size

# Objects without device memory are refused.
ctx.buffer_from_object(np.arange(3))
ctx.buffer_from_object(b"bytes")
ctx.buffer_from_object(None)
ctx.buffer_from_object(pa.py_buffer(b"host memory"))
try:
    ctx.buffer_from_object(b"bytes")
except pa.ArrowTypeError as error:
    isinstance(error, TypeError)


# Objects with the CUDA array interface are viewed, whatever library made them.
class Array:
    def __init__(self, buffer, offset=0, **more):
        self.buffer = buffer
        self.__cuda_array_interface__ = {
            "shape": (8,),
            "typestr": "|u1",
            "data": (buffer.address + offset, False),
            "version": 3,
        } | more


memory = ctx.buffer_from_data(b"0123456789abcdef")
view = ctx.buffer_from_object(Array(memory))
(type(view), view.address == memory.address, view.is_mutable, view.to_pybytes())
view.copy_from_host(b"XY"), memory.slice(0, 4).to_pybytes()
ctx.buffer_from_object(Array(memory, shape=(4,), typestr="<f4")).size
ctx.buffer_from_object(Array(memory, shape=(2, 3), typestr="<u2")).size
ctx.buffer_from_object(Array(memory, shape=())).size
ctx.buffer_from_object(Array(memory, shape=(2,), typestr="<U1")).size
# Strides may order the elements anyhow, if they lie side by side.
ctx.buffer_from_object(Array(memory, shape=(2, 3), strides=(3, 1))).size
ctx.buffer_from_object(Array(memory, shape=(2, 3), strides=(1, 2))).size
ctx.buffer_from_object(Array(memory, shape=(2, 2, 3), strides=(3, 6, 1))).size
back = ctx.buffer_from_object(Array(memory, 9, shape=(4,), strides=(-1,)))
(back.address - memory.address, back.to_pybytes())
ctx.buffer_from_object(Array(memory, strides=(2,)))
# Work on the stream that the interface names is waited for.
ctx.buffer_from_object(Array(memory, 10, shape=(6,), stream=1)).to_pybytes()
# An array of no elements is a buffer of no bytes; its address may be nothing.
ctx.buffer_from_object(Array(memory, shape=(0,))).size
ctx.buffer_from_object(Array(memory, shape=(0,), data=(None, False))).size
# The view keeps the object, and so its memory.
del memory
view.to_pybytes()
