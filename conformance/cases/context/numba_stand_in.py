# A context becomes a Numba context and back, with a stand-in for Numba that needs no GPU.
# shows: pyarrow_cuda, Context.from_numba
#   Context.from_numba(context): without a GPU: the same handle and device; Numba's current one by
#     default
# shows: pyarrow_cuda, Context.to_numba
#   Context.to_numba: without a GPU: the object that Numba already has for the device
import sys
from ctypes import c_void_p
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


class Gpus(list):
    current = None  # the device whose context is current in the thread


def current_context():
    asked.append("for the current one")
    return own


ctx, asked = cuda.Context(0), []
numba = ModuleType("numba.cuda")
numba.gpus, numba.current_context = Gpus([SimpleNamespace(id=0)]), current_context
own = Context(numba.gpus[0], Number(ctx.handle))
numba.gpus[0].get_primary_context = lambda: own
driver = ModuleType("numba.cuda.cudadrv.driver")
driver.Context, driver.binding = Context, SimpleNamespace(CUdeviceptr=Number)
sys.modules.update({module.__name__: module for module in (numba, driver)})
# Numba gets the object that it has already.
ctx.to_numba() is own
own.device is numba.gpus[0]
isinstance(own.handle, Number)
# The handle has a `value` whatever class it is of.
own.handle.value == int(own.handle) == ctx.handle
own.handle = c_void_p(ctx.handle)
ctx.to_numba() is own
type(own.handle), own.handle.value == ctx.handle
# Back it is the same context of the driver.
back = cuda.Context.from_numba(context=own)
type(back), back.handle == ctx.handle, back.device_number
back.to_numba() is own
cuda.Context.from_numba(Context(own.device, Number(ctx.handle))).handle == ctx.handle
# Numba is asked only when no context is given.
asked
cuda.Context.from_numba().handle == ctx.handle
cuda.Context.from_numba(None).device_number
asked
# One device of another driver, and no device at all.
own.handle = Number(ctx.handle + 8)
ctx.to_numba()
numba.gpus.clear()
ctx.to_numba()
# Without the binding there is nothing to make a pointer of.
driver.binding = None
ctx.to_numba()
