# DLPack with a copy, where one is asked for or needed, and without.
# shows: additions, DLPack
#   CudaBuffer.__dlpack__(copy): always a copy, or never
#   CudaBuffer.__dlpack__(dl_device): on the host, or on another device
#   from_dlpack(copy): always a copy, or never
import numpy as np
from pyarrow import cuda

from pyarrow_cuda_compat import from_dlpack

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
# Without a copy it is the same memory.
for copy in (None, False):
    print(from_dlpack(buf.__dlpack__(copy=copy)).address - buf.address)
    print(from_dlpack(buf, copy=copy).address - buf.address)

# With one it is the consumer's own.
before = ctx.bytes_allocated
given = from_dlpack(buf.__dlpack__(copy=True))
taken = from_dlpack(buf, copy=True)
ctx.bytes_allocated - before
buf.copy_from_host(b"changed")
(given.buffer.to_pybytes(), taken.buffer.to_pybytes())
del given, taken
ctx.bytes_allocated - before
# The host is a device as well, of type 1. The result there is always a copy.
np.from_dlpack(buf, device="cpu").tobytes()
buf.__dlpack__(dl_device=(1, 0), copy=False)
from_dlpack(np.arange(3))
# Other devices than CUDA's have no part in this, nor have devices that are not there.
buf.__dlpack__(dl_device=(4, 0))
buf.__dlpack__(dl_device=(2, 99))
