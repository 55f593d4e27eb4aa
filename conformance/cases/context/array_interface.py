# Objects with the CUDA array interface are viewed, whatever library made them.
# shows: pyarrow_cuda
#   Context.buffer_from_object: an object with the CUDA array interface: any shape, type and order
#     of contiguous elements; gaps are a ValueError
from pyarrow import cuda


class Array:
    def __init__(self, buffer, offset=0, **more):
        self.buffer = buffer
        self.__cuda_array_interface__ = {
            "shape": (8,),
            "typestr": "|u1",
            "data": (buffer.address + offset, False),
            "version": 3,
        } | more


ctx = cuda.Context()
memory = ctx.buffer_from_data(b"0123456789abcdef")
view = ctx.buffer_from_object(Array(memory))
(type(view), view.address == memory.address, view.is_mutable, view.to_pybytes())
view.copy_from_host(b"XY")
memory.slice(0, 4).to_pybytes()
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
