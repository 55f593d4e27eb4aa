# Several threads make large copies of ordinary memory; the program chooses how many.
# shows: additions, Copies by several threads
#   CudaBuffer.copy_from_host: several threads make large copies of pageable memory
#   transfer_limits: the limits of copies of pageable memory
#   set_transfer_limits: sets it for the copies to come
#   set_transfer_limits(threads): how many threads help; with 0 the driver makes all copies
#   set_transfer_limits(pinned_bytes): the most pinned memory that they use, in bytes
#   set_transfer_limits(begin_after): how many bytes the driver copies before they are started
import time
from pathlib import Path

import numpy as np
from pyarrow import cuda

from pyarrow_cuda_compat import set_transfer_limits, transfer_limits

ctx = cuda.Context(0)
set_transfer_limits()
machine = transfer_limits()
list(machine)
set_transfer_limits(threads=2)
transfer_limits()
set_transfer_limits(threads=2, pinned_bytes=1 << 20, begin_after=3 << 20)
transfer_limits()


def threads():
    """The names of the threads that help."""
    names = (path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm"))
    return sorted(name for name in names if name.startswith("cuda-copy"))


# The driver copies the first 3 MiB.
data = np.arange(500_000, dtype=np.uint32)
buf = ctx.buffer_from_data(data)
threads()
buf.copy_from_host(data[::-1].copy())
# A thread names itself once it runs.
while len(set(threads())) < 2:
    time.sleep(0.001)

threads()
back = np.frombuffer(buf.copy_to_host(), np.uint32)
bool((back == data[::-1]).all())
# The pinned memory is too little: the driver copies.
set_transfer_limits(threads=2, pinned_bytes=1000)
bool((np.frombuffer(buf.copy_to_host(), np.uint32) == back).all())
# The driver is to make all of them.
set_transfer_limits(threads=0)
transfer_limits()
buf.copy_from_host(data)
bool((np.frombuffer(buf.copy_to_host(), np.uint32) == data).all())
# Nothing is set when one of them is wrong.
set_transfer_limits(threads=-1)
set_transfer_limits(threads=257)
set_transfer_limits(pinned_bytes=-1)
set_transfer_limits(begin_after=-1)
set_transfer_limits(2)
transfer_limits()
set_transfer_limits()
transfer_limits() == machine
