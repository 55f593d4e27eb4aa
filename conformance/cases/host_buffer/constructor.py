# The constructor is not the way to page-locked memory.
from pyarrow import cuda

cuda.HostBuffer()
issubclass(cuda.HostBuffer, cuda.CudaBuffer)
