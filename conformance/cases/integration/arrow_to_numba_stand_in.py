# The attributes of a device buffer that a Numba array needs, with a stand-in that needs no GPU.
# shows: integration, Arrow to Numba
#   CudaBuffer.to_numba: without a GPU: the pointer has address, size and context of the buffer
#   CudaBuffer.to_numba: without a GPU: an array over the pointer shares the buffer's memory, and
#     retains it
import gc
import sys
from types import ModuleType, SimpleNamespace

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


class Gpus(list):
    current = None  # the device whose context is current in the thread


class DeviceNDArray:
    """The address and layout that other libraries see of a Numba array."""

    def __init__(self, shape, strides, dtype, gpu_data):
        place = (gpu_data.device_pointer_value, False)
        self.__cuda_array_interface__ = dict(
            data=place, shape=shape, strides=strides, typestr=dtype.str, version=2
        )
        self.gpu_data = gpu_data


ctx = cuda.Context(0)
numba = ModuleType("numba.cuda")
numba.gpus = Gpus([SimpleNamespace(id=0)])
own = Context(numba.gpus[0], Number(ctx.handle))
numba.gpus[0].get_primary_context = numba.current_context = lambda: own
driver = ModuleType("numba.cuda.cudadrv.driver")
driver.binding = SimpleNamespace(CUdeviceptr=Number)
driver.Context, driver.MemoryPointer = Context, MemoryPointer
sys.modules.update({module.__name__: module for module in (numba, driver)})
host = np.array([7, -3, 0, 250, 99], dtype=np.int32)
buf = ctx.buffer_from_data(host)
array = DeviceNDArray(host.shape, host.strides, host.dtype, gpu_data=buf.to_numba())
array.gpu_data.context is own
array.gpu_data.size == host.nbytes
array.gpu_data.device_pointer_value == buf.address
# Through the array it is the buffer's memory, not a copy.
seen = ctx.buffer_from_object(array)
np.frombuffer(seen.copy_to_host(), dtype=np.int32)
seen.copy_from_host(host + 10)
np.frombuffer(buf.copy_to_host(), dtype=np.int32)
buf.copy_from_host(np.array([1, 2], dtype=np.int32))
np.frombuffer(seen.copy_to_host(), dtype=np.int32)
ctx.bytes_allocated
# The array keeps the memory when no buffer is left.
del buf, seen
_ = gc.collect()
ctx.bytes_allocated
np.frombuffer(ctx.buffer_from_object(array).copy_to_host(), dtype=np.int32)
del array
_ = gc.collect()
ctx.bytes_allocated
