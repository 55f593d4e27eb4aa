"""What users write, with every public name: runs, and every type checker has to accept it."""

# pyright: strict

import contextlib
import io
import tempfile
from pathlib import Path
from typing import Any, assert_type

import numpy as np
import pyarrow as pa
import pyarrow.cuda
from pyarrow import cuda
from pyarrow.cuda import BufferReader, CudaBuffer

import pyarrow_cuda_compat.pygpu as gpuarray
from pyarrow_cuda_compat import (
    DeviceArray,
    Event,
    IpcArrayHandle,
    Stream,
    from_dlpack,
    mem_get_info,
    memory_report,
    record_allocations,
    reset_peak_memory_stats,
    reset_peak_pinned_memory_stats,
    set_tracing,
    show_config,
    tracing,
)


def contexts() -> cuda.Context:
    ctx = pyarrow.cuda.Context()
    assert_type(ctx, cuda.Context)
    assert_type(cuda.Context.get_num_devices(), int)
    assert_type(ctx.device_number + ctx.handle + ctx.bytes_allocated, int)
    assert_type(ctx.device, pa.Device)
    assert_type(ctx.device.type_name, str)
    assert_type(ctx.memory_manager.device.is_cpu, bool)
    ctx.synchronize()
    return cuda.Context(device_number=0, handle=ctx.handle)


def tables(ctx: cuda.Context, anything: Any) -> pa.Table:
    # To mypy, pyarrow's own classes are Any: what its functions return is, too.
    ctx.reader_from_file(anything).copy_to(ctx, read_ahead=0, progress=print).close()
    ctx.table_from_file(anything).copy_to(ctx.memory_manager, stream=Stream(ctx))
    return anything


def buffers(ctx: cuda.Context) -> None:
    array = np.arange(4, dtype=np.int32)
    buf = ctx.buffer_from_data(array, offset=4, size=8)
    assert_type(buf, CudaBuffer)
    ctx.buffer_from_data(b"bytes")
    ctx.buffer_from_data(bytearray(4), 1)
    ctx.buffer_from_data(memoryview(b"view"))
    ctx.buffer_from_data(buf)
    assert_type(ctx.buffers_from_data([array, b"bytes", buf]), list[CudaBuffer])
    ctx.buffers_from_data(data=iter([b"bytes"]))
    with tempfile.TemporaryFile() as file:
        assert_type(buf.copy_to_file(file, 0, -1, offset=3), int)
        buf.copy_to_file(file, direct=True, kvikio=None, progress=None)
        assert_type(ctx.buffer_from_file(file, 1, np.int64(2)), CudaBuffer)
        ctx.buffer_from_file(file.fileno(), nbytes=None, direct=True, kvikio=False)
        ctx.buffer_from_file(file, progress=lambda done, total: done / max(total, 1))
    ctx.buffer_from_file(Path("/proc/self/status"))
    ctx.buffer_from_file(b"/proc/self/status", progress=print)
    ctx.buffer_from_object(buf)
    ctx.new_buffer(np.int64(16))

    assert_type(len(buf) + buf.size + buf.address + buf[0] + buf[np.int64(1)], int)
    assert_type(buf[1:3], CudaBuffer)
    assert_type(buf.slice(1, length=2), CudaBuffer)
    assert_type(buf.context, cuda.Context)
    assert_type(buf.to_pybytes() + buf.hex(), bytes)
    assert_type(buf.equals(pa.py_buffer(b"other")), bool)
    assert_type(buf.is_cpu or buf.is_mutable, bool)
    assert_type(buf.device_type, pa.DeviceAllocationType)
    assert buf.device_type == pa.DeviceAllocationType.CUDA
    parent = buf.slice(1).parent
    assert parent is not None
    assert_type(parent.size, int)
    assert pa.Buffer.slice(buf, np.int64(2), np.int64(3)).size == 3


def elements(buf: CudaBuffer, host: pa.Buffer, pinned: cuda.HostBuffer) -> None:
    numbers = [byte for byte in buf]
    assert_type(numbers, list[int])
    assert numbers == list(buf) == list(host) == list(pinned) == [48, 49, 50]
    assert_type(sum(buf) + max(host) + min(pinned), int)
    assert 51 not in buf
    assert 50 in host
    assert 48 in pinned
    assert list(reversed(buf)) == [50, 49, 48]
    assert [place for place, byte in enumerate(buf) if byte == 49] == [1]
    assert buf == b"012"
    assert buf != bytearray(3)
    assert buf == host == pinned == memoryview(b"012")
    assert host == b"012"
    assert_type(buf == host, bool)


