"""Brings a Parquet file to the device by way of pinned memory.

pyarrow decodes into pinned memory, from which the device fetches the columns directly.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import cuda

from pyarrow_cuda_compat import Stream, pinned_memory_pool


def read(path: Path, ctx: cuda.Context) -> pa.Table:
    """The file's columns, in pinned memory."""
    before = pa.default_memory_pool()
    pa.set_memory_pool(pinned_memory_pool(ctx))
    try:
        return pq.read_table(path)
    finally:
        pa.set_memory_pool(before)


def main() -> None:
    ctx = cuda.Context(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "numbers.parquet")
        numbers = np.random.default_rng(1).standard_normal((2, 100_000))
        pq.write_table(pa.table({"x": numbers[0], "y": numbers[1]}), path)
        table = read(path, ctx)

    # Pinned memory is copied on a stream while the program continues.
    stream = Stream(ctx)
    there = table.copy_to(ctx, stream=stream)
    stream.synchronize()
    print(f"{there.num_rows} rows and {there.num_columns} columns are on the device")
    assert not there.is_cpu
    assert there.copy_to("cpu").equals(table)


if __name__ == "__main__":
    main()
