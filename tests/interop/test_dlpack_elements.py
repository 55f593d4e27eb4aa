"""Which elements and layouts of device arrays travel by DLPack and by the CUDA array interface."""

import numpy as np
import pytest

from pyarrow_cuda_compat import DeviceArray, from_dlpack
from support.interfaces import ByInterface
from support.libraries.dlpack import look


class ByBoth(ByInterface):
    """An array of a library that has DLPack too."""

    def __dlpack__(self, **request):
        return self.array.__dlpack__(**request)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


WAYS = [from_dlpack, lambda array: DeviceArray(ByInterface(array)), lambda array: array]


CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
INTEGERS = ["|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8"]


@pytest.mark.parametrize("typestr", [*INTEGERS, "<f2", "<f4", "<f8", "<c8", "<c16", "|b1"])
def test_numbers(memory, typestr):
    dtype = np.dtype(typestr)
    host = np.frombuffer(bytes(range(3 * dtype.itemsize)), dtype)
    array = DeviceArray(memory, dtype, (3,))
    structure, _ = look(array.__dlpack__())
    seen = structure.tensor
    assert (seen.code, seen.bits, seen.lanes) == (CODES[dtype.kind], 8 * dtype.itemsize, 1)
    assert array.__cuda_array_interface__["typestr"] == typestr
    for way in WAYS:
        same = way(array)
        assert (same.dtype, same.address) == (host.dtype, memory.address)
        assert same.copy_to_host().tobytes() == host.tobytes()
    assert np.from_dlpack(array, device="cpu").tobytes() == host.tobytes()


STRUCTURES = [("a", "<i4"), ("b", "<f8")], [("a", ">u2"), ("", "V2")]


@pytest.mark.parametrize("dtype", [">i4", ">f8", "M8[ns]", "m8[s]", "V3", *STRUCTURES], ids=str)
def test_elements_that_dlpack_cannot_describe(ctx, memory, dtype):
    array = DeviceArray(memory, dtype, (2,))
    with pytest.raises(BufferError, match="DLPack cannot describe elements of dtype") as raised:
        array.__dlpack__()
    assert str(np.dtype(dtype)) in str(raised.value)
    with pytest.raises(BufferError, match="DLPack cannot describe"):
        from_dlpack(array)
    for theirs in (ByInterface(array), ByBoth(array)):
        same = DeviceArray(theirs)
        assert (same.dtype, same.shape) == (array.dtype, (2,))
        assert same.address == ctx.buffer_from_object(theirs).address == memory.address


@pytest.mark.parametrize("dtype", ["<f4", "|b1", "<M8[s]", ">i2", "|V5"])
def test_a_descr_without_names_is_that_of_plain_elements(memory, dtype):
    """As CuPy writes it for every array."""
    array = DeviceArray(memory, dtype, (3,))
    theirs = ByInterface(array, descr=[("", dtype)])
    assert DeviceArray(theirs).dtype == np.dtype(dtype)


@pytest.mark.parametrize("typestr", ["<U3", "|S3", "|O"])
def test_elements_that_no_device_array_has(memory, typestr):
    array = DeviceArray(memory, "|u1", (3,))
    with pytest.raises(TypeError, match="a device array cannot have elements of dtype"):
        DeviceArray(ByInterface(array, typestr=typestr))


@pytest.mark.parametrize(
    "view",
    [
        lambda array: array,
        lambda array: array.T,
        lambda array: array[:, 1:3],
        lambda array: array[1:, ::2, 1],
        lambda array: array[1, 2, 3],
        lambda array: array[:, None, 1:2, :0],
        lambda array: array.transpose(1, 2, 0)[..., 1],
    ],
    ids=range(7),
)
def test_shapes_and_strides(ctx, view):
    host = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    whole = DeviceArray(ctx.buffer_from_data(host), "<i2", (2, 3, 4))
    array, expected = view(whole), np.asarray(view(host))
    structure, _ = look(array.__dlpack__())
    seen, interface = structure.tensor, array.__cuda_array_interface__
    assert seen.shape[: seen.ndim] == list(expected.shape)
    assert [interface[key] for key in ("shape", "typestr", "version")] == [expected.shape, "<i2", 3]
    if expected.size > 0:
        assert seen.strides[: seen.ndim] == [stride // 2 for stride in expected.strides]
        assert seen.data + seen.byte_offset == interface["data"][0] == array.address
        is_dense = expected.flags.c_contiguous
        assert interface["strides"] == (None if is_dense else expected.strides)
    for way in WAYS:
        same = way(array)
        assert (same.shape, same.size) == (expected.shape, expected.size)
        assert (same.copy_to_host() == expected).all()
        assert expected.size == 0 or same.address == array.address
    assert (np.from_dlpack(array, device="cpu") == expected).all()


@pytest.mark.parametrize(("dtype", "field", "size"), [("i4,u1", "f0", 4), ("u1,f8", "f1", 8)])
def test_strides_leave_elements_where_kernels_cannot_load_them(dtype, field, size):
    records = DeviceArray.from_host(np.zeros(3, dtype))
    numbers = records[field]
    text = rf"not all elements begin at multiples of {size} bytes.*array\.copy\(\)"
    for leave in (numbers.__dlpack__, lambda: numbers.__cuda_array_interface__):
        with pytest.raises(BufferError, match=text):
            leave()
    assert DeviceArray(numbers).strides == records.strides == (size + 1,)
    assert numbers.copy().__cuda_array_interface__["shape"] == (3,)
    assert records.__cuda_array_interface__["shape"] == (3,)


def test_elements_before_every_address(memory):
    array = DeviceArray(memory, "<i4", (2, 3))
    with pytest.raises(ValueError, match="leave the address space"):
        DeviceArray(ByInterface(array, data=(4, False), strides=(-12, -4)))


def test_a_copy_has_no_gaps(memory):
    array = DeviceArray(memory, "|u1", (10, 10))
    for part in (array[:, 2:5], array.T, array[::-3, 4]):
        copied = from_dlpack(part, copy=True)
        assert (copied.copy_to_host() == part.copy_to_host()).all()
        assert copied.buffer.size == part.nbytes
        assert copied.address != part.address
    assert from_dlpack(array.T, copy=True).strides == array.T.strides
