"""A Numba kernel works on an Arrow column with nulls, in place.

It gets the values and the bits that say which of them are valid; the column keeps its nulls.
"""
# needs: gpu, numba kernels

from __future__ import annotations

from typing import Any

import pyarrow as pa
from numba import cuda as numba_cuda
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray


def to_fahrenheit(values: Any, validity: Any, first_bit: int) -> None:
    place = numba_cuda.grid(1)
    if place < values.size:
        bit = first_bit + place
        if validity[bit // 8] >> (bit % 8) & 1:
            values[place] = values[place] * 1.8 + 32


def main() -> None:
    ctx = cuda.Context(0)
    host = pa.array([-40.0, None, 0.0, 100.0])
    column = DeviceArray.from_arrow(host.copy_to(ctx))
    validity = column.validity
    assert validity is not None  # there are nulls
    kernel = numba_cuda.jit(to_fahrenheit)
    kernel[1, 32](column.values, validity, validity.bit_offset)
    converted = column.to_arrow().copy_to("cpu")
    print([each and round(each) for each in converted.to_pylist()])


if __name__ == "__main__":
    main()
