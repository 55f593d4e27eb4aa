"""Readers of copies: a thread reads batches ahead, which are copied in groups."""

import re
import threading
import time
from contextlib import suppress
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

from pyarrow_cuda_compat._patches import read_ahead
from support.samples import CPU, written
from support.threads import in_threads

# One copy down takes the buffers of several batches, and what lies between them.
pytestmark = pytest.mark.gaps
AHEAD = pytest.mark.parametrize("ahead", [0, 1, 64 << 20])
WORDS = pa.array(["x", None, "z", "x"] * 100)
TABLE = pa.table(
    {"number": pa.array([1, None, 3, 4] * 100), "word": WORDS, "code": WORDS.dictionary_encode()},
    schema=pa.schema(
        [
            ("number", pa.int64()),
            ("word", pa.string()),
            ("code", pa.dictionary(pa.int32(), pa.string())),
        ],
        {"key": "value"},
    ),
)
#: Of all sizes, none too.
BATCHES = [
    pa.RecordBatch.from_arrays([column.slice(start, size) for column in whole], schema=TABLE.schema)
    for whole in [TABLE.combine_chunks().to_batches()[0].columns]
    for start, size in ((0, 1), (1, 0), (1, 100), (101, 299))
]
ROW = pa.record_batch({"a": [1]})


def reader_of(batches, schema=ROW.schema):
    return pa.RecordBatchReader.from_batches(schema, batches)


class Endless:
    """Batches without an end, of which it counts those that it has given."""

    def __init__(self, size=1000):
        self.batch = pa.record_batch({"a": pa.array(range(size))})
        self.given = 0
        self.is_dropped = threading.Event()

    def batches(self):
        try:
            while True:
                self.given += 1
                yield self.batch
        finally:
            self.is_dropped.set()

    def reader(self):
        return reader_of(self.batches(), self.batch.schema)


def sources(folder):
    plain = TABLE.drop_columns(["code"])
    pa.parquet.write_table(plain, folder / "file.parquet", row_group_size=70)
    file = pa.parquet.ParquetFile(folder / "file.parquet")
    yield "table", TABLE.to_reader(max_chunksize=33), TABLE
    yield "stream", pa.ipc.open_stream(written(BATCHES)), TABLE
    yield "parquet", reader_of(file.iter_batches(30), file.schema_arrow), plain
    dataset = pa.dataset.dataset(folder / "file.parquet")
    yield "dataset", dataset.scanner(batch_size=50).to_reader(), plain
    theirs = SimpleNamespace(__arrow_c_stream__=TABLE.to_reader(50).__arrow_c_stream__)
    yield "another library", pa.RecordBatchReader.from_stream(theirs), TABLE


@AHEAD
def test_all_batches_come_in_their_order(ctx, ahead):
    copies = reader_of(BATCHES, TABLE.schema).copy_to(ctx, read_ahead=ahead)
    assert copies.schema.equals(TABLE.schema, check_metadata=True)
    there = list(copies)
    assert not any(batch.is_cpu for batch in there if batch.num_rows)
    back = list(reader_of(there, TABLE.schema).copy_to(CPU, read_ahead=ahead))
    assert len(back) == len(BATCHES)
    for batch, expected in zip(back, BATCHES, strict=True):
        batch.validate(full=True)
        assert batch.equals(expected, check_metadata=True)
    with pytest.raises(StopIteration):
        copies.read_next_batch()


@AHEAD
def test_readers_of_all_kinds(ctx, tmp_path, ahead):
    for name, source, expected in sources(tmp_path):
        there = source.copy_to(ctx, read_ahead=ahead).read_all()
        assert not there.is_cpu, name
        assert there.copy_to(CPU).equals(expected), name


def test_batches_without_columns(ctx):
    batches = [pa.record_batch([pa.array([1] * rows)], ["a"]).select([]) for rows in (2, 0, 3)]
    copies = reader_of(batches, pa.schema([])).copy_to(ctx)
    assert [batch.num_rows for batch in copies] == [2, 0, 3]


def test_what_was_read_meanwhile_is_copied_together(ctx):
    calls = []
    copies = reader_of([ROW] * 5000).copy_to(ctx, progress=lambda *done: calls.append(done))
    assert sum(batch.num_rows for batch in copies) == 5000
    assert calls[-1] == (5000 * 8, None)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert len(calls) < 2500


def test_slices_count_as_what_they_reach(ctx):
    calls = []
    batches = pa.record_batch({"a": range(100_000)})
    parts = [batches.slice(start, 10) for start in range(0, 1000, 10)]
    copies = reader_of(parts, batches.schema).copy_to(
        ctx, progress=lambda *done: calls.append(done)
    )
    assert len(list(copies)) == 100
    assert calls[-1] == (8000, None)


