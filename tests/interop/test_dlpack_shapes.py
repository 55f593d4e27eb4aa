"""Which types, shapes and Arrow arrays are tensors."""

import gc
import re

import numpy as np
import pyarrow as pa
import pytest

from pyarrow_cuda_compat import DeviceTensor, to_dlpack
from support.libraries.dlpack import look


@pytest.mark.parametrize(
    ("typestr", "code", "bits"),
    [
        *[(f"<i{size}", 0, 8 * size) for size in (2, 4, 8)],
        *[(f"<u{size}", 1, 8 * size) for size in (2, 4, 8)],
        *[(f"<f{size}", 2, 8 * size) for size in (2, 4, 8)],
        ("|u1", 1, 8),
        ("|i1", 0, 8),
    ],
)
def test_types_of_elements(memory, typestr, code, bits):
    tensor = DeviceTensor(memory, typestr, (3,))
    assert (tensor.typestr, tensor.shape) == (typestr, (3,))
    structure, _ = look(tensor.__dlpack__())
    seen = structure.tensor
    assert (seen.code, seen.bits, seen.lanes) == (code, bits, 1)
    read = np.from_dlpack(tensor, device="cpu")
    expected = np.frombuffer(bytes(range(100)), np.dtype(typestr), 3)
    assert read.tobytes() == expected.tobytes()
    assert read.dtype == expected.dtype


@pytest.mark.parametrize(("given", "typestr"), [("i1", "|i1"), ("=f8", "<f8"), ("u2", "<u2")])
def test_a_typestr_is_written_in_one_way(memory, given, typestr):
    tensor = DeviceTensor(memory, given, (3,))
    assert tensor.typestr == tensor.__cuda_array_interface__["typestr"] == typestr


@pytest.mark.parametrize("typestr", ["", "<", "x4", ">i4", "<i3", "<f1", "<c8", "|b1", "i", "|V8"])
def test_what_is_no_type_of_elements(memory, typestr):
    with pytest.raises(ValueError, match=re.escape(f"type {typestr!r}: pass the typestr")):
        DeviceTensor(memory, typestr, (1,))


@pytest.mark.parametrize(
    "dtype", [np.dtype("f4"), np.dtype("=f4"), np.float32, np.zeros(1, "f4").dtype], ids=repr
)
def test_a_dtype_names_the_elements(memory, dtype):
    tensor = DeviceTensor(memory, dtype, (2, 3))
    assert (tensor.typestr, tensor.shape) == ("<f4", (2, 3))
    assert np.from_dlpack(tensor, device="cpu").dtype == np.float32


@pytest.mark.parametrize(
    "dtype",
    [np.dtype(">f4"), np.dtype("c8"), np.dtype(bool), np.dtype("M8[ns]"), np.dtype("S3"), None],
    ids=repr,
)
def test_dtypes_that_a_tensor_cannot_have(memory, dtype):
    with pytest.raises(ValueError, match="pass the typestr or dtype of integers or") as raised:
        DeviceTensor(memory, dtype, (1,))
    assert repr(dtype) in str(raised.value)


def test_what_numpy_takes_for_no_dtype(memory):
    with pytest.raises(TypeError):
        DeviceTensor(memory, 5, (1,))
    with pytest.raises(ValueError, match="cannot have Python objects as elements"):
        DeviceTensor(memory, object, (1,))


def test_shapes(memory):
    tensor = DeviceTensor(memory, "<i2", (2, 3, 4))
    structure, _ = look(tensor.__dlpack__())
    seen = structure.tensor
    assert seen.ndim == 3
    assert seen.shape[:3] == [2, 3, 4]
    assert seen.strides[:3] == [12, 4, 1]
    assert tensor.__cuda_array_interface__["shape"] == (2, 3, 4)
    expected = np.frombuffer(bytes(range(48)), np.int16).reshape(2, 3, 4)
    assert (np.from_dlpack(tensor, device="cpu") == expected).all()
    scalar = DeviceTensor(memory, "<i2", ())
    assert np.from_dlpack(scalar, device="cpu") == 0x100
    assert DeviceTensor(memory, "<i8", (0, 2**62)).__cuda_array_interface__["shape"] == (0, 2**62)
    assert repr(scalar) == (
        f"<pyarrow_cuda_compat.DeviceTensor address={memory.address:#x} typestr='<i2' shape=()>"
    )


@pytest.mark.parametrize(
    ("shape", "error"),
    [
        ((101,), ValueError),
        ((-1,), ValueError),
        ((2**62, 2**62), ValueError),
        ((2**63,), OverflowError),
        (5, TypeError),
        ("ab", TypeError),
        ((1.5,), TypeError),
        (None, TypeError),
    ],
    ids=repr,
)
def test_shapes_that_cannot_be(memory, shape, error):
    with pytest.raises(error):
        DeviceTensor(memory, "|u1", shape)


@pytest.mark.parametrize(
    "wrong", [None, b"bytes", 5, pytest.param(pa.py_buffer(b"host"), id="buffer")], ids=repr
)
def test_a_tensor_is_of_device_memory(wrong):
    with pytest.raises(TypeError, match="CudaBuffer"):
        DeviceTensor(wrong, "|u1", (1,))


