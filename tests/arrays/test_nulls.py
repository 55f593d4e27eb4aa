"""Nulls of Arrow arrays as masks, and with values in their place; booleans as bytes."""

import datetime
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyarrow_cuda_compat import DeviceArray, memory_stats
from support.samples import CPU as HOST

#: A value of each type, and another one for nulls.
VALUES = {
    pa.int8(): (-3, 7),
    pa.uint16(): (3, 65535),
    pa.float16(): (1.5, -2.0),
    pa.float32(): (1.5, 0.1),
    pa.float64(): (0.1, -0.0),
    pa.bool_(): (True, False),
    pa.date32(): (datetime.date(2024, 1, 2), datetime.date(1970, 1, 1)),
    pa.timestamp("ms", "UTC"): (1_000, 0),
    pa.duration("s"): (datetime.timedelta(5), datetime.timedelta(-1)),
    pa.decimal128(5, 1): (2, 3),
    pa.decimal256(40, 1): (2, 3),
    pa.month_day_nano_interval(): (pa.MonthDayNano([1, 2, 3]), pa.MonthDayNano([4, 5, 6])),
    pa.binary(3): (b"abc", b"\0\xff-"),
    pa.uuid(): (bytes(range(16)), bytes(16)),
}


def array_of(kind, values):
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, pa.array(values, kind.storage_type))
    return pa.array(values, kind)


def bytes_of(array):
    """What NumPy has of an array without nulls: its elements' bytes, a byte for each boolean."""
    storage = array.storage if isinstance(array, pa.ExtensionArray) else array
    if storage.type == pa.bool_():
        return bytes(map(int, storage.to_pylist()))
    width = storage.type.bit_width // 8
    start = storage.offset * width
    return storage.buffers()[1].to_pybytes()[start : start + len(array) * width]


@settings(max_examples=80)
@given(
    data=st.data(),
    kind=st.sampled_from(list(VALUES)),
    nulls=st.lists(st.booleans(), max_size=70),
    cut=st.integers(0, 20),
    chunks=st.integers(0, 3),
)
def test_values_of_every_type(cuda, data, kind, nulls, cut, chunks):
    value, fill = VALUES[kind]
    array = array_of(kind, [None if null else value for null in nulls])[cut:]
    nulls = nulls[cut:]
    given_array = array.copy_to(cuda.Context(0)) if data.draw(st.booleans()) else array
    if chunks:
        given_array = pa.chunked_array([given_array] * chunks)
        nulls = nulls * chunks
    expected = bytes_of(array_of(kind, [fill if null else value for null in nulls]))
    filled = DeviceArray.from_arrow(given_array, nulls="fill", fill=fill)
    assert filled.null_count == 0
    assert filled.shape == (len(nulls),)
    assert filled.copy_to_host().tobytes() == expected
    values, mask = DeviceArray.from_arrow(given_array, nulls="mask")
    assert mask.dtype == bool
    assert mask.copy_to_host().tolist() == nulls
    assert values.dtype == filled.dtype == (np.dtype(bool) if kind == pa.bool_() else values.dtype)
    found = np.frombuffer(values.copy_to_host().tobytes(), (np.void, values.itemsize))
    (one,) = np.frombuffer(bytes_of(array_of(kind, [value])), (np.void, values.itemsize))
    assert all(each == one for each, null in zip(found, nulls, strict=True) if not null)


@pytest.mark.parametrize("length", [255, 256, 257, 300_000])
@pytest.mark.parametrize("kind", [pa.int64(), pa.bool_()], ids=str)
def test_sizes(ctx, kind, length):
    valid = np.arange(length) % 3 > 0
    numbers = np.arange(length) % 5 // 2
    numbers = numbers.astype(bool if kind == pa.bool_() else "i8")
    array = pa.array(numbers, kind, mask=~valid).slice(5).copy_to(ctx)
    values, mask = DeviceArray.from_arrow(array, nulls="mask")
    assert (mask.copy_to_host() == ~valid[5:]).all()
    assert (values.copy_to_host() == numbers[5:])[valid[5:]].all()
    filled = DeviceArray.from_arrow(array, nulls="fill", fill=True if kind == pa.bool_() else -9)
    expected = np.where(valid, numbers, True if kind == pa.bool_() else -9)[5:]
    assert (filled.copy_to_host() == expected).all()


def test_the_column_itself_stays_what_it_is(ctx):
    column = pa.array([1.5, None, 4.0]).copy_to(ctx)
    filled = DeviceArray.from_arrow(column, nulls="fill")
    values, _ = DeviceArray.from_arrow(column, nulls="mask")
    assert np.isnan(filled.copy_to_host()[1])
    assert filled.arrow_type == values.arrow_type == pa.float64()
    assert filled.to_arrow().copy_to(HOST).null_count == 0
    assert values.address == DeviceArray.from_arrow(column).address != filled.address
    assert column.copy_to(HOST).to_pylist() == [1.5, None, 4.0]
    plain = pa.array([1.5, 4.0]).copy_to(ctx)
    same, mask = DeviceArray.from_arrow(plain, nulls="mask")
    view = DeviceArray.from_arrow(plain, nulls="fill")
    assert same.address == view.address == DeviceArray.from_arrow(plain).address
    assert mask.copy_to_host().tolist() == [False, False]


