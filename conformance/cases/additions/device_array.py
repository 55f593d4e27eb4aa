# Device memory as an array: a buffer with a dtype, a shape and strides, or new memory.
# shows: additions, Device arrays
#   DeviceArray: device memory with a dtype, a shape and strides
#   DeviceArray(obj): a buffer, or an array of another library
#   DeviceArray(dtype): the type of the elements: any NumPy dtype of a fixed size
#   DeviceArray(shape): the number of elements in each dimension; by default as many as the buffer
#     has
#   DeviceArray(strides): the distance between neighbours, in bytes, of either sign
#   DeviceArray(offset): where the first element begins, in bytes
#   DeviceArray: elements outside the buffer, objects and strings are refused
#   DeviceArray.empty: a new array, uninitialised
#   DeviceArray.empty(shape): the number of elements in each dimension
#   DeviceArray.empty(dtype): the type of the elements; float64 by default
#   DeviceArray.empty(order): which dimension is the densest
#   DeviceArray.empty(context): where to allocate; the first device by default
#   DeviceArray.from_host(array): anything that NumPy makes an array of
#   DeviceArray.from_host(order): the order on the device; by default that of the host
#   DeviceArray.from_host(context): where to copy it
#   DeviceArray.dtype: the type of the elements
#   DeviceArray.shape: the number of elements in each dimension
#   DeviceArray.strides: the distance between neighbours, in bytes
#   DeviceArray.ptr: the same address, by the name that C functions are passed it
#   DeviceArray.context: the context of the memory
#   DeviceArray.is_mutable: read-only memory stays read-only
import numpy as np
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray

ctx = cuda.Context(0)
host = np.arange(6, dtype=np.float32)
buf = ctx.buffer_from_data(host)
array = DeviceArray(obj=buf, dtype=np.float32, shape=(2, 3))
(array.dtype, array.shape, array.strides, array.address - buf.address)
array.copy_to_host()
# As many elements as there are, and some of them: strides and offset are in bytes.
DeviceArray(buf, "<i2").shape, DeviceArray(buf, "<i2", offset=4).shape
DeviceArray(buf, "<f4", shape=2, strides=(-12,), offset=16).copy_to_host()
# No dimension, and no element.
DeviceArray(buf.slice(8), "<f4", ()).copy_to_host()
DeviceArray(buf, "<f4", (0, 7)).copy_to_host()
# In memory of its own.
new = DeviceArray.empty(shape=(2, 3), dtype=np.int16, order="F", context=ctx)
(new.strides, new.buffer.size, new.context.device_number, new.is_mutable)
DeviceArray.empty(3).dtype
DeviceArray.from_host(array=[[1, 2], [3, 4]], context=ctx, order="F").strides


# An array of another library, as that describes it.
class Theirs:
    def __init__(self, array, **entries):
        self.__cuda_array_interface__ = array.__cuda_array_interface__ | entries


theirs = DeviceArray(Theirs(array, shape=(2, 2), strides=(12, 8), data=(buf.address, True)))
(theirs.copy_to_host().tolist(), theirs.ptr - buf.address, theirs.is_mutable)
theirs[0] = 1
# More than there is.
DeviceArray(buf, "<f4", (7,))
DeviceArray(buf, "<f4", (2,), (24,))
DeviceArray(buf, "<f4", (-1,))
DeviceArray(buf, "<f4", (2**40, 2**40))
# Types that elements cannot have.
DeviceArray(buf)
DeviceArray(buf, "x4")
DeviceArray(buf, object)
DeviceArray(buf, "<U3")
# Objects that are not device memory, or that have a type already.
DeviceArray(host)
DeviceArray(array, "<i4")
# Contexts that there are not; the numbers of devices are integers.
DeviceArray.empty(3, context=True)
try:
    DeviceArray.empty(3, context=1000)
except ValueError as error:
    print(str(error).partition(":")[0])
