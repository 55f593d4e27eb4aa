"""`Context.table_from_file`: Arrow files and streams, compressed or not, on the device."""

import contextlib
import io
import mmap
import os
import struct
import tempfile
import threading

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pyarrow_cuda_compat import set_transfer_limits
from support import samples
from support.samples import CPU

WRITERS = {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}
COMPRESSIONS = [None, "lz4", "zstd"]
pytestmark = pytest.mark.usefixtures("nothing_is_lost")


def columns(rows):
    words = pa.array([None if row % 5 == 0 else "w" * (row % 40) for row in range(rows)])
    numbers = pa.array(range(rows), pa.int64())
    structs = pa.StructArray.from_arrays([numbers, words], ["a", "b"])
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([rows][:rows], pa.int32()), [7][:rows])
    return pa.table(
        {
            "number": numbers,
            "word": words,
            "view": words.cast(pa.string_view()),
            "bit": pa.array([row % 3 == 0 for row in range(rows)], pa.bool_()),
            "kind": words.dictionary_encode(),
            "list": pa.array([[row] * (row % 3) for row in range(rows)], pa.list_(pa.int16())),
            "fixed": pa.array([[row, None] for row in range(rows)], pa.list_(pa.int16(), 2)),
            "struct": structs,
            "nested": pa.array([[w] for w in words.to_pylist()], pa.list_(pa.string())),
            "run": runs,
            "null": pa.nulls(rows),
            "money": pa.array([row * 7 for row in range(rows)], pa.decimal128(20, 2)),
        },
        metadata={"of": "the schema"},
    )


def written(table, kind="file", compression=None, **options):
    sink = io.BytesIO()
    ipc = pa.ipc.IpcWriteOptions(compression=compression)
    with WRITERS[kind](sink, table.schema, options=ipc) as writer:
        writer.write_table(table, **options)
    return sink.getvalue()


def check(ctx, source, table, **arguments):
    read = ctx.table_from_file(source, **arguments)
    chunks = [chunk for column in read.columns for chunk in column.chunks]
    assert not any(chunk.is_cpu for chunk in chunks if chunk.type != pa.null())
    copy = read.copy_to(CPU)
    copy.validate(full=True)
    assert copy.equals(table, check_metadata=True)
    return read


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("rows", [0, 1, 1000])
def test_tables_are_equal_to_what_was_written(ctx, kind, compression, rows):
    table = columns(rows)
    check(ctx, written(table, kind, compression, max_chunksize=300), table)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("chunk", [70_000, 600_000])
