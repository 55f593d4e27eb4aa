"""Chunks on a device become one array there, as pyarrow makes it of those on the host."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyarrow_cuda_compat import DeviceArray
from support.samples import ALL, CPU, buffers_of

# One copy down takes what lies between the buffers, too, and the bitmaps of no rows.
pytestmark = pytest.mark.gaps
PLACES = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=2, max_size=5)


def parts_of(name, places):
    whole = pa.concat_arrays([ALL[name]] * 4)
    return [whole.slice(first, count).slice(first % 3) for first, count in places]


def lists_of(array):
    """Lists of two elements each, of which every third one is null."""
    offsets = pa.array(range(0, len(array) + 1, 2), pa.int32())
    nulls = pa.array([number % 3 == 2 for number in range(len(array) // 2)], pa.bool_())
    return pa.ListArray.from_arrays(offsets, array, mask=nulls)


@pytest.mark.parametrize("name", ALL)
@given(places=PLACES, is_nested=st.booleans(), is_sliced_there=st.booleans())
def test_chunks_of_each_type(ctx, name, places, is_nested, is_sliced_there):
    parts = parts_of(name, places)
    if is_nested:
        parts = [
            pa.StructArray.from_arrays([lists_of(part), part[: len(part) // 2]], ["a", "b"])
            for part in parts
        ]
    there = [part.copy_to(ctx) for part in parts]
    if is_sliced_there:
        parts, there = ([part.slice(1, 11) for part in found] for found in (parts, there))
    try:
        expected = pa.concat_arrays(parts)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return  # pyarrow itself cannot
    found = pa.concat_arrays(there)
    assert all(buffer.device == ctx.device for buffer in buffers_of(found))
    there = found.copy_to(CPU)
    there.validate(full=True)
    assert there.equals(expected)
    assert (there.type, there.null_count) == (expected.type, expected.null_count)


@given(places=PLACES)
def test_tables_and_batches(ctx, places):
    chunks = {name: pa.chunked_array(parts_of(name, places)) for name in ALL}
    lengths = {len(chunk) for chunk in chunks.values()}
    chunks = {name: chunk for name, chunk in chunks.items() if len(chunk) == max(lengths)}
    table = pa.table(chunks, metadata={"of": "schema"})
    combined = table.copy_to(ctx).combine_chunks()
    assert combined.schema.equals(table.schema, check_metadata=True)
    assert {column.num_chunks for column in combined.columns} == {1}
    assert combined.copy_to(CPU).equals(table)
    batches = [batch.copy_to(ctx) for batch in pa.table({"x": [1, None, 3]}).to_batches()] * 3
    assert pa.concat_batches(batches).copy_to(CPU)["x"].to_pylist() == [1, None, 3] * 3


@pytest.mark.parametrize("values", [["a", "b"], [1.5, 2.5]])
def test_dictionaries_that_differ_become_one(ctx, values):
    chunks = [
        pa.array([values[0], None], type=pa.dictionary(pa.int8(), pa.array(values).type)),
        pa.array([values[1], values[0]] * 9, pa.dictionary(pa.int8(), pa.array(values).type)),
    ]
    for parts in (chunks, chunks[::-1]):
        there = pa.chunked_array([part.copy_to(ctx) for part in parts]).combine_chunks()
        assert there.copy_to(CPU).to_pylist() == pa.chunked_array(parts).to_pylist()
    nested = [pa.StructArray.from_arrays([part], ["d"]) for part in chunks]
    there = pa.concat_arrays([part.copy_to(ctx) for part in nested])
    assert there.copy_to(CPU).to_pylist() == pa.chunked_array(nested).to_pylist()


@pytest.mark.parametrize("kind", [pa.string(), pa.large_binary(), pa.list_(pa.int8())], ids=str)
@pytest.mark.parametrize("is_nested", [False, True])
def test_the_only_offset_of_nothing_may_be_any_number(ctx, kind, is_nested):
    """As libarrow leaves it, and other writers write it."""
    offsets = pa.py_buffer(np.array([5], np.int64 if kind == pa.large_binary() else np.int32))
    is_list = pa.types.is_list(kind)
    buffers = [None, offsets] if is_list else [None, offsets, pa.py_buffer(b"")]
    children = [pa.array([], kind.value_type)] if is_list else None
    nothing = pa.Array.from_buffers(kind, 0, buffers, children=children)
    something = pa.array([[1, 2], None] if is_list else ["a", None], kind)
    parts = [nothing, something, nothing]
    if is_nested:
        parts = [pa.StructArray.from_arrays([part], ["s"]) for part in parts]
    for some in (parts, [parts[0]] * 2):
        found = pa.concat_arrays([part.copy_to(ctx) for part in some]).copy_to(CPU)
        found.validate(full=True)
        assert found.equals(pa.concat_arrays(some))


def test_one_chunk_is_not_copied(ctx):
    chunk = pa.array([1, 2, 3]).copy_to(ctx).slice(1)
    before = ctx.bytes_allocated
    for one in (
        pa.chunked_array([chunk]).combine_chunks(),
        pa.table({"x": chunk}).combine_chunks()["x"].chunk(0),
        pa.concat_arrays([chunk]),
    ):
        assert one.buffers()[1].address == chunk.buffers()[1].address
    assert ctx.bytes_allocated == before


def test_chunks_are_one_tensor_and_one_device_array(ctx):
    chunked = pa.chunked_array([[1, 2], [3]]).copy_to(ctx)
    assert np.from_dlpack(chunked, device="cpu").tolist() == [1, 2, 3]
    some_null = pa.chunked_array([[1, None], [3]])
    for column in (some_null, some_null.copy_to(ctx)):
        array = DeviceArray.from_arrow(column)
        assert (len(array), array.null_count) == (3, 1)
    for host in (some_null, pa.table({"x": some_null})):
        assert not hasattr(host, "__dlpack__")
        assert not hasattr(host, "__arrow_c_device_array__")


def test_chunks_of_several_places_are_refused(ctx, other_ctx):
    here, there = (pa.array([1, 2]).copy_to(each) for each in (ctx, other_ctx))
    for chunks in ([here, there], [here, pa.array([3])]):
        with pytest.raises(NotImplementedError, match=r"copy_to\(\)"):
            pa.chunked_array(chunks).combine_chunks()
    assert not pa.record_batch({"on the host": pa.array([1, 2]), "there": here}).is_cpu
    with pytest.raises((TypeError, pa.ArrowInvalid)):
        pa.concat_arrays([here, pa.array(["a"]).copy_to(ctx)])


def test_more_than_offsets_can_count_is_refused(ctx):
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1 << 14], pa.int16()), pa.array([1]))
    with pytest.raises(pa.ArrowInvalid, match="overflow"):
        pa.concat_arrays([runs.copy_to(ctx)] * 2)
