"""Every view and copy of a device array is what NumPy makes of the same array on the host."""

import contextlib

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from pyarrow_cuda_compat import DeviceArray

pytestmark = pytest.mark.independent

DTYPES = st.one_of(
    npst.scalar_dtypes(),
    npst.nested_dtypes(st.sampled_from([*map(np.dtype, ("i4", "f8", "u1", "c8", ">f4"))])),
).filter(lambda dtype: dtype.itemsize and dtype.subdtype is None and dtype.kind not in "SUO")
NUMBERS = st.sampled_from(
    ["i1", "u2", "i4", "f8", "c16", "?", "f2", "M8[s]", "m8[ns]", "i4, f8, u1"]
)
SHAPES = npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
FEW = settings(max_examples=150, deadline=None)


def numbered(shape, dtype):
    """An array whose bytes all tell where they are."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape, dtype=int)) * dtype.itemsize
    data = (np.arange(size) * 37 % 251).astype(np.uint8)
    if dtype.kind == "b":
        data %= 2
    return data.view(dtype).reshape(shape)


def both(shape, dtype, order="C"):
    host = np.array(numbered(shape, dtype), order=order)
    return host, DeviceArray.from_host(host)


def same(device, host):
    """The same elements, and as a view the same layout."""
    copy = device.copy_to_host()
    return (
        device.shape == host.shape
        and device.dtype == host.dtype == copy.dtype
        and device.size == host.size
        and device.nbytes == host.nbytes
        and device.ndim == host.ndim
        and copy.shape == host.shape
        and copy.tobytes() == host.tobytes()
    )


def same_view(device, host, whole, whole_host):
    """Also: the same strides, and the same distance from the whole."""
    offset = host.__array_interface__["data"][0] - whole_host.__array_interface__["data"][0]
    lengths = [at for at, length in enumerate(host.shape) if length > 1]
    if host.size == 0:
        return same(device, host)
    strides = [device.strides[at] for at in lengths] == [host.strides[at] for at in lengths]
    return same(device, host) and strides and device.address - whole.address == offset


def part(host, key):
    """What a key names, as a view even where NumPy would make a scalar of it."""
    entries = np.index_exp[key]
    return host[entries if ... in entries else (*entries, ...)]


@st.composite
def broadcastable(draw, shape):
    """A shape that NumPy repeats to fill `shape`."""
    lengths = [draw(st.sampled_from([1, length])) for length in shape]
    return tuple(lengths[draw(st.integers(0, len(shape))) :])


@FEW
@given(dtype=DTYPES, shape=SHAPES, order=st.sampled_from("CF"))
def test_there_and_back(dtype, shape, order):
    host, device = both(shape, dtype, order)
    assert same(device, host)
    assert device.is_c_contiguous() == host.flags.c_contiguous
    assert device.is_f_contiguous() == host.flags.f_contiguous
    back = device.copy_to_host()
    assert back.flags.writeable
    assert back.flags.f_contiguous == host.flags.f_contiguous
    assert np.asarray(device).tobytes() == host.tobytes()


@FEW
@given(data=st.data(), dtype=NUMBERS, shape=SHAPES, order=st.sampled_from("CF"))
def test_indices_are_views(data, dtype, shape, order):
    host, device = both(shape, dtype, order)
    key = data.draw(npst.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    assert same_view(device[key], part(host, key), device, host)


@FEW
@given(data=st.data(), dtype=NUMBERS, shape=SHAPES, order=st.sampled_from("CF"))
def test_reshapes_are_views_wherever_numpy_has_one(data, dtype, shape, order):
    host, device = both(shape, dtype)
    key = data.draw(npst.basic_indices(shape))
    host, device = part(host, key), device[key]
    new = data.draw(npst.array_shapes(min_dims=0, max_dims=4, min_side=1, max_side=6))
    if int(np.prod(new)) != host.size:
        new = data.draw(st.permutations([*shape_factors(host.size)])) if host.size else (0, *new)
    expected = host.reshape(new, order=order)
    try:
        reshaped = device.reshape(new, order=order)
    except NotImplementedError:
        assert not np.shares_memory(expected, host)
    else:
        assert same(reshaped, expected)
        assert host.size == 0 or np.shares_memory(expected, host)


def shape_factors(number):
    while number > 1:
        factor = next(each for each in range(2, number + 1) if number % each == 0)
        yield factor
        number //= factor


@FEW
@given(data=st.data(), dtype=NUMBERS, shape=SHAPES)
def test_other_orders_and_types(data, dtype, shape):
    host, device = both(shape, dtype)
    axes = data.draw(st.permutations(range(len(shape))))
    assert same_view(device.transpose(axes), host.transpose(axes), device, host)
    assert same_view(device.T, host.T, device, host)
    assert same_view(device.squeeze(), host.squeeze(), device, host)
    other = np.dtype(data.draw(NUMBERS))
    view = expected = None
    with contextlib.suppress(ValueError):
        expected = host.view(other)
    with contextlib.suppress(ValueError):
        view = device.view(other)
    assert (view is None) == (expected is None)
    assert view is None or same_view(view, expected, device, host)


def outcome(call, array):
    """The bytes of the array that a call returns or changes, or the class of its error."""
    try:
        changed = call(array)
    except Exception as error:
        return type(error)
    array = array if changed is None else changed
    return array.shape, np.asarray(array).tobytes()


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", ["i4", "u1", "f4", "?", "c8", "M8[s]", "m8[s]", "i4, f8"])
@pytest.mark.parametrize(
    "value",
    [
        *(np.float32(-2e11), np.float64("nan"), np.datetime64(5, "s"), np.timedelta64(5, "s")),
        *(np.complex64(1 + 2j), np.array(7.5), np.array([5], "M8[s]"), np.array([1, 2])),
        *(1 + 2j, "7", b"x", None, 2**40, -1, True, (1, 2.5), [np.float32(-2e11)], [1], [[1]], {}),
    ],
    ids=repr,
)
def test_values_are_converted_or_refused_as_numpy_does(dtype, value):
    host, device = both((3,), dtype)
    for call in (
        lambda array: array.__setitem__(1, value),
        lambda array: array.__setitem__(slice(0, 2), value),
        lambda array: array.fill(value),
    ):
        assert outcome(call, device) == outcome(call, host)


@pytest.mark.parametrize("shape", [(), (1,), (1, 3, 1), (2, 3)], ids=str)
def test_dimensions_and_orders_are_taken_or_refused_as_numpy_does(shape):
    host, device = both(shape, "i4")
    axes = [0, -1, 1, 2, -4, (), (0,), (0, 0), (0, -1), (0, 2)]
    calls = [lambda array, axis=axis: array.squeeze(axis) for axis in axes]
    calls += [lambda array, axes=axes: array.transpose(axes) for axes in ((0, 1), (0, 3), (0, 0))]
    for order in "CFAKaZ":
        calls += [lambda array, order=order: array.ravel(order)]
        calls += [lambda array, order=order: array.copy(order)]
        calls += [lambda array, order=order: array.reshape(-1, order=order)]
    for call in calls:
        for ours, theirs in [(device, host), (device.T, host.T)]:
            found, expected = outcome(call, ours), outcome(call, theirs)
            assert found in (expected, NotImplementedError)
    with pytest.raises(NotImplementedError, match="neither order"):
        both((2, 3, 4), "i4")[1].transpose(1, 0, 2).copy("K")


@FEW
@given(data=st.data(), dtype=NUMBERS, shape=SHAPES, order=st.sampled_from("CF"))
def test_assignment(data, dtype, shape, order):
    host, device = both(shape, dtype, order)
    key = data.draw(npst.basic_indices(shape, allow_newaxis=True))
    target = part(host, key)
    value = numbered(data.draw(broadcastable(target.shape)), dtype)
    if data.draw(st.booleans(), "on the device"):
        device[key] = DeviceArray.from_host(value)
    else:
        device[key] = value
    target[...] = value
    assert same(device, host)


@FEW
@given(data=st.data(), shape=npst.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=6))
def test_parts_of_an_array_are_copied_onto_each_other(data, shape):
    host, device = both(shape, "i4")
    to, source = (data.draw(npst.basic_indices(shape)) for _ in range(2))
    target, value = part(host, to), part(host, source).copy()
    try:
        np.broadcast_to(value, target.shape)
    except ValueError:
        assume(False)
    device[to] = device[source]
    target[...] = value
    assert same(device, host)


@FEW
@given(data=st.data(), dtype=NUMBERS, shape=SHAPES)
def test_copies_to_and_from_arrays_of_any_layout(data, dtype, shape):
    host, device = both(shape, dtype)
    axes = data.draw(st.permutations(range(len(shape))))
    backwards = data.draw(st.sampled_from([1, -1]))
    out = np.zeros([2 * shape[axis] for axis in axes], dtype).transpose(np.argsort(axes))
    out = part(out, (slice(None, None, 2 * backwards),) * len(shape))
    assert device.copy_to_host(out) is out
    assert out.tobytes() == host.tobytes()
    fresh = DeviceArray.empty(shape, dtype, data.draw(st.sampled_from("CF")))
    fresh.copy_to_device(out)
    assert same(fresh, host)
    other = DeviceArray.empty(shape, dtype)
    other.copy_to_device(fresh)
    assert same(other, host)
    for order in "CF":
        copy = device.copy(order)
        assert same(copy, host)
        assert copy.is_c_contiguous() if order == "C" else copy.is_f_contiguous()
