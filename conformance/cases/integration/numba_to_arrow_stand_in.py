# Memory that belongs to Numba as a device buffer, with a stand-in that works without a GPU.
# shows: integration, Numba to Arrow
#   CudaBuffer.from_numba: without a GPU: the buffer is the pointer's memory, and its context that
#     of the pointer
#   CudaBuffer.from_numba: without a GPU: the buffer and its slices retain Numba's pointer
#   CudaBuffer.size: without a GPU: the size of the Numba memory in bytes
#   CudaBuffer.address: without a GPU: the address of the Numba memory
#   Context.device_number: without a GPU: the device of the Numba context
#   CudaBuffer.copy_to_host: without a GPU: the copy on the host has the values of the Numba memory
import gc
import sys
import weakref
from types import SimpleNamespace

import numpy as np
from pyarrow import cuda


class Number:
    """A handle or an address as Numba has them: an object that gives an integer."""

    def __init__(self, number):
        self.number = number

    def __int__(self):
        return self.number


class Context:
    def __init__(self, device, handle):
        self.device, self.handle = device, handle


class MemoryPointer:
    def __init__(self, context, pointer, size, owner=None):
        self.context, self.size, self.owner = context, size, owner
        self.device_pointer_value = int(pointer) or None

    def view(self, start, stop):
        pointer = Number(self.device_pointer_value + start)
        return MemoryPointer(self.context, pointer, stop - start, owner=self.owner)


ctx = cuda.Context(0)
own = Context(SimpleNamespace(id=0), Number(ctx.handle))
# Numba's memory, as far as the buffer can know.
values = ctx.buffer_from_data(np.arange(20, 26, dtype=np.int32))
mem = MemoryPointer(own, Number(values.address), values.size)
buf = cuda.CudaBuffer.from_numba(mem)
type(buf)
buf.size, buf.address == mem.device_pointer_value
buf.context.device_number, buf.context.handle == ctx.handle
buf.is_mutable, buf.is_cpu
np.frombuffer(buf.copy_to_host(), dtype=np.int32)
# It is that memory, in both directions, and nothing is allocated for it.
buf.copy_from_host(np.array([5], dtype=np.int32), position=4)
np.frombuffer(values.copy_to_host(), dtype=np.int32)
values.copy_from_host(np.array([-1], dtype=np.int32))
np.frombuffer(buf.copy_to_host(), dtype=np.int32)
ctx.bytes_allocated
# A part of the array.
third = cuda.CudaBuffer.from_numba(mem.view(8, 12))
third.address - buf.address, third.to_pybytes()
# The buffer keeps Numba's pointer, and so does a slice of it.
left = weakref.ref(mem, lambda _: print("Numba may free it"))
part = buf.slice(16)
del mem
_ = gc.collect()
left() is None
del buf
_ = gc.collect()
left() is None
np.frombuffer(part.copy_to_host(), dtype=np.int32)
del part
_ = gc.collect()
left() is None
# All this imported no Numba module.
[name for name in sys.modules if name.split(".")[0] == "numba"]
