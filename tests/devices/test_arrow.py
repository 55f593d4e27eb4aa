"""Arrow's own view of device memory: arrays, devices, managers, the C Device interface."""

import numpy as np
import pyarrow as pa
import pytest

from support.samples import ARRAYS, CPU, DICTIONARY, buffers_of, shapes

CUDA = pa.DeviceAllocationType.CUDA
CUDA_HOST = pa.DeviceAllocationType.CUDA_HOST
ON_CPU_ONLY = "^Implemented only for data on CPU device"
ALL = ARRAYS | {"dictionary": DICTIONARY}
EVERY = pytest.mark.parametrize("name", ALL)


@EVERY
def test_arrays_go_to_the_device_and_back(ctx, name):
    for array in shapes(ALL[name]):
        for destination in (ctx.memory_manager, ctx.device):
            there = array.copy_to(destination)
            assert (there.type, len(there)) == (array.type, len(array))
            assert all(buffer.device_type == CUDA for buffer in buffers_of(there))
            back = there.copy_to(CPU)
            back.validate(full=True)
            assert back.equals(array)
            assert str(there) == str(array)


def test_batches_and_columns_go_to_the_device_and_back(ctx):
    batch = pa.record_batch(list(ALL.values())[:1] * 3, names=["a", "b", "c"])
    there = batch.copy_to(ctx.memory_manager)
    assert (there.device_type, there.is_cpu) == (CUDA, False)
    assert there.copy_to(CPU).equals(batch)
    assert there.slice(2, 3).copy_to(CPU).equals(batch.slice(2, 3))
    # libarrow itself counts the nulls of a slice that goes into a table, on the host.
    table = pa.Table.from_batches([there, there])
    assert not table.is_cpu
    parts = [part.copy_to(CPU) for part in table.column("b").chunks]
    assert parts == [batch.column(1)] * 2
    assert str(table) == str(pa.Table.from_batches([batch, batch]))


def test_copies_count_as_allocated(ctx):
    array = pa.array(range(1000), pa.int64())
    before = ctx.bytes_allocated
    there = array.copy_to(ctx.memory_manager)
    assert ctx.bytes_allocated == before + 8000
    del there
    assert ctx.bytes_allocated == before


def test_copies_between_devices(ctx, other_ctx):
    array = ARRAYS["deeply nested"]
    here = array.copy_to(ctx.memory_manager)
    there = here.copy_to(other_ctx.memory_manager)
    assert all(buffer.device == other_ctx.device for buffer in buffers_of(there))
    del here
    assert there.copy_to(CPU).equals(array)
    assert there.copy_to(ctx.device).copy_to(CPU).equals(array)


def test_devices_and_managers(ctx, contexts):
    device, manager = ctx.device, ctx.memory_manager
    assert (device.device_id, device.device_type, device.is_cpu) == (0, CUDA, False)
    assert device.type_name == "arrow::cuda::CudaDevice"
    assert repr(device).startswith('<pyarrow.Device: CudaDevice(device_number=0, name="')
    assert repr(manager).startswith("<pyarrow.MemoryManager device: CudaDevice(device_number=0")
    assert (manager.device, manager.is_cpu) == (device, False)
    buffer = ctx.new_buffer(1)
    assert (buffer.device, buffer.memory_manager.device) == (device, device)
    assert device != CPU.device
    for number, context in enumerate(contexts):
        assert context.device.device_id == number
        assert (context.device == device) == (number == 0)


@pytest.mark.parametrize(
    "work",
    [
        lambda array: array.to_pylist(),
        lambda array: array.to_numpy(),
        lambda array: array[0],
        lambda array: array.sum(),
        lambda array: array.null_count,
        lambda array: array.nbytes,
        lambda array: array.cast(pa.float64()),
        lambda array: array.equals(array),
        lambda array: array.validate(full=True),
        lambda array: array.is_null(),
        lambda array: array.take(pa.array([0])),
    ],
)
def test_what_only_the_cpu_can_do(ctx, work):
    array = pa.array([1, None, 3]).copy_to(ctx.memory_manager)
    array.validate()
    with pytest.raises(NotImplementedError, match=ON_CPU_ONLY):
        work(array)


def test_buffers_of_a_device_do_what_they_can(cuda, ctx):
    buffer = ctx.buffer_from_data(b"0123456789")
    generic = pa.Array.from_buffers(pa.uint8(), 10, [None, buffer]).buffers()[1]
    assert type(generic) is pa.Buffer
    for each in (buffer, generic):
        assert (each.size, len(each), each.is_cpu, each.device_type) == (10, 10, False, CUDA)
        with pytest.raises((BufferError, NotImplementedError)):
            memoryview(each)
    same = cuda.CudaBuffer.from_buffer(generic)
    assert (same.address, same.to_pybytes()) == (buffer.address, b"0123456789")
    part = cuda.CudaBuffer.from_buffer(generic.slice(3, 4))
    assert (part.address, part.to_pybytes()) == (buffer.address + 3, b"3456")


