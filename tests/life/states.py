"""What may be alive when something happens to the process."""

import ctypes
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import cuda

import pyarrow_cuda_compat as compat
import pyarrow_cuda_compat.pygpu as gpuarray
from pyarrow_cuda_compat import DeviceArray, SmartArray, memory
from support.c_device import ArrowDeviceArray, ArrowSchema
from support.driver import the_driver
from support.work import Queue

CPU = pa.default_cpu_memory_manager()
CONTENT = bytes(range(250)) * 4
NUMBERS = np.arange(24, dtype=np.int32).reshape(4, 6)
BATCH = pa.record_batch({"a": [1, None, 3], "s": ["x", None, "yy"], "l": [[1], [], None]})


@dataclass(frozen=True)
class State:
    """Something alive, and how it is used."""

    name: str
    #: Makes it.
    make: Callable[[], Any]
    #: Reads the content from the device; it is the same each time.
    read: Callable[[Any], Any]
    #: Whether `read` needs the driver, so that a forked child cannot do it.
    asks_driver: bool


ALL: dict[str, State] = {}


def state(read, asks_driver=True):
    """Registers what a function makes."""

    def register(make):
        name = make.__name__.replace("_", " ").strip()
        ALL[name] = State(name, make, read, asks_driver)
        return make

    return register


def context():
    return cuda.Context(0)


def on_host(value):
    return value.copy_to(CPU)


def bytes_of(buffer):
    return buffer.to_pybytes()


# --- memory --------------------------------------------------------------------------------------


@state(bytes_of)
def buffer():
    return context().buffer_from_data(CONTENT)


@state(bytes_of)
def slice_():
    """The rest of its buffer has no name."""
    return context().buffer_from_data(CONTENT).slice(100).slice(100, 500)


@state(lambda buffers: [each.to_pybytes() for each in buffers])
def many_buffers():
    """Of all sizes; some share a segment, and what lies between them is cached."""
    sizes = [1, 100, 5000, 70_000, 3 << 20, 0] * 3
    buffers = [context().buffer_from_data(bytes([size % 251]) * size) for size in sizes]
    return buffers[::2]


@state(bytes_of)
def buffer_of_another_device():
    return cuda.Context(1).buffer_from_data(CONTENT)


@state(lambda arrays: [array.to_pylist()[-9:] for array in arrays], asks_driver=False)
def arrays_in_pinned_memory():
    """Of a memory pool: one shares a block, the other has its own."""
    pool = compat.pinned_memory_pool(context())
    return [pa.array([b"text" * 100] * count, memory_pool=pool) for count in (9, 20_000)]


@state(lambda pinned: pinned[0].to_pybytes(), asks_driver=False)
def pinned_memory():
    host = cuda.new_host_buffer(len(CONTENT))
    view = np.frombuffer(host, np.uint8)
    view[:] = np.frombuffer(CONTENT, np.uint8)
    return host, view, host.slice(10)


class Base:
    """Owns what a foreign buffer shows."""

    def __init__(self):
        self.memory = buffer()
        self.itself = self

    @property
    def __cuda_array_interface__(self):
        where = (self.memory.address, False)
        return {"shape": (len(CONTENT),), "typestr": "|u1", "data": where, "version": 3}


@state(bytes_of)
def foreign_memory():
    base = Base()
    return context().foreign_buffer(base.memory.address, len(CONTENT), base=base)


@state(bytes_of)
def array_interface():
    return context().buffer_from_object(Base())


@state(lambda exported: exported[0].to_pybytes())
def exported_memory():
    whole = buffer()
    return whole, whole.export_for_ipc(), whole.slice(7).export_for_ipc()


@cache
def exporters_handle():
    """The handle of another process's memory; that process ends with this one."""
    (there, ours), (wait, hold) = os.pipe(), os.pipe()
    if os.fork() == 0:
        os.close(hold)
        shared = buffer()
        os.write(ours, shared.export_for_ipc().serialize().to_pybytes())
        os.read(wait, 1)
        os._exit(0)
    os.close(ours)
    os.close(wait)
    os.set_inheritable(hold, False)
    handle = os.read(there, 100)
    os.close(there)
    return cuda.IpcMemHandle.from_buffer(pa.py_buffer(handle))


@state(lambda buffers: buffers[1].to_pybytes())
def imported_memory():
    handle = exporters_handle()  # before this process has a driver
    return context().open_ipc_buffer(handle), context().open_ipc_buffer(handle).slice(10)


# --- files ---------------------------------------------------------------------------------------


def read_all(reader):
    reader.seek(0)
    return reader.read()


@state(read_all)
def reader():
    return cuda.BufferReader(buffer())


def flushed(files):
    writer, memory = files
    writer.flush()
    return memory.to_pybytes()


