"""Columns of months, or of days and milliseconds, for which pyarrow has no class of arrays."""

import pyarrow as pa
import pytest

from support.samples import CPU
from support.written import Written

ROWS = [pa.MonthDayNano([1, 2, 3]), None, pa.MonthDayNano([4, 5, 6]), None]


@pytest.fixture(params=[0, 1], ids=["months", "days"])
def data(request):
    batch = pa.record_batch({"i": pa.array(ROWS), "x": [1, 2, None, 4]}, metadata={"of": "it"})
    return Written(batch, "stream").with_interval_unit(request.param).data


def batch_of(table):
    return table.to_batches()[0]


#: Functions that make data of a table.
RESULTS = {
    "slice of a table": lambda table: table.slice(1, 2),
    "slice of a column": lambda table: table.column(0).slice(1, 2),
    "part of a column": lambda table: table.column(0)[3:],
    "slice of a batch": lambda table: batch_of(table).slice(1),
    "concat_tables": lambda table: pa.concat_tables([table.slice(3), table]),
    "concat_batches": lambda table: pa.concat_batches([batch_of(table).slice(1)] * 2),
    "combine_chunks": lambda table: pa.concat_tables([table] * 2).combine_chunks(),
    "flatten": lambda table: table.flatten(),
    "to_struct_array": lambda table: batch_of(table).to_struct_array(),
    "select": lambda table: table.select(["i"]),
}
VIEWS = ["slice of a table", "slice of a column", "slice of a batch", "concat_tables", "flatten"]
SIZES = {
    "nbytes": lambda data: data.nbytes,
    "get_total_buffer_size": lambda data: data.get_total_buffer_size(),
    "null_count": lambda data: data.null_count if hasattr(data, "null_count") else 0,
    "number": len,
}


@pytest.mark.parametrize("name", RESULTS)
def test_what_is_made_of_intervals_is_as_on_the_host(ctx, data, name):
    expected = RESULTS[name](pa.ipc.open_stream(data).read_all())
    there = RESULTS[name](ctx.table_from_file(data))
    assert not there.is_cpu
    found = there.copy_to(CPU)
    found.validate(full=True)
    assert found.equals(expected)
    if hasattr(found, "schema"):
        assert found.schema.equals(expected.schema, check_metadata=True)


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("made", VIEWS)
def test_sizes_of_intervals_are_those_of_the_host(ctx, data, name, made):
    expected = RESULTS[made](pa.ipc.open_stream(data).read_all())
    assert SIZES[name](RESULTS[made](ctx.table_from_file(data))) == SIZES[name](expected)


def test_sizes_of_intervals_within_others(ctx, data):
    def nested(table):
        return pa.table({"s": pa.chunked_array([batch_of(table).to_struct_array()])})

    there, expected = ctx.table_from_file(data), pa.ipc.open_stream(data).read_all()
    assert nested(there).nbytes == nested(expected).nbytes
    assert nested(there.slice(1)).column(0).null_count == 0