def test_the_bytes_that_are_read_ahead_are_bounded(ctx):
    endless = Endless()
    copies = endless.reader().copy_to(ctx, read_ahead=80_000)
    for _ in range(30):
        copies.read_next_batch()
        # A group is what the bound is, one batch may be too much, and one group is handed on.
        assert endless.given <= 30 + 3 * 11
    copies.close()
    assert endless.is_dropped.wait(60)


@AHEAD
def test_what_the_reader_raises_comes_at_its_place(ctx, ahead):
    class Broken(Exception):
        pass

    def batches():
        yield from [ROW] * 3
        raise Broken("no more")

    copies = reader_of(batches()).copy_to(ctx, read_ahead=ahead)
    assert [copies.read_next_batch().num_rows for _ in range(3)] == [1, 1, 1]
    for _ in range(2):
        with pytest.raises(Broken, match="no more"):
            copies.read_next_batch()
    with pytest.raises(Broken):
        reader_of(batches()).copy_to(ctx, read_ahead=ahead).read_all()


@AHEAD
def test_streams_that_break_off(ctx, ahead):
    data = written(BATCHES)
    for size in range(1200, data.size - 8, 97):
        broken = data.slice(0, size)
        try:
            expected = pa.ipc.open_stream(broken).read_all()
        except (pa.ArrowInvalid, OSError) as error:
            with pytest.raises(type(error), match=re.escape(str(error))):
                pa.ipc.open_stream(broken).copy_to(ctx, read_ahead=ahead).read_all()
        else:
            found = pa.ipc.open_stream(broken).copy_to(ctx, read_ahead=ahead).read_all()
            assert found.copy_to(CPU).equals(expected)


@pytest.mark.simulator
@AHEAD
def test_the_next_call_makes_a_copy_that_has_failed(ctx, fault, ahead):
    copies = reader_of(BATCHES, TABLE.schema).copy_to(ctx, read_ahead=ahead)
    fault("cuMemcpyHtoD_v2:1+=999,cuMemcpyHtoDAsync_v2:1+=999")
    for _ in range(2):
        with pytest.raises(OSError, match="999"):
            copies.read_next_batch()
    fault("")
    assert copies.read_all().copy_to(CPU).equals(TABLE)


@pytest.mark.simulator
@AHEAD
@pytest.mark.parametrize("call", ["cuMemcpyDtoH_v2", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"])
def test_nothing_is_lost_whatever_call_fails(ctx, stream, fault, call, ahead):
    there = TABLE.copy_to(ctx)
    # Their nulls are counted before a call fails.
    slices = list(reader_of([each.slice(1) for each in there.to_batches(90)], TABLE.schema))
    expected = pa.concat_tables(TABLE.slice(start + 1, 89) for start in range(0, 400, 90))
    for number in range(1, 6):
        copies = reader_of(slices, TABLE.schema).copy_to(CPU, read_ahead=ahead)
        batches = []

        def read_on(copies=copies, batches=batches):
            with suppress(StopIteration):
                while True:
                    batches.append(copies.read_next_batch())

        fault(f"{call}:{number}=999")
        with stream, suppress(OSError):
            read_on()
        fault("")
        read_on()
        assert pa.Table.from_batches(batches).equals(expected)


def test_batches_without_rows_are_bounded_too(ctx):
    given = []

    def batches():
        for number in range(100_000):
            given.append(number)
            yield ROW[:0]

    copies = reader_of(batches()).copy_to(ctx, read_ahead=80_000)
    copies.read_next_batch()
    before = None
    while before != len(given):
        before = len(given)
        time.sleep(0.1)
    assert len(given) < 10_000


def test_no_batch_is_lost_when_progress_raises(ctx):
    def progress(_done, _total):
        raise ValueError("stop")

    copies = reader_of([ROW, ROW]).copy_to(ctx, read_ahead=0, progress=progress)
    for _ in range(2):
        with pytest.raises(ValueError, match="stop"):
            copies.read_next_batch()
        assert copies.read_next_batch().num_rows == 1


@AHEAD
def test_closing_ends_an_endless_reader(ctx, ahead):
    endless = Endless()
    with endless.reader().copy_to(ctx, read_ahead=ahead) as copies:
        copies.read_next_batch()
    with pytest.raises(ValueError, match="closed"):
        copies.read_next_batch()
    given = endless.given
    del copies
    assert endless.is_dropped.wait(60)
    assert endless.given == given


def test_closing_leaves_the_rest_of_a_scan_unread(ctx):
    """pyarrow's own reader of a scanner reads it to its end when it is closed."""
    permits = threading.Semaphore(2)

    def batches():
        for batch in BATCHES * 100:
            permits.acquire()
            yield batch

    scanner = pa.dataset.Scanner.from_batches(batches(), schema=BATCHES[0].schema)
    copies = scanner.to_reader().copy_to(ctx, read_ahead=1)
    copies.read_next_batch()
    thread = read_ahead._COPIES[copies]._thread
    try:
        copies.close()
        permits.release(8)  # for what is being read
        thread.join(20)
        assert not thread.is_alive()
    finally:
        permits.release(10_000)


def test_dropping_the_copies_ends_the_thread(ctx):
    endless = Endless()
    copies = endless.reader().copy_to(ctx)
    copies.read_next_batch()
    del copies
    assert endless.is_dropped.wait(60)


def test_the_reader_is_taken_over(ctx):
    reader = pa.ipc.open_stream(written(BATCHES))
    copies = reader.copy_to(ctx)
    assert reader.schema == copies.schema == TABLE.schema
    assert reader.stats.num_messages == 1
    for read in (reader.read_next_batch, reader.read_all, reader.copy_to(ctx).read_all):
        with pytest.raises(pa.ArrowInvalid, match="has taken the batches of this reader over"):
            read()
    reader.close()
    assert copies.read_all().num_rows == TABLE.num_rows


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"read_ahead": -1}, ValueError),
        ({"read_ahead": 1.5}, TypeError),
        ({"progress": 1}, TypeError),
        ({"stream": 1}, TypeError),
    ],
)
def test_wrong_arguments_leave_the_reader_as_it_is(ctx, arguments, error):
    reader = reader_of([ROW])
    with pytest.raises(error):
        reader.copy_to(ctx, **arguments)
    assert reader.read_all().num_rows == 1


