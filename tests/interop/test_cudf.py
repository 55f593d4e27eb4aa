"""cuDF's own library over our memory, and back, without a copy."""

import gc

import pyarrow as pa
import pytest

from pyarrow_cuda_compat import set_allocator
from support.samples import CPU

plc = pytest.importorskip("pylibcudf")

pytestmark = [pytest.mark.foreign, pytest.mark.hardware]

COLUMNS = {
    "int": pa.array([1, None, 3, 4], pa.int64()),
    "float": pa.array([1.5, 2.5, None, 4.0]),
    "string": pa.array(["one", None, "three", ""]),
    "bool": pa.array([True, False, None, True]),
    "time": pa.array([1, 2, 3, None], pa.timestamp("us")),
    "duration": pa.array([1, None, 3, 4], pa.duration("ms")),
    "decimal": pa.array([1, 2, None, 4], pa.decimal128(10, 2)),
    "dictionary": pa.array(["x", "y", "x", None]).dictionary_encode(),
    "list": pa.array([[1], None, [2, 3], []], pa.list_(pa.int32())),
    "struct": pa.array([{"a": 1, "b": "q"}, None, {"a": 3, "b": None}, {"a": 4, "b": "z"}]),
}
TABLE = pa.table(COLUMNS)


def values(array):
    """Python's values; of structures in order, because cuDF does not know their names."""
    if isinstance(array, pa.ChunkedArray):
        return [value for chunk in array.chunks for value in values(chunk)]
    if pa.types.is_struct(array.type):
        rows = zip(*map(values, array.flatten()), strict=True)
        valid = array.is_valid().to_pylist()
        return [row if is_valid else None for row, is_valid in zip(rows, valid, strict=True)]
    return array.to_pylist()


def chunked(column):
    return pa.chunked_array([column.slice(2), column.slice(0, 0), column.slice(0, 3)])


WAYS = {
    "an array": lambda column, ctx: column.copy_to(ctx),
    "a slice": lambda column, ctx: column.copy_to(ctx).slice(1, 2),
    "one chunk": lambda column, ctx: pa.chunked_array([column]).copy_to(ctx),
    "chunks": lambda column, ctx: chunked(column).copy_to(ctx),
    "no chunks": lambda column, ctx: pa.chunked_array([], column.type).copy_to(ctx),
    "host chunks": lambda column, _ctx: chunked(column),
}


#: libcudf 26.10 exports slices with the bitmap of their parent, and empty lists without offsets.
NOT_EXPORTED = {"a slice", "no chunks"}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", COLUMNS)
def test_columns_go_there_and_back(ctx, name, way):
    column = WAYS[way](COLUMNS[name], ctx)
    theirs = plc.Column.from_arrow(column)
    expected = values(column.copy_to(CPU))
    assert values(theirs.to_arrow()) == expected
    if way not in NOT_EXPORTED:
        assert values(pa.array(theirs).copy_to(CPU)) == expected


@pytest.mark.parametrize("chunks", [1, 2])
def test_tables_go_there_and_back(ctx, chunks):
    host = pa.concat_tables([TABLE] * chunks)
    theirs = plc.Table.from_arrow(host.copy_to(ctx))
    expected = [values(column) for column in host.columns]
    assert [values(column) for column in theirs.to_arrow().columns] == expected
    batch = pa.record_batch(theirs)
    assert not batch.column(0).is_cpu
    assert [values(column) for column in batch.copy_to(CPU).columns] == expected


def test_no_byte_is_copied(ctx):
    column = pa.table({"x": pa.array(range(1000))}).copy_to(ctx).column(0)
    address = column.chunk(0).buffers()[1].address
    theirs = plc.Column.from_arrow(column)
    assert theirs.data().__cuda_array_interface__["data"][0] == address
    assert pa.array(theirs).buffers()[1].address == address


@pytest.mark.parametrize("is_first", [True, False], ids=["ours goes first", "cuDF's goes first"])
def test_memory_lives_as_long_as_either_needs_it(ctx, is_first):
    column = pa.array(range(100_000)).copy_to(ctx)
    theirs = plc.Column.from_arrow(column)
    back = pa.array(theirs)
    if is_first:
        del column, back
        gc.collect()
        others = [pa.array([0] * 100_000).copy_to(ctx) for _ in range(5)]
        assert theirs.to_arrow()[-1].as_py() == 99_999
        del others
    else:
        del theirs, column
        gc.collect()
        assert back.copy_to(CPU)[-1].as_py() == 99_999


def test_they_share_rmms_pool(ctx):
    rmm = pytest.importorskip("rmm")
    used = rmm.mr.get_current_device_resource()
    pool = rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=1 << 26)
    rmm.mr.set_current_device_resource(pool)
    set_allocator(pool)
    try:
        theirs = plc.Table.from_arrow(TABLE.copy_to(ctx))
        assert values(theirs.to_arrow().column(2)) == values(TABLE["string"])
        del theirs
    finally:
        set_allocator(None)
        rmm.mr.set_current_device_resource(used)