def test_buffers_of_all_sizes_arrive_by_several_threads(ctx, tmp_path, compression, chunk):
    set_transfer_limits(threads=3, begin_after=0)
    rows = 600_000
    table = pa.table({"x": np.arange(rows) // 3, "y": np.arange(rows, dtype=np.int8)})
    path = tmp_path / "x.arrow"
    path.write_bytes(written(table, "file", compression, max_chunksize=chunk))
    read = check(ctx, path, table)
    assert [c.num_chunks for c in read.columns] == [-(-rows // chunk)] * 2
    assert read["x"].null_count == 0


def test_only_the_columns_that_are_named_are_read(ctx):
    table = columns(500)
    data = written(table, compression="zstd")
    before = ctx.bytes_allocated
    read = check(ctx, data, table.select(["run", "number"]), columns=iter(["run", "number"]))
    assert ctx.bytes_allocated - before < 500 * 8 + 1024
    assert read.column_names == ["run", "number"]
    check(ctx, data, table.select(["run"] * 2), columns=["run"] * 2)
    assert check(ctx, data, table.select([]), columns=[]).num_rows == 500
    with pytest.raises(KeyError, match="the file has no column 'y'"):
        ctx.table_from_file(data, columns=["word", "y"])
    twice = pa.table([[1], [2], [3]], names=["x", "x", "z"])
    check(ctx, written(twice), twice.select([2]), columns=["z"])
    with pytest.raises(KeyError, match="several columns 'x'"):
        ctx.table_from_file(written(twice), columns=["x"])
    for names in ("word", [1], ["word", None]):
        with pytest.raises(TypeError, match="columns argument must be a list of names, such as"):
            ctx.table_from_file(data, columns=names)


def test_what_a_source_may_be(ctx, tmp_path):
    table = columns(20)
    data = written(table, "stream", "lz4")
    path = tmp_path / "x.arrows"
    path.write_bytes(data)
    sources = [str(path), path, data, bytearray(data), memoryview(data), pa.py_buffer(data)]
    sources += [ctx.buffer_from_data(data), io.BytesIO(data), pa.BufferReader(data)]
    sources += [np.frombuffer(data, np.uint8)]
    sources += pa.array(sources[-1]).copy_to(ctx.memory_manager).buffers()[1:]
    for source in sources:
        check(ctx, source, table)
    with path.open("rb") as file, pa.memory_map(str(path)) as mapped:
        file.seek(5)
        check(ctx, file, table)
        check(ctx, file.fileno(), table)
        assert file.tell() == 5
        check(ctx, mapped, table)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as bytes_of_file:
            check(ctx, bytes_of_file, table)
    with pytest.raises(FileNotFoundError):
        ctx.table_from_file(tmp_path / "nothing")


def test_a_pipe_is_read_to_its_end(ctx):
    table = columns(100)
    reading, writing = os.pipe()

    def write():
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(written(table, "stream", "zstd"))

    thread = threading.Thread(target=write)
    thread.start()
    with os.fdopen(reading, "rb") as pipe:
        check(ctx, pipe, table)
    thread.join()


def test_progress_is_told_and_can_end_the_call(ctx):
    table = pa.table({"x": np.arange(300_000)})
    data = written(table, compression="lz4", max_chunksize=1000)
    seen = []
    check(ctx, data, table, progress=lambda *of: seen.append(of))
    assert seen == sorted(seen)
    assert seen[-1] == (table.nbytes, table.nbytes)
    nothing = table.slice(0, 0)
    check(ctx, written(nothing), nothing, progress=lambda *of: seen.append(of))
    assert seen[-1] == (0, 0)

    with pytest.raises(ZeroDivisionError):
        ctx.table_from_file(data, progress=lambda *_: 1 // 0)


def test_a_callback_may_copy(run_python):
    """Even enough that the copy looks for signals."""
    code = """if True:
        import io
        import numpy as np
        import pyarrow as pa
        from pyarrow import cuda
        from pyarrow_cuda_compat import set_transfer_limits
        set_transfer_limits(threads=3, begin_after=0)
        ctx, host = cuda.Context(0), pa.default_cpu_memory_manager()
        table = pa.table({f"{n}": np.arange(1 << 20) for n in range(16)})
        file = io.BytesIO()
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        there = table.copy_to(ctx.memory_manager)
        ctx.table_from_file(file.getvalue(), progress=lambda *_: there.copy_to(host))
        print("done")
    """
    assert run_python(code) == (0, "done\n", "")


def test_dictionaries_of_streams(ctx):
    """A later batch may have another dictionary; pyarrow joins what is appended to one."""
    batches = [
        pa.record_batch({"x": pa.array(words).dictionary_encode()})
        for words in (["a", "b"], ["b", "c"], ["b", "c", "d"])
    ]
    for deltas in (False, True):
        data = samples.written(batches, emit_dictionary_deltas=deltas, compression="lz4")
        read = ctx.table_from_file(data, columns=["x"], progress=lambda *_: None)
        with pytest.raises(KeyError, match="y"):
            ctx.table_from_file(data, columns=["y"])
        assert read.copy_to(CPU)["x"].to_pylist() == ["a", "b", "b", "c", "b", "c", "d"]


def test_dictionaries_that_end_too_soon_are_refused(ctx):
    """Also where no row asks for them."""
    data = samples.written(
        [pa.record_batch({"x": pa.array(["some", "words"]).dictionary_encode()})]
    )
    data = data.to_pybytes()
    begin = 8 + struct.unpack("<i", data[4:8])[0]  # of the dictionary
    message = pa.ipc.read_message(pa.BufferReader(data[begin:]))
    length = struct.pack("<q", message.body.size)
    head = begin + 8 + message.metadata.size
    for at in range(begin + 8, head):
        if data[at : at + 8] == length:
            damaged = data[:at] + bytes(8) + data[at + 8 :]
            host = outcome(lambda: pa.ipc.open_stream(damaged).read_all())  # noqa: B023
            assert outcome(lambda: ctx.table_from_file(damaged).copy_to(CPU)) == host  # noqa: B023
            if "Error" in host:
                return
    pytest.fail("no place has the length")


ERRORS = (OSError, ValueError, KeyError, NotImplementedError, IndexError, MemoryError)


def attempt(read):
    with contextlib.suppress(*ERRORS):
        table = read()
        table.validate(full=True)
        return table


def outcome(read):
    """The values, or pyarrow's refusal."""
    try:
        table = read()
        table.validate(full=True)
        return table.to_pydict()
    except ERRORS as error:
        return f"{type(error).__name__} {error}"


def test_dictionaries_of_files(ctx):
    """What is appended to one counts for all batches; another one in its place is refused."""
    batches = [
        pa.record_batch({"x": pa.array(words).dictionary_encode()})
        for words in (["a", "b"], ["a", "b", "c"])
    ]
    data = samples.written(batches, pa.ipc.new_file, emit_dictionary_deltas=True).to_pybytes()
    ones = [at for at, byte in enumerate(data) if byte == 1]
    # One of them says that the second dictionary is appended.
    files = [data, *(data[:at] + b"\0" + data[at + 1 :] for at in ones)]
    expected = [outcome(lambda: pa.ipc.open_file(file).read_all()) for file in files]  # noqa: B023
    assert expected[0] == {"x": ["a", "b", "a", "b", "c"]}
    replaced = [text for text in expected if "dictionary replacement" in text]
    assert len(replaced) == 1
    for file, host in zip(files, expected, strict=True):
        if host in (expected[0], replaced[0]):
            assert outcome(lambda: ctx.table_from_file(file).copy_to(CPU)) == host  # noqa: B023


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_footer_is_read_as_pyarrow_reads_it(ctx, compression):
    table = pa.table({"x": pa.array(["a", "b", "a"]).dictionary_encode(), "y": [1, 2, 3]})
    data = written(table, "file", compression, max_chunksize=2)
    size = struct.unpack("<i", data[-10:-6])[0]
    # pyarrow verifies what it does not use, too.
    is_harmless = "OSError Verification of flatbuffer-encoded Footer failed."
    refused = 0
    for at in range(len(data) - 10 - size, len(data) - 10):
        for bit in (at % 8, (at + 3) % 8):
            damaged = bytearray(data)
            damaged[at] ^= 1 << bit
            read = attempt(lambda: ctx.table_from_file(damaged).copy_to(CPU))  # noqa: B023
            on_host = outcome(lambda: pa.ipc.open_file(damaged).read_all())  # noqa: B023
            refused += isinstance(on_host, str)
            assert read is None or on_host in (read.to_pydict(), is_harmless)
    assert refused > 100


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (b"", pa.ArrowInvalid, "the source is empty"),
        (struct.pack("<iii", -1, 8, 0), pa.ArrowInvalid, "Expected to read 8 metadata bytes"),
    ],
)
def test_what_is_no_arrow_file_is_refused(ctx, data, error, message):
    with pytest.raises(error, match=message):
        ctx.table_from_file(data)


@pytest.mark.parametrize("read", ["table_from_file", "reader_from_file"])
@pytest.mark.parametrize("data", [b"", b"a,b"])
def test_errors_name_the_file(ctx, tmp_path, read, data):
    path = tmp_path / "data"
    path.write_bytes(data)
    with pytest.raises(pa.ArrowInvalid) as raised:
        getattr(ctx, read)(path)
    assert raised.value.__notes__ == [f"while reading the file {str(path)!r}"]
    with pytest.raises(pa.ArrowInvalid) as raised:
        getattr(ctx, read)(data)
    assert not hasattr(raised.value, "__notes__")


@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_that_is_cut_off_is_refused(ctx, kind):
    """Wherever that is; but a stream may end behind any of its messages."""
    table = columns(40)
    data = written(table, kind, "lz4", max_chunksize=25)
    whole = {0, table.num_rows, 25} if kind == "stream" else {table.num_rows}
    for size in range(0, len(data), 7):
        try:
            read = ctx.table_from_file(data[:size])
        except (OSError, pa.ArrowInvalid):
            continue
        assert read.num_rows in whole
        assert read.copy_to(CPU).equals(table.slice(0, read.num_rows))


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
@pytest.mark.parametrize("size", [0, 8, 7992, 8008, 1 << 20, 1 << 62, -1, -2])
def test_a_size_that_lies_is_an_error(ctx, compression, size):
    table = pa.table({"x": np.arange(1000)})
    data = bytearray(written(table, compression=compression))
    written_size = struct.pack("<q", 8 * 1000)
    (at,) = (at for at in range(0, len(data) - 8, 8) if data[at : at + 8] == written_size)
    data[at : at + 8] = struct.pack("<q", size)
    with pytest.raises((OSError, pa.ArrowInvalid)):
        ctx.table_from_file(data)


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
@example(place=0.773, bit=5).via("the footer's list of batches refers to itself")
@example(place=0.77643, bit=5).via("the footer's list of batches is that of dictionaries")
def test_damage_is_an_error_or_harmless(ctx, compression, place, bit):
    """The table is the one that was written, or the one that pyarrow reads."""
    table = columns(30)
    data = bytearray(written(table, compression=compression))
    data[int(place * len(data))] ^= 1 << bit
    read = attempt(lambda: ctx.table_from_file(data).copy_to(CPU))
    on_host = attempt(lambda: pa.ipc.open_file(data).read_all())
    assert read is None or read.equals(table) or read.equals(on_host)


def test_a_file_that_becomes_shorter_is_an_error(ctx, tmp_path):
    table = pa.table({"x": np.random.default_rng(0).random(200_000)})
    path = tmp_path / "x.arrow"
    path.write_bytes(written(table))

    with tempfile.TemporaryFile() as file:
        file.write(path.read_bytes())
        file.flush()
        check(ctx, file, table)
    with pytest.raises(OSError, match="the file ends at byte 1000") as raised:
        ctx.table_from_file(path, progress=lambda *_: os.truncate(path, 1000))
    assert str(path) in raised.value.__notes__[0]
    with path.open("ab") as file, pytest.raises(OSError, match=r"descriptor: '.*x\.arrow'"):
        ctx.table_from_file(file)
