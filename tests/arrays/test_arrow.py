"""Arrow arrays become device arrays and Arrow arrays again, and lose nothing on the way."""

import copy
import datetime
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyarrow_cuda_compat import DeviceArray, SmartArray, from_dlpack, memory
from support.samples import ARRAYS
from support.samples import CPU as HOST

OF_SAMPLES = [
    *("bool", "float16", "float64", "date32", "date64", "time32", "timestamp us"),
    *("duration s", "decimal32", "decimal64", "decimal128", "decimal256"),
    *("month_day_nano_interval", "fixed binary"),
]
VALUES = {
    **{ARRAYS[name].type: ARRAYS[name].drop_null().to_pylist() for name in OF_SAMPLES},
    pa.int8(): [1, -2, 3],
    pa.uint64(): [1, 2**63, 3],
    pa.time64("ns"): [datetime.time(1, 2, 3)] * 3,
    pa.list_(pa.int32(), 2): [[1, 2], [3, 4], [5, 6]],
    pa.list_(pa.list_(pa.timestamp("s"), 1), 2): [[[1], [2]]] * 3,
    pa.fixed_shape_tensor(pa.float32(), [2, 2]): [[1, 2, 3, 4]] * 3,
    pa.uuid(): [bytes(range(16))] * 3,
}
DTYPES = {
    pa.bool_(): "u1",
    pa.date32(): "i4",
    pa.timestamp("us", "UTC"): "i8",
    pa.decimal64(8, 2): "i8",
    pa.decimal128(8, 2): [("low", "<u8"), ("high", "<i8")],
    pa.float16(): "f2",
    pa.binary(3): "V3",
    pa.list_(pa.int32(), 2): "i4",
}
FLAT = [kind for kind in VALUES if not pa.types.is_nested(kind) and "tensor" not in str(kind)]


def array_of(kind, values):
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, pa.array(values, kind.storage_type))
    return pa.array(values, kind)


def back(device):
    array = device.to_arrow().copy_to(HOST)
    array.validate(full=True)
    return array


@pytest.mark.parametrize("kind", VALUES, ids=str)
def test_every_type_of_a_fixed_size(ctx, kind):
    array = array_of(kind, VALUES[kind])
    device = DeviceArray.from_arrow(array.copy_to(ctx.memory_manager))
    assert device.arrow_type == kind
    assert device.dtype == np.dtype(DTYPES.get(kind, device.dtype))
    assert device.validity is None
    assert back(device) == array
    assert back(pickle.loads(pickle.dumps(device))) == array
    assert device.to_arrow().buffers()[-1].address == device.address


# One copy down takes all buffers of an array, and the gaps between them, which nobody has written.
@pytest.mark.gaps
@settings(max_examples=60)
@given(data=st.data(), kind=st.sampled_from(FLAT), on_device=st.booleans())
def test_slices_with_nulls_stay_what_they_are(cuda, data, kind, on_device):
    values = data.draw(st.lists(st.sampled_from([*VALUES[kind], None]), max_size=40))
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(values))] * 2)))
    array = array_of(kind, values)[start:stop]
    given_array = array.copy_to(cuda.Context(0).memory_manager) if on_device else array
    device = DeviceArray.from_arrow(given_array)
    assert back(device) == array
    assert back(pickle.loads(pickle.dumps(device))) == array
    if kind == pa.bool_():
        assert device.bit_length == len(array)
        bits = np.unpackbits(device.values.copy_to_host(), bitorder="little")
        bits = bits[device.bit_offset :][: len(array)]
        expected = zip(array.to_pylist(), bits, strict=True)
        assert all(value is None or value == bit for value, bit in expected)
        return
    assert len(device) == len(array)
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(array))] * 2)))
    assert back(device[first:last]) == array[first:last]
    if device[first:last].validity is not None:
        valid = back(device[first:last].validity)
        assert valid == array[first:last].is_valid()


