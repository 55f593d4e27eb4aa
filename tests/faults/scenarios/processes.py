"""Memory that is shared between processes."""

import pickle
from functools import cache

import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray, IpcArrayHandle
from support.peer import Peer

from . import scenario


@cache
def handle():
    """The handle of another process's memory; that process ends with this one."""
    peer = Peer(CUDA_SIM_FAULT="")
    peer("shared = ctx.buffer_from_data(b'from the peer')")
    return bytes.fromhex(peer("exported(shared)"))


@scenario(prepare=handle)
def imports():
    opaque = cuda.IpcMemHandle.from_buffer(pa.py_buffer(handle()))
    shared = cuda.Context().open_ipc_buffer(opaque)
    assert shared.slice(5).to_pybytes() == b"the peer"
    again = cuda.Context().open_ipc_buffer(opaque)
    assert again.address == shared.address
    del shared
    assert again.to_pybytes() == b"from the peer"


# Memory that was exported stays allocated.
@scenario(keeps={"allocations": 1, "bytes on 0": 10})
def exports():
    buffer = cuda.Context().buffer_from_data(b"for others")
    whole, part = (each.export_for_ipc().serialize() for each in (buffer, buffer.slice(4)))
    assert whole.slice(8, 64) == part.slice(8, 64)


@scenario(keeps={"allocations": 1, "bytes on 0": 48})
def exported_arrays():
    array = DeviceArray.from_host(np.arange(6).reshape(2, 3))
    there = pickle.loads(pickle.dumps(array[1].export_for_ipc()))
    assert isinstance(there, IpcArrayHandle)
    assert there.shape == (3,)
