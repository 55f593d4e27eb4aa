# NumPy's arrays of any type and order come back as they were, in one copy.
# shows: additions, Device arrays
#   DeviceArray.from_host: a copy of an array of the host, of every dtype and order
#   DeviceArray.copy_to_host: a new array of the host, or one that is filled
#   DeviceArray.copy_to_host(stream): the stream to queue the copy on
#   DeviceArray.__array__: NumPy converts the array, with one copy
#   DeviceArray.astype: refused, with the ways to convert elements
import numpy as np
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray, Stream, new_host_buffer

for dtype in ("i1", "u8", "f2", "f8", "c8", "c16", "?", ">i4", "M8[ms]", "m8[s]", "V3", "i4, f8"):
    host = np.arange(96, dtype=np.uint8).astype("?").view("u1").repeat(2)[:96].view(dtype)
    back = DeviceArray.from_host(host).copy_to_host()
    print(back.dtype, back.tobytes() == host.tobytes())

fortran = np.asfortranarray(np.arange(6).reshape(2, 3))
array = DeviceArray.from_host(fortran)
(array.strides, array.copy_to_host().flags.f_contiguous)
out = np.zeros((2, 6), np.int64)[:, ::2]
array.copy_to_host(out) is out
out
np.asarray(array[:, 1]).tolist()
np.asarray(array, dtype=np.float32).dtype
# On a stream, into pinned memory.
stream = Stream(cuda.Context(0))
pinned = np.frombuffer(new_host_buffer(48), np.int64).reshape(2, 3)
array.copy_to_host(pinned, stream=stream) is pinned
stream.synchronize()
pinned
# What NumPy could not do without a copy, or not at all.
np.array(array, copy=False)
DeviceArray.from_host(np.array(["text"]))
DeviceArray.from_host([object()])
array.copy_to_host(np.zeros((3, 2), np.int64))
array.copy_to_host(np.zeros((2, 3)))
array.copy_to_host(np.frombuffer(bytes(48), np.int64).reshape(2, 3))
array.astype(np.float32)
