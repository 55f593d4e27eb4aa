"""``copy_to`` of datasets, fragments and scanners."""

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

TABLE = pa.table({"x": range(100), "y": ["a", None] * 50})


@pytest.fixture
def dataset(tmp_path):
    ds.write_dataset(TABLE, tmp_path, format="ipc", max_rows_per_file=40, max_rows_per_group=40)
    return ds.dataset(tmp_path, format="ipc")


def test_rows_arrive_on_the_device(ctx, dataset):
    reader = dataset.copy_to(ctx)
    assert reader.schema == TABLE.schema
    there = reader.read_all()
    assert not there.is_cpu
    assert there.copy_to("cpu").sort_by("x").equals(TABLE)


def test_a_scanner_chooses_columns_and_rows(ctx, dataset):
    scanner = dataset.scanner(columns=["x"], filter=ds.field("x") >= 90)
    seen = []
    reader = scanner.copy_to("cuda:0", progress=lambda *done: seen.append(done), read_ahead=0)
    there = reader.read_all().copy_to("cpu").sort_by("x")
    assert there.equals(TABLE.select(["x"])[90:].combine_chunks())
    assert seen[-1] == (80, None)


def test_a_fragment(ctx, dataset):
    parts = [fragment.copy_to(ctx).read_all() for fragment in dataset.get_fragments()]
    assert sum(map(len, parts)) == len(TABLE)
    assert all(not part.is_cpu for part in parts)


def test_wrong_arguments(dataset):
    with pytest.raises(TypeError, match="incorrect type"):
        dataset.copy_to(None)
    with pytest.raises(TypeError, match="'gpu' names no place"):
        dataset.scanner().copy_to("gpu")
    with pytest.raises(TypeError, match="columns"):
        dataset.copy_to(0, columns=["x"])


class _Recorded:
    """A fragment, by what its scanner is asked for."""

    def __init__(self, kind, format):
        self.physical_schema, self.format = pa.schema({"x": kind}), format

    def scanner(self, **options):
        return options


_WORDS = pa.dictionary(pa.int8(), pa.string())


@pytest.mark.parametrize(
    ("kind", "format", "one_at_a_time"),
    [
        (_WORDS, ds.IpcFileFormat(), True),
        (pa.map_(pa.string(), pa.list_(_WORDS)), ds.IpcFileFormat(), True),
        (pa.opaque(_WORDS, "name", "vendor"), ds.IpcFileFormat(), True),
        (pa.list_(pa.string()), ds.IpcFileFormat(), False),
        (_WORDS, ds.ParquetFileFormat(), False),
    ],
)
def test_batches_with_dictionaries_are_read_one_after_another(kind, format, one_at_a_time):
    from pyarrow_cuda_compat._methods.scanners import scanner_of

    expected = {"columns": ["x"]} | ({"batch_readahead": 0} if one_at_a_time else {})
    assert scanner_of(_Recorded(kind, format), columns=["x"]) == expected
