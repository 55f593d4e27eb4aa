"""GPUArray: made of arrays, of shapes and of allocators; copied, indexed and passed on."""

import ctypes

import numpy as np
import pyarrow as pa
import pytest

import pyarrow_cuda_compat.pygpu as gpuarray
from pyarrow_cuda_compat import DeviceArray


@pytest.mark.parametrize("name", ["float64", float, np.float64, np.dtype("float64"), None])
@pytest.mark.parametrize("shape", [(2, 3), [2, 3], 6, (), (0, 3)])
def test_shapes_and_types(shape, name):
    array = gpuarray.GPUArray(shape, name)
    named = gpuarray.GPUArray(shape=shape, dtype=name)
    assert array.shape == named.shape == np.empty(shape).shape
    assert array.dtype == named.dtype == np.float64
    assert array.last_status == named.last_status == array.set(np.ones(shape)) == 0
    assert np.array_equal(array.get(), np.ones(shape))


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_order_on_the_device(order, driver, current):
    host = np.arange(6.0).reshape(2, 3)
    for array in (
        gpuarray.GPUArray((2, 3), order=order),
        gpuarray.GPUArray(np.zeros((2, 3), order=order)),
        gpuarray.GPUArray(np.zeros((2, 3)), order=order),
        gpuarray.GPUArray(np.zeros((2, 3)), order=order, copy=True),
        gpuarray.GPUArray(allocator=gpuarray.HostAllocator((2, 3), float), order=order),
    ):
        assert array.flag_c_contiguous == (order == "C")
        assert array.strides == np.zeros((2, 3), order=order).strides
        assert array.set(host) == 0
        in_memory = np.frombuffer(driver.read(array.ptr, 48))
        assert in_memory.tolist() == host.ravel(order).tolist()
        assert np.array_equal(array.get(), host)


KEYS = [
    0,
    -1,
    np.int64(1),
    slice(1, None),
    slice(None, None, -1),
    (slice(None), 2),
    (1, 2),
    ...,
    None,
    (..., None, slice(0, 2)),
    [1, 0],
    (slice(None), [0, 0, 2]),
    np.array([True, False]),
    True,
]


