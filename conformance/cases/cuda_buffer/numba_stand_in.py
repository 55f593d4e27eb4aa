# Device buffers become Numba pointers and back, with a stand-in for Numba that needs no GPU.
# shows: cuda_buffer, from_numba
#   CudaBuffer.from_numba(mem): without a GPU: the pointer and views of it, in place
#   CudaBuffer.from_numba: size 0: address 0
# shows: cuda_buffer, to_numba
#   CudaBuffer.to_numba: without a GPU: address, size and context; the buffer is its owner
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

    def view(self, start, stop):
        pointer = Number(self.device_pointer_value + start)
        return MemoryPointer(self.context, pointer, stop - start, owner=self.owner)


class Gpus(list):
    current = None  # the device whose context is current in the thread


ctx = cuda.Context(0)
own = Context(SimpleNamespace(id=0), Number(ctx.handle))
# A buffer keeps Numba's pointer, and so does a slice of it.
buf = ctx.buffer_from_data(b"Numba's")
mem = MemoryPointer(own, Number(buf.address), buf.size)
left, back = weakref.ref(mem), cuda.CudaBuffer.from_numba(mem)
part = back.slice(5)
del mem, back
_ = gc.collect()
left() is None, part.to_pybytes()
del part
_ = gc.collect()
left() is None
# All this imported no Numba module.
[name for name in sys.modules if name.split(".")[0] == "numba"]
# The other way needs one.
numba = ModuleType("numba.cuda")
numba.gpus = Gpus([own.device])
numba.gpus[0].get_primary_context = numba.current_context = lambda: own
driver = ModuleType("numba.cuda.cudadrv.driver")
driver.binding = SimpleNamespace(CUdeviceptr=Number)
driver.Context, driver.MemoryPointer = Context, MemoryPointer
sys.modules.update({module.__name__: module for module in (numba, driver)})
buf = ctx.buffer_from_data(b"sixteen  letters")
mem = buf.to_numba()
type(mem)
mem.device_pointer_value == buf.address, mem.size
mem.context is own
cuda.CudaBuffer.from_numba(mem=mem).to_pybytes()
cuda.CudaBuffer.from_numba(mem).address == buf.address
# A slice's pointer begins where the slice does, and so do views of it.
part = buf.slice(9, 6).to_numba()
part.device_pointer_value - buf.address, part.size
view = part.view(1, 4)
back = cuda.CudaBuffer.from_numba(view)
back.address - buf.address, back.size, back.to_pybytes()
back.copy_from_host(b"ETT")
buf.to_pybytes()
buf.copy_from_host(b"let", position=10)
back.copy_to_host().to_pybytes()
back.context.device_number, back.context.handle == ctx.handle, back.is_mutable, back.is_cpu
# A pointer keeps the buffer as its owner, which its views share.
mem.owner is buf
view.owner.to_pybytes()
del buf, back, part, mem
_ = gc.collect()
ctx.bytes_allocated
cuda.CudaBuffer.from_numba(view).to_pybytes()
del view
_ = gc.collect()
ctx.bytes_allocated
# No memory: no address, also where it is the end of some.
empty = ctx.new_buffer(0).to_numba()
empty.device_pointer_value, empty.size
cuda.CudaBuffer.from_numba(empty).address, cuda.CudaBuffer.from_numba(empty).size
end = cuda.CudaBuffer.from_numba(ctx.new_buffer(8).to_numba().view(8, 8))
end.address, end.to_pybytes()