def test_arrays_are_made_of_device_buffers(ctx):
    values = ctx.buffer_from_data(np.arange(10, dtype=np.int32))
    valid = ctx.buffer_from_data(b"\xfd\x03")
    array = pa.Array.from_buffers(pa.int32(), 10, [valid, values])
    assert (array.is_cpu, array.device_type) == (False, CUDA)
    before = ctx.bytes_allocated
    del values, valid
    assert ctx.bytes_allocated == before
    assert array.slice(2).copy_to(CPU).to_pylist() == list(range(2, 10))
    assert array.copy_to(CPU).to_pylist()[:3] == [0, None, 2]


@pytest.fixture
def structs():
    ffi = pytest.importorskip("pyarrow.cffi").ffi
    array, schema = ffi.new("struct ArrowDeviceArray*"), ffi.new("struct ArrowSchema*")
    return ffi, array, schema, int(ffi.cast("uintptr_t", array)), int(ffi.cast("uintptr_t", schema))


@pytest.mark.parametrize("name", ["int64", "string", "struct", "null", "dictionary"])
def test_the_c_device_interface_out_and_in(cuda, ctx, structs, name):
    _ffi, c_array, _schema, array_address, schema_address = structs
    there = ALL[name].copy_to(ctx.memory_manager)
    there._export_to_c_device(array_address, schema_address)
    if name != "null":
        assert (c_array.device_type, c_array.device_id) == (2, 0)
    before = ctx.bytes_allocated
    addresses = [buffer.address for buffer in buffers_of(there)]
    del there
    assert ctx.bytes_allocated == before
    back = pa.Array._import_from_c_device(array_address, schema_address)
    assert [buffer.address for buffer in buffers_of(back)] == addresses
    for buffer in buffers_of(back):
        view = cuda.CudaBuffer.from_buffer(buffer)
        assert (view.address, view.size) == (buffer.address, buffer.size)
        assert len(view.to_pybytes()) == buffer.size
    assert back.copy_to(CPU).equals(ALL[name])


def test_what_is_exported_and_not_imported_is_released(ctx, structs):
    ffi, c_array, c_schema, array_address, schema_address = structs
    before = ctx.bytes_allocated
    pa.array(range(100)).copy_to(ctx.memory_manager)._export_to_c_device(
        array_address, schema_address
    )
    assert ctx.bytes_allocated == before + 800
    c_array.array.release(ffi.addressof(c_array.array))
    c_schema.release(c_schema)
    assert ctx.bytes_allocated == before


def test_the_capsule_protocol(ctx):
    array, batch = ARRAYS["list of lists"], pa.record_batch({"a": [1, None]})
    there = array.copy_to(ctx.memory_manager)
    with pytest.raises((NotImplementedError, ValueError)):
        there.__arrow_c_array__()

    class Wrapper:
        def __init__(self, inner):
            self.__arrow_c_device_array__ = inner.__arrow_c_device_array__

    assert pa.array(Wrapper(there)).copy_to(CPU).equals(array)
    back = pa.record_batch(Wrapper(batch.copy_to(ctx.memory_manager)))
    assert (back.is_cpu, back.copy_to(CPU).equals(batch)) == (False, True)
    before = ctx.bytes_allocated
    there.__arrow_c_device_array__()
    assert ctx.bytes_allocated == before


def test_host_buffers_stay_pinned(cuda):
    pinned = cuda.new_host_buffer(64)
    assert (pinned.is_cpu, pinned.is_mutable, pinned.device_type) == (True, True, CUDA_HOST)
    assert pinned.memory_manager.is_cpu
    values = np.frombuffer(pinned, np.int64)
    values[:] = range(8)
    for part in (pinned.slice(8, 16), pinned[8:24]):
        assert (part.device_type, part.is_cpu, part.is_mutable) == (CUDA_HOST, True, True)
        assert part.to_pybytes() == np.array([1, 2]).tobytes()
    array = pa.Array.from_buffers(pa.int64(), 8, [None, pinned])
    assert array.device_type == CUDA_HOST
    assert array.copy_to(CPU).to_pylist() == list(range(8))
    part = pinned.slice(56)
    del pinned, array
    assert part.to_pybytes() == (7).to_bytes(8, "little")
    for offset, length in ((-1, 1), (65, 0), (0, 65), (0, -1)):
        with pytest.raises(IndexError):
            part.slice(offset, length)


def test_slices_of_slices_of_a_host_buffer_stay_pinned(cuda):
    part = cuda.new_host_buffer(64).slice(0, 40)
    for inner in (part.slice(8, 16), part[8:24]):
        assert (inner.device_type, inner.is_cpu, inner.is_mutable) == (CUDA_HOST, True, True)
