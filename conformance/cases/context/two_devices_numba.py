# Contexts of two devices as Numba's, the second being current; with a stand-in for Numba.
# needs: two devices
# shows: cuda_buffer, from_numba
#   CudaBuffer.from_numba: the device of the memory is that of the pointer's context
# shows: cuda_buffer, to_numba
#   CudaBuffer.to_numba: its context is that of the buffer's device
# shows: pyarrow_cuda, Context.from_numba
#   Context.from_numba: Numba's current one may be of another device than the first
# shows: pyarrow_cuda, Context.to_numba
#   Context.to_numba: each device's own
import sys
from types import ModuleType, SimpleNamespace

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


class Gpu:
    def __init__(self, number):
        self.id, self.context = number, Context(self, Number(cuda.Context(number).handle))

    def get_primary_context(self):
        return self.context


numba = ModuleType("numba.cuda")
numba.gpus = Gpus([Gpu(0), Gpu(1)])
numba.current_context = lambda: (numba.gpus.current or numba.gpus[0]).context
driver = ModuleType("numba.cuda.cudadrv.driver")
driver.Context, driver.MemoryPointer = Context, MemoryPointer
driver.binding = SimpleNamespace(CUdeviceptr=Number)
sys.modules.update({module.__name__: module for module in (numba, driver)})
one, two = cuda.Context(0), cuda.Context(1)
# Each device has its own.
two.to_numba() is numba.gpus[1].context
one.to_numba() is numba.gpus[0].context
cuda.Context.from_numba(two.to_numba()).device_number
cuda.Context.from_numba(two.to_numba()).handle == two.handle
# With none, the one that Numba works in now.
cuda.Context.from_numba().device_number
numba.gpus.current = numba.gpus[1]
cuda.Context.from_numba().device_number
cuda.Context.from_numba(None).handle == two.handle
# A context that is given does not depend on it.
cuda.Context.from_numba(one.to_numba()).device_number
# Memory is of the device that it was allocated on.
mem = two.buffer_from_data(b"on the second").to_numba()
mem.context is numba.gpus[1].context
one.buffer_from_data(b"on the first").to_numba().context.device.id
numba.gpus.current = numba.gpus[0]
buf = cuda.CudaBuffer.from_numba(mem)
buf.context.device_number, buf.context.handle == two.handle
buf.to_pybytes()
# A pointer that leaves the context open is of the current one.
numba.gpus.current, mem.context = numba.gpus[1], None
cuda.CudaBuffer.from_numba(mem).context.device_number
