"""Each test begins on device 0, and leaves the thread's current context as it was."""

import pytest

import pyarrow_cuda_compat.pygpu as gpuarray


@pytest.fixture(autouse=True)
def first_device(driver, ctx):
    before = driver.current()
    assert gpuarray.cudaSetDevice(0) == 0
    yield
    assert gpuarray.cudaSetDevice(0) == 0
    gpuarray.cudaGetLastError()
    driver.set_current(before)
