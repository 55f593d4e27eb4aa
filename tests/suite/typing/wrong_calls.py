"""Calls that every type checker must reject, on the marked lines and no others."""

from collections.abc import Hashable
from contextlib import ExitStack
from typing import Any

import pyarrow as pa
from pyarrow import cuda

import pyarrow_cuda_compat.pygpu as gpuarray
from pyarrow_cuda_compat import DeviceArray, Event, IpcArrayHandle, Stream, from_dlpack


class NotOnTheDevice:
    __array_interface__: dict[str, Any]


def contexts(ctx: cuda.Context) -> None:
    cuda.Context(0, 0)
    cuda.Context(0.0)  # rejected
    cuda.Context(0, handle=None)  # rejected
    cuda.Context(1.5)  # rejected
    ctx.device_number = 1  # rejected
    ctx.handle = 0  # rejected
    text: str = cuda.Context.get_num_devices()  # rejected
    print(text)


def streams(ctx: cuda.Context, buf: cuda.CudaBuffer) -> None:
    Stream(b"0")  # rejected
    Stream(ctx, priority="high")  # rejected
    Event() - 1.0  # rejected
    Event(Stream(ctx))  # rejected
    Stream(ctx).wait(1)  # rejected
    Stream(ctx).record(Stream(ctx))  # rejected
    Event(ctx).record(1)  # rejected
    Event(ctx).elapsed_time(None)  # rejected
    buf.fill(b"x")  # rejected
    buf.fill(1, stream=1)  # rejected
    buf.copy_to_host(0, -1, None, None, False, Stream(ctx))  # rejected
    buf.copy_from_device(buf, stream=ctx)  # rejected


def exchange(ctx: cuda.Context, buf: cuda.CudaBuffer) -> None:
    from_dlpack(buf)
    from_dlpack(b"bytes")  # rejected
    from_dlpack(buf, device=b"cuda:0")  # rejected
    from_dlpack(buf, copy="yes")  # rejected
    buf.__dlpack__(stream="x")  # rejected
    buf.__dlpack__(max_version=1)  # rejected


def arrays(ctx: cuda.Context, buf: cuda.CudaBuffer) -> None:
    array = DeviceArray(buf, "<i4", 5)
    DeviceArray()  # rejected
    DeviceArray(buf, "<i4", "5")  # rejected
    DeviceArray(buf, "<i4", (5,), 4)  # rejected
    DeviceArray(buf, "<i4", (5,), (4,), 8)  # rejected
    DeviceArray(buf, shape=(5,))  # rejected
    DeviceArray(array, "<i4")  # rejected
    DeviceArray([1, 2])  # rejected
    DeviceArray(b"bytes")  # rejected
    DeviceArray.empty(3, order="K")  # rejected
    DeviceArray.from_arrow([1, 2])  # rejected
    array.shape = (6,)  # rejected
    array.strides = (8,)  # rejected
    array.typestr  # rejected  # noqa: B018
    array[["field"]]  # rejected
    array[1.5]  # rejected
    array[[0, 1]]  # rejected
    array[b"x"] = 1  # rejected
    del array[0]  # rejected
    array.reshape("2")  # rejected
    array.transpose(1.0)  # rejected
    array.transpose(axes=1.0)  # rejected
    array.copy_to_host([0])  # rejected
    array.copy_to_host(ary=buf)  # rejected
    array.copy_to_host(None, 1)  # rejected
    array.copy_to_device(array, stream=ctx)  # rejected
    array.to_arrow("int32")  # rejected
    memory: cuda.CudaBuffer = from_dlpack(array)  # rejected
    IpcArrayHandle.from_buffer(b"handle").open(0)  # rejected
    print(memory)


def allocation(ctx: cuda.Context, pinned: cuda.HostBuffer, anything: Any) -> None:
    ctx.new_buffer(16)
    ctx.new_buffer("16")  # rejected
    ctx.new_buffer(16.0)  # rejected
    ctx.buffer_from_data(b"", 0, 0)
    ctx.buffer_from_data("text")  # rejected
    ctx.buffer_from_data([1, 2, 3])  # rejected
    ctx.buffer_from_data(None)  # rejected
    ctx.buffers_from_data([b"bytes", bytearray(3)])
    ctx.buffers_from_data(b"bytes")  # rejected
    ctx.buffers_from_data([1, 2, 3])  # rejected
    ctx.buffer_from_data(b"", size=None)  # rejected
    ctx.buffer_from_file("data", 0, 1, direct=None)
    ctx.buffer_from_file(None)  # rejected
    ctx.buffer_from_file(1.5)  # rejected
    ctx.buffer_from_file("data", progress=1)  # rejected
    ctx.buffer_from_file("data", progress=lambda done: None)  # rejected
    ctx.buffer_from_object(pinned)
    ctx.buffer_from_object(anything)
    ctx.buffer_from_object(b"bytes")  # rejected
    ctx.buffer_from_object(1)  # rejected
    ctx.buffer_from_object(NotOnTheDevice())  # rejected
    ctx.foreign_buffer(0, 0, None)
    ctx.foreign_buffer(b"", 1)  # rejected
    ctx.foreign_buffer(0, "1")  # rejected
    ctx.get_device_address(None)  # rejected
    cuda.new_host_buffer(16, 0)
    cuda.new_host_buffer("16")  # rejected
    cuda.new_host_buffer(16, device=None)  # rejected
    cuda.CudaBuffer()  # rejected
    cuda.CudaBuffer(16)  # rejected
    cuda.HostBuffer()  # rejected
    cuda.HostBuffer(16)  # rejected


def taken(kind: Hashable) -> None:
    print(kind)


