"""`Context.table_from_file` and `reader_from_file` of Parquet files and folders, by pyarrow."""

import gc
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs
import pyarrow.parquet as pq
import pytest

import pyarrow_cuda_compat
from support.samples import CPU


@pytest.fixture(autouse=True)
def no_memory_is_lost(ctx):
    """Other threads of pyarrow close its files, some time later."""
    before = ctx.bytes_allocated
    yield
    gc.collect()  # exceptions that tests have caught refer to themselves
    assert ctx.bytes_allocated == before


@pytest.fixture(autouse=True, scope="module")
def by_pyarrow():
    pyarrow_cuda_compat.set_compute_engine("none")
    yield
    pyarrow_cuda_compat.set_compute_engine(None)


@pytest.fixture(scope="module")
def table():
    return pa.table(
        {
            "number": pa.array([1, 2, None, 4, 5], pa.int32()),
            "word": ["a", None, "", "dd", "e"],
            "money": [Decimal("1.50"), None, Decimal("3.25"), Decimal("4.00"), Decimal("5.75")],
            "list": [[1], [], None, [2, None], [3]],
        },
        metadata={"of": "the schema"},
    )


@pytest.fixture(scope="module")
def path(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("parquet") / "x.parquet"
    pq.write_table(table, path, row_group_size=2)
    return str(path)


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    """With a folder for each value of the column `kind`."""
    folder = tmp_path_factory.mktemp("folder")
    for kind, part in (("one", table.slice(0, 3)), ("t wo", table.slice(3))):
        ds.write_dataset(
            part.append_column("kind", pa.array([kind] * len(part))),
            folder,
            format="parquet",
            partitioning=["kind"],
            partitioning_flavor="hive",
            existing_data_behavior="overwrite_or_ignore",
        )
    return str(folder)


def check(ctx, source, **arguments):
    """The table is pyarrow's, and lies on the device."""
    expected = pq.read_table(source, **arguments)
    read = ctx.table_from_file(source, **arguments)
    assert not any(chunk.is_cpu for column in read.columns for chunk in column.chunks)
    copy = read.copy_to(CPU)
    copy.validate(full=True)
    assert copy.equals(expected, check_metadata=True)
    return expected


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"columns": ["word", "number", "word"]},
        {"columns": []},
        {"columns": ["word"], "filters": [("number", ">", 1)]},
        {"filters": [[("number", "=", 1)], [("word", "=", "e")]]},
        {"filters": pc.field("number") > 100},
        {"filters": pc.field("money") >= Decimal("3.25")},
    ],
    ids=str,
)
def test_a_file_is_read_as_by_pyarrow(ctx, path, arguments):
    check(ctx, path, **arguments)


def test_a_schema_casts_while_reading(ctx, path, table):
    types = {"number": pa.int64(), "word": pa.large_string(), "money": pa.float64()}
    fields = [pa.field(it.name, types.get(it.name, it.type)) for it in table.schema]
    assert check(ctx, path, schema=pa.schema(fields)).schema.types[0] == pa.int64()


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"columns": ["kind", "number"]},
        {"filters": [("kind", "=", "one")]},
        {"columns": ["number"], "filters": [("kind", "=", "t wo"), ("number", ">", 4)]},
        {"partitioning": None},
    ],
    ids=str,
)
def test_a_folder_is_read_with_its_partitions(ctx, folder, arguments):
    check(ctx, folder, **arguments)


def test_what_a_source_may_be(ctx, path, table):
    data = Path(path).read_bytes()
    within = pa.fs.SubTreeFileSystem(str(Path(path).parent), pa.fs.LocalFileSystem())
    for source, arguments in (
        ([path, path], {}),
        ((path,), {}),
        (f"file://{path}", {}),
        ("x.parquet", {"filesystem": within}),
        (ds.dataset(path), {}),
        (next(ds.dataset(path).get_fragments()), {}),
        (next(ds.dataset(table).get_fragments()), {}),
        *((each, {}) for each in (data, pa.py_buffer(data), pa.BufferReader(data))),
        (ctx.buffer_from_data(data), {}),
    ):
        read = ctx.table_from_file(source, **arguments).copy_to(CPU)
        assert read.slice(0, 5).equals(table), source
    with Path(path).open("rb") as file:
        for source in (file, file.fileno()):
            assert ctx.table_from_file(source).copy_to(CPU).equals(table)


@pytest.mark.parametrize(
    ("name", "value"), [("filesystem", pa.fs.LocalFileSystem()), ("partitioning", ["kind"])]
)
def test_datasets_have_their_own_files(ctx, path, name, value):
    for source in (ds.dataset(path), next(ds.dataset(path).get_fragments())):
        for read in (ctx.table_from_file, ctx.reader_from_file):
            with pytest.raises(TypeError, match=f"{name} argument is for paths"):
                read(source, **{name: value})


