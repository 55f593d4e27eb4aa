# Device memory with a type of its elements and a shape, as other libraries want it.
import numpy as np
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceTensor

ctx = cuda.Context(0)
host = np.arange(6, dtype=np.float32)
buf = ctx.buffer_from_data(host)
tensor = DeviceTensor(buffer=buf, typestr="<f4", shape=(2, 3))
(tensor.typestr, tensor.shape)
np.from_dlpack(tensor, device="cpu")
# All kinds of integers and floating-point numbers.
for typestr in ("|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8"):
    there = ctx.buffer_from_data(np.array([1, 0, 100]).astype(typestr))
    back = np.from_dlpack(DeviceTensor(there, typestr, (3,)), device="cpu")
    print(back.dtype.str, back)

# Less than there is, no dimension, and no element.
np.from_dlpack(DeviceTensor(buf, "<f4", [2]), device="cpu")
np.from_dlpack(DeviceTensor(buf.slice(8), "<f4", ()), device="cpu")
np.from_dlpack(DeviceTensor(buf, "<f4", (0, 7)), device="cpu")
# More than there is.
DeviceTensor(buf, "<f4", (7,))
DeviceTensor(buf, "<f4", (-1,))
DeviceTensor(buf, "<f4", (2**40, 2**40))
# What is no type, or another byte order.
DeviceTensor(buf, "complex", (1,))
DeviceTensor(buf, ">f4", (1,))
DeviceTensor(buf, "|b1", (1,))
# What is no memory of a device.
DeviceTensor(host, "<f4", (6,))
