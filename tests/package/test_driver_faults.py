"""Drivers that refuse or run out of memory, and releases that fail.

Any other call fails in `tests/faults`; the crate of the driver shows what a missing one says.
"""

import pytest

pytestmark = pytest.mark.simulator

UNKNOWN = "[CUDA_ERROR_UNKNOWN] unknown error"
START = """
import sys
from pyarrow import cuda
try:
    cuda.Context()
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (34, "[CUDA_ERROR_STUB_LIBRARY] "),
        (100, "[CUDA_ERROR_NO_DEVICE] no CUDA-capable device is detected"),
        (803, "[CUDA_ERROR_SYSTEM_DRIVER_MISMATCH] "),
        (999, UNKNOWN),
        (12345, "unknown error"),
    ],
)
def test_a_driver_that_does_not_start(run_python, code, text):
    returncode, out, error = run_python(START, CUDA_SIM_FAULT=f"cuInit:1+={code}")
    assert (returncode, error) == (0, "")
    assert out.startswith(f"OSError Cuda error {code} in function 'cuInit': {text}")
    assert ("[" in out) == (code != 12345)


PREPARED = """
import copy, ctypes, gc, pickle, sys
from pathlib import Path
import pyarrow as pa
import pyarrow_cuda_compat
from pyarrow import cuda
sim = ctypes.CDLL(str(Path(pyarrow_cuda_compat.__file__).parent / "lib/libcuda_sim.so"))
reports = []
sys.unraisablehook = lambda told: reports.append(f"{told.exc_type.__name__} {told.exc_value}")
fault = lambda spec: sim.cuda_sim_fault(spec.encode())
ctx = cuda.Context()
def says(work):
    try:
        work()
    except Exception as error:
        return f"{type(error).__name__} {error}"
    return "nothing"
"""


def check(run_python, code, **env):
    assert run_python(PREPARED + code + "\nprint('done')", **env) == (0, "done\n", "")


def test_a_capture_mode_that_cannot_be_restored_is_reported(run_python):
    """The thread would disregard captures from then on, and nobody would know."""
    code = """
ctx.new_buffer(100)
fault("cuThreadExchangeStreamCaptureMode:2=999")
ctx.buffer_from_data(bytes(100))
fault("")
[report] = reports
assert report == ("OSError releasing the thread's capture mode failed: Cuda error 999 in function "
                  "'cuThreadExchangeStreamCaptureMode': [CUDA_ERROR_UNKNOWN] unknown error")
"""
    check(run_python, code, PYARROW_CUDA_CACHE="off")


def test_a_hook_whose_own_work_fails_is_not_told_for_ever(run_python):
    code = """
def hook(told):
    reports.append(str(told.exc_value))
    ctx.buffer_from_data(b"from a hook")
sys.unraisablehook = hook
fault("cuCtxPopCurrent:1+=999")
buffer = ctx.new_buffer(100)
del buffer
fault("")
assert reports and len(reports) < 100, len(reports)
print("done")
"""
    returncode, out, error = run_python(PREPARED + code, timeout=60)
    told = "releasing the current context failed: Cuda error 999 in function 'cuCtxPopCurrent': "
    told += UNKNOWN
    assert (returncode, out) == (0, "done\n")
    assert {*error.splitlines()} == {told}


def test_a_failed_release_does_not_disturb_an_exception(run_python):
    code = """
def work():
    buffer = ctx.new_buffer(100)
    fault("cuMemFree:1=999")
    raise KeyError("mine")
assert says(work) == "KeyError 'mine'"
assert len(reports) == 1, reports
"""
    check(run_python, code, PYARROW_CUDA_CACHE="off")


DEVICE = """
make, release, name = ctx.new_buffer, "cuMemFree", "device memory"
stats = lambda: pyarrow_cuda_compat.memory_stats(ctx)
empty = lambda: pyarrow_cuda_compat.empty_cache(ctx)
limit = lambda nbytes: pyarrow_cuda_compat.set_cache_limit(nbytes, ctx)
live = sim.cuda_sim_live_allocations
"""
PINNED = """
from pyarrow_cuda_compat import (
    empty_pinned_cache as empty, pinned_memory_stats as stats, set_pinned_cache_limit as limit
)
make, release, name = cuda.new_host_buffer, "cuMemHostUnregister", "pinned host memory"
live = sim.cuda_sim_live_host_allocations
"""


@pytest.mark.parametrize("cache", [DEVICE, PINNED], ids=["device", "pinned"])
def test_a_failed_release_of_cached_memory_is_raised_or_reported(run_python, cache):
    code = """
