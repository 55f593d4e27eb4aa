"""Slow kernels of CuPy, PyTorch and Numba, which write what comes in and read what goes out."""

import importlib

import numpy as np

from pyarrow_cuda_compat import DeviceArray
from support.streams import SIZE

CYCLES = 40_000_000  # 20 ms and more
NAP = """
extern "C" __global__ void nap(long long cycles) {
    long long start = clock64();
    while (clock64() - start < cycles) {}
}
"""


class CuPy:
    def __init__(self):
        self.cupy = importlib.import_module("cupy")
        self.stream = self.cupy.cuda.Stream(non_blocking=True)
        self.nap = self.cupy.RawKernel(NAP, "nap")

    def late(self, enter):
        """What `enter` makes of an array, while a kernel is on its way to turn ones into sevens."""
        array = self.cupy.ones(SIZE, "u1")
        self.cupy.cuda.runtime.deviceSynchronize()
        with self.stream:
            self.nap((1,), (1,), (np.int64(CYCLES),))
            array.fill(7)
            return enter(array)

    def read(self, ours):
        """What retains our memory, and a function that gives what a slow kernel finds there."""
        with self.stream:
            array = self.cupy.from_dlpack(ours)
            self.nap((1,), (1,), (np.int64(CYCLES),))
            copy = array.copy()
        return array, lambda: copy.get(self.stream).tobytes()


class PyTorch:
    def __init__(self):
        self.torch = importlib.import_module("torch")
        self.stream = self.torch.cuda.Stream()

    def late(self, enter):
        array = self.torch.ones(SIZE, dtype=self.torch.uint8, device="cuda")
        self.torch.cuda.synchronize()
        with self.torch.cuda.stream(self.stream):
            self.torch.cuda._sleep(CYCLES)
            array.fill_(7)
            return enter(array)

    def read(self, ours):
        with self.torch.cuda.stream(self.stream):
            array = self.torch.from_dlpack(ours)
            self.torch.cuda._sleep(CYCLES)
            copy = array.clone()

        def result():
            self.stream.synchronize()
            return copy.cpu().numpy().tobytes()

        return array, result


class Numba:
    GRID = (SIZE + 127) // 128, 128

    def __init__(self):
        self.cuda = cuda = importlib.import_module("numba.cuda")
        self.stream = cuda.stream()

        @cuda.jit
        def slowly(values, source):
            for _ in range(20):
                cuda.nanosleep(1_000_000)
            place = cuda.grid(1)
            if place < values.size:
                values[place] = source[place]

        self.slowly = slowly
        self.sevens = cuda.to_device(np.full(SIZE, 7, "u1"))

    def late(self, enter):
        array = self.cuda.to_device(np.ones(SIZE, "u1"), stream=self.stream)
        self.cuda.synchronize()
        self.slowly[(*self.GRID, self.stream)](array, self.sevens)
        return enter(array)

    def read(self, ours):
        out = self.cuda.device_array(SIZE, "u1", stream=self.stream)
        self.slowly[(*self.GRID, self.stream)](out, ours)

        def result():
            self.stream.synchronize()
            return out.copy_to_host().tobytes()

        return None, result


LIBRARIES = {"cupy": CuPy, "torch": PyTorch, "numba.cuda": Numba}


def entered(array):
    """Through DLPack, or the array interface of those that do without it."""
    return DeviceArray(array).to_arrow()
