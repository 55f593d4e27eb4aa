"""How memory comes in from other libraries and goes out to them: the rows of the table of order.

The stand-ins do what libraries do, by calls of the driver: a producer's work turns `BEFORE` into
`AFTER`, and a consumer reads on a stream.
"""

import ctypes
import pickle
from types import SimpleNamespace

import pyarrow as pa

from pyarrow_cuda_compat import CudaBuffer, DeviceArray, _native, from_dlpack
from support.c_device import Exported, MadeStream, structure
from support.interfaces import Interface
from support.libraries import dlpack
from support.order_world import DEFAULT, PER_THREAD
from support.samples import CPU
from support.streams import AFTER, BEFORE, SIZE

#: Structures that are made by hand: their functions have to outlive the call that releases them.
made = []


class Tensor(dlpack.Producer):
    """An array of CuPy or PyTorch: the stream that is asked for waits for an event."""

    def __init__(self, memory, work):
        super().__init__(memory.address, (SIZE,))
        self.memory, self.work = memory, work
        made.append(self)

    def delete(self, pointer):
        super().delete(pointer)
        self.memory = None

    def __dlpack__(self, *, stream, **_):
        if self.work.stream is not None:
            self.work.record()
            place = ctypes.c_void_p(stream)
            self.work.driver.call("cuStreamWaitEvent", place, self.work.event, 0)
        return self.capsule()


def late_array(memory, work):
    """An Arrow array whose event is behind the work."""
    work.record()
    array = pa.Array.from_buffers(pa.uint8(), SIZE, [None, memory], null_count=0)
    return Exported(array, sync_event=work.place)


def of_interface(memory, **entries):
    theirs = Interface(memory.address, shape=(SIZE,), **entries)
    theirs.memory = memory
    return DeviceArray(theirs).to_arrow()


def of_buffer(buffer):
    return pa.Array.from_buffers(pa.uint8(), SIZE, [None, buffer], null_count=0)


def of_stream(memory, work):
    """The one array of a stream of the C Device interface."""
    batch = pa.RecordBatch.from_arrays([of_buffer(memory)], ["a"])
    work.record()
    stream = MadeStream(batch.schema, [Exported(batch, sync_event=work.place)])
    made.append(stream)
    batch = pa.RecordBatchReader.from_stream(stream).read_next_batch()
    stream.kept.clear()
    return batch.column(0)


#: How an Arrow array comes to lie over memory on which `work` is queued; and whether on a stream
#: that is independent of the default stream, or on that one.
ENTRIES = {
    "DLPack": (lambda ctx, memory, work: from_dlpack(Tensor(memory, work)).to_arrow(), True),
    "DLPack, capsule": (
        lambda ctx, memory, work: from_dlpack(Tensor(memory, work).capsule()).to_arrow(),
        True,
    ),
    "DLPack, default stream": (
        lambda ctx, memory, work: from_dlpack(Tensor(memory, work)).to_arrow(),
        False,
    ),
    "array interface, handle": (
        lambda ctx, memory, work: of_interface(memory, stream=work.stream.value),
        True,
    ),
    "array interface, stream 1": (lambda ctx, memory, work: of_interface(memory, stream=1), False),
    # As Numba describes arrays on the default stream.
    "array interface, no stream": (lambda ctx, memory, work: of_interface(memory), False),
    "array interface, version 2": (lambda ctx, memory, work: of_interface(memory, version=2), True),
    "C Device array": (lambda ctx, memory, work: pa.array(late_array(memory, work)), True),
    "C Device stream": (lambda ctx, memory, work: of_stream(memory, work), True),
    "foreign_buffer": (
        lambda ctx, memory, work: of_buffer(ctx.foreign_buffer(memory.address, SIZE, base=memory)),
        False,
    ),
    "libcudf's result": (
        lambda ctx, memory, work: of_buffer(
            _native._view_memory(ctx, memory.address, SIZE, memory)
        ),
        False,
    ),
    "libcudf's table": (
        lambda ctx, memory, work: _native._table_over_memory(
            ctx,
            pa.schema([("", pa.uint8())]),
            [(SIZE, 0, (None, SimpleNamespace(ptr=memory.address, size=SIZE, owner=memory)))],
            False,
        ).column(0),
        False,
    ),
}


