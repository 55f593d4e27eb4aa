"""Pickles and copies of what lies on a device."""

import copy

import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray
from support.pickles import in_band, out_of_band
from support.samples import BATCH, CPU

from . import scenario


@scenario()
def buffers():
    buffer = cuda.Context().buffer_from_data(b"0123456789")
    for way in (in_band, out_of_band, copy.copy, copy.deepcopy):
        assert way(buffer).to_pybytes() == b"0123456789"


@scenario()
def batches():
    there = BATCH.copy_to(cuda.Context().memory_manager)
    assert in_band(there).copy_to(CPU).equals(BATCH)
    assert out_of_band(there).copy_to(CPU).equals(BATCH)
    column = copy.deepcopy(pa.table({"a": there.column(0)})).column(0)
    assert column.chunk(0).copy_to(CPU).to_pylist() == [1, None, 3]


@scenario()
def arrays():
    array = DeviceArray.from_host(np.arange(6).reshape(2, 3))
    assert in_band(array.T).copy_to_host().tolist() == [[0, 3], [1, 4], [2, 5]]
    assert copy.deepcopy(array[:, 1]).copy_to_host().tolist() == [1, 4]
    nulls = DeviceArray.from_arrow(pa.array([1, None]).copy_to(cuda.Context().memory_manager))
    assert in_band(nulls).null_count == 1
