# Buffers on two devices are equal when their bytes are.
# needs: two devices
# shows: additions, Device buffers
#   CudaBuffer.equals: equality of buffers on two devices
from pyarrow import cuda

here = cuda.Context(0).buffer_from_data(b"0123456789")
there = cuda.Context(1).buffer_from_data(b"0123456789")
(here.equals(there), there.equals(here))
there.copy_from_host(b"x", position=9)
(here.equals(there), here.slice(0, 9).equals(there.slice(0, 9)))
