"""Parquet files that libcudf's reader decodes, by the stand-in's."""

import io
import os
from base64 import b64decode, b64encode
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as fs
import pyarrow.parquet as pq
import pytest
from pyarrow import cuda
from pyarrow.parquet import encryption

from pyarrow_cuda_compat._cudf.parquet import footers
from pyarrow_cuda_compat._cudf.refusals import RefusedByLibrary

from . import files, writers
from .arguments import Maker
from .conftest import back, of

pytestmark = pytest.mark.simulator


@pytest.fixture
def read(libcudf):
    """Compares with pyarrow's table, and returns how often libcudf's reader was called."""

    def compared(source, **arguments):
        libcudf.clear()
        found = back(cuda.Context(0).table_from_file(source, **arguments))
        found.validate(full=True)
        assert found.equals(pq.read_table(source, **arguments), check_metadata=True)
        return libcudf.count("read_parquet")

    return compared


@pytest.fixture
def path(tmp_path):
    table = pa.table({"a": range(10), "b": [None, *"abcdefghi"]}, metadata={"of": "the schema"})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=3)
    return str(tmp_path / "x.parquet")


@pytest.mark.parametrize("name", files.TYPES)
def test_each_type_is_read_as_by_pyarrow(libcudf, name, tmp_path):
    found = files.compare(name, 5, 60, tmp_path)
    assert not found["failed"]


def test_row_groups_that_a_filter_leaves_are_read(read, path):
    assert read(path) == 1
    assert read(path, columns=["b"], filters=[("a", ">", 4)]) == 1
    # Nothing is left, which pyarrow knows from the footer.
    assert read(path, filters=[("a", ">", 40)]) == 0


def test_rows_without_columns_are_counted(read, path, tmp_path):
    """Which `equals` does not compare."""
    for options in ({"columns": []}, {"columns": [], "filters": [("a", ">", 4)]}):
        assert read(path, **options) == 0
        expected = pq.read_table(path, **options)
        assert len(cuda.Context(0).table_from_file(path, **options)) == len(expected) > 0


def test_sources_without_a_path(read, path):
    data = Path(path).read_bytes()
    for source in (data, pa.py_buffer(data), io.BytesIO(data)):
        found = back(cuda.Context(0).table_from_file(source))
        assert found.equals(pq.read_table(path), check_metadata=True)
    elsewhere = fs._MockFileSystem()
    for name in ("x", "y"):
        with elsewhere.open_output_stream(name) as file:
            file.write(data)
    assert read(["x", "y"], filesystem=elsewhere) == 1
    with Path(path).open("rb") as file:
        os.unlink(path)  # noqa: PTH108
        assert read(file) == 1


def test_files_that_lack_their_middle_are_read_by_pyarrow(libcudf, path):
    """Their footers name bytes beyond the end."""
    data = Path(path).read_bytes()
    footer = int.from_bytes(data[-8:-4], "little") + 8
    Path(path).write_bytes(data[:100] + data[-footer:])
    texts = []
    for read in (pq.read_table, cuda.Context(0).table_from_file):
        with pytest.raises(OSError, match=r"\w") as caught:
            read(path)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
    assert "read_parquet" not in libcudf


