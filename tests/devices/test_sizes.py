"""Sizes of data on a device: those of the same data on the host."""

import pyarrow as pa
import pytest

from support.driver import DOWN
from support.samples import ALL

WITHOUT_SIZE = (pa.ArrowTypeError, NotImplementedError)


def size(data):
    """The number, or the class of the error: older pyarrows do not measure views."""
    try:
        return data.nbytes
    except WITHOUT_SIZE as error:
        return type(error)


def parts(array):
    yield array
    for start in range(1, min(len(array), 10)):
        yield array.slice(start)
        yield array.slice(start, 2)
    yield array.slice(0, 0)


@pytest.mark.parametrize("name", ALL)
def test_every_type_and_slice(ctx, name):
    host = ALL[name]
    there = host.copy_to(ctx)
    for here, part in zip(parts(host), parts(there), strict=True):
        assert size(part) == size(here)
    for here in parts(host):
        copied = here.copy_to(ctx)
        assert size(copied) == size(copied.copy_to("cpu"))
        assert copied.get_total_buffer_size() == copied.copy_to("cpu").get_total_buffer_size()
    assert there.get_total_buffer_size() == host.get_total_buffer_size()


def test_chunks_batches_and_tables(ctx):
    arrays = {name: array for name, array in ALL.items() if isinstance(size(array), int)}
    columns = {
        name: pa.chunked_array([array, array.slice(1), array[:0]]) for name, array in arrays.items()
    }
    rows = min(map(len, columns.values()))
    table = pa.table({name: column[:rows] for name, column in columns.items()})
    batch = pa.record_batch({name: column.chunk(0)[:2] for name, column in columns.items()})
    for host in (*columns.values(), table, table.slice(1, 3), table[:0], batch, batch.slice(1)):
        there = host.copy_to(ctx)
        back = there.copy_to("cpu")
        assert there.nbytes == back.nbytes
        assert there.get_total_buffer_size() == back.get_total_buffer_size()
    # libarrow counts all data of views, of which a copy of a slice has less.
    others = table.select([name for name in columns if "view" not in name])
    assert others.copy_to(ctx).nbytes == others.nbytes


def test_slices_of_what_may_lead_anywhere(ctx):
    """A copy on the host would have less data of them."""
    words = pa.array([f"word number {row} of many" for row in range(1000)], pa.string_view())
    numbers = pa.array(range(1000), pa.int32())
    lists = pa.ListViewArray.from_arrays(numbers, pa.array([1] * 1000, pa.int32()), words)
    runs = pa.RunEndEncodedArray.from_arrays(pa.array(range(1, 1001), pa.int32()), words)
    for array in (words, lists, runs):
        here, there = (it.slice(500, 10) for it in (array, array.copy_to(ctx)))
        assert size(there) == size(here)
    batches = [pa.record_batch({"x": it}) for it in (here, there)]
    assert len(set(map(pa.ipc.get_record_batch_size, batches))) == 1


def test_shared_buffers_count_once(ctx):
    array = pa.array([1, 2, 3]).copy_to(ctx)
    table = pa.table({"x": array, "y": array})
    assert (table.nbytes, table.get_total_buffer_size()) == (48, 24)


def test_data_in_two_places(ctx):
    here, there = pa.array(["a", None, "bcd"]), pa.array(["a", None, "bcd"]).copy_to(ctx)
    for both in (
        pa.chunked_array([here, there]),
        pa.StructArray.from_arrays([here, there], ["x", "y"]),
    ):
        assert both.nbytes == 2 * here.nbytes
        assert both.get_total_buffer_size() == 2 * here.get_total_buffer_size()


def test_only_offsets_are_read(ctx, calls):
    numbers = pa.table({"x": range(1000), "y": [{"z": True}] * 1000}).copy_to(ctx)
    assert calls(lambda: numbers.nbytes, DOWN)[1] == [0]
    words = pa.table({"x": ["word"] * 1000}).copy_to(ctx)
    assert calls(lambda: words.nbytes, DOWN)[1] == [2]
    assert calls(words.get_total_buffer_size, DOWN)[1] == [0]


def test_objects_without_data():
    for cls in (pa.Array, pa.ChunkedArray, pa.RecordBatch, pa.Table):
        with pytest.raises(TypeError):
            cls.get_total_buffer_size()
