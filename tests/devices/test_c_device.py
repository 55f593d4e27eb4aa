"""The C Device interface: pyarrow's methods, devices, and what other libraries send and take."""

import ctypes

import pyarrow as pa
import pytest

from support.c_device import (
    CUDA,
    CUDA_HOST,
    CUDA_MANAGED,
    ArrowDeviceArray,
    ArrowSchema,
    Exported,
    Made,
    array_of,
    exported_capsule,
    made_array,
    structure,
)
from support.samples import ALL, CPU, buffers_of
from support.streams import pinned_of


def test_what_a_consumer_may_ask_for(ctx):
    data = pa.array([1]).copy_to(ctx.memory_manager)
    with pytest.raises(NotImplementedError, match=r"unsupported keyword argument.*\['stream'\]"):
        data.__arrow_c_device_array__(stream=1)
    with pytest.raises(NotImplementedError, match="only supported for CPU data"):
        data.__arrow_c_device_array__(pa.int8().__arrow_c_schema__())
    same = data.__arrow_c_device_array__(data.type.__arrow_c_schema__())
    assert structure(same[1]).array.length == 1
    assert data.__arrow_c_device_array__(requested_schema=None, anything=None)


@pytest.mark.parametrize("cls", [pa.Array, pa.RecordBatch])
def test_wrong_capsules_are_pyarrows_to_refuse(cls):
    schema, array = pa.array([1]).__arrow_c_device_array__()
    for wrong in (None, "x", 1.5, [], schema):
        with pytest.raises((TypeError, ValueError)):
            cls._import_from_c_device_capsule(schema, wrong)
    for wrong in (schema, array):
        with pytest.raises((TypeError, ValueError)):
            cls._import_from_c_device(wrong, pa.int64())
    for too_few in ((), (1,)):
        with pytest.raises(TypeError):
            cls._import_from_c_device(*too_few)


@pytest.mark.parametrize("name", ["int64", "string", "struct", "null", "dictionary"])
def test_arrays_go_out_and_come_in_by_pointers(cuda, ctx, name):
    expected, array, schema = ALL[name], ArrowDeviceArray(), ArrowSchema()
    there = expected.copy_to(ctx.memory_manager)
    there._export_to_c_device(array.address, schema.address)
    if name != "null":
        assert (array.device_type, array.device_id) == (CUDA, 0)
    before = ctx.bytes_allocated
    addresses = [buffer.address for buffer in buffers_of(there)]
    del there
    assert ctx.bytes_allocated == before
    back = pa.Array._import_from_c_device(array.address, schema.address)
    assert [buffer.address for buffer in buffers_of(back)] == addresses
    for buffer in buffers_of(back):
        view = cuda.CudaBuffer.from_buffer(buffer)
        assert (view.address, len(view.to_pybytes())) == (buffer.address, buffer.size)
    assert back.copy_to(CPU).equals(expected)


WRONG = """
import pyarrow as pa, pyarrow_cuda_compat as cuda
array, batch = pa.array([1]), pa.record_batch({"a": [1]})
there, here = cuda.Context(0).memory_manager, pa.default_cpu_memory_manager()
uses = [
    ("__arrow_c_device_array__",),
    ("_export_to_c_device", 8),
    ("copy_to", there),
    ("copy_to", here),
    ("copy_to", None),
]
wrong = {
    pa.Array: [5, None, "x", batch, *(cls.__new__(cls) for cls in (
        pa.Int64Array, pa.StructArray, pa.ExtensionArray, pa.NullArray, pa.RecordBatch))],
    pa.RecordBatch: [5, None, "x", array, pa.table({"a": [1]}), pa.Int64Array.__new__(
        pa.Int64Array), pa.RecordBatch.__new__(pa.RecordBatch)],
}
for cls, objects in wrong.items():
    for name, *arguments in uses:
        for object in objects:
            try:
                getattr(cls, name)(object, *arguments)
            except TypeError as error:
                assert str(error) == f"expected an initialised pyarrow.{cls.__name__}", error
            else:
                raise AssertionError((cls, name, object))
for object in (array, batch, array.copy_to(there), batch.copy_to(there)):
    for place in (pa.Device, pa.MemoryManager):
        try:
            object.copy_to(place.__new__(place))
        except TypeError as error:
            assert str(error) == f"expected an initialised pyarrow.{place.__name__}", error
        else:
            raise AssertionError((object, place))
"""