@state(flushed)
def writer():
    """With bytes that are collected, and others that are under way."""
    memory = context().buffer_from_data(bytes(1000))
    writer = cuda.BufferWriter(memory)
    writer.buffer_size = 64
    writer.write(CONTENT[:200])
    return writer, memory


# --- Arrow ---------------------------------------------------------------------------------------


@state(on_host)
def batch():
    return BATCH.copy_to(context().memory_manager)


@state(on_host)
def column():
    return BATCH.copy_to(context().memory_manager).column(1).slice(1)


@state(lambda read: on_host(read[1]))
def message():
    message = cuda.serialize_record_batch(BATCH, context())
    return message, cuda.read_record_batch(message, BATCH.schema), cuda.BufferReader(message)


@state(on_host)
def imported_batch():
    capsules = batch().__arrow_c_device_array__()
    return pa.RecordBatch._import_from_c_device_capsule(*capsules)


@state(lambda capsules: len(capsules), asks_driver=False)
def capsules():
    """Nobody takes them."""
    there = column()
    array = DeviceArray.from_host(NUMBERS)
    # While work is in flight, an export has an event.
    stream, target = compat.Stream(context()), buffer()
    target.fill(1, stream=stream)
    return (
        there.__arrow_c_device_array__(),
        batch().__arrow_c_device_array__(),
        array.__dlpack__(),
        array.__dlpack__(max_version=(1, 0)),
    )


@state(lambda structures: structures[0].array.length, asks_driver=False)
def structures():
    """As another library holds them, which never releases them."""
    array, schema = ArrowDeviceArray(), ArrowSchema()
    batch()._export_to_c_device(array.address, schema.address)
    return array, schema


# --- arrays --------------------------------------------------------------------------------------


def elements(array):
    return array.copy_to_host().tolist()


@state(elements)
def array():
    return DeviceArray.from_host(NUMBERS)


@state(elements)
def strided_array():
    return DeviceArray.from_host(NUMBERS)[::2, ::-1]


@state(lambda array: on_host(array.to_arrow()))
def typed_array():
    return DeviceArray.from_arrow(pa.array([1, None, 3]).copy_to(context().memory_manager))


@state(elements)
def tensor():
    return compat.from_dlpack(array())


def fetched(array):
    array.mark_changed("gpu")
    return array.get().tolist()


@state(fetched)
def smart_array():
    array = SmartArray(NUMBERS)
    array.get("gpu").fill(2)
    array.mark_changed("gpu")
    return array


def got(array):
    result = array.get()
    if array.last_status != 0:
        raise OSError(f"Cuda error {int(array.last_status)}")
    return result.tolist()


@state(got)
def pygpu_array():
    return gpuarray.to_gpu(NUMBERS)


@state(lambda held: elements(held[1][0]))
def mapped_memory():
    """A NumPy array whose memory is pinned for a time, and a mapped array."""
    host = np.arange(100_000)
    pinned, mapped = memory.pinned(host[:50_000]), memory.mapped(host[50_000:])
    pinned.__enter__()
    return host, mapped.__enter__(), pinned, mapped, memory.mapped_array(10)


# --- streams -------------------------------------------------------------------------------------


@state(lambda streams: streams[0].query() in (True, False) and streams[0].synchronize())
def stream():
    """With copies under way, or just done."""
    stream, held = compat.Stream(context()), context().new_buffer(4 << 20)
    host = cuda.new_host_buffer(4 << 20)
    for _ in range(5):
        held.copy_to_host(buf=host, stream=stream)
        held.copy_from_host(host, stream=stream)
    return stream, held


@state(lambda events: [event.synchronize() for event in events])
def events():
    stream = compat.Stream(context(), non_blocking=True)
    context().new_buffer(1 << 20).fill(1, stream=stream)
    return stream.record(), compat.Event(context(), timing=True)


@state(lambda held: held[0].query())
def held_stream():
    """Its work never ends by itself."""
    stream = compat.Stream(context(), non_blocking=True)
    driver = the_driver()
    before = driver.current()
    driver.set_current(context().handle)
    queue = Queue(driver, ctypes.c_void_p(stream.handle))
    queue.hold()
    driver.set_current(before)
    target, host = buffer(), cuda.new_host_buffer(len(CONTENT))
    target.copy_to_host(buf=host, stream=stream)
    return stream, queue, host


# --- what refers to such things ------------------------------------------------------------------


@state(lambda held: held[1].to_pybytes())
def exception():
    """Its traceback leads to frames whose variables are buffers."""
    kept = buffer()
    try:
        kept.slice(len(CONTENT) + 1)
    except ValueError as error:
        return error, kept


@state(lambda pickled: len(pickle.dumps(pickled)), asks_driver=False)
def pickles():
    """Out of band, the package makes the objects that hold the bytes."""
    frames = []
    return pickle.dumps(batch(), protocol=5, buffer_callback=frames.append), [
        bytes(frame) for frame in frames
    ]