def host_copies(buf: CudaBuffer, out: pa.Buffer, unknown: bool) -> None:
    array = np.frombuffer(buf.copy_to_host(), dtype=np.int32)
    assert array.tolist() == [1, 2]
    assert np.frombuffer(buf.copy_to_host().slice(4), np.int32).tolist() == [2]
    assert np.frombuffer(buf.copy_to_host()[np.int64(4) :], np.int32).tolist() == [2]
    assert buf.copy_to_host().slice(np.int64(1), length=2)[0] == 0
    memoryview(buf.copy_to_host(0, -1)).tolist()

    assert_type(buf.copy_to_host(), pa.Buffer)
    copy = buf.copy_to_host(resizable=True)
    assert_type(copy, pa.ResizableBuffer)
    assert np.frombuffer(copy.slice(4), np.int32).tolist() == [2]
    assert np.frombuffer(copy, np.int32).tolist() == [1, 2]
    resizable: pa.ResizableBuffer = buf.copy_to_host(0, -1, None, None, True)
    resizable.resize(3)
    resizable.resize(new_size=np.int64(2), shrink_to_fit=True)
    buf.copy_to_host(nbytes=4, memory_pool=None, resizable=True).resize(3)
    assert buf.copy_to_host(resizable=unknown).size == 8

    assert_type(buf.copy_to_host(buf=out), pa.Buffer)
    assert np.frombuffer(out, np.int32).tolist() == [1, 2]
    anything: Any = out
    assert buf.copy_to_host(buf=anything).equals(out)


def copies(ctx: cuda.Context, buf: CudaBuffer) -> None:
    array = np.arange(4, dtype=np.int32)
    out = cuda.new_host_buffer(8, device=0)
    assert_type(buf.copy_to_host(0, 8, out), cuda.HostBuffer)
    assert_type(buf.copy_to_host(nbytes=4, buf=out), cuda.HostBuffer)
    assert buf.copy_to_host(memory_pool=pa.default_memory_pool()).size == 8
    assert_type(buf.copy_from_host(array, position=4, nbytes=4), int)
    assert_type(buf.copy_from_device(buf.slice(4), nbytes=2), int)

    view = ctx.foreign_buffer(buf.address, buf.size, base=buf)
    assert_type(CudaBuffer.from_buffer(view), CudaBuffer)
    assert_type(ctx.get_device_address(view.address), int)


def pinned_memory(ctx: cuda.Context) -> None:
    pinned = cuda.new_host_buffer(16)
    assert_type(pinned, cuda.HostBuffer)
    assert_type(pinned.slice(4), cuda.HostBuffer)
    assert_type(pinned[4:8], cuda.HostBuffer)
    assert_type(pinned[0], int)
    np.frombuffer(pinned, dtype=np.uint8)[:] = 7
    assert ctx.buffer_from_object(pinned).equals(pinned)


def ipc(ctx: cuda.Context) -> None:
    handle = ctx.new_buffer(16).export_for_ipc()
    assert_type(handle, cuda.IpcMemHandle)
    sent = handle.serialize(pool=pa.default_memory_pool())
    assert_type(sent, pa.Buffer)
    assert np.frombuffer(sent, dtype=np.uint8).size == sent.size
    received: pa.Buffer = pa.py_buffer(sent.to_pybytes())
    handle = cuda.IpcMemHandle.from_buffer(received)
    with contextlib.suppress(OSError):  # a process cannot open its own memory
        assert_type(ctx.open_ipc_buffer(handle), CudaBuffer)


def files(ctx: cuda.Context) -> None:
    buf = ctx.new_buffer(16)
    with cuda.BufferWriter(buf) as writer:
        assert_type(writer, cuda.BufferWriter)
        writer.buffer_size = 8
        assert_type(writer.write(b"01234567") + writer.num_bytes_buffered, int)
        writer.writeat(8, np.arange(8, dtype=np.uint8))
        assert_type(writer.seek(0, whence=0) + writer.tell() + writer.buffer_size, int)
        writer.flush()
    with BufferReader(buf) as reader:
        assert_type(reader.read_buffer(4), CudaBuffer)
        assert_type(reader.read(nbytes=4) + reader.read(np.int64(0)), bytes)
        assert_type(reader.seek(np.int64(0)) + reader.size() + reader.readinto(bytearray(2)), int)
        assert_type(reader.read_at(2, 0), bytes)
        reader.seek(0)
        reader.download(io.BytesIO())
        assert_type(reader.closed, bool)


