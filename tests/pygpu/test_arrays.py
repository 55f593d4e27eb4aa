"""The two sides of an array: host memory in its own layout, and dense memory of the device."""

import array as arrays
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyarrow_cuda_compat.pygpu as gpuarray

DTYPES = gpuarray.SUPPORTED_DTYPES


def in_memory(driver, array):
    """The elements on the device as they lie there, read past the package."""
    data = driver.read(int(array.device_data()), array.nbytes()) if array.size() else b""
    return np.frombuffer(data, array._dtype)


def numbers(shape, dtype):
    """Different ones, negative and imaginary where the type has them."""
    count = np.arange(1, 1 + int(np.prod(shape))).reshape(shape)
    values = count * -3.5 if np.dtype(dtype).kind in "fc" else count * 3
    return (values * (1 + 2j) if np.dtype(dtype).kind == "c" else values).astype(dtype)


@st.composite
def host_arrays(draw):
    """Arrays of the host: in either order, and with gaps, backwards, without elements."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    whole = np.asarray(numbers(shape, dtype), order=draw(st.sampled_from("CF")))
    steps = draw(st.lists(st.sampled_from([1, 2, -1]), min_size=len(shape), max_size=len(shape)))
    return whole[(..., *(slice(None, None, step) for step in steps))]


@given(host=host_arrays())
def test_a_round_trip(driver, current, host):
    expected = host.copy()
    array = getattr(gpuarray, f"DeviceArray_{host.dtype.name}")(host)
    assert array.shape() == list(host.shape)
    assert (array.size(), array.nbytes()) == (host.size, host.nbytes)
    assert array.allocate() == array.to_device() == array.last_status() == 0
    # Dense there, in the order of the host or in C order.
    order = "F" if host.flags.fnc else "C"
    assert in_memory(driver, array).tolist() == expected.ravel(order).tolist()
    for position, value in enumerate(expected.ravel(order)):
        assert array.set_val(position, value * 2) == 0
    assert np.array_equal(host, expected), "only the side on the device has changed"
    assert array.to_host() == 0
    assert np.array_equal(host, expected * 2)
    assert array.host_data().get() is host
    if host.size:
        assert int(array.host_data()) == host.ctypes.data
        dense = np.empty(host.shape, host.dtype, order)
        lengths = [length > 1 for length in host.shape]
        strides = zip(array.strides(), dense.strides, lengths, strict=True)
        assert all(here == there for here, there, counts in strides if counts)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (([-1],), ValueError, "negative dimensions are not allowed"),
        (([2**40, 2**40],), ValueError, "array is too big|Maximum allowed dimension exceeded"),
        (([1.5],), TypeError, "'float' object cannot be interpreted as an integer"),
        (("text",), TypeError, "a bytes-like object is required, not 'str'"),
        ((None,), TypeError, "a bytes-like object is required, not 'NoneType'"),
        ((np.float64(3),), TypeError, "float64 is a value, not memory to copy to"),
        ((), TypeError, "takes a buffer, a size, or memory and a list of lengths"),
        ((np.zeros(3), 1), TypeError, "takes a buffer, a size, or memory and a list of lengths"),
        ((0, [3]), ValueError, "the address of the memory on the host is 0"),
        ((gpuarray.pointer_wrapper_float64(), [3]), ValueError, "the pointer is not safe"),
    ],
)
def test_wrong_arguments(arguments, error, text):
    with pytest.raises(error, match=text):
        gpuarray.DeviceArray_float64(*arguments)


def test_memory_that_is_too_small():
    pointer = gpuarray.pointer_wrapper_float64()
    pointer.create(5)
    with pytest.raises(TypeError, match="buffer is too small for requested array"):
        gpuarray.DeviceArray_float64(pointer, [2, 3])
    gaps = gpuarray.DeviceArray_float64(np.zeros(12)[::2]).host_data()
    with pytest.raises(ValueError, match="gaps between the elements"):
        gpuarray.DeviceArray_float64(gaps, [6])
    small = gpuarray.DeviceAllocator_float64()
    small.allocate(5)
    with pytest.raises(ValueError, match="ends after 40 bytes, not 48"):
        gpuarray.DeviceArray_float64(np.zeros(6).ctypes.data, small.ptr(), [2, 3])


def test_an_address_of_no_device_memory_is_a_status():
    host = np.zeros(3)
    array = gpuarray.DeviceArray_float64(host.ctypes.data, 0x1230, [3])
    assert array.last_status() == array.to_device() == array.to_host() == 1
    assert not array.allocated()


def test_set_takes_memory_of_the_host():
    array = gpuarray.DeviceArray_int16([2, 2])
    array.allocate()
    source = numbers((2, 2), "int16")
    pointer = gpuarray.DeviceArray_int16(source).host_data()
    sources = [source, source.T.copy().T, memoryview(source), pointer, source.ctypes.data]
    for each in sources:
        assert array.set(np.zeros((2, 2), "int16")) == array.set(each) == array.to_host() == 0
        assert np.array_equal(np.asarray(array), source)
    for wrong, error in [
        (source.astype("int32"), TypeError),
        (source.ravel(), ValueError),
        (source[:1], ValueError),
        ([[1, 2], [3, 4]], TypeError),
        (array.device_data(), ValueError),
    ]:
        with pytest.raises(error):
            array.set(wrong)
    assert array.to_host() == 0
    assert np.array_equal(np.asarray(array), source), "nothing has changed"


def test_set_val_converts_as_numpy_does():
    array = gpuarray.DeviceArray_int16(np.zeros(3, "int16"))
    assert array.allocate() == array.to_device() == 0
    for value in (1.5, np.float32(1), True, np.array(1)):
        assert array.set_val(0, 0) == array.set_val(0, value) == array.to_host() == 0
        assert np.asarray(array)[0] == 1
    for wrong, error in [("x", ValueError), (1j, TypeError), ([1, 2], TypeError)]:
        with pytest.raises(error):
            array.set_val(0, wrong)
    for place in (3, -1, 2**70):
        with pytest.raises(
            IndexError, match=f"index {place} is out of bounds for axis 0 with size 3"
        ):
            array.set_val(place, 1)
    with pytest.raises(TypeError):
        array.set_val(0.0, 1)


def test_memory_that_is_read_only():
    host = np.arange(3.0)
    host.flags.writeable = False
    array = gpuarray.DeviceArray_float64(host)
    assert array.allocate() == array.to_device() == array.set_val(0, 9) == 0
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        array.to_host()
    assert host.tolist() == [0, 1, 2]


def test_numpy_and_buffers_share_the_host_side():
    host = arrays.array("d", [1, 2, 3])
    array = gpuarray.DeviceArray_float64(host)
    view = np.array(array, copy=False)
    view[1] = 9
    assert host.tolist() == [1, 9, 3]
    assert array.allocate() == array.to_device() == 0
    host[0] = 0
    assert array.to_host() == 0
    assert host.tolist() == [1, 9, 3]
    fortran = gpuarray.DeviceArray_float64([2, 3], flag_c_contiguous=0)
    assert np.asarray(fortran).flags.f_contiguous
    if sys.version_info >= (3, 12):
        assert memoryview(array).tolist() == [1, 9, 3]
        assert np.frombuffer(array).ctypes.data == view.ctypes.data