@pytest.mark.parametrize("key", KEYS, ids=repr)
@pytest.mark.parametrize("order", "CF")
def test_indices(key, order, driver, current):
    host = np.asarray(np.arange(6).reshape(2, 3), order=order)
    array = gpuarray.to_gpu(host)
    expected = np.array(host[key])
    host[:] = 0  # what counts is on the device
    part = array[key]
    assert (part.shape, part.last_status, part.flag_c_contiguous) == (np.shape(expected), 0, 1)
    # Dense memory of its own, so that a kernel which is given the address sees these elements.
    assert driver.read(part.ptr, part.nbytes) == np.ascontiguousarray(expected).tobytes()
    assert np.array_equal(part.host_data.get(), expected)
    assert part.to_device() == part.set_val(0, 99) == 0
    assert not host.any()
    assert 99 not in array.get()


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda: gpuarray.GPUArray("text"),
            gpuarray.UnsupportedDataType,
            "expected .* or a buffer, got str",
        ),
        (lambda: gpuarray.GPUArray(), gpuarray.UnsupportedDataType, "or a buffer, got NoneType"),
        (lambda: gpuarray.to_gpu([1, 2]), gpuarray.UnsupportedDataType, "or a buffer, got list"),
        (lambda: gpuarray.to_gpu(np.float64(1)), gpuarray.UnsupportedDataType, "got float64"),
        (lambda: gpuarray.to_gpu(pa.array([1])), gpuarray.UnsupportedDataType, "got Int64Array"),
        (lambda: gpuarray.GPUArray(np.zeros(3, ">i4")), gpuarray.UnsupportedDataType, "'>i4'"),
        (lambda: gpuarray.GPUArray((3,), "float16"), gpuarray.UnsupportedDataType, "'float16'"),
        (lambda: gpuarray.GPUArray((3,), "no such"), TypeError, "not understood"),
        (lambda: gpuarray.GPUArray((2**62, 8)), ValueError, "too big|Maximum allowed"),
        (lambda: gpuarray.GPUArray((3,), order="K"), ValueError, "order must be one of 'C' or 'F'"),
        (
            lambda: gpuarray.GPUArray(np.zeros(3), "int64"),
            TypeError,
            "is of type float64, not int64",
        ),
        (lambda: gpuarray.GPUArray((6,), shape=(2, 3)), ValueError, r"\(6,\), not \(2, 3\)"),
        (lambda: gpuarray.GPUArray((3,), allocator=object()), RuntimeError, "no array, shape or"),
        (lambda: gpuarray.GPUArray(allocator=object()), TypeError, "expected an Allocator"),
        (lambda: gpuarray.GPUArray(gpuarray.GPUArray(3)), TypeError, "which an Allocator shares"),
        (lambda: gpuarray.Allocator(np.zeros(3)), TypeError, "ndarray has no memory on a device"),
        (lambda: gpuarray.HostAllocator(-1, float), ValueError, "negative dimensions"),
        (lambda: gpuarray.PagelockedAllocator(-1, float), ValueError, "must be non-negative"),
        (lambda: gpuarray.PagelockedAllocator(3, "bool"), gpuarray.UnsupportedDataType, "'bool'"),
    ],
)
def test_wrong_arguments(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_memory_of_the_host_by_allocators(driver):
    for kind in (gpuarray.HostAllocator, gpuarray.PagelockedAllocator):
        memory = kind([2, 3], np.complex64)
        array = gpuarray.GPUArray(allocator=memory)
        assert array.get() is memory.get()
        assert int(array.host_data) == int(memory.ptr())
        array.get()[:] = 1 + 2j
        assert array.to_device() == 0
        memory.get()[:] = 0
        assert (array.get() == 1 + 2j).all()
    assert gpuarray.PagelockedAllocator((0, 3), float).get().shape == (0, 3)
    pointer = ctypes.c_int()
    driver.call("cuPointerGetAttribute", ctypes.byref(pointer), 2, memory.ptr())
    assert pointer.value == 1, "the driver knows it as memory of the host"


def test_memory_of_the_device_by_allocators(ctx):
    before = ctx.bytes_allocated
    first = gpuarray.to_gpu(np.arange(6.0).reshape(2, 3))
    second = gpuarray.GPUArray(allocator=gpuarray.Allocator(first))
    assert (second.ptr, second.shape, second.dtype) == (first.ptr, (2, 3), np.float64)
    assert ctx.bytes_allocated - before == 48
    second.set_val(4, 40)
    assert first.get()[1, 1] == second.get()[1, 1] == 40
    assert second.get() is not first.get()
    del first
    assert ctx.bytes_allocated - before == 48
    # Any library's array, with its strides.
    theirs = DeviceArray.from_host(np.arange(6, dtype=np.int16).reshape(2, 3))
    host = np.zeros((3, 2), np.int16)
    allocator = gpuarray.Allocator(theirs.T, host_data=host)
    assert allocator.host_ptr() == host.ctypes.data
    assert allocator.ptr() == theirs.ptr
    view = gpuarray.GPUArray(allocator=allocator)
    assert (view.strides, view.flag_c_contiguous) == ((2, 6), 0)
    assert view.set_val(1, 10) == 0
    assert view.get() is host
    assert host.tolist() == [[0, 3], [10, 4], [2, 5]]
    with pytest.raises(ValueError, match="host_data is of shape"):
        gpuarray.Allocator(theirs, host)
    with pytest.raises(gpuarray.UnsupportedDataType, match="'bool'"):
        gpuarray.Allocator(DeviceArray.empty(3, bool))


@pytest.mark.simulator
def test_no_page_locked_memory():
    memory = gpuarray.PagelockedAllocator(1 << 40, "int16")
    assert memory.last_status == 2
    assert int(memory.ptr()) == 0
    for use in (memory.get, lambda: gpuarray.GPUArray(allocator=memory)):
        with pytest.raises(ValueError, match="could not be page-locked"):
            use()
    with pytest.raises(TypeError, match="PagelockedAllocator has no memory on a device"):
        gpuarray.Allocator(memory)
    typed = gpuarray.PagelockedAllocator_int16()
    assert typed.allocate(1 << 40) == 2
    assert int(typed.ptr()) == 0
