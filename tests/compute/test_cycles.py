"""Device memory is released with its last reference: a reference cycle would keep it until Python's
garbage collector runs, which does not know how much of the device is used."""

import gc
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import cuda
from pyarrow.compute import field as F

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("libcudf")]
ROWS = pa.table({"k": ["b", None, "a", "b"], "v": [1, 2, 3, 4], "f": [1.0, None, 3.0, 4.0]})
AGGREGATES = ["sum", "mean", "min", "min_max", "count", "count_distinct", "distinct", "list"]


def read(table):
    pq.write_table(ROWS, "rows.parquet")
    found = cuda.Context(0).table_from_file("rows.parquet", filters=F("v") > 1)
    return found.join(table.select(["v"]), "v")


def wrong(table):
    with pytest.raises(pa.ArrowInvalid):
        table.filter(F("nothing") > 1)


def refused(table):
    with pytest.raises(NotImplementedError):
        pc.utf8_zero_fill(table["k"], 3)


CALLS = {
    "filter": lambda it: it.filter((F("v") > 1) & F("f").is_valid()),
    **{
        f"group_{name}": lambda it, name=name: it.group_by("k").aggregate([("v", name)])
        for name in AGGREGATES
    },
    "group_variance": lambda it: it.group_by("k").aggregate([("v", "variance"), ("f", "mean")]),
    "group_in_order": lambda it: it.group_by("k", use_threads=False).aggregate([("v", "first")]),
    "group_all": lambda it: it.group_by([]).aggregate([("v", "sum")]),
    "join": lambda it: it.join(it, "v", right_suffix="_"),
    "join_filter": lambda it: it.join(
        it.rename_columns(["a", "b", "c"]), "v", "b", filter_expression=F("f") > F("c")
    ),
    "join_full": lambda it: it.join(it.select(["v", "k"]), "v", None, "full outer", "", "_"),
    "sort": lambda it: it.sort_by([("k", "ascending"), ("v", "descending")]),
    "take": lambda it: it.take(it["v"].filter(pc.less(it["v"], 3))),
    "add": lambda it: pc.add(it["v"], 1),
    "sum": lambda it: pc.sum(it["v"]),
    "cast": lambda it: it["v"].cast("double"),
    "if_else": lambda it: pc.if_else(pc.greater(it["v"], 1), it["v"], 0),
    "starts_with": lambda it: pc.starts_with(it["k"], "b"),
    "dataset": lambda it: ds.dataset(it).to_table(columns={"v": F("v") + 1}, filter=F("v") > 1),
    "read": read,
    "refused": refused,
    "wrong": wrong,
}


@contextmanager
def without_collector():
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.mark.parametrize("name", CALLS)
def test_memory_is_released_with_its_last_reference(there, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    context = cuda.Context(0)
    CALLS[name](there(ROWS))  # keeps literals
    with without_collector():
        before = context.bytes_allocated
        CALLS[name](there(ROWS))
        assert context.bytes_allocated == before