def buffers(ctx: cuda.Context, buf: cuda.CudaBuffer, pinned: cuda.HostBuffer) -> None:
    buf.copy_to_host(0, -1, pinned, None, False)
    buf.copy_to_host("0")  # rejected
    buf.copy_to_host(nbytes=None)  # rejected
    buf.copy_to_host(buf=bytearray(16))  # rejected
    buf.copy_to_host(0, -1, b"")  # rejected
    buf.copy_to_host(buf=buf)  # rejected
    buf.copy_to_host(0, -1, buf.slice(1))  # rejected
    buf.copy_to_host(0, -1, buf, None, True)  # rejected
    buf.copy_to_host(pool=None)  # rejected
    buf.copy_to_host(memory_pool=1)  # rejected
    buf.copy_to_host(resizable="no")  # rejected
    buf.copy_from_host("text")  # rejected
    buf.copy_from_host(1)  # rejected
    buf.copy_from_host(b"", position=None)  # rejected
    buf.copy_from_device(buf, 0, -1)
    buf.copy_from_device(b"bytes")  # rejected
    buf.copy_from_device(pinned)  # rejected
    buf.slice(0, None)
    buf.slice("0")  # rejected
    buf["key"]  # rejected
    buf[0] = 1  # rejected
    buf.read(1)  # rejected
    buf.equals(b"bytes")  # rejected
    buf.context = ctx  # rejected
    buf.size = 0  # rejected
    buf.no_such_name  # rejected  # noqa: B018
    memoryview(buf)  # rejected
    taken(ctx)
    taken(buf)  # rejected
    taken(pinned)  # rejected
    taken(buf.copy_to_host())  # rejected
    print(buf < buf)  # rejected
    print(buf + b"bytes")  # rejected
    del buf[0]  # rejected
    cuda.CudaBuffer.from_buffer(b"bytes")  # rejected
    number: int = buf  # rejected
    device: cuda.CudaBuffer = buf.copy_to_host(buf=pinned)  # rejected
    print(number, device)


def host_memory(buf: cuda.CudaBuffer, pinned: cuda.HostBuffer, stack: ExitStack) -> None:
    host = buf.copy_to_host()
    host.slice(1)
    host.close()  # rejected
    host.resize(3)  # rejected
    host[1:].close()  # rejected
    host[0] = 1  # rejected
    host.size()  # rejected
    stack.enter_context(host)  # rejected
    pinned.flush()  # rejected
    pinned.resize(3)  # rejected
    pinned[0] = 1  # rejected
    pinned[0:1] = b"x"  # rejected
    del pinned[0]  # rejected
    with pinned:  # rejected
        pass
    resizable = buf.copy_to_host(resizable=True)
    resizable.resize(3)
    resizable.resize()  # rejected
    resizable.resize("3")  # rejected
    resizable.close()  # rejected
    buf.copy_to_host(resizable=False).resize(3)  # rejected
    buf.copy_to_host(buf=pinned, resizable=True).resize(3)  # rejected
    buf.export_for_ipc().serialize().close()  # rejected


def ipc(ctx: cuda.Context, buf: cuda.CudaBuffer, handle: cuda.IpcMemHandle) -> None:
    ctx.open_ipc_buffer(handle)
    ctx.open_ipc_buffer(b"handle")  # rejected
    ctx.open_ipc_buffer(handle.serialize())  # rejected
    handle.serialize(1)  # rejected
    cuda.IpcMemHandle()  # rejected
    cuda.IpcMemHandle(b"handle")  # rejected
    cuda.IpcMemHandle.from_buffer(b"handle")  # rejected
    cuda.IpcMemHandle.from_buffer(buf)  # rejected
    cuda.IpcMemHandle.from_buffer(handle)  # rejected


def files(ctx: cuda.Context, buf: cuda.CudaBuffer, pinned: cuda.HostBuffer) -> None:
    reader = cuda.BufferReader(buf)
    cuda.BufferReader(b"bytes")  # rejected
    cuda.BufferReader(pinned)  # rejected
    reader.read_buffer("4")  # rejected
    reader.read("4")  # rejected
    reader.no_such_name  # rejected  # noqa: B018
    writer = cuda.BufferWriter(buffer=buf)
    cuda.BufferWriter(ctx)  # rejected
    writer.writeat(b"data", 0)  # rejected
    writer.writeat(0, "text")  # rejected
    writer.seek("0")  # rejected
    writer.seek(0, None)  # rejected
    writer.buffer_size = "8"  # rejected
    writer.num_bytes_buffered = 0  # rejected
    writer.set_buffer_size(8)  # rejected


def record_batches(ctx: cuda.Context, buf: cuda.CudaBuffer) -> None:
    batch = pa.record_batch({"x": [1]})
    cuda.serialize_record_batch(batch, ctx)
    cuda.serialize_record_batch({"x": [1]}, ctx)  # rejected
    cuda.serialize_record_batch(batch, 0)  # rejected
    cuda.serialize_record_batch(ctx, batch)  # rejected
    cuda.read_message(buf)
    cuda.read_message(b"bytes")  # rejected
    cuda.read_message(buf, ctx)  # rejected
    cuda.read_record_batch(buf, batch.schema, dictionary_memo=None)
    cuda.read_record_batch(buf, {"x": int})  # rejected
    cuda.read_record_batch(b"bytes", batch.schema)  # rejected
    cuda.read_record_batch(buf, batch.schema, pool=1)  # rejected
    cuda.no_such_name  # rejected  # noqa: B018


def pygpu() -> None:
    gpuarray.cudaSetDevice("0")  # rejected
    gpuarray.GPUArray((3,), order="K")  # rejected
    gpuarray.cudaEventRecord(gpuarray.cudaStream_t())  # rejected
    gpuarray.no_such_name  # rejected  # noqa: B018
