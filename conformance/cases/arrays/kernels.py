# Kernels of Numba take Arrow arrays and device arrays with gaps, and Numba's arrays become Arrow's.
# needs: gpu, numba kernels
# shows: additions, Device arrays and Arrow
#   numba.cuda: kernels take Arrow arrays as they are, and their results become Arrow arrays
# shows: integration, Arrow to Numba
#   pyarrow.Array.copy_to: an Arrow array is copied to the device and passed to a kernel with its
#     type, and no array is made by hand (not yet possible there)
import warnings

import numba.cuda
import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray

# Numba finds so few blocks worth a warning.
warnings.simplefilter("ignore")


@numba.cuda.jit
def increment_by_one(an_array):
    pos = numba.cuda.grid(1)
    if pos < an_array.size:
        an_array[pos] += 1


ctx = cuda.Context(0)
host = pa.default_cpu_memory_manager()
column = pa.array([1, 2, 3], pa.int32()).copy_to(ctx.memory_manager)
increment_by_one[16, 16](column)
column.copy_to(host).to_pylist()
matrix = DeviceArray.from_host(np.zeros((3, 4)))
increment_by_one[16, 16](matrix[:, 1])
increment_by_one[16, 16](matrix[2, ::-2])
matrix.copy_to_host()
seconds = DeviceArray.from_arrow(pa.array([0, 59], pa.timestamp("s")))
increment_by_one[16, 16](seconds)
seconds.to_arrow().copy_to(host).to_pylist()
made = numba.cuda.to_device(np.arange(3, dtype=np.uint8))
increment_by_one[16, 16](made)
array = DeviceArray(made).to_arrow()
(array.type, array.copy_to(host).to_pylist())
