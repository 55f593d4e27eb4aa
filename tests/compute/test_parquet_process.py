"""The process that decodes Parquet files: the real one, with pylibcudf's stand-in."""

import os
import signal
import sys
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import cuda

from pyarrow_cuda_compat import _native, memory_stats
from pyarrow_cuda_compat._methods import datasets

from .conftest import back, of

pytestmark = [pytest.mark.simulator, pytest.mark.independent]  # it needs RMM


@pytest.fixture
def process(libcudf, monkeypatch):
    """The module, whose processes end with the test."""
    here = Path(__file__).parent
    monkeypatch.setattr(sys, "path", [str(here / "shim"), str(here.parent), *sys.path])
    module = of("parquet.process")
    module._end()
    monkeypatch.setattr(of("parquet.reader"), "unpacked", module.unpacked)
    yield module
    module._end()


@pytest.fixture
def files(tmp_path):
    """Makes a file of three row groups, and has the shim do what the name says."""
    table = pa.table({"a": range(8), "b": [None, *"abcdefg"]})

    def made(name):
        pq.write_table(
            table.replace_schema_metadata({"does": name}), tmp_path / name, row_group_size=3
        )
        return str(tmp_path / name), table

    return made


def test_one_process_decodes_many_files(process, files):
    context = cuda.Context(0)
    before = context.bytes_allocated
    for name in ("x", "y"):
        path, table = files(name)
        found = context.table_from_file(path)
        assert back(found).equals(table)
        assert found.column(0).num_chunks == 1
    assert len(process._processes) == 1
    # The bytes of a file that has no path.
    assert back(context.table_from_file(Path(path).read_bytes(), columns=["b"])).equals(
        table.select(["b"])
    )
    with Path(path).open("rb") as file:
        assert back(context.table_from_file(file)).equals(table)
    del found
    assert context.bytes_allocated == before


def test_a_process_that_dies_takes_nothing_with_it(process, files):
    context = cuda.Context(0)
    path, table = files("deadly")
    kept = context.buffer_from_data(b"other data")
    assert back(context.table_from_file(path)).equals(table)  # by pyarrow
    assert not process._processes
    assert kept.to_pybytes() == b"other data"
    path, table = files("x")
    assert back(context.table_from_file(path)).equals(table)
    assert len(process._processes) == 1


def test_a_process_ends_with_its_context(process, files):
    context = cuda.Context(0)
    path, table = files("poisonous")
    assert back(context.table_from_file(path)).equals(table)  # by pyarrow
    ended = process._processes[0, os.getpid()]
    ended._process.wait(10)
    path, table = files("x")
    assert back(context.table_from_file(path)).equals(table)
    assert process._processes[0, os.getpid()] is not ended


def test_errors_of_the_process_are_those_of_libcudf(process, files):
    context = cuda.Context(0)
    path, table = files("huge")
    found = context.table_from_file(path)
    assert back(found).equals(table)
    assert found.column(0).num_chunks == 3  # each read alone
    path, table = files("refused")
    assert back(context.table_from_file(path)).equals(table)
    assert len(process._processes) == 1


def test_this_process_lends_the_other_one_its_unused_memory(process, files):
    context = cuda.Context(0)
    context.new_buffer(1 << 20)  # which ends at once
    before = memory_stats(context)
    assert before["cached_bytes"]
    path, table = files("huge")
    assert back(context.table_from_file(path)).equals(table)
    assert memory_stats(context)["driver_frees"] > before["driver_frees"]


def test_a_later_row_group_may_have_unknown_encodings(process, files, monkeypatch):
    """Which are looked for while the process decodes."""
    path, table = files("x")
    footers = of("parquet.footers")
    known, checked = footers._ENCODINGS, []

    def check(groups):
        checked.append(len(groups))
        monkeypatch.setattr(footers, "_ENCODINGS", frozenset())
        footers.check_chunks(groups)

    monkeypatch.setattr(of("parquet.reader"), "check_chunks", check)
    context = cuda.Context(0)
    assert back(context.table_from_file(path)).equals(table)  # by pyarrow
    assert checked == [3]
    assert not process._processes
    monkeypatch.setattr(footers, "_ENCODINGS", known - {"PLAIN"})
    assert back(context.table_from_file(path)).equals(table)
    assert checked == [3]  # its first row group is refused


@pytest.mark.parametrize("program", ["/bin/false", "/no/such/program", "", None])
def test_without_a_process_pyarrow_reads(process, files, monkeypatch, program):
    monkeypatch.setattr(sys, "executable", program)
    path, table = files("x")
    for _ in range(2):
        assert back(cuda.Context(0).table_from_file(path)).equals(table)
    expected = {(0, os.getpid()): None} if program == "/bin/false" else {}
    assert process._processes == expected