def record_batches(ctx: cuda.Context) -> None:
    batch = pa.record_batch({"x": [1, 2]})
    buf = cuda.serialize_record_batch(batch, ctx)
    assert_type(buf, CudaBuffer)
    message = cuda.read_message(BufferReader(buf), pool=None)
    assert message.type == cuda.read_message(buf).type == "record batch"
    there = cuda.read_record_batch(buf, batch.schema, dictionary_memo=None, pool=None)
    assert there.copy_to(pa.default_cpu_memory_manager()).equals(batch)


def exchange(ctx: cuda.Context, buf: CudaBuffer) -> None:
    array = DeviceArray(buf, "<i4", (2, 1))
    assert_type(array.__dlpack_device__(), tuple[int, int])
    assert_type(ctx.buffer_from_object(array), CudaBuffer)
    assert_type(from_dlpack(array, device=ctx, copy=True), DeviceArray)
    assert_type(from_dlpack(buf.__dlpack__(stream=1, max_version=(1, 0))), DeviceArray)
    assert from_dlpack(pa.array([1.5]).copy_to(ctx.memory_manager)).item() == 1.5
    assert buf.__cuda_array_interface__["shape"] == (8,)
    assert np.from_dlpack(array, device="cpu").tolist() == [[1], [2]]


def arrays(ctx: cuda.Context, buf: CudaBuffer) -> None:
    array = DeviceArray(buf, np.int32, strides=[4], shape=2, offset=0)
    assert_type(array, DeviceArray)
    assert_type(array.shape + array.strides, tuple[int, ...])
    assert_type(array.size + array.ndim + array.nbytes + array.itemsize + array.ptr, int)
    assert_type(array.buffer, CudaBuffer)
    assert_type(array.context, cuda.Context)
    assert_type(array.is_c_contiguous() and array.is_f_contiguous(), bool)
    assert_type(array.flags["C_CONTIGUOUS"], bool)
    assert array.dtype == np.int32
    assert array.dtype.itemsize == array.itemsize

    assert_type(array[0], DeviceArray)
    assert_type(array[np.int64(0), None, ...][::-1], DeviceArray)
    assert_type([part for part in array], list[DeviceArray])
    assert_type(array.reshape(1, 2).reshape((2, 1), order="F").T, DeviceArray)
    assert_type(array.transpose().squeeze(axis=None).ravel("C", stream=0), DeviceArray)
    assert_type(array.view(np.float32).view("|u1"), DeviceArray)
    assert (len(array), int(array[0]), float(array[1])) == (2, 1, 2.0)
    assert array[0] + 1 == 2 == 3 - array[0]
    assert array[1] > array[0]

    stream, out = Stream(ctx), np.empty(2, np.int32)
    assert_type(array.copy_to_host(out), np.ndarray[tuple[int], np.dtype[np.int32]])
    assert_type(
        array.copy_to_host(ary=out, stream=stream), np.ndarray[tuple[int], np.dtype[np.int32]]
    )
    assert array.copy_to_host(stream=0).tolist() == [1, 2]
    assert np.asarray(array).sum() == 3
    points = DeviceArray.from_host(np.array([(1, 2)], [("x", "i4"), ("y", "i4")]))
    assert_type(points["x"], DeviceArray)
    points[0]["y"] = 3
    assert (round(points["x"][0]), divmod(points[0]["y"], 2), str(points["y"][0])) == (
        1,
        (1, 1),
        "3",
    )
    assert_type(points.transpose(axes=(0,)).squeeze(0, stream=0), DeviceArray)
    array[:] = 5
    array[1:] = [6]
    array[0] = array[1]
    array[...] = out
    array.copy_to_device(ary=out, stream=OtherStream())
    assert_type(array.copy(order="F"), DeviceArray)
    other = DeviceArray.empty((2,), np.int32, order="C", context=ctx)
    other.copy_to_device(array)
    other.fill(np.int32(7))
    assert_type(other.item() if other.size == 1 else other[0].item(), Any)
    assert_type(DeviceArray.from_host([[1, 2], [3, 4]], context=ctx, order="F"), DeviceArray)

    arrow = DeviceArray.from_arrow(pa.array([1, None]).copy_to(ctx.memory_manager))
    filled: DeviceArray = DeviceArray.from_arrow(pa.array([1, None]), nulls="fill", fill=0)
    values, mask = DeviceArray.from_arrow(pa.array([True]), nulls="mask", dtype=bool)
    assert (filled.null_count, values.shape) == (0, mask.shape)
    rows: DeviceArray = DeviceArray.from_columns(pa.table({"x": [1]}), ["x"], order="F")
    rows, mask = DeviceArray.from_columns(pa.table({"x": [1]}), nulls="mask")
    assert rows.to_columns(["x"], pa.int64()).num_columns == 1
    validity = arrow.validity
    assert validity is not None
    assert_type(validity.bit_offset, int)
    assert_type(validity.bit_length, int | None)
    assert arrow.to_arrow(type=pa.timestamp("s")).type == pa.timestamp("s")
    assert arrow.values.to_arrow().type == arrow.arrow_type

    handle = array.copy().export_for_ipc()
    assert_type(handle, IpcArrayHandle)
    assert_type(IpcArrayHandle.from_buffer(handle.serialize()).shape, tuple[int, ...])
    with contextlib.suppress(OSError):  # a process cannot open its own memory
        assert_type(handle.open(context=ctx), DeviceArray)


