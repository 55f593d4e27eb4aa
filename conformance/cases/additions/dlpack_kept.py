# Memory that passes by DLPack or by the array interface is kept by whoever has it last.
# shows: additions, DLPack
#   CudaBuffer.__dlpack__: the capsule and the consumer of the tensor retain the memory
import gc

import numpy as np
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray, from_dlpack

ctx = cuda.Context(0)


def kept(make):
    """How many of 1000 bytes stay when the buffer goes, then a part of the result's, then all."""
    before = ctx.bytes_allocated
    result = make(ctx.buffer_from_data(bytes(1000)))
    gc.collect()
    counts = [ctx.bytes_allocated - before]
    if isinstance(result, (cuda.CudaBuffer, DeviceArray)):
        result = result[2:3]
        counts.append(ctx.bytes_allocated - before)
    del result
    gc.collect()
    return [*counts, ctx.bytes_allocated - before]


# A capsule that nobody takes, in both forms.
kept(lambda buf: buf.__dlpack__())
kept(lambda buf: buf.__dlpack__(max_version=(1, 0)))
# A view of a view.
kept(from_dlpack)
kept(lambda buf: from_dlpack(buf.__dlpack__()))
kept(lambda buf: from_dlpack(DeviceArray(buf, "<i4", (5, 5))))
kept(lambda buf: ctx.buffer_from_object(DeviceArray(buf, "<i4", (5, 5))))
kept(lambda buf: DeviceArray(buf, "<i4", (5, 5)))
# A copy on the host needs nothing of the device.
kept(lambda buf: np.from_dlpack(buf, device="cpu"))
