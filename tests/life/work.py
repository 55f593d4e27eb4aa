"""What threads do over and over while something happens to the process; each checks its bytes."""

import io
import pickle
import tempfile
import threading
from collections.abc import Callable
from functools import cache

import numpy as np
import pyarrow as pa
from pyarrow import cuda

import pyarrow_cuda_compat as compat
import pyarrow_cuda_compat.pygpu as gpuarray
from pyarrow_cuda_compat import DeviceArray

from .states import BATCH, CONTENT, CPU, NUMBERS, context, exporters_handle

ALL: dict[str, Callable[[], None]] = {}
LARGE = (np.arange(3 << 20, dtype=np.uint32) * 2654435761 >> 13).astype(np.uint8)
#: Python before 3.14 unwinds daemon threads at its end; in these libarrow does not survive that.
ABORTED = {"messages", "batches", "readers"}
if pa.cpp_version_info.major < 25:
    ABORTED |= {"files", "uploads"}  # nor does `NativeFile.write`


def work(turn):
    ALL[turn.__name__.replace("_", " ")] = turn
    return turn


def equal(one, other):
    assert one == other, "wrong bytes"


@work
def large_copies():
    data = LARGE
    buffer = context().buffer_from_data(data)
    assert buffer.copy_to_host().equals(pa.py_buffer(data)), "wrong bytes"


@work
def small_copies():
    buffer = context().buffer_from_data(CONTENT)
    for start in range(10):
        equal(buffer.slice(start).to_pybytes(), CONTENT[start:])


@work
def gathered_copies():
    buffers = context().buffers_from_data([CONTENT[:size] for size in range(0, 300, 7)])
    equal([each.size for each in buffers], [*range(0, 300, 7)])


@work
def readers():
    batches = pa.RecordBatchReader.from_batches(BATCH.schema, [BATCH] * 20)
    equal(batches.copy_to(context()).read_all().copy_to(CPU), pa.Table.from_batches([BATCH] * 20))


@work
def allocations():
    kept = [context().new_buffer(size) for size in (1, 3000, 5 << 20, 100)]
    del kept[1:3]
    assert context().new_buffer(2000).address
    compat.empty_cache()


@work
def pinned_memory():
    host = cuda.new_host_buffer(100_000)
    np.frombuffer(host, np.uint8)[:] = 7
    buffer = context().new_buffer(100_000)
    buffer.copy_from_host(host)
    equal(buffer.slice(99_990).to_pybytes(), b"\7" * 10)
    compat.empty_pinned_cache()


@work
def streams():
    stream, host = compat.Stream(context()), cuda.new_host_buffer(len(CONTENT))
    buffer = context().buffer_from_data(CONTENT)
    buffer.copy_to_host(buf=host, stream=stream)
    event = stream.record()
    event.synchronize()
    stream.synchronize()
    context().synchronize()
    equal(host.to_pybytes(), CONTENT)


@work
def comparisons():
    buffer = context().buffer_from_data(CONTENT)
    assert buffer.equals(context().buffer_from_data(CONTENT))
    assert not buffer.equals(buffer.slice(1))


@work
def peers():
    there = cuda.Context(1).new_buffer(len(CONTENT))
    there.copy_from_device(context().buffer_from_data(CONTENT))
    equal(there.to_pybytes(), CONTENT)


@work
def files():
    buffer = context().new_buffer(len(CONTENT))
    with cuda.BufferWriter(buffer) as writer:
        writer.buffer_size = 64
        for start in range(0, len(CONTENT), 50):
            writer.write(CONTENT[start : start + 50])
    equal(cuda.BufferReader(buffer).read(), CONTENT)


@work
def uploads():
    data = LARGE
    buffer = context().new_buffer(len(data) + 100)
    with tempfile.TemporaryFile(buffering=0) as file, cuda.BufferWriter(buffer) as writer:
        file.write(data)
        file.seek(0)
        writer.upload(file)
        writer.upload(io.BytesIO(CONTENT[:100]))
    equal(buffer.slice(len(data)).to_pybytes(), CONTENT[:100])


@work
def whole_files():
    buffer, told = context().buffer_from_data(LARGE), []
    with tempfile.TemporaryFile() as file:
        buffer.copy_to_file(file, progress=lambda *all: told.append(all))
        again = context().buffer_from_file(file, 5, direct=True)
        equal(told, [(len(LARGE), len(LARGE))])
        assert again.equals(buffer.slice(5)), "wrong bytes"
    equal(context().buffer_from_file("/dev/zero", nbytes=10).to_pybytes(), bytes(10))


@work
def messages():
    message = cuda.serialize_record_batch(BATCH, context())
    equal(cuda.read_record_batch(message, BATCH.schema).copy_to(CPU), BATCH)


@work
def batches():
    there = BATCH.copy_to(context().memory_manager)
    back = pa.RecordBatch._import_from_c_device_capsule(*there.__arrow_c_device_array__())
    equal(back.copy_to(CPU), BATCH)


@work
def arrays():
    array = DeviceArray.from_host(NUMBERS)
    equal(array.T[::-1].copy_to_host().tolist(), NUMBERS.T[::-1].tolist())
    equal(compat.from_dlpack(array)[1].copy_to_host().tolist(), NUMBERS[1].tolist())
    equal(gpuarray.to_gpu(NUMBERS).get().tolist(), NUMBERS.tolist())


@cache
def column():
    return BATCH.copy_to(context().memory_manager).column(0)


@work
def typed_arrays():
    """Much of this is the package's Python code, which its methods call."""
    there = column()
    for _ in range(20):
        array = DeviceArray.from_arrow(there)
        equal(array.null_count, 1)
        equal(array.to_arrow().type, there.type)
    kind, parts = DeviceArray.from_host(NUMBERS).__reduce_ex__(5)[:2]
    equal(kind(*parts).copy_to_host().tolist(), NUMBERS.tolist())


@work
def pickles():
    buffer = context().buffer_from_data(CONTENT)
    equal(pickle.loads(pickle.dumps(buffer)).to_pybytes(), CONTENT)


@work
def imports():
    """Of another process's memory."""
    equal(context().open_ipc_buffer(exporters_handle()).to_pybytes(), CONTENT)


@work
def foreign_owners():
    """Their memory is released while others use the device."""
    base = [context().buffer_from_data(CONTENT)]
    base.append(context().foreign_buffer(base[0].address, len(CONTENT), base=base))
    equal(base[1].to_pybytes(), CONTENT)


class Threads:
    """Threads that repeat a work until `stop` is called.

    A failure of one is raised by `stop`.
    """

    def __init__(self, turn, count, daemon=False):
        self._stop, self._failures = threading.Event(), []
        begun = threading.Barrier(count + 1)
        exporters_handle()  # before this process has a driver

        def repeat():
            try:
                turn()
                begun.wait()
                while not self._stop.is_set():
                    turn()
            except BaseException as failure:
                self._failures.append(failure)
                begun.abort()
                raise

        self._threads = [threading.Thread(target=repeat, daemon=daemon) for _ in range(count)]
        for thread in self._threads:
            thread.start()
        begun.wait()

    def let_stop(self):
        self._stop.set()

    def stop(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()
        if self._failures:
            raise self._failures[0]