class OtherStream:
    """A stream of another library."""

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 1


def streams(ctx: cuda.Context, buf: CudaBuffer) -> None:
    stream = Stream(ctx, non_blocking=True)
    start, end = Event(ctx, timing=True), Event(context=ctx, timing=True)
    start.record(stream)
    buf.fill(7, position=1, nbytes=2, stream=stream)
    assert_type(buf.copy_to_host(buf=cuda.new_host_buffer(8), stream=stream), cuda.HostBuffer)
    assert_type(buf.copy_to_host(stream=stream), pa.Buffer)
    assert_type(buf.copy_to_host(resizable=True, stream=stream), pa.ResizableBuffer)
    assert_type(buf.copy_from_host(b"data", stream=OtherStream()), int)
    assert_type(buf.copy_from_device(buf.slice(4), stream=stream), int)
    assert_type(stream.record(end), Event)
    Stream().wait(stream)
    stream.wait(OtherStream())
    stream.wait(Stream().record())
    end.synchronize()
    stream.synchronize()
    assert_type(start.elapsed_time(end), float)
    assert_type(stream.query() and end.query(), bool)
    assert_type(stream.handle + end.handle + stream.context.handle, int)
    assert_type(stream.__cuda_stream__(), tuple[int, int])
    assert_type(end - start, float)
    assert_type(Stream(0, priority=-1).priority, int)
    assert_type(Stream.priority_range(ctx), tuple[int, int])
    with stream as entered:
        assert_type(entered, Stream)
    assert Event(0).context == ctx
    assert_type(hash(ctx), int)


def memory(ctx: cuda.Context) -> None:
    free, total = mem_get_info()
    assert_type(free / total, float)
    mem_get_info(device=np.int64(0))
    reset_peak_memory_stats(ctx)
    reset_peak_memory_stats(0)
    reset_peak_pinned_memory_stats()
    report = memory_report("cuda:0")
    assert_type(report.totals[0].peak_allocated_bytes, int)
    assert_type([row.sizes for row in report.classes], list[str])
    assert_type([holder.place for holder in report.holders], list[str])
    with record_allocations(max_events=1000) as history:
        assert_type([event.nbytes for event in history.events], list[int])
    history.save(Path("/tmp/memory.pickle"))


def records() -> None:
    assert_type(tracing(), dict[str, bool])
    set_tracing(log=False, nvtx=False)
    assert_type(show_config(mode="dicts"), dict[str, object])


def length(buf: pa.Buffer) -> int:
    return buf.size


def pygpu() -> None:
    assert_type(gpuarray.cudaSetDevice(0), gpuarray.cudaError_t)
    device, status = gpuarray.cudaGetDevice()
    assert_type(device + status.as_int(), int)
    array = gpuarray.to_gpu(np.arange(3))
    assert_type(array[1:], gpuarray.GPUArray)
    assert_type(array.ptr, int)
    array.shape = [3, 1]
    low_level = gpuarray.DeviceArray_float32([2, 3])
    assert_type(low_level.allocate(), gpuarray.cudaError_t)
    assert int(low_level.device_data()) > 0


def main() -> None:
    ctx = contexts()
    buffers(ctx)
    pinned = cuda.new_host_buffer(3)
    digits = ctx.buffer_from_data(b"012")
    digits.copy_to_host(buf=pinned)
    elements(digits, digits.copy_to_host(), pinned)
    two = ctx.buffer_from_data(np.array([1, 2], dtype=np.int32))
    host_copies(two, pa.allocate_buffer(8), unknown=False)
    exchange(ctx, two)
    arrays(ctx, two)
    copies(ctx, two)
    pinned_memory(ctx)
    ipc(ctx)
    files(ctx)
    record_batches(ctx)
    streams(ctx, ctx.new_buffer(8))
    memory(ctx)
    records()
    pygpu()
    assert length(ctx.new_buffer(3)) == 3


if __name__ == "__main__":
    main()