def test_nulls_are_never_dropped_silently():
    array = DeviceArray.from_arrow(pa.array([1, None, 3, 4]))
    text = r"the array has nulls \(1 of 4\).*to_arrow\(\) keeps.*\.values.*\(column, nulls='fill'\)"
    other = DeviceArray.empty(4)
    for use in (
        array.copy_to_host,
        lambda: array[1],
        lambda: array[::-1],
        lambda: array.view("u1"),
        lambda: array.copy_to_device(array),
        lambda: array.copy_to_device(other),
        lambda: DeviceArray.empty(4, "i8").copy_to_device(array),
        lambda: DeviceArray.empty(4, "i8").__setitem__(..., array),
        array.__array__,
        lambda: array.T,
        lambda: array.reshape(2, 2),
        lambda: list(array),
        lambda: array.fill(0),
        lambda: array.copy_to_device([1, 2, 3, 4]),
        lambda: array.__setitem__(1, 5),
    ):
        with pytest.raises(ValueError, match=text):
            use()
    for lend in (array.__dlpack__, lambda: array.__cuda_array_interface__):
        with pytest.raises(BufferError, match=text):
            lend()
    with pytest.raises(ValueError, match=r"handle does not carry: export \.values and \.validity"):
        array.export_for_ipc()
    assert array[2:].copy_to_host().tolist() == [3, 4]  # none of these is null
    assert [array[place] for place in (0, 2, -1)] == [1, 3, 4]
    assert array[2].arrow_type == pa.int64()
    assert array.values.copy_to_host().tolist()[2:] == [3, 4]


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (pa.array(["a"]), "not of a fixed size"),
        (pa.array([b"a"]), "not of a fixed size"),
        (pa.array([[1]]), r"\.values and \.offsets.*pyarrow\.list_\(type, length\)"),
        (pa.array([{"a": 1}]), r"\.field\(name\)"),
        (pa.array(["a"]).dictionary_encode(), r"\.indices"),
        (pa.nulls(3), "they have no bytes"),
        (pa.array([b""], pa.binary(0)), "they have no bytes"),
        (pa.array([[True]], pa.list_(pa.bool_(), 1)), "bits in lists"),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_what_has_no_elements_of_a_fixed_size(ctx, array, text):
    for each in (array, array.copy_to(ctx.memory_manager)):
        with pytest.raises(TypeError, match=text):
            DeviceArray.from_arrow(each)


@pytest.mark.parametrize("what", [pa.table({"a": [1]}), pa.scalar(1), [1, 2], None])
def test_what_is_no_array_of_arrow(what):
    with pytest.raises(TypeError, match=f"expected .*ChunkedArray, got {type(what).__name__}"):
        DeviceArray.from_arrow(what)


@pytest.mark.parametrize("kind", FLAT, ids=str)
@pytest.mark.parametrize("chunks", [0, 1, 2])
def test_chunks_on_the_host_become_one_array(kind, chunks):
    chunk = array_of(kind, [*VALUES[kind], None])[1:]
    chunked = pa.chunked_array([chunk] * chunks, kind)
    assert back(DeviceArray.from_arrow(chunked)) == chunked.combine_chunks()


def test_one_chunk_on_a_device_is_viewed_and_several_become_one(ctx):
    chunk = pa.array([1, None, 3])[1:].copy_to(ctx.memory_manager)
    for view in (DeviceArray, DeviceArray.from_arrow):
        array = view(pa.chunked_array([chunk]))
        assert array.address == DeviceArray.from_arrow(chunk).address
        assert back(array).to_pylist() == [None, 3]
        assert back(view(pa.chunked_array([chunk, chunk]))).to_pylist() == [None, 3] * 2
        with pytest.raises(TypeError, match="never initialised"):
            view(pa.ChunkedArray.__new__(pa.ChunkedArray))


def test_a_table_on_a_device_names_its_columns(ctx):
    batch = pa.record_batch({"a": [1, 2]}).copy_to(ctx.memory_manager)
    for data in (batch, pa.Table.from_batches([batch])):
        with pytest.raises(TypeError, match=r"from_arrow views one of them, such as column\(0\)"):
            DeviceArray(data)
        assert DeviceArray.from_arrow(data.column(0)).copy_to_host().tolist() == [1, 2]


@pytest.mark.parametrize("values", [[[1, 2], None], [[1, None], [3, 4]]], ids=["lists", "elements"])
def test_nulls_in_lists_are_refused(values):
    with pytest.raises(ValueError, match=r"lists with nulls \(1 of \d\)"):
        DeviceArray.from_arrow(pa.array(values, pa.list_(pa.int8(), 2)))


