"""What a device array says of itself, refuses, and is to Python and other processes."""

import math
import operator
import pickle

import numpy as np
import pyarrow as pa
import pytest

from pyarrow_cuda_compat import DeviceArray, IpcArrayHandle, Stream, _native, new_host_buffer
from support.interfaces import ByInterface
from support.peer import PeerError


@pytest.mark.parametrize(
    ("dtype", "text"),
    [("i4, O", "Python objects"), ("S3", "strings"), ("V0", "no bytes"), ("(2,)f4", "subarray")],
)
def test_types_of_elements_that_no_kernel_knows(ctx, dtype, text):
    with pytest.raises(TypeError, match=text):
        DeviceArray(ctx.new_buffer(64), dtype, (1,))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (dict(shape=(6,), offset=4), "do not fit"),
        (dict(shape=(2,), strides=(-4,)), "from byte -4 on"),
        (dict(shape=(2,), strides=(2**62,)), "do not fit|overflow"),
        (dict(shape=(2, 2), strides=(4,)), "2 lengths but 1 strides"),
        (dict(shape=[1] * 65), "maximum supported dimension"),
        (dict(shape=range(2**62)), "maximum supported dimension"),
        (dict(shape=2**70), "1180591620717411303424 does not fit into 64 bits"),
        (dict(shape=(1, -(2**70))), "-1180591620717411303424 does not fit into 64 bits"),
        (dict(shape=(1,), strides=(2**70,)), "does not fit into 64 bits"),
    ],
    ids=str,
)
def test_elements_outside_the_buffer(ctx, arguments, text):
    with pytest.raises(ValueError, match=text):
        DeviceArray(ctx.new_buffer(24), "i4", **arguments)


def test_arguments_of_the_constructor(ctx):
    buffer = ctx.buffer_from_data(np.arange(6, dtype="i2"))
    assert DeviceArray(buffer, "i2", 2, offset=2).copy_to_host().tolist() == [1, 2]
    every_other = DeviceArray(buffer, np.int16, (2,), (-8,), offset=10)
    assert every_other.copy_to_host().tolist() == [5, 1]
    assert every_other.buffer.size == 10
    assert every_other.ptr == every_other.address == buffer.address + 10
    for size, offset in ((5, 0), (8, 2), (3, 1)):
        with pytest.raises(ValueError, match=f"{size - offset} bytes are no whole number of elem"):
            DeviceArray(ctx.new_buffer(size), "int32", offset=offset)
    assert DeviceArray(ctx.new_buffer(5), "int32", 1).shape == (1,)
    for refused in (
        lambda: DeviceArray([1, 2]),
        lambda: DeviceArray(pa.py_buffer(b"1234"), "i4"),
        lambda: DeviceArray.empty("3"),
    ):
        with pytest.raises(TypeError):
            refused()
    for what in (3.5, None, float("nan")):
        with pytest.raises(TypeError, match=f"expected integers, got .*{type(what).__name__}"):
            DeviceArray.empty(what)
    with pytest.raises(ValueError, match="'C' or 'F', not 'K'"):
        DeviceArray.empty(3, order="K")
    with pytest.raises(ValueError, match="length of -3"):
        DeviceArray.empty(-3)


def test_out_of_memory_is_a_memory_error():
    with pytest.raises(MemoryError, match="out of memory"):
        DeviceArray.empty(2**50, "u1")


@pytest.mark.parametrize(
    "key",
    [3, -4, 2**70, (0, 0, 0), [0, 1], np.array([True, False, True]), 1.5, True, "a", (0, "a")],
)
def test_keys_that_name_nothing(key):
    array = DeviceArray.from_host(np.zeros((3, 2)))
    with pytest.raises(IndexError):
        array[key]
    with pytest.raises(IndexError):
        array[key] = 1


def test_a_number_of_another_size_is_out_of_bounds():
    with pytest.raises(IndexError, match=f"index {-(2**70)} is out of bounds"):
        DeviceArray.empty(3)[-(2**70)]


def test_an_element_of_another_type_is_converted():
    numbers, halves = DeviceArray.from_host([1, 2, 3]), DeviceArray.from_host([1.5, 2.5])
    numbers[0] = halves[1]
    assert numbers.copy_to_host().tolist() == [2, 2, 3]
    numbers[:] = halves[0]
    halves[...] = numbers[0]
    assert (numbers.copy_to_host().tolist(), halves.copy_to_host().tolist()) == ([1] * 3, [1] * 2)
    with pytest.raises(TypeError, match="incompatible dtype"):
        numbers[:1] = halves[:1]


