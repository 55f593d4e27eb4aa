# Arrow arrays on the device as tensors: numbers without nulls, and lists of a fixed size.
import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import to_dlpack

ctx = cuda.Context(0)


def on_device(values, kind=None):
    return pa.array(values, kind).copy_to(ctx.memory_manager)


def read(tensor):
    return np.from_dlpack(tensor, device="cpu")


array = on_device([1.5, 2.5, 3.5, 4.5])
tensor = to_dlpack(array)
(tensor.typestr, tensor.shape, read(tensor))
# It is the array's memory, and keeps it.
tensor.__cuda_array_interface__["data"][0] - array.buffers()[1].address
part = to_dlpack(array=array.slice(1, 2))
part.__cuda_array_interface__["data"][0] - array.buffers()[1].address
del array
read(part)
read(to_dlpack(on_device([1, 2, 3], pa.uint16())))
# Lists of a fixed size are dimensions.
pairs = on_device([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int32(), 2))
read(to_dlpack(pairs))
read(to_dlpack(pairs.slice(1)))
# A tensor has no place for nulls; an array may have had some elsewhere.
array = on_device([1, None, 3, 4])
to_dlpack(array)
read(to_dlpack(array.slice(2)))
to_dlpack(on_device([[1, 2], None], pa.list_(pa.int32(), 2)))
# Single bits and texts are no elements of a tensor.
to_dlpack(on_device([True, False]))
to_dlpack(on_device(["text"]))
# Arrays of the host are tensors by themselves.
to_dlpack(pa.array([1, 2]))
to_dlpack([1, 2])
