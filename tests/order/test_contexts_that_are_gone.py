"""Nobody gets the addresses of memory whose context is gone, and which others may have by now."""

import pytest

CODE = """
from types import SimpleNamespace
import numpy as np
import pyarrow as pa
from pyarrow_cuda_compat import CudaBuffer, Context, _native
from support.driver import the_driver
from support.order import OTHERS, OWN
from support.refusals import check_refused
ctx = Context(0)
buffer = ctx.buffer_from_data(bytes(1000))
array = pa.Array.from_buffers(pa.uint8(), 1000, [None, buffer], null_count=0)
batch = pa.record_batch([array], ["a"])
table = pa.Table.from_batches([batch])
the_driver().call("cuDevicePrimaryCtxReset_v2", 0)
new = Context(0).buffer_from_data(bytes(1000))
handle = SimpleNamespace(value=2**40)
consumer = SimpleNamespace(pinned=np.zeros(1000, np.uint8), stream=handle, read=None)
readers = [*OWN.values(), *OTHERS.values()]
check_refused([
    *(lambda read=read: read(array, consumer) for read in readers),
    batch.__arrow_c_device_array__,
    lambda: next(iter(pa.RecordBatchReader.from_stream(table))),
    lambda: _native._computing([array], list),
], "Cuda error 201 ")
"""


@pytest.mark.simulator
def test_nothing_of_a_device_that_was_reset_leaves(run_python):
    assert run_python(CODE) == (0, "", "")
