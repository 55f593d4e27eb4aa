# Page-locked memory as the host's side of copies.
# shows: pyarrow_cuda
#   HostBuffer: the host's side of copies to and from the device
import numpy as np
from pyarrow import cuda

ctx = cuda.Context()
pinned = cuda.new_host_buffer(6)
np.frombuffer(pinned, np.uint8)[:] = list(b"pinned")
buf = ctx.buffer_from_data(pinned)
(buf.size, buf.to_pybytes())
buf.copy_from_host(pinned.slice(3), position=1)
buf.to_pybytes()
# Back into it, and the buffer that was given is what comes back.
back = cuda.new_host_buffer(8)
np.frombuffer(back, np.uint8)[:] = ord(".")
buf.copy_to_host(buf=back) is back
back.to_pybytes()
buf.copy_to_host(position=4, nbytes=2, buf=back).to_pybytes()
