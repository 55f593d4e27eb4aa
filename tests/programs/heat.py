"""Heat that spreads over a plate: a stencil, whose steps all run on the device.

The kernels are Numba's.  The host's part is written for `numba.cuda`, and the tests replace the
line that imports this package by the original's name.
"""

import numpy as np
from numba import cuda as kernels

from pyarrow_cuda_compat import memory as cuda


@kernels.jit
def step(plate, result, rate):
    row, column = kernels.grid(2)
    if 0 < row < plate.shape[0] - 1 and 0 < column < plate.shape[1] - 1:
        around = (
            plate[row - 1, column]
            + plate[row + 1, column]
            + plate[row, column - 1]
            + plate[row, column + 1]
        )
        result[row, column] = plate[row, column] + rate * (around - 4 * plate[row, column])


def on_the_host(plate, steps, rate):
    """The same by NumPy."""
    for _ in range(steps):
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        plate = plate.copy()
        plate[1:-1, 1:-1] += rate * (around - 4 * plate[1:-1, 1:-1])
    return plate


def spread(steps=50, rate=0.2, size=200):
    """The plate before and after, the temperature along a line, and that of the hottest corner."""
    plate = np.zeros((size, size))
    plate[0] = 100
    blocks = (size + 15) // 16
    stream = cuda.stream()
    result = cuda.pinned_array((size, size))
    with cuda.pinned(plate), stream.auto_synchronize():
        now = cuda.to_device(plate, stream=stream)
        then = cuda.device_array_like(now)
        then.copy_to_device(now, stream=stream)
        for _ in range(steps):
            step[(blocks, blocks), (16, 16), stream](now, then, rate)
            now, then = then, now
        now.copy_to_host(result, stream=stream)
    line = now[:, size // 2].copy_to_host()
    assert now.is_c_contiguous()
    assert (now.size, now.shape) == (size * size, plate.shape)
    return plate, result, line, now[0, 0]
