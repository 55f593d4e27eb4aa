"""Columns of tables become arrays of two dimensions, and tables again."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyarrow_cuda_compat import DeviceArray, memory_stats
from support.samples import CPU as HOST


def numbers(kind, length, seed):
    values = np.arange(length) * 7 + seed
    return pa.array(values % 2 == 0 if kind == pa.bool_() else values % 100).cast(kind)


@settings(max_examples=60)
@given(
    data=st.data(),
    kind=st.sampled_from([pa.int8(), pa.float32(), pa.float64(), pa.timestamp("ms"), pa.bool_()]),
    lengths=st.lists(st.integers(0, 50), max_size=3),
    count=st.integers(1, 4),
    order=st.sampled_from("CF"),
    nulls=st.sampled_from(["raise", "mask", "fill"]),
)
def test_a_table_is_a_matrix(cuda, data, kind, lengths, count, order, nulls):
    def column(seed):
        chunks = [numbers(kind, length + 2, seed).slice(1, length) for length in lengths]
        if nulls != "raise":
            chunks = [
                pa.array(
                    [None if place % 3 == seed else value for place, value in enumerate(chunk)],
                    kind,
                )
                for chunk in chunks
            ]
        return pa.chunked_array(chunks, kind)

    host = pa.table({f"c{number}": column(number) for number in range(count)})
    given_table = host.copy_to(cuda.Context(0)) if data.draw(st.booleans()) else host
    fill = {"fill": kind == pa.bool_() or 5} if nulls == "fill" else {}
    found = DeviceArray.from_columns(given_table, order=order, nulls=nulls, **fill)
    array, mask = found if nulls == "mask" else (found, None)
    assert array.shape == (sum(lengths), count)
    assert array.is_c_contiguous() if order == "C" else array.is_f_contiguous()
    there = array.copy_to_host()
    for number, each in enumerate(host.columns):
        places = each.is_null().to_numpy()
        if mask is not None:
            assert (mask.copy_to_host()[:, number] == places).all()
        expected = each.fill_null(fill.get("fill", kind == pa.bool_() or 0)).to_numpy()
        assert (there[:, number] == expected.astype(there.dtype))[~places | (nulls == "fill")].all()
    if kind == pa.bool_():
        return
    names = host.column_names
    back = array.to_columns(names)
    assert back.schema.types == [kind] * count
    if nulls == "raise":
        assert back.copy_to(HOST).equals(host)
    if order == "F" and sum(lengths):
        assert back["c0"].chunk(0).buffers()[1].address == array.address


def test_named_columns(ctx):
    table = pa.table({"a": [1, 2], "name": ["x", "y"], "b": [3, 4]}).copy_to(ctx)
    for columns in (["b", "a"], [2, 0], iter(["b", "a"])):
        array = DeviceArray.from_columns(table, columns)
        assert array.copy_to_host().tolist() == [[3, 1], [4, 2]]
    (batch,) = table.to_batches()
    assert DeviceArray.from_columns(batch, ["b"]).copy_to_host().tolist() == [[3], [4]]


def test_the_matrix_is_memory_of_its_own(ctx):
    table = pa.table({"a": [1.5, 2.5]}).copy_to(ctx)
    array = DeviceArray.from_columns(table, order="F")
    array[0, 0] = 9
    assert table.copy_to(HOST)["a"].to_pylist() == [1.5, 2.5]


def test_rows_beyond_a_block(ctx):
    host = {name: np.arange(70_000) * factor for name, factor in (("a", 1), ("b", -2), ("c", 3))}
    for order in "CF":
        array = DeviceArray.from_columns(pa.table(host).copy_to(ctx), order=order)
        assert (array.copy_to_host() == np.column_stack(list(host.values()))).all()
        back = array.to_columns(host).copy_to(HOST)
        assert back.equals(pa.table(host))


WAYS_TO_FAIL = [
    ([1, 2], {}, TypeError, "expected a pyarrow.Table or a pyarrow.RecordBatch, got list"),
    (
        {"a": [1], "b": [1.5], "c": [2]},
        {},
        TypeError,
        r"several types.*int64: a, c; double: b.*columns=, or cast",
    ),
    ({"a": ["x"]}, {}, TypeError, "values of type string cannot be a device array"),
    (
        {"a": pa.array([[1, 2]], pa.list_(pa.int8(), 2))},
        {},
        TypeError,
        "more than one element in a row",
    ),
    ({"a": [[1]]}, {}, TypeError, r"list_\(type, length\)"),
    ({"a": [1]}, {"columns": "a"}, TypeError, r"columns must be names of columns, such as \['a'\]"),
    ({"a": [1]}, {"columns": ["b"]}, KeyError, "b"),
    ({"a": [1]}, {"columns": []}, ValueError, "no columns"),
    ({"a": [1]}, {"order": "K"}, ValueError, "order must be 'C' or 'F'"),
    ({"a": [1]}, {"nulls": "keep"}, ValueError, "nulls must be one of 'raise', 'mask', 'fill'"),
    ({"a": [1]}, {"nulls": "fill"}, ValueError, "needs a value for nulls of type int64"),
    ({"a": [1]}, {"fill": 3}, ValueError, "fill=3 is for nulls='fill' only"),
    (
        {"a": [1, 2], "b": [1, None]},
        {},
        ValueError,
        r"the column 'b' has nulls \(1 of 2\).*nulls='fill'",
    ),
    ({"a": [True, None]}, {}, ValueError, r"the column 'a' has nulls \(1 of 2\)"),
    (
        {"a": pa.chunked_array([[1, 2], [3, None, 5]])},
        {},
        ValueError,
        r"the column 'a' in rows 2 to 4 has nulls \(1 of 3\)",
    ),
]


@pytest.mark.parametrize(("data", "arguments", "error", "text"), WAYS_TO_FAIL)
def test_what_is_no_matrix(ctx, data, arguments, error, text):
    table = pa.table(data).copy_to(ctx) if isinstance(data, dict) else data
    before = memory_stats()["allocated_bytes"]
    with pytest.raises(error, match=text):
        DeviceArray.from_columns(table, **arguments)
    assert memory_stats()["allocated_bytes"] == before


def test_what_are_no_columns():
    with pytest.raises(ValueError, match=r"two dimensions, not of shape \(3,\)"):
        DeviceArray.empty(3).to_columns(["a"])
    with pytest.raises(ValueError, match=r"2 columns, and names 1: \['ab'\]"):
        DeviceArray.empty((3, 2)).to_columns("ab")
    with pytest.raises(TypeError, match="cannot be values of type int8"):
        DeviceArray.empty((3, 2)).to_columns(["a", "b"], pa.int8())
