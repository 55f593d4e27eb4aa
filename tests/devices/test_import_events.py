"""Events of arrays that come through the C Device interface: waited for whoever reads them."""

import ctypes
import threading

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.cuda import BufferReader, BufferWriter, CudaBuffer

from support.c_device import ArrowDeviceArray, ArrowSchema, Exported, array_of, structure
from support.samples import CPU
from support.streams import AFTER, BEFORE, SIZE
from support.work import LONG


def export(ctx, producer):
    """An array whose bytes become those of `AFTER` when the event is reached."""
    memory, array = array_of(ctx, BEFORE)
    producer.fill_later(memory, 7)
    return Exported(array, sync_event=producer.place)


def generic(array):
    """The array's bytes, as pyarrow's own kind of buffer."""
    buffer = array.buffers()[1]
    assert type(buffer) is pa.Buffer
    return buffer


def to_host(array):
    return array.copy_to(CPU).buffers()[1].to_pybytes()[:SIZE]


def view(array):
    return CudaBuffer.from_buffer(generic(array))


def copied(target, source):
    target.copy_from_host(source)
    return target


def written(target, source):
    with BufferWriter(target) as writer:
        writer.write(source)
    return target


#: How pyarrow and the package read memory.
READ = {
    "copy to the host": lambda ctx, array: to_host(array),
    "copy to the device": lambda ctx, array: to_host(array.copy_to(ctx)),
    "copy of a slice": lambda ctx, array: to_host(array.slice(2)),
    "from_buffer": lambda ctx, array: view(array),
    "from_buffer of a slice": lambda ctx, array: CudaBuffer.from_buffer(
        generic(array).slice(1).slice(1)
    ),
    "slice of from_buffer": lambda ctx, array: view(array).slice(1).slice(1),
    "buffer_from_object": lambda ctx, array: ctx.buffer_from_object(generic(array)),
    "buffer_from_data": lambda ctx, array: ctx.buffer_from_data(generic(array)),
    "copy_from_host": lambda ctx, array: copied(ctx.new_buffer(SIZE), generic(array)),
    "writer": lambda ctx, array: written(ctx.new_buffer(SIZE), generic(array)),
    "reader": lambda ctx, array: BufferReader(view(array)).read(),
}


@pytest.mark.parametrize("name", READ)
def test_whoever_reads_waits(ctx, producer, name):
    array = pa.array(export(ctx, producer))
    assert not producer.is_done(), "the import alone need not wait"
    read = READ[name](ctx, array)
    read = read.to_pybytes() if isinstance(read, CudaBuffer) else read
    assert producer.is_done()
    assert len(read) >= SIZE - 2
    assert read == AFTER[: len(read)]


def test_copies_to_another_device_wait(other_ctx, ctx, producer):
    array = pa.array(export(ctx, producer))
    there = array.copy_to(other_ctx.memory_manager)
    assert producer.is_done()
    assert to_host(there) == AFTER
    data = pa.array(export(ctx, producer))
    assert other_ctx.buffer_from_data(generic(data)).to_pybytes() == AFTER


def test_equality_waits(ctx, producer):
    same = ctx.buffer_from_data(AFTER)
    assert same.equals(generic(pa.array(export(ctx, producer))))
    assert not ctx.buffer_from_data(BEFORE).equals(generic(pa.array(export(ctx, producer))))


def as_batch(producer, ctx):
    column = export(ctx, producer).inner
    batch = pa.RecordBatch.from_arrays([column, column.slice(0)], ["a", "b"])
    return Exported(batch, sync_event=producer.place)


def test_batches_wait(cuda, ctx, producer):
    batch = pa.record_batch(as_batch(producer, ctx))
    assert not producer.is_done()
    host = batch.copy_to(CPU)
    assert [to_host(column) for column in host.columns] == [AFTER, AFTER]
    batch = pa.record_batch(as_batch(producer, ctx))
    message = cuda.serialize_record_batch(batch, ctx)
    assert pa.ipc.read_record_batch(message.to_pybytes(), batch.schema).equals(host)