def test_host_arrays_that_do_not_fit():
    array = DeviceArray.from_host(np.arange(6.0).reshape(3, 2))
    for out, error, text in [
        (np.zeros((3, 2), "f4"), TypeError, r"incompatible dtype: float64 vs\. float32"),
        ([[0] * 2] * 3, TypeError, "not list"),
        (b"", TypeError, "not bytes"),
    ]:
        with pytest.raises(error, match=text):
            array.copy_to_host(out)
    for source, error, text in [
        (DeviceArray.empty(3), ValueError, r"incompatible shape: \(3, 2\) vs\. \(3,\)"),
        (np.zeros((3, 2), "f4"), TypeError, r"incompatible dtype: float64 vs\. float32"),
        (DeviceArray.empty((3, 2), "f4"), TypeError, r"incompatible dtype: float64 vs\. float32"),
    ]:
        with pytest.raises(error, match=text):
            array.copy_to_device(source)
    with pytest.raises(TypeError, match="two names"):
        array.copy_to_host(np.zeros((3, 2)), ary=np.zeros((3, 2)))
    with pytest.raises(TypeError, match="'stream' must be a Stream"):
        array.copy_to_host(stream=3)


def test_read_only_memory_is_not_written_to():
    array = DeviceArray.from_host(np.array([1, 2, 3], "i4"))
    frozen = DeviceArray(ByInterface(array, data=(array.ptr, True)))
    assert array.is_mutable
    assert not frozen.is_mutable
    assert "read-only" in repr(frozen)
    assert frozen.__cuda_array_interface__["data"][1]
    for write in (
        lambda: frozen.__setitem__(0, 1),
        lambda: frozen[::2].fill(1),
        lambda: frozen.copy_to_device(np.zeros(3, "i4")),
        lambda: frozen.T.copy_to_device(array),
    ):
        with pytest.raises(ValueError, match="assignment destination is read-only"):
            write()
    assert frozen.copy_to_host().tolist() == array.copy_to_host().tolist()


