"""Columns by the addresses of their memory, both ways, without a library that computes."""

from gc import collect
from types import SimpleNamespace
from weakref import ref

import pyarrow as pa
import pytest
from pyarrow import cuda

from pyarrow_cuda_compat import _native
from support.samples import CPU

pytestmark = [pytest.mark.simulator, pytest.mark.independent]

NUMBERS = pa.array([1, None, 3, None, 5], pa.int32())
TEXTS = pa.array(["a", None, "ccc", "", "e"])


@pytest.fixture(scope="module")
def ctx():
    return cuda.Context(0)


class Memory(SimpleNamespace):
    """As pylibcudf describes memory."""


def spans_of(array):
    buffers = array.buffers()
    return tuple(it and Memory(ptr=it.address, size=it.size, owner=it) for it in buffers)


def facts_of(array):
    return len(array), array.null_count, spans_of(array)


@pytest.mark.parametrize("data", [NUMBERS, TEXTS, pa.array([True, None]), NUMBERS.drop_null()])
def test_memory_is_that_of_the_buffers(ctx, data):
    array = data.copy_to(ctx)
    part = array.slice(1)
    whole, sliced = _native._memory_of([array, pa.chunked_array([part])])
    spans = [it and (it.address, it.size) for it in array.buffers()]
    assert whole == (0, data.null_count, spans)
    assert sliced == (1, data.slice(1).null_count, spans)


def test_other_arrays_have_no_memory_to_describe(ctx):
    array = NUMBERS.copy_to(ctx)
    lists = pa.array([[1], None]).copy_to(ctx)
    others = [NUMBERS, lists, pa.chunked_array([array, array]), pa.table({"a": array}), None]
    assert _native._memory_of(others) == [None] * len(others)


@pytest.mark.parametrize("is_table", [True, False])
def test_a_table_is_over_its_columns_memory(ctx, is_table):
    schema = pa.schema([pa.field("n", NUMBERS.type, metadata={"k": "v"}), ("t", TEXTS.type)])
    arrays = [it.copy_to(ctx) for it in (NUMBERS, TEXTS)]
    made = _native._table_over_memory(ctx, schema, [*map(facts_of, arrays)], is_table)
    assert type(made) is (pa.Table if is_table else pa.RecordBatch)
    assert made.schema.equals(schema, check_metadata=True)
    assert made.column(0).null_count == 2
    found = made.copy_to(CPU)
    assert found.to_pydict() == {"n": NUMBERS.to_pylist(), "t": TEXTS.to_pylist()}
    memory = _native._memory_of(made.columns)
    assert [spans for _, _, spans in memory] == [
        [it and (it.address, it.size) for it in array.buffers()] for array in arrays
    ]


def test_ready_columns_stand_beside_others(ctx):
    chunks = pa.chunked_array([pa.array([[1]] * 2), pa.array([[2]] * 3)]).copy_to(ctx)
    schema = pa.schema([("l", chunks.type), ("n", NUMBERS.type)])
    columns = [chunks, facts_of(NUMBERS.copy_to(ctx))]
    made = _native._table_over_memory(ctx, schema, columns, True)
    assert made.column(0).num_chunks == 2
    assert made.copy_to(CPU).to_pydict() == {
        "l": [[1], [1], [2], [2], [2]],
        "n": NUMBERS.to_pylist(),
    }


def test_a_table_keeps_its_memory_and_no_longer(ctx):
    array = NUMBERS.copy_to(ctx)
    facts = facts_of(array)
    kept = [ref(it) for it in facts[2]]
    made = _native._table_over_memory(ctx, pa.schema([("n", array.type)]), [facts], True)
    column = made.column(0)
    del facts, made
    collect()
    assert all(it() is not None for it in kept)
    assert column.copy_to(CPU).to_pylist() == NUMBERS.to_pylist()
    del column
    collect()
    assert [it() for it in kept] == [None, None]


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (["a"], []),
        (["a", "b"], [NUMBERS, NUMBERS.slice(1)]),
        (["a", "b"], [NUMBERS, TEXTS]),
    ],
)
def test_columns_that_do_not_fit_are_refused(ctx, names, columns):
    schema = pa.schema([(name, NUMBERS.type) for name in names])
    facts = [facts_of(columns[0].copy_to(ctx)), *columns[1:]] if columns else []
    kept = [ref(it) for _, _, spans in facts[:1] for it in spans]
    with pytest.raises(pa.ArrowInvalid, match=r"needed|column 1 has"):
        _native._table_over_memory(ctx, schema, facts, True)
    del facts
    collect()
    assert all(it() is None for it in kept)