def test_progress_counts_bytes(ctx, path):
    reports = []
    ctx.table_from_file(path, progress=lambda *report: reports.append(report))
    size = Path(path).stat().st_size
    assert reports[-1] == (size, size)
    assert all(done <= total == size for done, total in reports)
    dataset = ds.dataset(pa.table({"a": [1, 2]}))  # has no files
    data = Path(path).read_bytes()
    for source in (dataset, data, pa.BufferReader(data), pa.memory_map(path)):
        ctx.table_from_file(source, progress=lambda *report: reports.append(report))
        assert reports[-1][0] > 0
        assert reports[-1][1] is None
    with ctx.reader_from_file(path, progress=lambda *report: reports.append(report)) as reader:
        assert sum(batch.num_rows for batch in reader) == 5
    assert reports[-1][1] is None

    def stop(*_):
        raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        ctx.table_from_file(path, progress=stop)


@pytest.mark.parametrize(
    "arguments",
    [
        {"columns": ["nothing"]},
        {"filters": [("nothing", "=", 1)]},
        {"filters": [("word", "=", 1)]},
        {"filters": [("number", "near", 1)]},
        {"filters": []},
        {"schema": pa.schema({"word": pa.int32()})},
    ],
    ids=str,
)
def test_wrong_arguments_raise_pyarrows_errors(ctx, path, arguments):
    with pytest.raises(Exception) as expected:  # noqa: PT011
        pq.read_table(path, **arguments)
    with pytest.raises(type(expected.value)):
        ctx.table_from_file(path, **arguments)


@pytest.mark.parametrize("size", [4, 5, 12, -1, -8, -40])
def test_a_file_that_is_cut_off_raises(ctx, path, tmp_path, size):
    data = Path(path).read_bytes()[:size]
    (tmp_path / "cut.parquet").write_bytes(data)
    with pytest.raises((OSError, pa.ArrowInvalid)) as raised:
        ctx.table_from_file(tmp_path / "cut.parquet")
    assert "cut.parquet" in str(raised.value) + str(getattr(raised.value, "__notes__", ""))


def test_errors_of_pyarrow_name_no_engine(ctx, path, tmp_path):
    data = bytearray(Path(path).read_bytes())
    data[4:60] = bytes(56)  # pages
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(data)
    for read in (ctx.table_from_file, lambda it: ctx.reader_from_file(it).read_all()):
        with pytest.raises((OSError, pa.ArrowInvalid)) as raised:
            read(damaged)
        error = raised.value
        while error is not None:
            assert "engine" not in str(error)
            error = error.__cause__ or error.__context__


def test_a_folder_of_other_files_raises(ctx, tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(pa.ArrowInvalid, match=r"x\.csv"):
        ctx.table_from_file(tmp_path)
    with pytest.raises(FileNotFoundError):
        ctx.table_from_file([tmp_path / "nothing"])


def test_some_rows_of_an_arrow_file(ctx, table, tmp_path):
    with pa.ipc.new_file(tmp_path / "x.arrow", table.schema) as writer:
        writer.write_table(table)
    found = ctx.table_from_file(tmp_path / "x.arrow", filters=[("number", ">", 2)])
    assert found.copy_to(CPU).equals(table.filter(pc.field("number") > 2))
    with pa.ipc.new_stream(tmp_path / "x.arrows", table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(pa.ArrowInvalid, match="stream without them"):
        ctx.table_from_file(tmp_path / "x.arrows", filters=[("number", ">", 2)])


@pytest.mark.parametrize("batch_size", [1, 2, 3, 1000, 1 << 40])
def test_a_reader_has_batches_of_at_most_a_size(ctx, path, table, batch_size):
    with ctx.reader_from_file(path, columns=["number", "list"], batch_size=batch_size) as reader:
        batches = list(reader)
    assert all(len(batch) <= batch_size and not batch.is_cpu for batch in batches)
    read = pa.Table.from_batches([batch.copy_to(CPU) for batch in batches])
    assert read.equals(table.select(["number", "list"]))


def test_a_reader_of_arrow_files_and_streams(ctx, table, tmp_path):
    for kind, new in (("arrow", pa.ipc.new_file), ("arrows", pa.ipc.new_stream)):
        with new(tmp_path / f"x.{kind}", table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
        for source in (tmp_path / f"x.{kind}", (tmp_path / f"x.{kind}").read_bytes()):
            read = ctx.reader_from_file(source, columns=["word"]).read_all()
            assert read.copy_to(CPU).equals(table.select(["word"]))
    with pytest.raises(ValueError, match="batch_size argument must be at least 1: 0"):
        ctx.reader_from_file(tmp_path / "x.arrow", batch_size=0)
