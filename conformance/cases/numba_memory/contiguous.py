# Whether the items of an array lie side by side, in row-major or in column-major order.
# environment: NUMBA_CUDA_MEMORY_MANAGER=pyarrow_cuda_compat.numba
# needs: numba.cuda
# shows: numba_memory, Device arrays
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.is_c_contiguous: whether the items lie in row-major
#     order without gaps
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.is_f_contiguous: whether the items lie in
#     column-major order without gaps
import numba.cuda
import numpy as np
from pyarrow import cuda

rows = numba.cuda.to_device(np.arange(12).reshape(3, 4))
columns = numba.cuda.to_device(np.asfortranarray(np.arange(12).reshape(3, 4)))
cuda.Context(0).bytes_allocated
rows.is_c_contiguous(), rows.is_f_contiguous()
columns.is_c_contiguous(), columns.is_f_contiguous()
rows[:, 1:3].is_c_contiguous(), rows[:, 1:3].is_f_contiguous()
rows[1:].is_c_contiguous(), rows[0].is_f_contiguous()
