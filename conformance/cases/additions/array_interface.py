# Device buffers and arrays have the CUDA array interface themselves.
# shows: additions, Device arrays
#   DeviceArray.__cuda_array_interface__: dtype, shape and strides in the interface
# shows: additions, CUDA array interface
#   CudaBuffer.__cuda_array_interface__: a buffer is an array of bytes, of version 3
#   CudaBuffer.__cuda_array_interface__: read-only memory is marked as read-only
import pickle
import weakref

from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray, memory

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(bytes(range(24)))


def show(thing):
    interface = dict(thing.__cuda_array_interface__)
    address, read_only = interface.pop("data")
    return address - buf.address, read_only, interface


show(buf)
show(buf.slice(8, 4))
show(DeviceArray(buf.slice(4), "<i2", (2, 5)))
show(DeviceArray(buf.slice(4), "<i2", (2, 5))[::-1, ::2])
show(DeviceArray(buf, "<i2, <f4", (4,)))
ctx.new_buffer(0).__cuda_array_interface__["data"]


# Memory that its owner calls read-only is marked as read-only.
class ReadOnly:
    __cuda_array_interface__ = buf.__cuda_array_interface__ | {"data": (buf.address, True)}


view = ctx.buffer_from_object(ReadOnly())
show(view)
show(DeviceArray(view, "<i2", (2, 5)))

copy = DeviceArray.empty(24, "u1")
copy[:] = ReadOnly()
copy.copy_to_host()[22:]
[each.is_mutable for each in (view, view.__copy__(), pickle.loads(pickle.dumps(view)))]
DeviceArray(view, "u1")
owner = ReadOnly()
kept, taken = weakref.ref(owner), memory.as_cuda_array(owner)
del owner
kept() is not None
# Who takes it has the same memory.
again = ctx.buffer_from_object(DeviceArray(buf, "<f8", (3,)))
(again.address - buf.address, again.size)
