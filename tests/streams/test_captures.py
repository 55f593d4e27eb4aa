"""Calls that a graph capture does not allow are refused, and the capture goes on."""

import ctypes

import pyarrow as pa
import pytest

from pyarrow_cuda_compat import DeviceArray, Event, Stream, new_host_buffer
from support.c_device import Exported
from support.streams import BEFORE, SIZE, Theirs
from support.work import NON_BLOCKING

THREAD_LOCAL = 1
LEGACY = 1


@pytest.fixture
def refused_in_capture(driver):
    def check(stream, call):
        driver.call("cuStreamBeginCapture_v2", stream, THREAD_LOCAL)
        try:
            with pytest.raises(OSError, match=r"Cuda error 90[06]"):
                call()
        finally:
            code = driver.library.cuStreamEndCapture(stream, ctypes.byref(ctypes.c_void_p()))
        assert code == 0

    return check


@pytest.fixture
def buffer(ctx):
    return ctx.buffer_from_data(BEFORE)


ON_A_STREAM = {
    "copy from pageable memory": lambda buffer, on: buffer.copy_from_host(BEFORE, stream=on),
    "copy to pageable memory": lambda buffer, on: buffer.copy_to_host(stream=on),
    "copy from pinned memory": lambda buffer, on: buffer.copy_from_host(
        new_host_buffer(SIZE), stream=on
    ),
    "fill": lambda buffer, on: buffer.fill(3, stream=on),
}


@pytest.mark.parametrize("name", ON_A_STREAM)
def test_copies_on_the_captured_stream(make_stream, refused_in_capture, buffer, name):
    stream = make_stream(NON_BLOCKING).stream
    call = ON_A_STREAM[name]
    refused_in_capture(stream, lambda: call(buffer, Theirs(stream.value)))


def test_a_copy_of_an_array_that_was_imported_with_an_event(
    ctx, cuda, make_stream, make_event, driver, refused_in_capture, buffer
):
    producer, event = make_stream(NON_BLOCKING), make_event()
    producer.sleep()
    driver.call("cuEventRecord", event, producer.stream)
    array = pa.Array.from_buffers(pa.uint8(), SIZE, [None, buffer], null_count=0)
    array = pa.array(Exported(array, sync_event=ctypes.addressof(event)))
    stream = Stream(ctx, non_blocking=True)
    copy = lambda: array.copy_to(ctx.memory_manager, stream=stream)  # noqa: E731
    refused_in_capture(ctypes.c_void_p(stream.handle), copy)


EXPORTS = {
    "DLPack, stream 1": lambda buffer, array: buffer.__dlpack__(stream=1),
    "array interface": lambda buffer, array: DeviceArray(buffer, "u1").__cuda_array_interface__,
    "C Device array": lambda buffer, array: array.__arrow_c_device_array__(),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_exports_within_the_captured_stream(ctx, refused_in_capture, buffer, name):
    array = pa.Array.from_buffers(pa.uint8(), SIZE, [None, buffer], null_count=0)
    stream = Stream(ctx, non_blocking=True)

    def export():
        with stream:
            EXPORTS[name](buffer, array)

    refused_in_capture(ctypes.c_void_p(stream.handle), export)


ON_THE_DEFAULT_STREAM = {
    **ON_A_STREAM,
    "record an event": lambda buffer, on: Event(buffer.context).record(on),
    "wait for an event": lambda buffer, on: Event(buffer.context).wait(on),
    "wait for the stream": lambda buffer, on: Stream(buffer.context).wait(on),
}


@pytest.mark.parametrize("handle", [0, LEGACY])
@pytest.mark.parametrize("name", ON_THE_DEFAULT_STREAM)
def test_the_default_stream_by_either_handle(make_stream, refused_in_capture, buffer, name, handle):
    """A blocking stream is ordered with it, so its capture allows no work there."""
    call = ON_THE_DEFAULT_STREAM[name]
    refused_in_capture(make_stream(0).stream, lambda: call(buffer, Theirs(handle)))
