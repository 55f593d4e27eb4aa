"""pylibcudf's stand-in for a process that imports it by its name.

The metadata of files has it do what damaged ones make libcudf do.
"""

import ctypes
import os
import sys

from compute import standin
from compute.standin_parquet import opened
from pyarrow_cuda_compat import _native

_made = standin.module()
_read = _made.io.parquet.read_parquet


def _reading(options):
    does = opened(options.sources[0]).metadata.metadata.get(b"does")
    if does == b"deadly":
        os._exit(1)
    if does == b"huge" and sum(map(len, options.kept["row_groups"])) > 1:
        raise MemoryError("out_of_memory: a test")
    if does == b"poisonous":  # each call of the driver fails from now on
        ctypes.CDLL(_native._driver()["library"]).cuda_sim_fault(b"*:1+=700")
        raise RuntimeError("CUDA error encountered at: cudaErrorIllegalAddress")
    if does == b"refused":
        raise RuntimeError("CUDF failure at: a check")
    return _read(options)


_made.io.parquet.read_parquet = _reading
sys.modules[__name__] = _made
