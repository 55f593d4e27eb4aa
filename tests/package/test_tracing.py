"""Records of calls: for `logging`, and as ranges of NVTX."""

import logging
import sys
import types

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import pyarrow_cuda_compat as compat
from pyarrow_cuda_compat import DeviceArray, SmartArray, _native, memory, set_tracing, tracing
from support.samples import CPU
from support.threads import in_threads


@pytest.fixture(autouse=True)
def off_again():
    yield
    set_tracing(log=False, nvtx=False)


@pytest.fixture
def log(caplog):
    """All records of the loggers."""
    caplog.set_level(logging.DEBUG, "pyarrow_cuda_compat")
    set_tracing(True)
    return caplog


@pytest.fixture
def ranges(monkeypatch):
    """A stand-in for nvtx, which records its calls."""
    told = []

    stand_in = types.SimpleNamespace(
        push_range=lambda message, *, category, domain: told.append((message, category, domain)),
        pop_range=lambda *, domain: told.append(domain),
    )
    monkeypatch.setitem(sys.modules, "nvtx", stand_in)
    return told


def of(log):
    """The records as tuples: area, call, bytes, device."""
    return [
        (each.name.removeprefix("pyarrow_cuda_compat."), each.call, each.nbytes, each.device)
        for each in log.records
    ]


def test_allocations(cuda, ctx, log):
    _ = ctx.new_buffer(1000), cuda.new_host_buffer(5000), DeviceArray.empty((2, 3), "f4")
    assert of(log) == [
        ("allocation", "Context.new_buffer", 1000, 0),
        ("allocation", "new_host_buffer", 5000, 0),
        ("allocation", "DeviceArray.empty", 24, 0),
    ]


def test_transfers(cuda, ctx, log):
    buf = ctx.buffer_from_data(bytes(100), size=90)
    buf.copy_from_host(b"12345678", position=5)
    buf.copy_to_host(position=80)
    buf.copy_to_host(nbytes=7, buf=cuda.new_host_buffer(50))
    buf.fill(1, nbytes=3)
    buf.copy_from_device(buf.slice(0, 20), nbytes=4, position=50)
    buf.to_pybytes()
    ctx.buffers_from_data([b"1", b"2"])
    assert [entry for entry in of(log) if entry[0] == "transfer"] == [
        ("transfer", "Context.buffer_from_data", 90, 0),
        ("transfer", "CudaBuffer.copy_from_host", 8, 0),
        ("transfer", "CudaBuffer.copy_to_host", 10, 0),
        ("transfer", "CudaBuffer.copy_to_host", 7, 0),
        ("transfer", "CudaBuffer.fill", 3, 0),
        ("transfer", "CudaBuffer.copy_from_device", 4, 0),
        ("transfer", "CudaBuffer.to_pybytes", 90, 0),
        ("transfer", "Context.buffers_from_data", None, 0),
    ]


def test_transfers_of_arrays_and_batches(ctx, log):
    array = DeviceArray.from_host(np.arange(6.0))
    array.copy_to_device(array.copy_to_host())
    batch = pa.record_batch({"x": [1, 2, 3]})
    message = compat.serialize_record_batch(batch, ctx)
    pa.array([1, 2]).copy_to(0).copy_to(CPU)
    assert of(log) == [
        ("transfer", "DeviceArray.from_host", 48, 0),
        ("transfer", "DeviceArray.copy_to_host", 48, 0),
        ("transfer", "DeviceArray.copy_to_device", 48, 0),
        ("transfer", "serialize_record_batch", message.size, 0),
        ("transfer", "copy_to", 16, 0),
        ("transfer", "copy_to", 16, 0),
    ]


def test_transfers_of_tables(contexts, log, tmp_path):
    table = pa.table({"x": [1, 2, 3], "s": ["a", None, "ccc"]})
    size, number = table.get_total_buffer_size(), len(contexts) - 1
    pa.feather.write_feather(table, tmp_path / "arrow", compression="uncompressed")
    pa.parquet.write_table(table, tmp_path / "parquet")
    log.clear()
    there = table.copy_to(number)
    there.copy_to("cpu")
    table["s"].copy_to(number)
    table.to_batches()[0].copy_to(number)
    assert of(log) == [
        ("transfer", "copy_to", each.get_total_buffer_size(), number)
        for each in (table, table, table["s"], table)
    ]
    for read_ahead in (0, 1 << 20):
        log.clear()
        table.to_reader().copy_to(number, read_ahead=read_ahead).read_all()
        assert [entry for entry in of(log) if entry[2]] == [("transfer", "copy_to", size, number)]
    for name in ("arrow", "parquet"):
        log.clear()
        made = contexts[number].table_from_file(tmp_path / name)
        found = ("transfer", "Context.table_from_file", made.get_total_buffer_size(), number)
        assert of(log)[-1] == found
    log.clear()
    table.copy_to("cpu")  # no device takes part
    assert of(log) == [("transfer", "copy_to", size, None)]