def structures(data, producer):
    """As another library has them, with the event."""
    array, schema = ArrowDeviceArray(), ArrowSchema()
    data._export_to_c_device(array.address, schema.address)
    array.sync_event = producer.place
    return array, schema


def test_imports_by_pointer_wait(ctx, producer):
    for imported in (pa.Array, pa.RecordBatch):
        made = export(ctx, producer) if imported is pa.Array else as_batch(producer, ctx)
        array, schema = structures(made.inner, producer)
        there = imported._import_from_c_device(array.address, schema.address)
        assert not producer.is_done()
        column = there if imported is pa.Array else there.column(0)
        assert to_host(column) == AFTER
        assert array.array.release is None


STRINGS = {
    "string": pa.array(["a", None, "long enough to be seen"]),
    "large binary": pa.array([b"", b"xyz"], pa.large_binary()),
    "list": pa.array([["a"], [], ["bb", "c"]]),
    "struct": pa.array([{"x": 1, "y": "one"}, {"x": 2, "y": "two"}]),
    "dictionary": pa.array(["x", "y", "x"]).dictionary_encode(),
    "map": pa.array([[("a", 1)], [("bc", 2)]], pa.map_(pa.string(), pa.int32())),
}


class Later:
    """An array's buffers on the device, whose bytes come later."""

    def __init__(self, cuda, ctx, producer, array, milliseconds=LONG):
        self.array = array.copy_to(ctx.memory_manager)
        self.pinned = []
        buffers = [*self.array.buffers()]
        if pa.types.is_dictionary(array.type):
            buffers += self.array.dictionary.buffers()
        buffers = [cuda.CudaBuffer.from_buffer(buffer) for buffer in buffers if buffer]
        for buffer in buffers:
            pinned = cuda.new_host_buffer(buffer.size)
            buffer.copy_to_host(buf=pinned)
            self.pinned.append(pinned)
            scramble = ctypes.c_uint64(buffer.address), ctypes.c_ubyte(0x11)
            producer.driver.call("cuMemsetD8_v2", *scramble, ctypes.c_size_t(buffer.size))
        producer.sleep(milliseconds)
        for buffer, pinned in zip(buffers, self.pinned, strict=True):
            producer.driver.call(
                "cuMemcpyHtoDAsync_v2",
                ctypes.c_uint64(buffer.address),
                ctypes.c_void_p(pinned.address),
                ctypes.c_size_t(buffer.size),
                producer.stream,
            )
        producer.record()


@pytest.mark.parametrize("by_pointer", [False, True])
@pytest.mark.parametrize("name", STRINGS)
def test_offsets_are_read_when_they_are_there(cuda, ctx, producer, name, by_pointer):
    """libarrow looks at the last offset while it imports strings."""
    later = Later(cuda, ctx, producer, STRINGS[name])
    if by_pointer:
        array, schema = structures(pa.record_batch([later.array], ["a"]), producer)
        assert not producer.is_done()
        there = pa.RecordBatch._import_from_c_device(array.address, schema=schema.address)
        there = there.column(0)
    else:
        exported = Exported(later.array, sync_event=producer.place)
        assert not producer.is_done()
        there = pa.array(exported)
    assert producer.is_done()
    assert there.copy_to(CPU).equals(STRINGS[name])


def test_others_run_while_an_import_waits(cuda, ctx, producer):
    later = Later(cuda, ctx, producer, STRINGS["string"], 4 * LONG)
    there, started = [], threading.Event()

    def work():
        started.set()
        there.append(pa.array(Exported(later.array, sync_event=producer.place)))

    thread = threading.Thread(target=work)
    thread.start()
    assert started.wait(60)
    turns = 0
    while not producer.is_done():
        turns += 1
    thread.join()
    assert turns > 1
    assert there.pop().copy_to(CPU).equals(STRINGS["string"])


