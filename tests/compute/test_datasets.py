"""Datasets of tables on the device, whose answers are those on the host."""

import pyarrow as pa
import pyarrow.acero as ac
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

from .conftest import back

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("libcudf")]

SCHEMA = pa.schema(
    [pa.field("x", pa.int64(), metadata={"of": "x"}), pa.field("y", pa.string(), nullable=False)],
    metadata={"of": "all"},
)
TABLE = pa.table([[1, 2, None, 4], ["a", "b", "c", "d"]], schema=SCHEMA)
X = pc.field("x")
COLUMNS = {
    "sum": X + 1,
    "y": pc.field("y"),
    "three": pc.scalar(3),
    "double": X.cast("float64"),
    "is_large": X > 1,
}


@pytest.mark.parametrize(
    "call",
    [
        lambda it: it.to_table(),
        lambda it: it.to_table(columns=["y", "x", "y"]),
        lambda it: it.to_table(columns=COLUMNS, filter=X < 4),
        lambda it: it.head(2, columns=["x"], filter=X > 1),
        lambda it: it.take([0, 2]),
        lambda it: it.filter(X > 1).filter(X < 4).to_table(),
        lambda it: it.sort_by([("x", "descending")]).to_table(),
        lambda it: it.sort_by("y").filter(X > 1).to_table(columns=["y"]),
        lambda it: it.scanner(columns=["x"], filter=X > 1).to_table(),
        lambda it: it.scanner(columns=["x"]).to_reader().read_all(),
        lambda it: it.scanner(filter=X > 1).head(1),
        lambda it: it.scanner().take([1]),
        lambda it: pa.Table.from_batches(it.scanner().to_batches()),
    ],
)
@pytest.mark.parametrize("given", [TABLE, [TABLE.slice(1), TABLE], TABLE.to_batches()[0]])
def test_they_answer_as_on_the_host(there, given, call):
    of_device = [*map(there, given)] if isinstance(given, list) else there(given)
    found, expected = call(ds.dataset(of_device)), call(ds.dataset(given))
    assert not found.is_cpu
    found = back(found)
    assert found.schema.equals(expected.schema, check_metadata=True)
    assert found.equals(expected)


def test_they_count_rows_and_say_what_they_have(there):
    data = ds.dataset(there(TABLE))
    assert isinstance(data, ds.InMemoryDataset)
    assert data.schema.equals(SCHEMA, check_metadata=True)
    assert data.filter(X > 1).count_rows(filter=X < 4) == 1
    scanner = data.scanner(columns=["y"], filter=X > 1)
    assert scanner.count_rows() == 2
    assert scanner.projected_schema.names == ["y"]
    assert [batch.num_rows for batch in data.to_batches(batch_size=3)] == [3, 1]


@pytest.mark.parametrize("right_is_there", [True, False])
def test_they_are_joined(there, right_is_there):
    right = pa.table({"x": [1, 4, 7], "q": ["e", "f", "g"]})
    other = ds.dataset(there(right) if right_is_there else right)
    found = ds.dataset(there(TABLE)).filter(X < 4).join(other, "x").to_table().sort_by("y")
    expected = ds.dataset(TABLE).filter(X < 4).join(ds.dataset(right), "x").to_table().sort_by("y")
    assert back(found).equals(expected)


@pytest.mark.parametrize("right_is_there", [True, False])
def test_they_are_joined_with_the_nearest_rows(there, right_is_there):
    right = pa.table({"x": [1, 4, 7], "q": ["e", "f", "g"]})
    other = ds.dataset(there(right) if right_is_there else right)
    given = (-1, "x", [])
    found = ds.dataset(there(TABLE)).filter(X > 0).join_asof(other, "x", [], *given)
    expected = ds.dataset(TABLE).filter(X > 0).join_asof(ds.dataset(right), "x", [], *given)
    assert isinstance(found, ds.InMemoryDataset)
    assert back(found.to_table()).equals(expected.to_table())


def test_they_are_written(there, tmp_path):
    ds.write_dataset(ds.dataset(there(TABLE)).filter(X > 1), tmp_path, format="parquet")
    assert ds.dataset(tmp_path).to_table().equals(TABLE.filter(X > 1))


@pytest.mark.parametrize(
    "call",
    [
        lambda it: it.to_table(columns=["nowhere"]),
        lambda it: it.count_rows(filter=pc.field("nowhere") > 1),
        lambda it: it.to_table(columns=[X]),
        lambda it: it.sort_by("nowhere"),
        lambda it: it.join(1, "x"),
        lambda it: it.join_asof(it, "y", "x", 1),
    ],
)
def test_bad_input_raises_pyarrows_errors(there, call):
    with pytest.raises((pa.ArrowException, TypeError)) as expected:
        call(ds.dataset(TABLE))
    with pytest.raises(expected.type):
        call(ds.dataset(there(TABLE)))


@pytest.mark.parametrize(
    "call",
    [
        lambda it: it.to_table(columns=[".x"]),
        lambda it: it.to_table(columns=["__filename"]),
        lambda it: it.to_table(columns=[]),
        lambda it: it.get_fragments(),
        lambda it: it.replace_schema(it.schema),
        lambda it: ds.dataset([it, it]).to_table(),
        lambda it: ds.UnionDataset(it.schema, [it]),
        lambda it: ds.Scanner.from_dataset(it),
        lambda it: ac.ScanNodeOptions(it),
        lambda it: ds.dataset(TABLE).join(it, "x"),
    ],
)
def test_nobody_reads_the_rows_on_the_host(there, call):
    with pytest.raises(NotImplementedError, match="Implemented only for data on CPU device"):
        call(ds.dataset(there(TABLE)))
