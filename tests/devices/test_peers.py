"""Each way from one device to another one gives the devices access to each other's memory, once."""

import pytest

PREPARE = """
import pyarrow as pa
from pyarrow import cuda
from pyarrow_cuda_compat import DeviceArray, Stream
import numpy as np
from support.driver import the_driver

first, second = cuda.Context(0), cuda.Context(1)
count = the_driver().library.cuda_sim_call_count
host = np.arange(24, dtype=np.int32).reshape(4, 6)
here = first.buffer_from_data(host)
there = second.new_buffer(host.nbytes)
assert count(b"cuCtxEnablePeerAccess") == 0
"""

CHECK = """
assert count(b"cuCtxEnablePeerAccess") == 2, count(b"cuCtxEnablePeerAccess")
"""

WAYS = {
    "copy": """
        there.copy_from_device(here)
        assert there.copy_to_host().equals(here.copy_to_host())
    """,
    "a copy on a stream": """
        stream = Stream(second, non_blocking=True)
        there.copy_from_device(here, stream=stream)
        stream.synchronize()
        assert there.copy_to_host().equals(here.copy_to_host())
    """,
    "comparison": "assert not here.equals(there)",
    "an array with gaps": """
        columns = DeviceArray(here, np.int32, (4, 6))[:, ::2]
        copy = DeviceArray(there, np.int32, (4, 6))
        copy[:, ::2] = columns
        assert (copy[:, ::2].copy_to_host() == host[:, ::2]).all()
    """,
    "Arrow": """
        array = pa.array([1, None, 3]).copy_to(first.memory_manager)
        copy = array.copy_to(second.memory_manager)
        assert copy.copy_to(pa.default_cpu_memory_manager()).to_pylist() == [1, None, 3]
    """,
    "writing to a file": """
        cuda.BufferWriter(there).write(here)
        assert there.copy_to_host().equals(here.copy_to_host())
    """,
}


@pytest.mark.simulator
@pytest.mark.parametrize("way", WAYS)
def test_access_is_enabled(run_python, other_ctx, way):
    lines = "\n".join(line.strip() for line in WAYS[way].splitlines())
    code, _out, err = run_python(f"{PREPARE}{lines}{CHECK}")
    assert code == 0, err