def test_any_number_of_bytes_is_read_ahead(ctx):
    copies = pa.RecordBatchReader.from_batches(BATCHES[0].schema, BATCHES).copy_to(
        ctx, read_ahead=1 << 70
    )
    assert copies.read_all().num_rows == sum(batch.num_rows for batch in BATCHES)


def test_copies_on_a_stream(ctx, stream):
    copies = reader_of(BATCHES, TABLE.schema).copy_to(ctx, stream=stream)
    there = list(copies)
    stream.synchronize()
    assert pa.Table.from_batches(there).copy_to(CPU).equals(TABLE)


def test_threads_share_the_copies(ctx):
    copies = reader_of([ROW] * 1000).copy_to(ctx)
    counts = []
    in_threads(lambda _: counts.append(len(list(copies))), 4)
    assert sum(counts) == 1000


@pytest.mark.subprocesses
def test_ctrl_c_ends_the_wait_for_a_batch(run_python):
    code = """
import os, signal, threading
import pyarrow as pa
from pyarrow import cuda
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
go_on = threading.Event()
row = pa.record_batch({"a": [1]})
def batches():
    yield row
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    go_on.wait()
    yield row
copies = pa.RecordBatchReader.from_batches(row.schema, batches()).copy_to(cuda.Context(0))
copies.read_next_batch()
try:
    copies.read_next_batch()
except KeyboardInterrupt:
    go_on.set()
print(copies.read_next_batch().num_rows, len(list(copies)))
"""
    assert run_python(code, timeout=60) == (0, "1 0\n", "")


@pytest.mark.subprocesses
@pytest.mark.parametrize("batches", ["endless()", "blocked()"])
def test_forks_and_exits_while_a_thread_reads(run_python, batches):
    """An exit does not wait for a reader that gives nothing, nor a child for a thread."""
    code = f"""
import os, threading, warnings
import pyarrow as pa
from pyarrow import cuda
warnings.simplefilter("ignore")  # Python warns of forks beside threads
row = pa.record_batch({{"a": [1]}})
def endless():
    while True:
        yield row
def blocked():
    yield row
    threading.Event().wait()
def opened():
    return pa.RecordBatchReader.from_batches(row.schema, {batches}).copy_to(cuda.Context(0))
copies = opened()
copies.read_next_batch()
opened().read_next_batch()  # its thread goes on without it
child = os.fork()
if child == 0:
    try:
        for _ in copies:
            pass
    except RuntimeError as error:
        print(error, flush=True)
    copies.close()
    del copies
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    said = "a thread of the parent process reads these batches: open the reader after the fork\n"
    assert run_python(code, timeout=60) == (0, said, "")
