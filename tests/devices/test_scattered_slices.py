"""Slices of arrays whose elements may lead anywhere: views, list views and dense unions."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

from pyarrow_cuda_compat import Stream
from support.samples import CPU, buffers_of

ROWS = 4096
WORDS = [None if row % 7 == 6 else f"word number {row:05} of many" for row in range(ROWS)]
NUMBERS = np.arange(ROWS, dtype="i4")
VIEWS = pa.array(WORDS, pa.string_view())


def list_views(of, values, offsets):
    sizes = pa.array(np.full(ROWS, 2), offsets.type)
    return of.from_arrays(offsets, sizes, values, mask=pa.array(NUMBERS % 5 == 4))


DENSE = pa.UnionArray.from_dense(
    pa.array(3 * (NUMBERS % 2), pa.int8()),
    pa.array(NUMBERS // 2),
    [pa.array(WORDS[::2]), pa.array(WORDS[::2], pa.string_view())],
    ["words", "views"],
    [0, 3],
)
BACKWARDS = list_views(
    pa.ListViewArray, pa.array([*WORDS, None]), pa.array(NUMBERS[::-1].copy(), pa.int32())
)
ARRAYS = {
    "string views": VIEWS,
    "binary views": VIEWS.cast(pa.binary_view()),
    "views of many buffers": pa.concat_arrays([VIEWS.slice(at, 512) for at in range(0, ROWS, 512)]),
    "short views": pa.array([f"{row}" for row in range(ROWS)], pa.string_view()),
    "list views": BACKWARDS,
    "large list views of views": list_views(
        pa.LargeListViewArray, pa.concat_arrays([VIEWS, VIEWS[:1]]), pa.array(NUMBERS, pa.int64())
    ),
    "dense union": DENSE,
    "lists of views": pa.ListArray.from_arrays(pa.array(np.arange(ROWS + 1, dtype="i4")), VIEWS),
    "fixed lists of views": pa.FixedSizeListArray.from_arrays(VIEWS, 4),
    "map of views": pa.MapArray.from_arrays(
        pa.array(np.arange(ROWS + 1, dtype="i4")), pa.array(NUMBERS), VIEWS
    ),
    "struct of unions": pa.StructArray.from_arrays([DENSE, VIEWS, BACKWARDS], ["a", "b", "c"]),
    "runs of views": pa.RunEndEncodedArray.from_arrays(pa.array(NUMBERS + 1), VIEWS),
    "extension": pa.ExtensionArray.from_storage(
        pa.opaque(pa.string_view(), "views", "here"), VIEWS
    ),
}
EVERY = pytest.mark.parametrize("name", ARRAYS)
#: Of rows in the middle, at the end, and none.
PARTS = [(1001, 10), (len(NUMBERS) // 4 - 9, 9), (500, 0)]
FEW = 2500


def bytes_of(array):
    return sum({buffer.address: buffer.size for buffer in buffers_of(array)}.values())


@EVERY
@pytest.mark.parametrize("part", PARTS)
def test_copies_have_only_what_they_reach(ctx, other_ctx, name, part):
    here = ARRAYS[name].slice(*part)
    there = ARRAYS[name].copy_to(ctx).slice(*part)
    for source in (here, there):
        for destination in (ctx, other_ctx, CPU):
            if source is here and destination is CPU:
                continue
            copy = source.copy_to(destination)
            assert bytes_of(copy) < FEW
            back = copy.copy_to(CPU)
            back.validate(full=True)
            assert back.equals(here)


@EVERY
def test_so_do_pickles(ctx, name):
    part = ARRAYS[name].copy_to(ctx).slice(1001, 10)
    for value in (part, pa.chunked_array([part]), pa.table({"x": part}).to_batches()[0]):
        pickled = pickle.dumps(value)
        assert len(pickled) < 2 * FEW
        assert pickle.loads(pickled).copy_to(CPU).equals(value.copy_to(CPU))


@EVERY
def test_so_do_messages(cuda, ctx, name):
    batch = pa.record_batch({"x": ARRAYS[name], "y": pa.nulls(len(ARRAYS[name]))}).slice(1001, 10)
    there = pa.record_batch({"x": ARRAYS[name].copy_to(ctx).slice(1001, 10), "y": pa.nulls(10)})
    for source in (batch, batch.copy_to(ctx), there):
        message = cuda.serialize_record_batch(source, ctx)
        assert message.size < 2 * FEW
        read = cuda.read_record_batch(message, batch.schema).copy_to(CPU)
        read.validate(full=True)
        assert read.equals(batch)


@EVERY
def test_messages_of_whole_arrays_are_pyarrows(cuda, ctx, name):
    batch = pa.record_batch({"x": ARRAYS[name]})
    assert cuda.serialize_record_batch(batch, ctx).equals(batch.serialize())


@pytest.mark.simulator
@EVERY
def test_whole_arrays_are_not_read(ctx, calls, name):
    there = ARRAYS[name].copy_to(ctx)
    copy, [copies] = calls(lambda: there.copy_to(ctx), b"cuMemcpyDtoH")
    assert copies == 0
    assert bytes_of(copy) == bytes_of(there)


@pytest.mark.parametrize("name", ["string views", "list views", "dense union"])
def test_of_large_parts_all_is_copied(ctx, name):
    """Which takes less time than to read where all of the elements lead."""
    here, there = ARRAYS[name], ARRAYS[name].copy_to(ctx)
    for rows, is_trimmed in ((ROWS // 8, True), (ROWS // 8 + 8, False)):
        for whole in (here, there):
            copy = whole.slice(0, rows).copy_to(ctx)
            assert (copy.buffers()[-1].size < here.buffers()[-1].size) == is_trimmed
            assert copy.copy_to(CPU).equals(here.slice(0, rows))


def test_chunks_that_have_all_together_share_the_memory(ctx):
    chunks = pa.chunked_array([VIEWS.slice(at, 64) for at in range(0, ROWS, 64)])
    there = chunks.copy_to(ctx)
    buffers = {buffer.address for chunk in there.chunks for buffer in buffers_of(chunk)}
    assert len(buffers) == len(buffers_of(VIEWS))
    assert there.copy_to(CPU).equals(chunks)


def test_slices_whose_buffers_end_with_them(ctx):
    """As other libraries export them."""
    _validity, views, *data = VIEWS.buffers()
    part = pa.Array.from_buffers(VIEWS.type, 2, [None, views[16 * 1001 : 16 * 1003], *data])
    copy = part.copy_to(ctx)
    assert bytes_of(copy) < FEW
    assert copy.copy_to(CPU).equals(part)


def test_on_a_stream_what_they_lead_to_is_copied(ctx):
    stream = Stream(ctx)
    there = VIEWS.copy_to(ctx).slice(1001, 10)
    copy = there.copy_to(ctx, stream=stream)
    stream.synchronize()
    assert bytes_of(copy) > 50_000
    assert copy.copy_to(CPU).equals(VIEWS.slice(1001, 10))