def test_what_is_no_array_is_refused(run_python):
    """By methods that are called as functions, and of objects that nobody has filled."""
    assert run_python(WRONG) == (0, "", "")


def test_memory_of_another_device_than_said(cuda, ctx, other_ctx):
    _memory, data = array_of(ctx)
    there = pa.array(Exported(data, device_id=1))
    # A refusal that names the trouble: the driver's, or a check's.
    errors, text = (OSError, pa.ArrowInvalid), r"lies on device 0|invalid argument"
    with pytest.raises(errors, match=text):
        there.copy_to(CPU)
    with pytest.raises(errors, match=text):
        cuda.CudaBuffer.from_buffer(there.buffers()[1])
    _memory, data = array_of(other_ctx, b"abc")
    with exported_capsule(data) as array:
        assert array.device_id == 1
    assert pa.array(Exported(data)).copy_to(CPU).to_pylist() == list(b"abc")


def test_pinned_arrays_go_round(cuda, ctx):
    pinned = pinned_of(cuda, range(16))
    data = pa.Array.from_buffers(pa.uint8(), 16, [None, pinned], null_count=0)
    for device_id in (-1, 0, 5):
        back = pa.array(Exported(data, device_id=device_id))
        values = back.buffers()[1]
        assert (back.device_type, values.is_cpu, values.address) == (
            CUDA_HOST,
            True,
            pinned.address,
        )
        assert bytes(values) == bytes(range(16))
        there = back.copy_to(ctx.memory_manager)
        assert there.device_type == CUDA
        for copy in (back, there):
            assert copy.copy_to(CPU).equals(pa.array(range(16), pa.uint8()))


def test_managed_memory_is_device_memory(cuda, ctx, driver, default_stream):
    address = ctypes.c_uint64()
    driver.call("cuMemAllocManaged", ctypes.byref(address), ctypes.c_size_t(1000), 1)
    driver.call("cuMemsetD8_v2", address, ctypes.c_ubyte(7), ctypes.c_size_t(1000))
    ctx.synchronize()
    array = made_array(1000, [None, address.value])
    made = Made(pa.field("a", pa.uint8()), array, device_type=CUDA_MANAGED)
    there = pa.array(made)
    assert (there.device_type, there.is_cpu) == (CUDA_MANAGED, False)
    assert there.copy_to(CPU).to_pylist() == [7] * 1000
    assert cuda.CudaBuffer.from_buffer(there.buffers()[1]).to_pybytes() == b"\x07" * 1000
    default_stream.sleep()
    with exported_capsule(there) as array:
        assert array.device_type == CUDA_MANAGED
        assert array.sync_event is not None
    ctx.synchronize()
    del there
    assert made.released == 1
    driver.call("cuMemFree_v2", address)


def little(*numbers):
    return b"".join(number.to_bytes(4, "little") for number in numbers)


def table_of_cudf(ctx, **members):
    """A table as cuDF exports it: a structure of columns, with bitmaps where there are nulls."""
    contents = [little(0, 1, 2, 3), little(9, 0, 1, 2, 3), b"\x0b" + bytes(63)]
    contents += [little(0, 1, 3, 3, 6), b"abbccc", bytes(20)]
    memory = [ctx.buffer_from_data(content) for content in contents]
    numbers, five, bitmap, offsets, text, zeros = (buffer.address for buffer in memory)
    columns = [
        made_array(4, [None, numbers]),
        made_array(4, [bitmap, numbers], null_count=1),
        made_array(4, [bitmap, numbers], null_count=-1),
        made_array(4, [None, offsets, text]),
        made_array(4, [None, zeros], children=[made_array(0, [None, None])]),
        made_array(4, [None, five], offset=1),
    ]
    expected = pa.record_batch(
        {
            "numbers": pa.array([0, 1, 2, 3], pa.int32()),
            "gaps": pa.array([0, 1, None, 3], pa.int32()),
            "unknown gaps": pa.array([0, 1, None, 3], pa.int32()),
            "text": ["a", "bb", "", "ccc"],
            "lists": pa.array([[], [], [], []], pa.list_(pa.int8())),
            "part": pa.array([0, 1, 2, 3], pa.int32()),
        }
    )
    table = made_array(4, [None], children=columns)
    return Made(expected.schema, table, memory, **members), expected