def test_the_process_imports_from_the_same_folders(process, files, monkeypatch):
    """Also if there are objects among them from which nothing is imported."""
    monkeypatch.setattr(sys, "path", ["", None, Path("/tmp"), b"/tmp", *sys.path])
    path, table = files("x")
    assert back(cuda.Context(0).table_from_file(path)).equals(table)
    assert len(process._processes) == 1


def test_an_interrupt_while_the_process_starts_ends_it(process, files, monkeypatch):
    made = []

    class Interrupted(process._Process):
        def is_ready_for(self, device):
            made.append(self._process)
            raise KeyboardInterrupt

    monkeypatch.setattr(process, "_Process", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        cuda.Context(0).table_from_file(files("x")[0])
    assert made[0].returncode is not None
    assert not process._processes


def test_a_frozen_program_is_not_started_again(process, files, monkeypatch):
    """It is no interpreter, and would do what it does."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    path, table = files("x")
    assert back(cuda.Context(0).table_from_file(path)).equals(table)
    assert not process._processes


def test_a_handler_of_a_signal_reads_while_the_process_answers(process, files, monkeypatch):
    context = cuda.Context(0)
    path, table = files("x")
    found = []
    answer = process._Process.answer

    def interrupted(asked, *request):
        monkeypatch.setattr(process._Process, "answer", answer)
        signal.raise_signal(signal.SIGUSR1)
        return answer(asked, *request)

    before = signal.signal(signal.SIGUSR1, lambda *_: found.append(context.table_from_file(path)))
    monkeypatch.setattr(process._Process, "answer", interrupted)
    try:
        found.append(context.table_from_file(path))
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert [back(it).equals(table) for it in found] == [True, True]


def test_the_process_releases_what_was_copied(process, files):
    """Exported memory would stay until it ends."""
    context = cuda.Context(0)
    request = request_for(files("x")[0])
    packed = partial(of("parquet.worker")._packed, context, request)
    before = memory_stats(context)["allocated_bytes"]
    answer, owner = _native._computing_in(context, packed)
    assert memory_stats(context)["allocated_bytes"] >= before + answer.size > before
    del owner
    assert memory_stats(context)["allocated_bytes"] == before


def request_for(path, columns=("a", "b")):
    """A request for all row groups of a file, as the reader makes it."""
    options = {"schema": None, "filesystem": None, "partitioning": "hive"}
    scan = datasets.Scan(path, [*columns], None, "parquet", options)
    [fragment] = scan.dataset.get_fragments()
    groups = [*of("parquet.footers").row_groups_of(fragment, scan, [*columns])]
    source = of("parquet.footers").source_of(groups)
    return of("parquet.messages").Request([source], [[it.number for it in groups]], [*columns])


def test_only_what_is_read_of_a_file_is_copied(process, tmp_path):
    path = str(tmp_path / "x")
    table = pa.table({name: range(place, 90_000 + place) for place, name in enumerate("abcd")})
    pq.write_table(table, path, row_group_size=30_000, use_dictionary=["b"])
    [source] = request_for(path, "bc").sources
    [span] = of("parquet.sources").given(cuda.Context(0), [source])
    assert span.size == source.size == len(Path(path).read_bytes())
    data = pa.BufferReader(span.owner.copy_to_host())
    assert pq.ParquetFile(data).read(["b", "c"]).equals(table.select(["b", "c"]))
    assert sum(end - start for start, end in source.ranges) < 0.6 * source.size
    os.truncate(path, 1000)
    with pytest.raises(OSError, match="x"):
        of("parquet.sources").given(cuda.Context(0), [source])


def test_files_with_gaps_between_row_groups_are_copied_from_there_on(process, files, monkeypatch):
    """Which may hold indexes of pages."""
    path, _ = files("x")
    footers = of("parquet.footers")
    whole = request_for(path, "a").sources[0]
    bytes_of_chunk, calls = footers._bytes_of_chunk, []

    def moved(chunk, most):
        start, end = bytes_of_chunk(chunk, most)
        calls.append(start)
        return start + (len(calls) == 3), end  # the first column of the second row group

    monkeypatch.setattr(footers, "_bytes_of_chunk", moved)
    [source] = request_for(path, "a").sources
    assert source.ranges[-1][0] < whole.ranges[-1][0]
    assert source.ranges[-1][1] == source.size == whole.size


def test_files_that_are_large_beside_the_device_are_not_copied(process, files, monkeypatch):
    monkeypatch.setattr(of("parquet.sources"), "mem_get_info", lambda _: (100, 1 << 30))
    path, _ = files("x")
    assert of("parquet.sources").given(cuda.Context(0), request_for(path).sources) == [path]