unknown = f"Cuda error 999 in function '{release}': [CUDA_ERROR_UNKNOWN] unknown error"
kept = [make(32 << 20) for _ in range(3)]
del kept
fault(f"{release}:2=999")
# Asked for, so it is raised, when the others were tried.
assert says(empty) == "OSError " + unknown
fault("")
assert (stats()["cached_blocks"], stats()["reserved_bytes"]) == (0, 32 << 20), stats()
assert live() == 1
limit(48 << 20)
first, second = make(32 << 20), make(32 << 20)
del first
assert not reports
fault(f"{release}:1=999")
del second  # it takes the first one's place
fault("")
assert reports == [f"OSError releasing {name} failed: {unknown}"], reports
assert stats()["cached_blocks"] == 1
"""
    check(run_python, cache + code)


def test_a_cache_whose_context_cannot_be_entered_stays_as_it_is(run_python):
    code = """
kept = [ctx.new_buffer(3 << 20) for _ in range(3)]
del kept
for work in (lambda: pyarrow_cuda_compat.empty_cache(ctx),
             lambda: pyarrow_cuda_compat.set_cache_limit(0, ctx)):
    before = pyarrow_cuda_compat.memory_stats(ctx)
    fault("cuCtxGetCurrent:1=999")
    assert says(work).startswith("OSError Cuda error 999 in function 'cuCtxGetCurrent'")
    fault("")
    assert pyarrow_cuda_compat.memory_stats(ctx) == before
    assert sim.cuda_sim_live_allocations() == before["cached_blocks"] == 3
pyarrow_cuda_compat.empty_cache(ctx)
assert sim.cuda_sim_live_allocations() == 0
"""
    check(run_python, code)


# With memory that is handed out again, and with all of it going back to the driver at once.
@pytest.mark.parametrize("cache", ["1G", "off"])
def test_memory_that_runs_out_for_good(run_python, cache):
    code = """
text = ("Cuda error 2 in function 'cuMemAlloc': "
        "[CUDA_ERROR_OUT_OF_MEMORY] out of memory")
ours = "OutOfMemoryError " + text
said = says(lambda: ctx.new_buffer(65 << 20))
assert said == (f"{ours}; {65 << 20} bytes were requested, "
                f"and {64 << 20} of {64 << 20} bytes are free on device 0"), said
batch = pa.record_batch({"x": range(1 << 20)})
table = pa.Table.from_batches([batch])
sink = pa.BufferOutputStream()
with pa.ipc.new_file(sink, batch.schema) as writer:
    writer.write(batch)
file = sink.getvalue()
there = batch.copy_to(ctx)
chunks = pa.chunked_array([there["x"], there["x"]])
array = pyarrow_cuda_compat.DeviceArray(there["x"])
pickled = pickle.dumps(there)
before = ctx.bytes_allocated, sim.cuda_sim_live_allocations()
kept = []
while (said := says(lambda: kept.append(ctx.new_buffer(3 << 20)))) == "nothing":
    assert len(kept) < 30
assert said.startswith(ours), said
# By way of libarrow, too.
for work in (lambda: ctx.buffer_from_data(bytes(3 << 20)),
             lambda: cuda.serialize_record_batch(batch, ctx),
             lambda: batch["x"].copy_to(ctx.memory_manager),
             lambda: batch.copy_to(ctx.memory_manager.device),
             lambda: table.copy_to(ctx),
             lambda: there.copy_to(ctx),
             lambda: batch["x"].buffers()[1].copy(ctx),
             lambda: there["x"].buffers()[1].copy(ctx),
             lambda: table.to_reader().copy_to(ctx).read_all(),
             lambda: ctx.table_from_file(file),
             lambda: chunks.combine_chunks(),
             lambda: pa.concat_arrays(chunks.chunks),
             lambda: pickle.loads(pickled),
             lambda: copy.deepcopy(there),
             lambda: array.copy(),
             lambda: pyarrow_cuda_compat.DeviceArray.from_arrow(batch["x"]),
             lambda: array.__dlpack__(copy=True),
             lambda: pyarrow_cuda_compat.from_dlpack(array, copy=True)):
    said = says(work)
    assert said.startswith(f"{ours}; ") and "bytes are free on device 0" in said, said
    try:
        work()
    except OSError as error:
        assert error.code == 2
assert ctx.bytes_allocated == before[0] + len(kept) * (3 << 20)
kept.clear()
assert ctx.new_buffer(40 << 20).size == 40 << 20  # whatever is cached makes room
pyarrow_cuda_compat.empty_cache(ctx)
assert (ctx.bytes_allocated, sim.cuda_sim_live_allocations()) == before
assert not reports
"""
    check(run_python, code, CUDA_SIM_MEMORY="64M", PYARROW_CUDA_CACHE=cache)


def test_no_pinned_memory_left(run_python):
    code = """
fault("cuMemHostRegister:1+=2")
said = says(lambda: cuda.new_host_buffer(10))
assert said == ("OutOfMemoryError Cuda error 2 in function 'cuMemHostRegister': "
                "[CUDA_ERROR_OUT_OF_MEMORY] out of memory; 10 bytes were requested"), said
"""
    check(run_python, code)