# --- Arrow arrays ------------------------------------------------------------------------------

TYPES = [
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    *(pa.float16(), pa.float32(), pa.float64()),
]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_numbers_of_arrow(ctx, kind):
    host = np.arange(50).astype(pa.array([], kind).to_numpy().dtype)
    array = pa.array(host, kind).copy_to(ctx.memory_manager)
    for part, expected in (
        (array, host),
        (array.slice(7), host[7:]),
        (array.slice(7).slice(3, 20), host[10:30]),
        (array.slice(50), host[50:]),
    ):
        tensor = to_dlpack(part)
        assert tensor.typestr == host.dtype.str
        read = np.from_dlpack(tensor, device="cpu")
        assert read.dtype == host.dtype
        assert (read == expected).all()
    assert to_dlpack(array).__cuda_array_interface__["data"][0] == array.buffers()[1].address


def test_lists_of_a_fixed_size_are_dimensions(ctx):
    host = np.arange(24, dtype=np.float32).reshape(4, 3, 2)
    kind = pa.list_(pa.list_(pa.float32(), 2), 3)
    array = pa.array(host.tolist(), kind).copy_to(ctx.memory_manager)
    assert (np.from_dlpack(to_dlpack(array), device="cpu") == host).all()
    part = np.from_dlpack(to_dlpack(array.slice(1, 2)), device="cpu")
    assert (part == host[1:3]).all()
    assert to_dlpack(array.slice(4)).shape == (0, 3, 2)
    holed = pa.array([[[1, 2]] * 3, None], kind).copy_to(ctx.memory_manager)
    with pytest.raises(BufferError, match="1 of 2"):
        to_dlpack(holed)
    inside = pa.array([[[1, 2], None, [1, 2]]], kind).copy_to(ctx.memory_manager)
    with pytest.raises(BufferError, match="1 of 3"):
        to_dlpack(inside)


def test_extension_arrays_are_their_storage(ctx):
    kind = pa.fixed_shape_tensor(pa.int32(), (2, 2))
    host = np.arange(12, dtype=np.int32).reshape(3, 2, 2)
    array = pa.FixedShapeTensorArray.from_numpy_ndarray(host).copy_to(ctx.memory_manager)
    assert array.type == kind
    assert (np.from_dlpack(to_dlpack(array), device="cpu") == host).all()
    assert to_dlpack(array.slice(1)).shape == (2, 2, 2)


def test_columns_that_were_read_on_the_device(cuda, ctx):
    batch = pa.record_batch({"x": pa.array([1, 2, 3]), "y": pa.array([0.5, 1.5, 2.5])})
    message = cuda.serialize_record_batch(batch, ctx)
    there = cuda.read_record_batch(message, batch.schema)
    tensor = to_dlpack(there.column("y"))
    assert message.address < tensor.__cuda_array_interface__["data"][0]
    del there, message
    gc.collect()
    assert np.from_dlpack(tensor, device="cpu").tolist() == [0.5, 1.5, 2.5]


def test_nulls_are_counted_where_a_bitmap_is(ctx):
    array = pa.array([1, None, 3, 4, None, *range(100)]).copy_to(ctx.memory_manager)
    with pytest.raises(BufferError, match=r"nulls \(2 of 105\)"):
        to_dlpack(array)
    with pytest.raises(BufferError, match=r"nulls \(1 of 3\)"):
        to_dlpack(array.slice(4, 3))
    assert np.from_dlpack(to_dlpack(array.slice(2, 2)), device="cpu").tolist() == [3, 4]
    assert np.from_dlpack(to_dlpack(array.slice(5)), device="cpu").tolist() == list(range(100))
    assert to_dlpack(array.slice(1, 0)).shape == (0,)
    assert to_dlpack(array.slice(70, 8)).shape == (8,)
    with pytest.raises(BufferError, match=r"nulls \(1 of 1\)"):
        to_dlpack(array.slice(3).slice(1, 1))


@pytest.mark.parametrize(
    "array",
    [
        pa.array([True, False]),
        pa.array(["text"]),
        pa.array([[1], [2]]),
        pa.array([{"x": 1}]),
        pa.array([1], pa.date32()),
        pa.array([1], pa.timestamp("s")),
        pa.array([1], pa.decimal128(5)),
        pa.array(["a"]).dictionary_encode(),
        pa.nulls(3),
    ],
    ids=lambda array: str(array.type),
)
def test_values_that_are_no_tensor(ctx, array):
    with pytest.raises(BufferError, match="only integers and floating-point"):
        to_dlpack(array.copy_to(ctx.memory_manager))


@pytest.mark.parametrize("wrong", [None, 5, [1], pa.chunked_array([[1]]), np.arange(3)], ids=type)
def test_only_arrays_are_taken(wrong):
    with pytest.raises(TypeError, match=r"expected a pyarrow\.Array"):
        to_dlpack(wrong)


def test_host_arrays_speak_for_themselves():
    with pytest.raises(BufferError, match="host"):
        to_dlpack(pa.array([1, 2]))