#: Expressions that an element evaluates as NumPy's scalar does, and a larger array does not.
ARITHMETIC = [
    *(lambda each: each + 1, lambda each: 1 - each, lambda each: each * 2, lambda each: 6 / each),
    *(lambda each: each // 2, lambda each: each % 2, lambda each: each**2, lambda each: 2**each),
    *(lambda each: -each, abs, lambda each: +each, lambda each: each < 0, lambda each: each > 0),
    *(lambda each: divmod(each, 2)[0], lambda each: divmod(6, each)[0]),
]
OF_INTEGERS = [
    *(lambda each: ~each, lambda each: each & 3, lambda each: each ^ 3, lambda each: 4 | each),
    *(lambda each: each << 1, lambda each: each >> 1, lambda each: 1 << each),
    *(lambda each: 640 >> each, lambda each: [*range(10)][each]),
]
#: Functions of Python, which take it for a number of Python.
FUNCTIONS = [int, float, complex, round, lambda each: round(each, 1)]
FUNCTIONS += [math.trunc, math.floor, math.ceil]


SCALARS = [np.float64(-3.5), np.float32(2.567), np.int16(5), np.int64(2**53 + 1)]


@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
def test_an_element_computes_as_its_scalar_does(scalar):
    element, larger = DeviceArray.from_host([scalar])[0], DeviceArray.from_host([scalar] * 2)
    assert element.shape == ()
    assert element == scalar
    assert element != scalar - 1
    assert bool(element)
    assert type(element.item()) is type(scalar.item())
    assert np.float64(2) + element == np.float64(2) + scalar
    assert f"{element:.2f}" == f"{scalar:.2f}"
    assert (str(element), f"{element}") == (str(scalar), f"{scalar}")
    assert repr(element).startswith("<pyarrow_cuda_compat.DeviceArray")
    for compute in ARITHMETIC + (OF_INTEGERS if scalar.dtype == np.int16 else []):
        result, expected = compute(element), compute(scalar)
        assert result == expected, compute
        assert type(result) is type(expected)
    for call in FUNCTIONS:
        assert call(element) == call(scalar.item()), call
    for compute in ARITHMETIC + OF_INTEGERS + FUNCTIONS:
        with pytest.raises(TypeError):
            compute(larger)
    for each in (element, larger):
        with pytest.raises(TypeError, match="pow"):
            pow(each, 2, 5)
    element[...] = 7
    assert element.item() == 7


def test_larger_arrays_have_no_value():
    array = DeviceArray.from_host([1.0, 2.0])
    with pytest.raises(TypeError, match="format"):
        f"{array:.2f}"
    assert str(array) == repr(array)
    assert array == array
    assert array != array.copy()
    assert len({array, array}) == 1
    assert float(DeviceArray.from_host([[2.5]])) == 2.5
    assert not DeviceArray.from_host([0])[0]


@pytest.mark.parametrize("scalar", [np.float64(2), np.float32(2), np.int64(2), np.bool_(True)])
def test_scalars_of_numpy_compute_with_larger_arrays(scalar):
    """NumPy does so, with a copy on the host."""
    array = DeviceArray.from_host([1.0, 2.0])
    host = array.copy_to_host()
    for compute in (operator.add, operator.mul, operator.eq, operator.lt):
        assert (compute(array, scalar) == compute(host, scalar)).all()
        assert (compute(scalar, array) == compute(scalar, host)).all()


def test_names_of_no_array_are_plain_errors():
    array = DeviceArray.from_host([1.0])
    for name in ("shapee", "_sum", "__array_interface__"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'$") as raised:
            getattr(array, name)
        assert (raised.value.name, raised.value.obj) == (name, array)


def test_a_larger_array_is_true_if_it_is_not_empty():
    for shape, is_true in [(1, True), ((2, 3), True), ((3, 0), True), ((0, 3), False)]:
        assert bool(DeviceArray.from_host(np.zeros(shape))) is is_true


def test_python_iterates_and_counts():
    array = DeviceArray.from_host(np.arange(6).reshape(3, 2))
    assert [int(each) for each in array[0]] == [0, 1]
    for refused in (len, iter):
        with pytest.raises(TypeError):
            refused(array[0, 0])
    with pytest.raises(TypeError):
        del array[0]


def test_the_representation_is_honest():
    array = DeviceArray.from_host(np.zeros((2, 3), "f4"))
    assert repr(array) == (
        f"<pyarrow_cuda_compat.DeviceArray address={array.address:#x} device=0 dtype=float32 "
        "shape=(2, 3)>"
    )
    assert "strides=(4, 12)" in repr(array.T)


STRUCTURES = [
    np.dtype([("a", "<i4"), ("b", "<f8")], align=True),
    np.dtype([("a", ">i2"), ("b", "M8[s]", (2, 3)), ("c", [("d", "?"), ("e", "c8")])]),
    np.dtype({"names": ["x", "y"], "formats": ["i2", "f4"], "offsets": [6, 0], "itemsize": 16}),
]


@pytest.mark.parametrize("dtype", STRUCTURES, ids=str)
def test_a_field_is_a_view(dtype):
    data = np.arange(4 * dtype.itemsize, dtype="u1") % 2
    host = data.view(dtype).reshape(2, 2)
    array = DeviceArray.from_host(host)
    for key in (..., np.s_[:, 1], np.s_[::-1, 0], np.s_[0, 1, ...], np.s_[:0]):
        for name in dtype.names:
            expected, field = host[key][name], array[key][name]
            assert (field.shape, field.dtype) == (expected.shape, expected.dtype)
            assert field.copy_to_host().tobytes() == expected.tobytes()
    name = dtype.names[1]
    array[:, 0][name] = array[:, 1][name]
    host[:, 0][name] = host[:, 1][name]
    array[0, 0][dtype.names[0]] = host[0, 0][dtype.names[0]] = 1
    array[name][0] = host[name][0]
    assert array.copy_to_host().tobytes() == host.tobytes()


def test_an_array_of_one_place_is_no_integer():
    class Tensor:
        """As PyTorch's are, an integer to Python if there is one element."""

        def __init__(self, ndim):
            self.ndim = ndim

        def __index__(self):
            return 1

    array = DeviceArray.from_host([1.0, 2.0])
    assert array[Tensor(0)] == 2
    with pytest.raises(IndexError, match="only integers"):
        array[Tensor(1)]
    with pytest.raises(IndexError, match="only integers"):
        array[Tensor(1)] = 5


def test_names_that_name_no_field():
    array = DeviceArray.from_host(np.array([(1, b"x")], [("a", "i4"), ("b", "S1")]))
    with pytest.raises(ValueError, match="no field of name c"):
        array["c"] = 1
    with pytest.raises(TypeError, match="strings"):
        array["b"]
    with pytest.raises(IndexError, match="only integers"):
        array[["a", "b"]]
    nulls = DeviceArray.from_arrow(pa.array([1, None], pa.decimal128(9)))
    with pytest.raises(ValueError, match="has nulls"):
        nulls["low"]


def test_copies_on_a_stream(ctx):
    stream = Stream(ctx)
    host = np.arange(60, dtype="f4").reshape(3, 4, 5)
    array = DeviceArray.empty((3, 4, 5), "f4")
    array.copy_to_device(host, stream)
    part = DeviceArray.empty((3, 2, 5), "f4", order="F")
    part.copy_to_device(array[:, ::2], stream=stream)
    out = np.zeros((3, 2, 5), "f4")
    part.copy_to_host(out, stream=stream)
    result = array.T.copy_to_host(stream=stream)
    stream.synchronize()
    assert np.array_equal(out, host[:, ::2])
    assert np.array_equal(result, host.T)
    assert np.array_equal(array.copy_to_host(stream=0), host)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(protocol):
    host = np.arange(24, dtype=">i4").reshape(2, 3, 4)
    array = DeviceArray.from_host(host)
    for each in (
        *(array, array.T, array[:, ::2, ::-1], array[:0], array[1, 1, 1]),
        *(DeviceArray.from_host(np.zeros(2, dtype)) for dtype in ("M8[s]", "i4, f8")),
    ):
        loaded = pickle.loads(pickle.dumps(each, protocol))
        assert (loaded.dtype, loaded.shape) == (each.dtype, each.shape)
        assert np.array_equal(loaded.copy_to_host(), each.copy_to_host())
    small = pickle.dumps(array[:, :, 0].copy(), protocol)
    assert len(pickle.dumps(array[:, :, 0], protocol)) == len(small)


@pytest.mark.leaks
def test_another_process_opens_the_array(peer):
    array = DeviceArray.from_host(np.arange(24, dtype="f4").reshape(2, 3, 4))
    records = np.ones(2, np.dtype([("a", "<i4"), ("b", "<f8")], align=True))
    peer("import pickle; from pyarrow_cuda_compat import *")
    for part in (
        *(array, array[1:, ::-1, ::2], array.T, array[:0]),
        DeviceArray.from_host(records),
    ):
        handle = pickle.dumps(part.export_for_ipc())
        peer(f"array = pickle.loads({handle!r}).open()")
        assert peer("array.shape, array.strides") == (part.shape, part.strides)
        found = peer("array.dtype.itemsize, array.dtype.names")
        assert found == (part.dtype.itemsize, part.dtype.names)
        assert peer("array.copy_to_host().tobytes()") == part.copy_to_host().tobytes()


@pytest.mark.leaks
@pytest.mark.parametrize("form", ["pickle", "buffer"])
def test_another_process_opens_a_read_only_array_as_such(ctx, peer, form):
    read_only = _native._read_only(ctx.buffer_from_data(bytes(24)))
    values = DeviceArray.from_arrow(pa.array([1, 2, 3]).copy_to(ctx.memory_manager))
    arrays = [DeviceArray(read_only, "i8"), DeviceArray.from_host(np.zeros(3)), values]
    assert [array.is_mutable for array in arrays][:2] == [False, True]
    peer("import pickle; from pyarrow_cuda_compat import *")
    for array in arrays:
        handle = array.export_for_ipc()
        if form == "pickle":
            peer(f"array = pickle.loads({pickle.dumps(handle)!r}).open()")
        else:
            peer(f"sent = pa.py_buffer({handle.serialize().to_pybytes()!r})")
            peer("array = IpcArrayHandle.from_buffer(sent).open()")
        assert peer("array.is_mutable") is array.is_mutable
    peer(f"array = pickle.loads({pickle.dumps(arrays[0].export_for_ipc())!r}).open()")
    with pytest.raises(PeerError, match="read-only"):
        peer("array.fill(9)")
    assert read_only.to_pybytes() == bytes(24)


@pytest.mark.leaks
def test_damaged_handles_raise():
    sent = DeviceArray.empty((2, 3)).export_for_ipc().serialize().to_pybytes()
    endless = sent.replace(b'"shape": [2, 3]', b'"shape": [1e999]')
    length = int.from_bytes(sent[:4], "little") + len(endless) - len(sent)
    unclear = sent.replace(b'"is_mutable": true', b'"is_mutable": 1234')
    assert unclear != sent
    for damaged in (
        *(b"", sent[:3], sent[:20], sent[:-1], b"\xff" * len(sent), sent[4:], unclear),
        length.to_bytes(4, "little") + endless[4:],
    ):
        with pytest.raises(pa.ArrowInvalid):
            IpcArrayHandle.from_buffer(pa.py_buffer(damaged))
    wide = sent.replace(b'"shape": [2, 3]', b'"shape": [2, 9]')
    assert IpcArrayHandle.from_buffer(pa.py_buffer(wide)).shape == (2, 9)


@pytest.mark.alone
def test_host_memory_with_gaps_waits_for_the_stream(ctx, begin):
    array = DeviceArray(ctx.new_buffer(12), "i4")
    array.fill(0)
    out = np.zeros((3, 2), "i4")[:, 0]
    numbers = np.frombuffer(new_host_buffer(12), "i4")
    numbers[:] = [1, 2, 3]
    stream = begin()
    array.copy_to_device(numbers, stream)
    assert array.copy_to_host(out, stream).tolist() == [1, 2, 3]