def test_tables_of_cudf_come_in(ctx, producer):
    before = ctx.bytes_allocated
    for members in ({}, {"sync_event": producer.place}):
        made, expected = table_of_cudf(ctx, **members)
        producer.sleep()
        producer.record()
        there = pa.record_batch(made)
        assert (there.schema, there.num_rows, there.is_cpu) == (expected.schema, 4, False)
        assert there.copy_to(CPU).equals(expected)
        # Buffers without memory do not keep the table from being passed on.
        again = pa.record_batch(Exported(there))
        assert again.copy_to(CPU).equals(expected)
        assert again.device_type == CUDA
        column = again.column(1)
        assert made.released == 0
        del there, again
        assert column.copy_to(CPU).null_count == 1
        assert made.released == 0, "a column keeps the table"
        del column
        assert (made.released, ctx.bytes_allocated) == (1, before)
    assert producer.is_idle()


def test_tables_go_out_as_cudf_takes_them(ctx):
    _made, expected = table_of_cudf(ctx)
    with exported_capsule(expected.copy_to(ctx.memory_manager)) as array:
        table = array.array
        assert (table.length, table.null_count, table.offset) == (4, 0, 0)
        assert (table.n_buffers, table.buffers[0], table.n_children) == (1, None, 6)
        numbers, gaps, _, text, lists, _ = (table.children[n].contents for n in range(6))
        assert (numbers.n_buffers, numbers.buffers[0]) == (2, None)
        assert (gaps.null_count, bool(gaps.buffers[0])) == (1, True)
        assert (text.n_buffers, lists.n_children) == (3, 1)
        for address in (numbers.buffers[1], gaps.buffers[0], gaps.buffers[1], text.buffers[2]):
            assert ctx.get_device_address(address) == address


#: Types, with the buffers of an empty array: offsets are never missing.
EMPTY = [
    (pa.int64(), [None, None]),
    (pa.bool_(), [None, None]),
    (pa.string(), [None, "offsets", None]),
    (pa.large_binary(), [None, "offsets", None]),
    (pa.list_(pa.int8()), [None, "offsets"]),
    (pa.struct([("a", pa.int8())]), [None]),
]


@pytest.mark.parametrize(("kind", "buffers"), EMPTY)
def test_empty_arrays_without_memory_come_in(ctx, make_event, kind, buffers):
    offsets = ctx.buffer_from_data(bytes(8))
    children = [made_array(0, [None, None])] if pa.types.is_nested(kind) else []
    array = made_array(0, [at and offsets.address for at in buffers], children)
    # An event that was never recorded is reached.
    made = Made(pa.field("a", kind), array, sync_event=ctypes.addressof(make_event()))
    there = pa.array(made)
    assert (there.type, len(there)) == (kind, 0)
    assert there.copy_to(CPU).equals(pa.array([], kind))
    with exported_capsule(there) as exported:
        assert (exported.array.length, exported.sync_event) == (0, None)
    del there
    assert made.released == 1


@pytest.mark.parametrize("length", [0, 2])
def test_strings_without_offsets_are_refused(ctx, make_event, length):
    array = made_array(length, [None] * 3)
    made = Made(pa.field("a", pa.string()), array, sync_event=ctypes.addressof(make_event()))
    with pytest.raises(pa.ArrowInvalid, match="null data pointer"):
        pa.array(made)
    assert made.released == 1


def test_a_structure_that_was_consumed_is_refused(ctx):
    made, _expected = table_of_cudf(ctx)
    pa.record_batch(made)
    assert made.released == 1
    with pytest.raises(pa.ArrowInvalid, match="released"):
        pa.RecordBatch._import_from_c_device_capsule(*made.__arrow_c_device_array__())