def test_datasets_with_filters_of_their_own_are_read_by_pyarrow(libcudf, path):
    dataset = ds.dataset(path).filter(pc.field("a") > 3)
    for options in ({}, {"columns": ["b"]}, {"filter": pc.field("b") == "h"}):
        given = {"filters" if name == "filter" else name: it for name, it in options.items()}
        found = back(cuda.Context(0).table_from_file(dataset, **given))
        assert found.equals(dataset.to_table(**options), check_metadata=True)
    assert "read_parquet" not in libcudf


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """The current folder, with a link to a folder of another one."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    (there / "within").mkdir(parents=True)
    (here / "link").symlink_to(there / "within")
    monkeypatch.chdir(here)
    return here, there


def test_a_folder_above_is_that_of_the_linked_folder(read, folders, monkeypatch):
    monkeypatch.setattr(of("parquet.writer"), "LEAST", 0)
    for value, folder in enumerate(folders):
        pq.write_table(pa.table({"a": [value]}), folder / "x.parquet")
    assert read("link/../x.parquet") == 1
    pq.write_table(pa.table({"a": [2]}).copy_to(0), "link/../y.parquet")
    assert [(folder / "y.parquet").exists() for folder in folders] == [False, True]


def test_a_tilde_is_the_home_folder(read, folders, monkeypatch):
    """As it is for pyarrow, also where there is a folder of that name."""
    here, home = folders
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(of("parquet.writer"), "LEAST", 0)
    (here / "~").mkdir()
    pq.write_table(pa.table({"a": [0]}), here / "~" / "x.parquet")
    pq.write_table(pa.table({"a": [1]}).copy_to(0), "~/x.parquet")
    for source in ("~/x.parquet", Path("~/x.parquet")):
        assert read(source) == 1
        with cuda.Context(0).reader_from_file(source) as reader:
            assert back(reader.read_all()).column("a").to_pylist() == [1]


def test_a_reader_reads_the_file_that_the_path_named(libcudf, folders, monkeypatch):
    for value, folder in enumerate(folders):
        pq.write_table(pa.table({"a": [value] * 9}), folder / "x.parquet", row_group_size=1)
    for source in ("x.parquet", "."):
        monkeypatch.chdir(folders[0])
        with cuda.Context(0).reader_from_file(source, batch_size=1) as reader:
            monkeypatch.chdir(folders[1])
            assert back(reader.read_all()).column("a").unique().to_pylist() == [0]


class Stop(pa.ArrowInvalid):
    """An error of the program, of a class that files have, too."""


def test_progress_may_raise_errors_of_files(libcudf, path, monkeypatch):
    monkeypatch.setattr(of("parquet.reader"), "MOST_ROWS", 4)
    calls = []

    def progress(done, total):
        calls.append(done)
        raise Stop

    with pytest.raises(Stop):
        cuda.Context(0).table_from_file(path, progress=progress)
    assert len(calls) == 1
    assert 0 < calls[0] < Path(path).stat().st_size


def test_files_of_one_form_are_read_at_once(read, path, tmp_path):
    other = str(tmp_path / "y.parquet")
    pq.write_table(pq.read_table(path).slice(2, 5), other)
    assert read([path, other, path]) == 1
    pq.write_table(
        pa.table({"b": ["x"], "a": [1]}).cast(pa.schema({"b": "string", "a": "int32"})), other
    )
    assert read([path, other]) == 2


@pytest.mark.parametrize(
    "flavor", [["k"], ds.partitioning(pa.schema({"k": pa.string()}), flavor="hive")]
)
def test_partitions_repeat_their_values(libcudf, tmp_path, flavor):
    table = pa.table({"k": ["a", "a", "b", "b c"], "x": [1, 2, 3, 4]})
    ds.write_dataset(
        table, tmp_path, format="parquet", partitioning=["k"], partitioning_flavor="hive"
    )
    for arguments in (
        {},
        {"columns": ["x", "k"]},
        {"filters": [("x", ">", 1), ("k", "!=", "b")]},
        {"filters": [("k", "in", ["a", "z"])], "columns": ["x"]},
    ):
        libcudf.clear()
        found = back(cuda.Context(0).table_from_file(tmp_path, **arguments))
        assert found.equals(pq.read_table(tmp_path, **arguments), check_metadata=True)
        assert "read_parquet" in libcudf
    plain = ds.dataset(tmp_path, format="parquet", partitioning="hive")
    found = back(cuda.Context(0).table_from_file(plain))
    assert found.equals(plain.to_table(), check_metadata=True)


def test_a_schema_casts_on_the_device(read, path):
    assert read(path, schema=pa.schema({"a": pa.float64(), "b": pa.string()})) == 1
    assert read(path, schema=pa.schema({"b": pa.string(), "a": pa.int32()}), columns=["a"]) == 1


def test_what_the_memory_is_too_small_for_is_read_in_halves(libcudf, cudf, path, monkeypatch):
    import pylibcudf

    reader = pylibcudf.io.parquet.read_parquet

    def limited(options):
        if sum(map(len, options.kept["row_groups"])) > 1:
            raise MemoryError
        return reader(options)

    monkeypatch.setattr(pylibcudf.io.parquet, "read_parquet", limited)
    found = cuda.Context(0).table_from_file(path)
    assert back(found).equals(pq.read_table(path))
    assert found.column(0).num_chunks == 4
    monkeypatch.setattr(
        pylibcudf.io.parquet, "read_parquet", lambda _: (_ for _ in ()).throw(MemoryError)
    )
    # A damaged file may ask for any amount, so that pyarrow has the last word.
    assert back(cuda.Context(0).table_from_file(path)).equals(pq.read_table(path))


def test_a_device_that_is_too_small_has_a_way_out(libcudf, path):
    context, held = cuda.Context(0), []
    for size in (1 << 28, 1 << 20, 1 << 16, 256):
        with suppress(MemoryError):
            while True:
                held.append(context.new_buffer(size))
    with pytest.raises(MemoryError, match=r"fewer columns or rows, or batches by Context\.reader"):
        context.table_from_file(path)


def test_a_reader_decodes_row_groups_and_goes_on_by_pyarrow(libcudf, cudf, path, monkeypatch):
    import pylibcudf

    context, expected = cuda.Context(0), pq.read_table(path)
    with context.reader_from_file(path, batch_size=2) as reader:
        batches = list(reader)
    assert libcudf.count("read_parquet") == 4
    assert [len(batch) for batch in batches] == [2, 1, 2, 1, 2, 1, 1]
    assert pa.Table.from_batches(map(back, batches)).equals(expected)
    decode, calls = pylibcudf.io.parquet.read_parquet, []

    def damaged(options):
        calls.append(options)
        if len(calls) > 2:
            raise pa.ArrowInvalid("damaged")
        return decode(options)

    monkeypatch.setattr(pylibcudf.io.parquet, "read_parquet", damaged)
    with context.reader_from_file(path, batch_size=3) as reader:
        assert pa.Table.from_batches(map(back, reader)).equals(expected)


def test_other_files_are_left_to_pyarrow(read, tmp_path):
    path = str(tmp_path / "x.parquet")
    table = pa.table(
        {
            "a": [1, 2],
            "a.b": [3, 4],
            "null": pa.nulls(2),
            "none": pa.array([[], []], pa.list_(pa.null())),
        }
    )
    for options in (
        {"compression": "brotli"},
        {"compression": "lz4"},
        {"use_deprecated_int96_timestamps": True},
    ):
        time = (
            table.append_column("t", pa.array([0, 1], pa.timestamp("ns")))
            if "use_deprecated_int96_timestamps" in options
            else table
        )
        pq.write_table(time, path, **options)
        assert read(path, columns=["a", "t"] if time is not table else ["a"]) == 0
    pq.write_table(table, path)
    assert read(path, columns=["a"]) == 1
    for columns in (["a.b"], ["null"], ["a", "none"], []):
        assert read(path, columns=columns) == 0


class Keys(encryption.KmsClient):
    """Keys that are no secret."""

    def __init__(self, _connection):
        super().__init__()

    def wrap_key(self, key, _name):
        return b64encode(key)

    def unwrap_key(self, key, _name):
        return b64decode(key)


@pytest.mark.parametrize(
    ("has_plain_footer", "reason"), [(False, "not encrypted"), (True, "partly encrypted")]
)
def test_encrypted_files_are_read_by_pyarrow(libcudf, tmp_path, has_plain_footer, reason):
    """They are known by their last bytes, before anything is asked about their columns."""
    path, table = tmp_path / "x.parquet", pa.table({"a": range(9), "b": ["x"] * 9})
    factory, server = encryption.CryptoFactory(Keys), encryption.KmsConnectionConfig()
    keys = encryption.EncryptionConfiguration(
        footer_key="k", column_keys={"k": ["a"]}, plaintext_footer=has_plain_footer
    )
    properties = factory.file_encryption_properties(server, keys)
    with pq.ParquetWriter(path, table.schema, encryption_properties=properties) as writer:
        writer.write_table(table)
    decryption = ds.ParquetDecryptionConfig(factory, server, encryption.DecryptionConfiguration())
    options = ds.ParquetFragmentScanOptions(decryption_config=decryption)
    kind = ds.ParquetFileFormat(default_fragment_scan_options=options)
    dataset = ds.dataset(path, format=kind)
    with pytest.raises(Exception, match=reason):
        footers._need_plain_footer(next(dataset.get_fragments()))
    read = cuda.Context(0).table_from_file
    libcudf.clear()
    assert back(read(dataset)).equals(table)
    with pytest.raises(OSError, match=r"encrypted metadata|Cannot decrypt"):
        read(path)
    assert not libcudf


def test_checksums_are_verified_by_pyarrow(libcudf, tmp_path):
    path = tmp_path / "x.parquet"
    options = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    options["write_page_checksum"] = True
    pq.write_table(pa.table({"a": ["some text"]}), path, **options)
    path.write_bytes(path.read_bytes().replace(b"some", b"same", 1))
    verify = ds.ParquetFragmentScanOptions(page_checksum_verification=True)
    kind = ds.ParquetFileFormat(default_fragment_scan_options=verify)
    with pytest.raises(OSError, match="CRC"):
        cuda.Context(0).table_from_file(ds.dataset(path, format=kind))
    assert len(cuda.Context(0).table_from_file(ds.dataset(path))) == 1
    assert libcudf.count("read_parquet") == 1


def test_folders_that_change_their_schema(read, tmp_path):
    pq.write_table(pa.table({"a": pa.array([1], pa.int64()), "b": ["x"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"b": ["y"], "a": pa.array([2], pa.int32())}), tmp_path / "2.parquet")
    assert read(str(tmp_path)) == 2
    pq.write_table(pa.table({"b": ["z"]}), tmp_path / "3.parquet")
    assert read(str(tmp_path)) == 0
    pq.write_table(pa.table({"b": ["z"], "a": [1.5]}), tmp_path / "3.parquet")
    with pytest.raises(pa.ArrowInvalid):
        cuda.Context(0).table_from_file(tmp_path)


@pytest.mark.independent
@pytest.mark.parametrize("name", writers.WRITERS)
def test_files_of_other_writers(libcudf, tmp_path, name):
    context = cuda.Context(0)
    for path in writers.WRITERS[name](tmp_path):
        expected = pq.read_table(path)
        found = back(context.table_from_file(path))
        assert files.difference(expected, found) is None, path
        for column in expected.column_names:
            found = back(context.table_from_file(path, columns=[column]))
            text = files.difference(expected.select([column]), found)
            assert text is None, f"{path} {column}: {text}"
    assert "read_parquet" in libcudf


def test_filters_by_fields_within_columns(read, tmp_path):
    rows = [{"x": n, "y": None if n == 4 else f"{n}"} for n in range(10)]
    pq.write_table(pa.table({"a": range(10), "s": rows}), tmp_path / "s.parquet", row_group_size=3)
    path = str(tmp_path / "s.parquet")
    assert read(path, filters=pc.field("s", "x") > 4) == 1
    assert read(path, columns=["a"], filters=pc.field("s", "y").is_null()) == 1


@pytest.fixture
def write(libcudf, monkeypatch, tmp_path):
    """Compares with the file of pyarrow's writer, and returns how often libcudf's was called."""
    monkeypatch.setattr(of("parquet.writer"), "LEAST", 0)

    def compared(table, **options):
        libcudf.clear()
        assert files.difference_as_written(table, tmp_path, **options) is None
        return libcudf.count("write_parquet")

    return compared


@pytest.mark.parametrize("name", files.TYPES)
def test_tables_of_each_type_are_written_as_by_pyarrow(write, name):
    for seed in range(8):
        write(files.table(Maker(seed), files.TYPES[name]))


def test_which_tables_libcudf_writes(write, monkeypatch):
    table = pa.table({"a": [1, None], "b": ["x", None]}, metadata={"of": "the schema"})
    assert write(table) == write(table, compression="ZSTD") == write(table, compression="none") == 1
    for options in ({"compression": "gzip"}, {"row_group_size": 1}, {"version": "1.0"}):
        assert write(table, **options) == 0
    zones = [pa.timestamp("us", zone) for zone in (None, "UTC", "Europe/Paris")]
    times = {str(kind): pa.array([0, None], kind) for kind in zones}
    assert write(pa.table(times)) == 0
    times.pop(str(zones[0]))
    assert write(pa.table(times)) == 1
    assert write(pa.table({"a": pa.array([0, None], pa.timestamp("s"))})) == 0
    assert write(table.cast(pa.schema([("a", pa.int64()), ("b", pa.string_view())]))) == 0
    monkeypatch.setattr(of("parquet.writer"), "LEAST", 5)
    assert write(table) == 0


def test_what_is_not_written_is_not_left(libcudf, monkeypatch, tmp_path):
    import pylibcudf

    def fail(options):
        (tmp_path / "x.parquet").write_bytes(b"PAR1")
        raise MemoryError

    monkeypatch.setattr(of("parquet.writer"), "LEAST", 0)
    monkeypatch.setattr(pylibcudf.io.parquet, "write_parquet", fail)
    with pytest.raises(MemoryError):
        pq.write_table(pa.table({"a": [1]}).copy_to(0), tmp_path / "x.parquet")
    assert not list(tmp_path.iterdir())


def test_only_regular_files_are_written_by_libcudf(libcudf, cudf, monkeypatch, tmp_path):
    """What it leaves of a pipe or behind a link would not be what pyarrow leaves."""
    monkeypatch.setattr(of("parquet.writer"), "LEAST", 0)
    table = pa.table({"a": [1]})
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere" / "file")
    import pylibcudf

    def fail(options):
        raise RefusedByLibrary("a check")

    with monkeypatch.context() as patched:
        patched.setattr(pylibcudf.io.parquet, "write_parquet", fail)
        pq.write_table(table.copy_to(0), link)
    assert link.is_symlink()
    assert pq.read_table(tmp_path / "elsewhere" / "file").equals(table)
    libcudf.clear()
    pq.write_table(table.copy_to(0), link)
    assert libcudf.count("write_parquet") == 1
    os.mkfifo(tmp_path / "pipe")
    file = os.open(tmp_path / "pipe", os.O_RDWR)
    with pytest.raises(OSError, match="lseek failed"):
        pq.write_table(table.copy_to(0), tmp_path / "pipe")
    os.close(file)
    assert libcudf.count("write_parquet") == 1