def bytes_of(buffer):
    return buffer.to_pybytes()[:SIZE]


def buffer_of(array):
    return CudaBuffer.from_buffer(array.buffers()[1])


def pinned_bytes(array, consumer):
    pinned = consumer.pinned
    pinned[:] = 0
    DeviceArray(array).copy_to_host(pinned)
    return pinned.tobytes()


#: How the package itself reads: each gives the bytes.
OWN = {
    "to the host": lambda array, consumer: bytes_of(array.copy_to(CPU).buffers()[1]),
    "to pinned memory": pinned_bytes,
    "to the device": lambda array, consumer: bytes_of(buffer_of(array.copy_to(0))),
    "elements": lambda array, consumer: DeviceArray(array)[::-1].copy().copy_to_host().tobytes(),
    "equality": lambda array, consumer: (
        AFTER if buffer_of(array).equals(pa.py_buffer(AFTER)) else BEFORE
    ),
    "pickle": lambda array, consumer: bytes_of(
        pickle.loads(pickle.dumps(array, 5)).copy_to(CPU).buffers()[1]
    ),
}


def by_dlpack(number):
    def read(array, consumer):
        stream = consumer.stream.value if number is None else number
        capsule = DeviceArray(array).__dlpack__(stream=stream, max_version=(1, 1))
        consumer.read(buffer_of(array).address, stream)
        return capsule

    return read


def by_interface(array, consumer):
    """As PyTorch: it does not look which stream is named."""
    array = DeviceArray(array)
    consumer.read(array.__cuda_array_interface__["data"][0])
    return array


def by_c_device(array, consumer):
    capsules = array.__arrow_c_device_array__()
    found = structure(capsules[1])
    if found.sync_event:
        consumer.driver.call("cuStreamWaitEvent", consumer.stream, found.event, 0)
    buffers = ctypes.cast(found.array.buffers, ctypes.POINTER(ctypes.c_void_p))
    consumer.read(buffers[1])
    return capsules


def by_stream(array, consumer):
    """The one array of a stream, by pyarrow's own reader."""
    chunks = pa.chunked_array([array])

    class Theirs:
        __arrow_c_device_stream__ = chunks.__arrow_c_device_stream__

    return by_c_device(
        _native._import_chunks(Theirs().__arrow_c_device_stream__()).chunk(0), consumer
    )


def by_libcudf(array, consumer):
    _native._make_ready(array)
    consumer.read(array.buffers()[1].address, DEFAULT)
    return array


def by_memory(array, consumer):
    ((_, _, (_, (address, _))),) = _native._memory_of([array])
    consumer.read(address, DEFAULT)
    return array


def by_handle(export):
    """Another process, whose work nothing orders: it reads once it has the handle."""

    def read(array, consumer):
        buffer = buffer_of(array)
        export(buffer)
        consumer.read(buffer.address)
        return buffer

    return read


#: How other libraries get the memory: each queues its read, and gives what retains the memory.
OTHERS = {
    "DLPack, stream 1": by_dlpack(DEFAULT),
    "DLPack, stream 2": by_dlpack(PER_THREAD),
    "DLPack, handle": by_dlpack(None),
    "array interface": by_interface,
    "C Device array": by_c_device,
    "C Device stream": by_stream,
    "libcudf": by_libcudf,
    "libcudf, by addresses": by_memory,
    "lend": by_handle(_native._lend),
    "export_for_ipc": by_handle(CudaBuffer.export_for_ipc),
}

HANDLES = ("lend", "export_for_ipc")

#: Cells without a meaning, and why.
LEFT_OUT = {
    "an address that is read (`address`, `ptr`), RMM's and Numba's memory, foreign pointers": (
        "the caller orders the work itself"
    ),
    "handles of other processes, coming in": "their exporter has waited: see `export_for_ipc`",
    "allocators of the program": "an allocation waits, and nobody has worked on the memory since",
    "a consumer that is busy, of bytes on the host": "it has a copy",
    "a consumer that is busy, of a handle": "the lender keeps the memory; what is exported stays",
    "idle, within blocks": "nobody has anything to wait for",
}
