"""Statuses: what calls return, whatever the device or the driver answers."""

import ctypes
from pathlib import Path

import pytest

import pyarrow_cuda_compat.pygpu as gpuarray
from pyarrow_cuda_compat.pygpu._error_codes import TEXTS
from support.threads import in_thread


@pytest.mark.hardware
def test_names_and_texts_are_the_runtimes():
    found = sorted(Path("/usr/local").glob("cuda*/lib64/libcudart.so*"))
    if not found:
        pytest.skip("needs a CUDA toolkit")
    runtime = ctypes.CDLL(found[0])
    for function in (runtime.cudaGetErrorName, runtime.cudaGetErrorString):
        function.restype = ctypes.c_char_p
    unknown = b"unrecognized error code"
    for code in range(1100):
        texts = runtime.cudaGetErrorName(code), runtime.cudaGetErrorString(code)
        if unknown not in texts:  # an older toolkit lacks the newest codes
            assert TEXTS[code] == tuple(text.decode() for text in texts)


def test_each_thread_has_its_last_error():
    failed = gpuarray.cudaSetDevice(1000)
    assert in_thread(gpuarray.cudaGetLastError) == 0
    assert gpuarray.cudaGetDevice()[1] == 0, "a success does not hide it"
    assert gpuarray.cudaPeekAtLastError() == gpuarray.cudaGetLastError() == failed == 101
    assert gpuarray.cudaPeekAtLastError() == gpuarray.cudaGetLastError() == 0


EVERYTHING = """
import os, sys
import numpy as np
import pyarrow_cuda_compat.pygpu as gpuarray

def statuses():
    yield from (gpuarray.cudaSetDevice(0), gpuarray.cudaGetDevice()[1])
    yield from (gpuarray.cudaDeviceSynchronize(), gpuarray.cudaDeviceReset())
    yield from (gpuarray.cudaGetDeviceCount()[1], gpuarray.cudaDeviceProp(0).last_status())
    event, stream = gpuarray.cudaEvent_t(), gpuarray.cudaStream_t()
    yield from (event.last_status(), stream.last_status())
    array = gpuarray.to_gpu(np.zeros(3))
    yield from (array.last_status, array.to_host(), array.set_val(0, 1), array.set(np.ones(3)))
    yield from (array.allocate(), array[1:].last_status, array[[0, 1]].last_status)
    yield gpuarray.DeviceArray_float64(3).allocate()
    for kind in (gpuarray.DeviceAllocator_int16, gpuarray.PagelockedAllocator_int16):
        yield kind().allocate(3)
    yield gpuarray.PagelockedAllocator(3, float).last_status
    yield gpuarray.cudaGetLastError()
    # Without the objects behind them.
    assert gpuarray.cudaEventRecord(event) == 400 == gpuarray.cudaEventSynchronize(event)
    assert gpuarray.cudaEventElapsedTime(event, event)[1] == 400
    assert int(event.get()) == int(stream.get()) == array.ptr == 0
    assert gpuarray.cudaDeviceProp(0).get() == {} and gpuarray.cudaDeviceProp(0).name() == ""
    assert not hasattr(array, "__cuda_array_interface__") and not array.device_data.is_safe()

def check(code):
    assert {int(status) for status in statuses()} == {code}, list(statuses())
"""


def test_a_machine_without_a_driver(run_python):
    environment = {"PYARROW_CUDA_DRIVER": "/nowhere/libcuda.so"}
    assert run_python(EVERYTHING + "check(35)", **environment) == (0, "", "")


@pytest.mark.simulator
def test_a_machine_without_a_device(run_python):
    assert run_python(EVERYTHING + "check(100)", CUDA_SIM_DEVICES="0") == (0, "", "")


def test_a_forked_child(run_python):
    code = """
assert gpuarray.cudaDeviceSynchronize() == 0
child = os.fork()
if not child:
    try:
        check(3)
    except BaseException as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
    assert run_python(EVERYTHING + code, PYTHONWARNINGS="ignore") == (0, "", "")
