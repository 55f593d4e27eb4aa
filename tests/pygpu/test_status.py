"""Statuses: what calls return, whatever the device or the driver answers."""

import ctypes
import threading
from pathlib import Path

import pytest

import pyarrow_cuda_compat.pygpu as gpuarray
from pyarrow_cuda_compat.pygpu._error_codes import TEXTS


def test_a_status_is_its_code():
    status = gpuarray.cudaError_t(35)
    assert (status.as_int(), int(status), repr(status)) == (35, 35, "<cudaError: code=35>")
    assert status == gpuarray.cudaError_t(35) == 35 != gpuarray.cudaError_t(0)
    assert status != "35"
    assert len({status, gpuarray.cudaError_t(35), gpuarray.cudaError_t(36)}) == 2
    with pytest.raises(AttributeError):
        status.code = 0
    with pytest.raises(TypeError):
        gpuarray.cudaError_t("35")


def test_codes_that_cuda_does_not_have():
    for ask in (gpuarray.cudaGetErrorName, gpuarray.cudaGetErrorString):
        assert ask(gpuarray.cudaError_t(12345)) == ask(-1) == "unrecognized error code"


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
    seen = []
    thread = threading.Thread(target=lambda: seen.append(gpuarray.cudaGetLastError()))
    thread.start()
    thread.join()
    assert seen == [0]
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


ANY_CALL = """
import ctypes, gc, sys
from pathlib import Path
import numpy as np
import pyarrow_cuda_compat
import pyarrow_cuda_compat.pygpu as gpuarray

sim = ctypes.CDLL(str(Path(pyarrow_cuda_compat.__file__).parent / "lib/libcuda_sim.so"))
sys.unraisablehook = lambda told: None  # what is not released is another test's
array = gpuarray.to_gpu(np.arange(6.0).reshape(2, 3))
event, end, stream = gpuarray.cudaEvent_t(), gpuarray.cudaEvent_t(), gpuarray.cudaStream_t()
gpuarray.cudaEventRecord(event), gpuarray.cudaEventRecord(end), gpuarray.cudaEventSynchronize(end)
works = {
    "set": lambda: gpuarray.cudaSetDevice(0),
    "get": lambda: gpuarray.cudaGetDevice()[1],
    "count": lambda: gpuarray.cudaGetDeviceCount()[1],
    "synchronize": gpuarray.cudaDeviceSynchronize,
    "properties": lambda: gpuarray.cudaDeviceProp(0).last_status(),
    "event": lambda: gpuarray.cudaEvent_t().last_status(),
    "stream": lambda: gpuarray.cudaStream_t().last_status(),
    "record": lambda: gpuarray.cudaEventRecord(event, stream),
    "event synchronize": lambda: gpuarray.cudaEventSynchronize(event),
    "elapsed": lambda: gpuarray.cudaEventElapsedTime(event, end)[1],
    "to_gpu": lambda: gpuarray.to_gpu(np.zeros(5000)).last_status,
    "to_host": array.to_host,
    "set array": lambda: array.set(np.zeros((2, 3))),
    "set_val": lambda: array.set_val(5, 1),
    "item": lambda: array[1].last_status,
    "column": lambda: array[:, 1].last_status,
    "device memory": lambda: gpuarray.DeviceAllocator_int16().allocate(3),
    "page-locked memory": lambda: gpuarray.PagelockedAllocator_int16().allocate(3),
    "adopted": lambda: gpuarray.DeviceArray_float64(array._host.ctypes.data, array.ptr,
                                                    [2, 3]).last_status(),
}
for name, work in works.items():
    assert work() == 0, name
    seen = set()
    for nth in range(1, 100):
        sim.cuda_sim_fault(f"*:{nth}=999".encode())
        before = sim.cuda_sim_call_count(b"*")
        seen.add(int(work()))
        reached = sim.cuda_sim_call_count(b"*") - before >= nth
        sim.cuda_sim_fault(b"")
        if not reached:
            break
    # Where the package does without what was refused, the call succeeds.
    assert 999 in seen and seen <= {0, 999}, (name, seen)
"""


@pytest.mark.simulator
def test_any_call_of_the_driver_may_fail(run_python):
    """A failure is a status, never an exception."""
    assert run_python(ANY_CALL) == (0, "", "")
