"""Which uses of a buffer show its address to others, so that its memory waits for their work.

In each test the device is busy when the buffer is released.  Memory that nobody else has seen
is reused at once, other memory is not.
"""

import gc

import numpy as np
import pyarrow as pa
import pytest

import pyarrow_cuda_compat
from pyarrow_cuda_compat import CudaBuffer, DeviceArray, empty_cache, memory_stats
from pyarrow_cuda_compat.smart_array import SmartArray
from support.samples import CPU

SIZE = 20 << 20


@pytest.fixture
def serves_at_once(ctx, default_stream):
    """Whether the memory of a new buffer is reused while the device has work."""

    def check(use):
        gc.collect()
        ctx.synchronize()
        empty_cache(ctx)
        unused = ctx.bytes_allocated
        use(ctx.new_buffer(SIZE))
        gc.collect()
        assert ctx.bytes_allocated == unused, "something still holds the buffer"
        before = memory_stats(ctx)
        ctx.new_buffer(SIZE)
        hits = memory_stats(ctx)["cache_hits"] - before["cache_hits"]
        assert not default_stream.is_idle()
        default_stream.finish()
        return hits == 1

    def busy(use):
        def used(buffer):
            use(buffer)
            default_stream.hold()

        return check(used)

    return busy


def array_of(buffer):
    return pa.Array.from_buffers(pa.int64(), SIZE // 8, [None, buffer])


def batch_of(buffer):
    return pa.record_batch([array_of(buffer)], names=["x"])


EXPOSING = {
    "address": lambda buf: buf.address,
    "pyarrow's own property": lambda buf: pa.Buffer.address.__get__(buf),
    "address of a slice": lambda buf: buf.slice(8, 8).address,
    "address of pyarrow's slice": lambda buf: pa.Buffer.slice(buf, 8).address,
    "repr": repr,
    "CUDA array interface": lambda buf: buf.__cuda_array_interface__,
    "DLPack": lambda buf: buf.__dlpack__(),
    "foreign view": lambda buf: buf.context.foreign_buffer(buf.address, 8, base=buf),
    "buffer of an array": lambda buf: array_of(buf).buffers()[1].address,
    "slice of an array": lambda buf: array_of(buf).slice(5).buffers()[1].address,
    "DLPack of an array": lambda buf: array_of(buf).__dlpack__(),
    "C Device array": lambda buf: array_of(buf).__arrow_c_device_array__(),
    "C Device batch": lambda buf: batch_of(buf).__arrow_c_device_array__(),
    "C Device nested": lambda buf: pa.StructArray.from_arrays(
        [array_of(buf)], ["x"]
    ).__arrow_c_device_array__(),
    "DeviceArray.address": lambda buf: DeviceArray(buf, "u1").address,
    "DeviceArray.ptr": lambda buf: DeviceArray(buf, "i8")[3:].ptr,
    "DeviceArray, CUDA array interface": lambda buf: (
        DeviceArray(buf, "u1").__cuda_array_interface__
    ),
    "DeviceArray, DLPack": lambda buf: DeviceArray(buf, "u1").__dlpack__(),
    "DeviceArray.buffer": lambda buf: DeviceArray(buf, "i8")[1:].buffer.address,
    "Arrow array of a DeviceArray": lambda buf: (
        DeviceArray(buf, "i8").to_arrow().__arrow_c_device_array__()
    ),
}

KEEPING = {
    "nothing": lambda buf: None,
    "slices": lambda buf: buf.slice(5, 100).slice(1),
    "views": lambda buf: CudaBuffer.from_buffer(pa.Buffer.slice(buf, 5)),
    "copies": lambda buf: (buf.copy_from_host(b"abc"), buf.copy_to_host(0, 10), buf[3]),
    "copies between buffers": lambda buf: (
        buf.copy_from_device(buf.context.buffer_from_data(b"abc")),
        buf.slice(0, 3).equals(buf.context.buffer_from_data(b"abc")),
    ),
    "fill": lambda buf: buf.fill(7),
    "reader": lambda buf: pyarrow_cuda_compat.BufferReader(buf).read(10),
    "writer": lambda buf: pyarrow_cuda_compat.BufferWriter(buf).write(b"abc"),
    "arrays": lambda buf: (array_of(buf), batch_of(buf).schema),
    "array, copied": lambda buf: array_of(buf).copy_to(CPU),
    "DeviceArray": lambda buf: (DeviceArray(buf, "i8")[::2].copy(), DeviceArray(buf, "i8").T),
    "DeviceArray, NumPy": lambda buf: DeviceArray(buf, "u1")[:9].copy_to_host(),
    "DeviceArray, element": lambda buf: DeviceArray(buf, "i8").__setitem__(3, 5),
    "SmartArray": lambda buf: SmartArray(np.arange(5)),
    "type and size": lambda buf: (buf.size, buf.context, buf.is_mutable, buf.device, len(buf)),
}


@pytest.mark.alone
@pytest.mark.parametrize("use", EXPOSING.values(), ids=EXPOSING.keys())
def test_memory_that_others_have_seen_waits(serves_at_once, use):
    assert not serves_at_once(use)


@pytest.mark.alone
@pytest.mark.parametrize("use", KEEPING.values(), ids=KEEPING.keys())
def test_memory_that_nobody_else_has_seen_does_not_wait(serves_at_once, use):
    assert serves_at_once(use)


@pytest.mark.alone
def test_work_on_streams_is_over_before_the_release(cuda, ctx, make_stream, serves_at_once):
    """The buffer is retained until then, so nobody has to wait afterwards."""
    stream = pyarrow_cuda_compat.Stream(ctx, non_blocking=True)

    def use(buffer):
        buffer.copy_from_host(cuda.new_host_buffer(100), stream=stream)
        stream.synchronize()

    assert serves_at_once(use)


@pytest.mark.alone
@pytest.mark.simulator
@pytest.mark.parametrize(
    ("use", "fault"),
    [
        ("copy_to_host(0, 100)", "cuMemcpyDtoHAsync:1=702"),
        ("copy_to_host(0, 100, stream=compat.Stream(ctx))", "cuMemcpyDtoHAsync:1=702"),
        ("copy_from_host(b'abc')", "cuMemcpyHtoDAsync:1=702"),
        ("copy_from_host(b'abc', stream=compat.Stream(ctx))", "cuMemcpyHtoDAsync:1=702"),
    ],
)
def test_a_failed_copy_may_have_left_work(run_python, use, fault):
    code = f"""if True:
        import pyarrow_cuda_compat as compat
        ctx = compat.Context(0)
        buffer = ctx.new_buffer(20 << 20)
        try: buffer.{use}
        except OSError as error: print(str(error)[:12])
        del buffer
        ctx.new_buffer(20 << 20)
        print(compat.memory_stats(ctx)["cache_hits"])"""
    faults = {"CUDA_SIM_FAULT": f"{fault},cuCtxRecordEvent:1+=900"}
    assert run_python(code, **faults) == (0, "Cuda error 7\n0\n", "")
