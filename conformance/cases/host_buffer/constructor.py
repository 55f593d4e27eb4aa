# The constructor is not the way to page-locked memory.
# shows: pyarrow_cuda, HostBuffer
#   HostBuffer: the constructor is refused, and names the function to use
from pyarrow import cuda

cuda.HostBuffer()
issubclass(cuda.HostBuffer, cuda.CudaBuffer)