def test_numpy_types_become_arrow_types():
    kinds = {"i2": pa.int16(), "f4": pa.float32(), "V5": pa.binary(5)}
    kinds |= {"M8[ms]": pa.timestamp("ms"), "m8[ns]": pa.duration("ns")}
    for dtype, kind in kinds.items():
        device = DeviceArray.from_host(np.arange(40, dtype="u1").view(dtype))
        array = device.to_arrow()
        assert array.type == kind
        assert array.buffers()[1].address == device.address
    rows = DeviceArray.from_host(np.arange(6.0).reshape(1, 2, 3))
    square, tensor = rows.to_arrow(), rows.to_arrow(pa.fixed_shape_tensor(pa.float64(), [2, 3]))
    assert square.type == pa.list_(pa.list_(pa.float64(), 3), 2)
    assert square.copy_to(HOST).to_pylist() == [[[0, 1, 2], [3, 4, 5]]]
    assert tensor.copy_to(HOST).to_numpy_ndarray().tolist() == [[[0, 1, 2], [3, 4, 5]]]


@pytest.mark.parametrize(
    ("dtype", "kind", "text"),
    [
        ("c8", None, r"list_\(pyarrow.float32\(\), 2\)"),
        ("M8[10s]", None, r"datetime64\[10s\].*pyarrow.int64\(\)"),
        ("m8[25us]", None, r"timedelta64\[25us\].*pyarrow.int64\(\)"),
        ("M8[D]", None, r"datetime64\[D\].*pyarrow.int64\(\)"),
        ("m8[h]", None, r"timedelta64\[h\].*pyarrow.int64\(\)"),
        ("m8", None, r"timedelta64.*pyarrow.int64\(\)"),
        ("f16", None, r"binary\(16\)"),
        ("c32", None, r"binary\(32\)"),
        (">i4", None, r"binary\(4\)"),
        (">i4", pa.int32(), r">i4.*type int32.*binary\(4\)"),
        (">c8", pa.list_(pa.float32(), 2), r">f4.*binary\(4\)"),
        ("i4", pa.bool_(), "1 bits"),
        ("i8", pa.string(), "no fixed number of bits"),
        ("(3,)i8", pa.list_(pa.int64(), 2), "cannot be lists of type"),
        ("i8", "int64", "must be a pyarrow.DataType"),
    ],
    ids=repr,
)
def test_types_that_do_not_fit(dtype, kind, text):
    with pytest.raises(TypeError, match=text):
        DeviceArray.from_host(np.zeros(2, dtype)).to_arrow(kind)


def test_other_byte_orders_are_bytes():
    kept = DeviceArray.from_host(np.array([1, 256], ">i4")).to_arrow(pa.binary(4)).copy_to(HOST)
    assert kept.to_pylist() == [b"\0\0\0\1", b"\0\0\1\0"]


def test_a_device_array_of_arrow_shares_its_memory(ctx):
    array = pa.array([1, 2, 3], pa.int32()).copy_to(ctx.memory_manager)
    device = DeviceArray(array)
    device[1] = 7
    assert array.copy_to(HOST).to_pylist() == [1, 7, 3]
    assert from_dlpack(array).address == device.address
    del array
    assert device.to_arrow().copy_to(HOST).to_pylist() == [1, 7, 3]


def test_pickles_keep_arrows_type_in_every_layout():
    array = DeviceArray.from_arrow(pa.array(range(6), pa.timestamp("s")))
    square = array.reshape(2, 3)
    for part in (array, array[::2], array[::-1], square, square.T, array[4]):
        loaded = pickle.loads(pickle.dumps(part))
        assert loaded.shape == part.shape
        assert loaded.arrow_type == pa.timestamp("s")
        assert loaded.copy_to_host().tolist() == part.copy_to_host().tolist()


def test_bits_with_nulls_are_not_taken_for_bytes():
    array = DeviceArray.from_arrow(pa.array([True, None, False]))
    assert back(array[:1]).to_pylist() == [True, None, False]
    for use in (lambda: array[0], lambda: array.T, lambda: array.reshape(1, 1)):
        with pytest.raises(ValueError, match=r"has nulls \(1 of 3\)"):
            use()


# Each leaves the elements as they are.  Views refuse nulls.
VIEWS = {
    "ravel": lambda array: array.ravel(),
    "reshape": lambda array: array.reshape(array.shape),
    "T": lambda array: array.T,
    "transpose": lambda array: array.transpose(0),
    "view": lambda array: array.view(array.dtype),
    "values": lambda array: array.values,
    "values twice": lambda array: array.values[:].values,
}
KEPT = {
    "slice": lambda array: array[:],
    "rest": lambda array: array[...],
    "constructor": DeviceArray,
    "copy": lambda array: array.copy(),
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda array: pickle.loads(pickle.dumps(array)),
    "Arrow": lambda array: DeviceArray.from_arrow(array.to_arrow()),
}


