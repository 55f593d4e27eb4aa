# An Arrow array on a device is a tensor for other libraries, as it is.
# shows: additions, Device arrays and Arrow
#   pyarrow.Array.__dlpack__: numbers on a device are tensors without a copy, fixed-size lists add
#     dimensions
#   pyarrow.Array.__dlpack__: arrays with nulls, and values that are not numbers, are refused with
#     the way to their memory
#   pyarrow.Array.__dlpack__: arrays of the host remain as they are
#   pyarrow.Array.__dlpack_device__: CUDA, and the device's number
import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray, from_dlpack

mm = cuda.Context(0).memory_manager
array = pa.array([1, 2, 3, 4], pa.int32()).copy_to(mm)
array.__dlpack_device__()
tensor = from_dlpack(array)
(tensor.dtype, tensor.shape, tensor.address == array.buffers()[1].address)
np.from_dlpack(array, device="cpu")
np.from_dlpack(array.slice(1, 2), device="cpu")
tensor[0] = 9
array.copy_to(pa.default_cpu_memory_manager()).to_pylist()
lists = pa.array([[1.5, 2.5], [3.5, 4.5]], pa.list_(pa.float32(), 2)).copy_to(mm)
from_dlpack(lists).shape
kind = pa.fixed_shape_tensor(pa.int8(), [2, 3], permutation=[1, 0])
tensors = pa.ExtensionArray.from_storage(kind, pa.array([range(6)], pa.list_(pa.int8(), 6)))
(DeviceArray.from_arrow(tensors).shape, from_dlpack(tensors.copy_to(mm)).shape)
# The error for an array that is not a tensor says what to do.
pa.array([1, None]).copy_to(mm).__dlpack__()
pa.array(["text"]).copy_to(mm).__dlpack__()
pa.array([True]).copy_to(mm).__dlpack__()
pa.array([[1]]).copy_to(mm).__dlpack__()
pa.array([1], pa.timestamp("s")).copy_to(mm).__dlpack__()
array.__dlpack__(stream=0)
# On the host pyarrow's own methods work as ever.
np.from_dlpack(pa.array([1, 2]))
