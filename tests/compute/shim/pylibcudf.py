"""pylibcudf's stand-in for a process that imports it by its name.

Names of files have it do what damaged ones make libcudf do.
"""

import ctypes
import os
import sys

from compute import standin
from pyarrow_cuda_compat import _native

_made = standin.module()
_read = _made.io.parquet.read_parquet


def _reading(options):
    name = str(options.sources[0])
    if "deadly" in name:
        os._exit(1)
    if "huge" in name and sum(map(len, options.kept["row_groups"])) > 1:
        raise MemoryError("out_of_memory: a test")
    if "poisonous" in name:  # each call of the driver fails from now on
        ctypes.CDLL(_native._driver()["library"]).cuda_sim_fault(b"*:1+=700")
        raise RuntimeError("CUDA error encountered at: cudaErrorIllegalAddress")
    if "refused" in name:
        raise RuntimeError("CUDF failure at: a check")
    return _read(options)


_made.io.parquet.read_parquet = _reading
sys.modules[__name__] = _made