def test_booleans_as_bytes(ctx):
    column = pa.array([True, False, True] * 5)[1:].copy_to(ctx)
    array = DeviceArray.from_arrow(column, dtype=bool)
    assert (array.dtype, array.bit_length, array.arrow_type) == (np.dtype(bool), None, None)
    assert array.copy_to_host().tolist() == column.copy_to(HOST).to_pylist()
    assert array[::2].copy_to_host().tolist() == column.copy_to(HOST).to_pylist()[::2]
    with pytest.raises(ValueError, match=r"nulls \(1 of 2\).*nulls='mask'.*nulls='fill'"):
        DeviceArray.from_arrow(pa.array([True, None]), dtype=bool)
    lists = pa.array([[True, None], [False, True]], pa.list_(pa.bool_(), 2)).copy_to(ctx)
    filled = DeviceArray.from_arrow(lists, nulls="fill", fill=False, dtype="bool")
    assert filled.copy_to_host().tolist() == [[True, False], [False, True]]


def test_elements_of_lists(ctx):
    lists = pa.array([[9, 9], [1, None], [None, 4]], pa.list_(pa.int16(), 2))[1:].copy_to(ctx)
    filled = DeviceArray.from_arrow(lists, nulls="fill", fill=-1)
    assert filled.copy_to_host().tolist() == [[1, -1], [-1, 4]]
    assert filled.to_arrow().copy_to(HOST).to_pylist() == [[1, -1], [-1, 4]]
    assert filled.arrow_type == lists.type
    values, mask = DeviceArray.from_arrow(lists, nulls="mask")
    assert mask.copy_to_host().tolist() == [[False, True], [True, False]]
    assert values.copy_to_host()[[0, 1], [0, 1]].tolist() == [1, 4]
    whole = pa.array([[1, 2], None], pa.list_(pa.int16(), 2))
    for nulls in ("mask", "fill"):
        with pytest.raises(ValueError, match=r"lists with nulls \(1 of 2\)"):
            DeviceArray.from_arrow(whole, nulls=nulls, fill=0 if nulls == "fill" else None)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"nulls": "drop"}, ValueError, "nulls must be one of 'keep', 'mask', 'fill', not 'drop'"),
        ({"nulls": "fill"}, ValueError, r"needs a value for nulls of type int8, such as fill=0"),
        ({"fill": 1}, ValueError, "fill=1 is for nulls='fill' only, not for nulls='keep'"),
        ({"nulls": "mask", "fill": 0}, ValueError, "for nulls='fill' only"),
        ({"dtype": float}, TypeError, "dtype int8, not float64: from_arrow does not convert"),
        *(
            ({"nulls": "fill", "fill": fill}, ValueError, "is not a value of type int8")
            for fill in (1.5, 128, 2**70, "x", True, float("nan"))
        ),
        ({"nulls": "fill", "fill": pa.scalar(None, pa.int8())}, ValueError, "is a null itself"),
    ],
)
def test_what_is_refused(arguments, error, text):
    before = memory_stats()["allocated_bytes"]
    for values in ([1, None], [1]):
        with pytest.raises(error, match=text):
            DeviceArray.from_arrow(pa.array(values, pa.int8()), **arguments)
    assert memory_stats()["allocated_bytes"] == before  # nothing was copied


@pytest.mark.parametrize(
    "kind", [pa.bool_(), pa.binary(2), pa.month_day_nano_interval(), pa.decimal128(3, 1)], ids=str
)
def test_the_fill_that_an_error_names_is_taken(kind):
    column = pa.array([None], kind)
    with pytest.raises(ValueError, match="such as fill=") as raised:
        DeviceArray.from_arrow(column, nulls="fill")
    text = re.search(r"fill=(.+): only", str(raised.value))[1]
    fill = eval(text, {"pyarrow": pa})
    assert DeviceArray.from_arrow(column, nulls="fill", fill=fill).null_count == 0


@pytest.mark.parametrize(
    ("kind", "fill"),
    [
        (pa.float32(), 1e300),
        (pa.timestamp("s"), datetime.datetime(2024, 1, 1, 0, 0, 0, 5)),
        (pa.timestamp("s"), 1.5),
        (pa.bool_(), 2),
        (pa.binary(2), b"abc"),
        (pa.decimal128(3, 1), 1000),
    ],
    ids=str,
)
def test_a_fill_that_would_become_another_value(kind, fill):
    with pytest.raises(ValueError, match="is not a value of type"):
        DeviceArray.from_arrow(pa.array([None], kind), nulls="fill", fill=fill)
