"""DLPack: exports and imports."""

import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray, Stream, from_dlpack

from . import scenario

HOST = np.arange(6.0).reshape(2, 3)


@scenario()
def both_ways():
    array = DeviceArray.from_host(HOST)
    assert (from_dlpack(array).copy_to_host() == HOST).all()
    assert (from_dlpack(array.__dlpack__(max_version=(1, 0))).copy_to_host() == HOST).all()
    array.__dlpack__()  # nobody takes it
    buffer = cuda.Context().buffer_from_data(b"abc")
    assert from_dlpack(buffer).copy_to_host().tobytes() == b"abc"
    there = pa.array([1, 2]).copy_to(cuda.Context().memory_manager)
    assert from_dlpack(there).copy_to_host().tolist() == [1, 2]


@scenario()
def copies():
    ctx = cuda.Context()
    array = DeviceArray.from_host(HOST)
    assert (from_dlpack(array, copy=True).copy_to_host() == HOST).all()
    assert (from_dlpack(array, device=ctx, copy=True).T.copy_to_host() == HOST.T).all()
    assert (np.from_dlpack(array, device="cpu") == HOST).all()


@scenario()
def with_streams():
    ctx = cuda.Context()
    array, stream = DeviceArray.from_host(HOST), Stream(ctx)
    array.buffer.fill(0, stream=stream)
    for consumer in (stream.handle, 1, -1):
        capsule = array.__dlpack__(stream=consumer)
        assert not from_dlpack(capsule).copy_to_host().any()
