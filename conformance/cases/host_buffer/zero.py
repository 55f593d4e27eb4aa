# Page-locked memory of no bytes.
# shows: pyarrow_cuda
#   new_host_buffer(size): a size of 0 is possible
import numpy as np
from pyarrow import cuda

ctx = cuda.Context()
empty = cuda.new_host_buffer(size=0)
(type(empty), empty.size, empty.is_cpu, empty.to_pybytes())
np.frombuffer(memoryview(empty), np.uint8).size
ctx.buffer_from_data(empty).size
ctx.new_buffer(0).copy_to_host(buf=empty).size
ctx.new_buffer(4).copy_from_host(empty)
empty.slice().size