def test_transfers_of_files(ctx, log, tmp_path):
    (tmp_path / "data").write_bytes(bytes(5000))
    buf = ctx.buffer_from_file(tmp_path / "data", offset=1000)
    buf.copy_to_file(tmp_path / "copy", nbytes=3000)
    assert [entry for entry in of(log) if "file" in entry[1]] == [
        ("transfer", "Context.buffer_from_file", 4000, 0),
        ("transfer", "CudaBuffer.copy_to_file", 3000, 0),
    ]


@pytest.mark.leaks
def test_exports(cuda, ctx, log):
    buf = ctx.new_buffer(2000)
    handle = buf.slice(0, 10).export_for_ipc()
    with pytest.raises(OSError, match="cannot open its handle"):
        ctx.open_ipc_buffer(handle)
    assert of(log)[1:] == [
        ("ipc", "CudaBuffer.export_for_ipc", 10, 0),
        ("ipc", "Context.open_ipc_buffer", None, None),
    ]


def test_the_second_device(other_ctx, log):
    other_ctx.buffer_from_data(b"there").to_pybytes()
    assert [record.device for record in log.records] == [1, 1]


def test_the_text(ctx, log):
    buf = ctx.new_buffer(1000)
    pa.array([1]).copy_to(0)
    with pytest.raises(ValueError, match="out-of-range"):
        buf.copy_to_host(position=2000)
    texts = [record.getMessage() for record in log.records]
    assert texts[0].startswith("Context.new_buffer: 1000 bytes, device 0, ")
    assert texts[1].startswith("copy_to: ")
    assert texts[2].startswith("CudaBuffer.copy_to_host failed after ")
    assert texts[2].endswith(" us: ValueError: position argument is out-of-range")
    for record in log.records:
        assert record.levelno == logging.DEBUG
        assert record.seconds >= 0
        assert record.pathname == __file__  # whose line made the call


def test_the_line_is_the_programs_whichever_module_of_the_package_it_calls(ctx, log):
    pa.array([1]).copy_to(0)
    memory.to_device(np.arange(3))
    SmartArray([1]).get("gpu")
    assert len(log.records) >= 3
    assert {record.pathname for record in log.records} == {__file__}


def test_each_is_chosen_alone(ctx, log, ranges):
    set_tracing(nvtx=True)
    assert tracing() == {"log": True, "nvtx": True}
    ctx.new_buffer(1)
    set_tracing(log=False)
    assert tracing() == {"log": False, "nvtx": True}
    ctx.new_buffer(2)
    set_tracing(nvtx=False)
    ctx.new_buffer(3)
    assert (len(log.records), len(ranges)) == (1, 4)
    set_tracing()
    assert tracing() == {"log": False, "nvtx": False}


@pytest.mark.parametrize("wrong", ["no", "false", 0, 1, []])
@pytest.mark.parametrize("name", ["log", "nvtx"])
def test_other_values_are_refused(ranges, name, wrong):
    with pytest.raises(TypeError, match=f"^{name} argument must be a bool, not "):
        set_tracing(**{name: wrong})
    with pytest.raises(TypeError):
        set_tracing(**({"log": True, "nvtx": True} | {name: wrong}))
    assert tracing() == {"log": False, "nvtx": False}


def test_ranges_end_where_calls_end(ctx, ranges):
    set_tracing(nvtx=True)
    buf = ctx.new_buffer(10)
    with pytest.raises(ValueError, match="0 to 255"):
        buf.fill(300)
    buf.hex()
    domain = "pyarrow_cuda_compat"
    assert ranges == [
        *(("Context.new_buffer", "allocation", domain), domain),
        *(("CudaBuffer.fill", "transfer", domain), domain),
        *(("CudaBuffer.copy_to_host", "transfer", domain), domain),
    ]


def test_without_nvtx(ctx, monkeypatch):
    monkeypatch.setitem(sys.modules, "nvtx", None)
    with pytest.raises(ImportError, match=r"^this needs NVTX: pip install nvtx$"):
        set_tracing(nvtx=True)
    assert tracing() == {"log": False, "nvtx": False}
    set_tracing(nvtx=False)


