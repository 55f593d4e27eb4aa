# A device array that knows an array of the host to copy its elements back to.
# shows: additions, Numba's memory API
#   pyarrow_cuda_compat.memory.DeviceNDArray: the constructor of the Numba class
#   DeviceArray.to_host: copies to the array that DeviceNDArray was given for it
#   DeviceArray.to_host(stream): a stream to copy on
# shows: numba_memory, Device arrays
#   numba.cuda.cudadrv.devicearray.DeviceNDArray(writeback): the host array to write back to; none
#     by default
import numpy as np

from pyarrow_cuda_compat import memory

host = np.zeros((2, 3))
array = memory.DeviceNDArray(
    shape=host.shape, strides=host.strides, dtype=host.dtype, stream=0, writeback=host
)
array.fill(1.5)
host
array.to_host()
host
array[0] = 7
array.to_host(stream=memory.stream())
memory.synchronize()
host
# None by default, and none for views.
memory.DeviceNDArray(3, 8, "f8").to_host()
array[0].to_host()
# Over memory that is there.
memory.DeviceNDArray((6,), (8,), "f8", gpu_data=array.buffer).copy_to_host()
memory.DeviceNDArray((6,), (8, 8), "f8")