def test_pinned_memory_is_ready_once_imported(cuda, ctx, producer):
    pinned = cuda.new_host_buffer(SIZE)
    array = pa.Array.from_buffers(pa.uint8(), SIZE, [None, pinned], null_count=0)
    source = ctx.buffer_from_data(AFTER)
    producer.sleep()
    producer.driver.call(
        "cuMemcpyDtoHAsync_v2",
        ctypes.c_void_p(pinned.address),
        ctypes.c_uint64(source.address),
        ctypes.c_size_t(SIZE),
        producer.stream,
    )
    producer.record()
    there = pa.array(Exported(array, sync_event=producer.place))
    assert producer.is_done()
    assert np.asarray(there.buffers()[1]).tobytes() == AFTER
    assert there.device_type == 3


def wrong(what, producer):
    """What `sync_event` holds instead of the place of an event, and the refusal's text."""
    keep = ctypes.c_void_p()
    if what == "null":
        return keep, ctypes.addressof(keep), "points to a null event"
    if what in ("wild", "misaligned"):
        keep.value = 0x1230 if what == "wild" else 0x1231
        return keep, ctypes.addressof(keep), f"points to {keep.value:#x}, which is not an event"
    place = 2**64 - 8 if what == "last" else 0x1230
    return keep, place, rf"\({place:#x}\) points to memory that cannot be read"


@pytest.mark.parametrize("what", ["null", "wild", "misaligned", "unreadable", "last"])
@pytest.mark.parametrize("values", [[1, 2], ["a", "b"]])
def test_what_is_no_event_is_refused(ctx, producer, what, values):
    keep, place, text = wrong(what, producer)
    for imported, data in (
        (pa.array, pa.array(values)),
        (pa.record_batch, pa.record_batch({"a": values})),
    ):
        exported = Exported(data.copy_to(ctx.memory_manager), sync_event=place)
        with pytest.raises(pa.ArrowInvalid, match=f"sync_event .*{text}"):
            imported(exported)
    assert keep is not None


@pytest.mark.simulator  # a real driver may read through the handle
@pytest.mark.parametrize("values", [[1, 2], ["a", "b"]])
def test_an_event_that_is_gone_is_an_error_of_the_driver(ctx, producer, values):
    gone = ctypes.c_void_p()
    producer.driver.call("cuEventCreate", ctypes.byref(gone), 2)
    producer.driver.call("cuEventDestroy_v2", gone)
    exported = Exported(
        pa.array(values).copy_to(ctx.memory_manager), sync_event=ctypes.addressof(gone)
    )
    with pytest.raises(OSError, match=r"^Cuda error \d+ in function 'cuEvent"):
        pa.array(exported).copy_to(CPU)


def test_an_array_that_is_not_waited_for_releases_its_memory(ctx, allocated, producer):
    exported = export(ctx, producer)
    array = pa.array(exported)
    assert structure(exported.__arrow_c_device_array__()[1]).sync_event == producer.place
    del exported, array
    assert allocated() == 0


def test_nulls_are_counted_behind_the_event_without_the_gil(ctx, producer):
    """A function before the event needs the lock that the wait must not hold."""
    called = threading.Event()
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: called.set())
    bits, values = ctx.buffer_from_data(b"\xff" * 8), ctx.buffer_from_data(bytes(64))
    array = pa.Array.from_buffers(pa.uint8(), 64, [bits, values], null_count=64)
    producer.sleep(20)
    producer.driver.call("cuLaunchHostFunc", producer.stream, function, None)
    producer.fill(bits, 0x0F)
    producer.record()

    class Uncounted(Exported):
        def __arrow_c_device_array__(self, requested_schema=None, **options):
            schema, exported = super().__arrow_c_device_array__()
            structure(exported).array.null_count = -1
            return schema, exported

    array = pa.array(Uncounted(array, sync_event=producer.place))
    assert (array.null_count, called.is_set()) == (32, True)