def test_a_range_that_is_switched_off_within_is_ended(ctx, ranges):
    """Whoever begins a range ends it, whatever is chosen meanwhile."""
    set_tracing(nvtx=True)

    class Ends:
        def __cuda_stream__(self):
            set_tracing(nvtx=False)
            return (0, 0)

    ctx.new_buffer(10).fill(0, stream=Ends())
    ctx.synchronize()
    assert [type(each) for each in ranges] == [tuple, str, tuple, str]


@pytest.fixture
def handle(log):
    """Has a function called with each record."""
    logger, handler = logging.getLogger("pyarrow_cuda_compat"), logging.Handler()
    logger.addHandler(handler)
    yield lambda work: setattr(handler, "emit", work)
    logger.removeHandler(handler)


def test_what_a_handler_does_itself_is_not_recorded(ctx, handle, log):
    seen = []
    handle(lambda record: seen.append(ctx.buffer_from_data(b"kept").to_pybytes()))
    ctx.new_buffer(5)
    assert seen == [b"kept"]
    ctx.new_buffer(5)
    assert len(seen) == len(log.records) == 2


def test_what_a_handler_raises_changes_no_call(ctx, handle, monkeypatch):
    unraisable = []
    monkeypatch.setattr(sys, "unraisablehook", lambda each: unraisable.append(each.exc_type))

    def refuse(record):
        raise KeyError("mine")

    handle(refuse)
    buf = ctx.buffer_from_data(b"as it was")
    assert buf.to_pybytes() == b"as it was"
    assert unraisable == [KeyError, KeyError]
    with pytest.raises(ValueError, match="out-of-range"):
        buf.copy_to_host(position=100)


def test_what_ends_programs_ends_the_call(ctx, handle):
    def interrupt(record):
        raise KeyboardInterrupt

    handle(interrupt)
    with pytest.raises(KeyboardInterrupt):
        ctx.new_buffer(1000)
    with pytest.raises(KeyboardInterrupt) as raised:
        ctx.new_buffer(-1)
    assert "non-negative" in str(raised.value.__context__)


def test_an_interrupt_amid_the_facts_of_a_call_goes_on(log):
    def facts(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _native._recorded("transfer", "a call", lambda: 1, facts)


def test_a_handler_may_shrink_what_is_copied(ctx, ranges, monkeypatch):
    """Its code runs before the call looks at the data."""
    data = np.zeros(1000, np.uint8)

    def push_range(message, **_):
        data.resize(10, refcheck=False)

    monkeypatch.setattr(sys.modules["nvtx"], "push_range", push_range)
    set_tracing(nvtx=True)
    assert ctx.buffer_from_data(data).size == 10


def test_threads_record_their_own(ctx, log):
    in_threads(lambda _: [ctx.new_buffer(size) for size in range(1, 21)], 4)
    sizes = sorted(record.nbytes for record in log.records)
    assert sizes == sorted(list(range(1, 21)) * 4)


def test_queued_copies_are_recorded_when_they_are_queued(cuda, ctx, begin, log):
    buf, pinned = ctx.new_buffer(100), cuda.new_host_buffer(100)
    stream = begin()
    log.clear()
    buf.copy_to_host(buf=pinned, stream=stream)
    assert of(log) == [("transfer", "CudaBuffer.copy_to_host", 100, 0)]
    assert not stream.query()


@pytest.mark.subprocesses
def test_basic_config_after_the_import(run_python):
    code, _, err = run_python("""
import logging
import pyarrow_cuda_compat as compat
logging.basicConfig(level=logging.DEBUG)
compat.Context(0).new_buffer(1)
compat.set_tracing(log=True)
compat.Context(0).new_buffer(1000)
""")
    assert (code, err.count("\n")) == (0, 1)
    assert err.startswith("DEBUG:pyarrow_cuda_compat.allocation:Context.new_buffer: 1000 bytes")


@pytest.mark.subprocesses
def test_at_the_end_of_the_program(run_python):
    """Destructors and exit record nothing, and do not mind the loggers' end."""
    code, _, err = run_python("""
import logging
import pyarrow_cuda_compat as compat
compat.set_tracing(log=True)
logging.basicConfig(level=logging.DEBUG, filename="/dev/null")
buffer = compat.Context(0).new_buffer(1000)

class Late:
    def __del__(self, buffer=buffer):
        buffer.to_pybytes()

late = Late()
late.itself = late
""")
    assert (code, err) == (0, "")