@pytest.mark.gaps
@pytest.mark.parametrize("start", [0, 3, 11])
@pytest.mark.parametrize("kind", FLAT, ids=str)
def test_what_arrow_says_is_kept(ctx, kind, start):
    """The type, and where in their bytes bits begin."""
    values = (VALUES[kind] * 20)[:30]
    for array in (array_of(kind, values), array_of(kind, [*values[:20], None, *values[20:]])):
        there = DeviceArray.from_arrow(array.copy_to(ctx.memory_manager).slice(start))
        for name, keep in (KEPT | (VIEWS if not array.null_count else {})).items():
            kept = keep(there)
            assert kept.arrow_type == kind, name
            assert (kept.bit_offset, kept.bit_length) == (there.bit_offset, there.bit_length), name
            assert back(kept) == array[start:], name
        if array.null_count:
            assert there.values.arrow_type == kind
            bits = there.validity
            for valid in (bits, there[:].validity, bits[:], bits.copy()):
                assert valid.bit_offset == start % 8
                assert back(valid) == array[start:].is_valid()


def test_bytes_of_a_bitmap_keep_their_bits():
    bits = pa.array([place % 3 == 0 for place in range(40)])
    array = DeviceArray.from_arrow(bits[5:38])
    assert (array.bit_offset, array.shape) == (5, (5,))
    assert back(array[1:3]) == bits[8:24]
    assert back(array[:2][1:]) == bits[8:16]
    assert back(array[4:]) == bits[32:38]
    assert back(array[2:2]) == bits[:0]
    for part in (array[::2], array[1], array[None], array.reshape(1, 5)):
        assert (part.arrow_type, part.bit_length) == (None, None)


@pytest.mark.leaks
def test_handles_carry_what_arrow_says(peer, ctx):
    peer("import pickle; from pyarrow_cuda_compat import *; HOST = pa.default_cpu_memory_manager()")
    for kind in FLAT:
        array = array_of(kind, (VALUES[kind] * 20)[:30])
        there = DeviceArray.from_arrow(array.copy_to(ctx.memory_manager).slice(3))
        for part, expected in [(there, array[3:])] + [(there[1:], array[4:])] * (
            kind != pa.bool_()
        ):
            handle = pickle.dumps(part.export_for_ipc())
            peer(f"array = pickle.loads({handle!r}).open()")
            assert peer("array.bit_offset, array.bit_length") == (part.bit_offset, part.bit_length)
            sent = peer("pickle.dumps(array.to_arrow().copy_to(HOST))")
            assert pickle.loads(sent) == expected


@given(st.data(), st.sampled_from([pa.int16(), pa.bool_(), pa.decimal128(19)]))
def test_copies_keep_nulls(data, kind):
    values = data.draw(st.lists(st.sampled_from([None, 0, 1]), max_size=40))
    start = data.draw(st.integers(0, len(values)))
    array = pa.array(values).cast(kind)[start:]
    original = DeviceArray.from_arrow(array)
    for copied in (original.copy(), copy.copy(original), copy.deepcopy(original)):
        assert back(copied) == array
        assert copied.null_count == array.null_count
        assert copied.address != original.address or not len(array)
        assert (copied.validity is None) == (array.null_count == 0)


@pytest.mark.parametrize(
    "array", [pa.array([1, None]), pa.array([1.5, None]), pa.chunked_array([[1], [None]])]
)
def test_numpy_makes_no_values_of_nulls(array):
    """Where an array of the host is asked for, and its nulls would become NaN, or any number."""
    target = DeviceArray.from_host(np.zeros(2))
    for use in (
        lambda: DeviceArray.from_host(array),
        lambda: memory.to_device(array),
        lambda: SmartArray(array),
        lambda: target.copy_to_device(array),
        lambda: target.__setitem__(..., array),
        lambda: target.__setitem__(0, array[1:]),
        lambda: target.fill(array[1:]),
    ):
        with pytest.raises(ValueError, match=r"has nulls \(1 of \d\).*from_arrow\(array\) keeps"):
            use()
    assert target.copy_to_host().tolist() == [0, 0]
    target[:] = array.fill_null(2)
    assert target[1] == 2


def test_arrays_that_are_no_host_arrays(ctx):
    array = pa.array([1]).copy_to(ctx.memory_manager)
    with pytest.raises(TypeError, match=r"on a device: DeviceArray\.from_arrow"):
        DeviceArray.from_host(array)
    with pytest.raises(TypeError, match="never initialised"):
        DeviceArray.from_host(pa.Int64Array.__new__(pa.Int64Array))
