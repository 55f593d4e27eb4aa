"""The current device of each thread, resets, properties, events and streams."""

import ctypes
import math

import numpy as np
import pytest

import pyarrow_cuda_compat.pygpu as gpuarray
from pyarrow_cuda_compat import Stream
from support.threads import in_thread


def test_the_current_device_is_the_drivers(driver, ctx, other_ctx):
    assert gpuarray.cudaSetDevice(1) == 0
    assert driver.current() == other_ctx.handle
    assert gpuarray.to_gpu(np.zeros(3))._device.context.device_number == 1
    driver.set_current(ctx.handle)  # as another library does
    assert gpuarray.cudaGetDevice() == (0, 0)
    driver.set_current(0)
    assert gpuarray.cudaGetDevice() == (1, 0), "chosen, though no context is current"
    assert gpuarray.cudaDeviceSynchronize() == 0
    assert driver.current() == other_ctx.handle


def test_a_device_that_is_not_there_changes_nothing(driver, ctx):
    count, _ = gpuarray.cudaGetDeviceCount()
    for wrong in (-1, count, 2**31, 2**40, -(2**40)):
        assert gpuarray.cudaSetDevice(wrong) == 101
        assert gpuarray.cudaDeviceProp(wrong).last_status() == 101
    assert gpuarray.cudaGetDevice() == (0, 0)
    assert driver.current() == ctx.handle
    for wrong in ("0", None, 0.0):
        with pytest.raises(TypeError):
            gpuarray.cudaSetDevice(wrong)


def test_each_thread_has_its_device(driver, other_ctx):
    def work():
        before = gpuarray.cudaGetDevice(), driver.current()
        return before, gpuarray.cudaSetDevice(1), driver.current()

    assert in_thread(work) == (((0, 0), 0), 0, other_ctx.handle)
    assert gpuarray.cudaGetDevice() == (0, 0)


def test_properties_are_the_drivers(driver, current):
    name = ctypes.create_string_buffer(256)
    driver.call("cuDeviceGetName", name, 256, 0)
    uuid = ctypes.create_string_buffer(16)
    driver.call("cuDeviceGetUuid_v2", uuid, 0)
    properties = gpuarray.cudaDeviceProp(0)
    assert properties.name() == properties.get()["name"] == name.value.decode()
    assert properties.uuid() == uuid.raw.hex()
    assert properties.get()["totalGlobalMem"] == driver.memory_info()[1]
    methods = (properties.pciBusID, properties.pciDeviceID, properties.pciDomainID)
    for attribute, method in zip((33, 34, 50), methods, strict=True):
        value = ctypes.c_int()
        driver.call("cuDeviceGetAttribute", ctypes.byref(value), attribute, 0)
        assert method() == value.value


COLD = """
import ctypes, os
import pyarrow_cuda_compat.pygpu as gpuarray
from support.driver import the_driver

assert gpuarray.cudaDeviceProp(0).last_status() == 0
assert gpuarray.cudaGetDevice() == (0, 0)
flags, active = ctypes.c_uint(), ctypes.c_int(-1)
the_driver().call("cuDevicePrimaryCtxGetState", 0, ctypes.byref(flags), ctypes.byref(active))
print(active.value)
"""


def test_questions_make_no_context(run_python):
    assert run_python(COLD) == (0, "0\n", "")


def test_times_that_were_not_taken():
    never, without, event = gpuarray.cudaEvent_t(), gpuarray.cudaEvent_t(2), gpuarray.cudaEvent_t()
    for each in (without, event):
        assert gpuarray.cudaEventRecord(each) == gpuarray.cudaEventSynchronize(each) == 0
    for start, end in [(never, event), (event, never), (without, event), (event, without)]:
        elapsed, status = gpuarray.cudaEventElapsedTime(start, end)
        assert math.isnan(elapsed)
        assert status == gpuarray.cudaGetLastError() == 400


def test_flags_are_the_runtimes():
    kinds = {
        gpuarray.cudaEvent_t: ({0, 1, 2, 3, 6, 7}, range(9)),
        gpuarray.cudaStream_t: ({0, 1}, range(4)),
    }
    for kind, (known, flags) in kinds.items():
        assert {each for each in flags if kind(each).last_status() == 0} == known
        for wrong in (-1, 2**32 - 1, 2**31):
            assert kind(wrong).last_status() == 1
            assert int(kind(wrong).get()) == 0


def test_handles_are_the_drivers(driver, current):
    stream, event = gpuarray.cudaStream_t(1), gpuarray.cudaEvent_t()
    driver.call("cuEventRecord", event.get(), stream.get())  # as ctypes passes them
    flags = ctypes.c_uint()
    driver.call("cuStreamGetFlags", stream.get(), ctypes.byref(flags))
    assert flags.value == 1
    assert int(stream.get()) == stream.__cuda_stream__()[1]
    assert not stream.get().is_safe()
    handle = gpuarray.cudaStream_t().get()  # retains the stream
    driver.call("cuStreamSynchronize", handle)


def test_streams_of_others_are_taken(ctx, other_ctx):
    event = gpuarray.cudaEvent_t()
    assert gpuarray.cudaEventRecord(event, Stream(ctx)) == 0
    assert gpuarray.cudaEventRecord(event, Stream(other_ctx)) == 400
    assert gpuarray.cudaSetDevice(1) == 0
    assert gpuarray.cudaEventRecord(event, gpuarray.cudaStream_t()) == 400
    buf = ctx.new_buffer(3)
    assert gpuarray.cudaSetDevice(0) == 0
    buf.fill(7, stream=gpuarray.cudaStream_t())
    assert buf.to_pybytes() == b"\7\7\7"
    assert gpuarray.cudaDeviceSynchronize() == 0  # releases what queued work has retained
    for wrong in (None, 3, Stream(ctx)):
        with pytest.raises(TypeError, match="expected a cudaEvent_t"):
            gpuarray.cudaEventRecord(wrong)
    with pytest.raises(TypeError):
        gpuarray.cudaEventRecord(event, 3)
    failed = gpuarray.cudaStream_t(7)
    assert gpuarray.cudaEventRecord(event, failed) == 400
    with pytest.raises(ValueError, match="could not be created: <cudaError: code=1>"):
        buf.fill(7, stream=failed)
