"""Walks through the whole package while the simulator fails one driver call, then another.

``python tour.py SPEC`` with a rule of the simulator's in which ``{k}`` stands for the call, as
``*:{k}=999``.  Each pass must succeed, or raise exactly what the driver said; either way nothing
may be lost, and the same walk without a fault must succeed afterwards.
"""

import ctypes
import gc
import re
import sys
from pathlib import Path

import pyarrow as pa
from pyarrow import cuda

import pyarrow_cuda_compat

SIMULATOR = ctypes.CDLL(str(Path(pyarrow_cuda_compat.__file__).parent / "lib/libcuda_sim.so"))
SIMULATOR.cuda_sim_call_count.restype = ctypes.c_uint64
SIMULATOR.cuda_sim_live_allocations.restype = ctypes.c_uint64
SIMULATOR.cuda_sim_live_host_allocations.restype = ctypes.c_uint64
SIMULATOR.cuda_sim_primary_retains.restype = ctypes.c_int
BATCH = pa.record_batch({"a": [1, None, 3], "s": ["x", None, "yy"]})
CPU = pa.default_cpu_memory_manager()
REPORTS = []


def walk_context():
    ctx = cuda.Context()
    assert ctx.device_number == 0
    ctx.synchronize()
    assert ctx.device.type_name == "arrow::cuda::CudaDevice"
    assert cuda.Context.get_num_devices() == 2


def walk_buffers():
    ctx = cuda.Context()
    buffer = ctx.buffer_from_data(b"0123456789")
    assert buffer.slice(2, 3).to_pybytes() == b"234"
    assert buffer.copy_to_host(1, 2).to_pybytes() == b"12"
    other = ctx.new_buffer(10)
    other.copy_from_device(buffer)
    assert other.equals(buffer)
    assert not other.equals(pa.py_buffer(b"0123456780"))
    other.copy_from_device(other.slice(0, 5), position=3)
    assert other.to_pybytes() == b"0120123489"
    far = cuda.Context(1).new_buffer(10)
    far.copy_from_device(buffer)
    assert far.equals(buffer)
    view = ctx.foreign_buffer(buffer.address, 4, base=buffer)
    assert view.to_pybytes() == b"0123"
    several = ctx.buffers_from_data([b"host", buffer, far])
    assert [each.to_pybytes() for each in several] == [b"host", b"0123456789", b"0123456789"]


def walk_pinned():
    pinned = cuda.new_host_buffer(64)
    assert pinned.size == 64
    view = cuda.Context().buffer_from_object(pinned)
    view.copy_from_host(b"abc")
    assert pinned.to_pybytes()[:3] == b"abc"


def walk_files():
    buffer = cuda.Context().buffer_from_data(bytes(20))
    with cuda.BufferWriter(buffer) as writer:
        writer.buffer_size = 8
        writer.write(b"abc")
        writer.writeat(10, b"xyz")
        writer.write(b"123456789"[:7])
    dropped = cuda.BufferWriter(buffer)
    dropped.buffer_size = 8
    dropped.write(b"ABC")
    dropped.flush()
    del dropped
    with cuda.BufferReader(buffer) as reader:
        assert reader.read() == b"ABC" + bytes(7) + b"xyz1234567"
        reader.seek(1)
        assert reader.read_buffer(2).to_pybytes() == b"BC"


def walk_batches():
    ctx = cuda.Context()
    message = cuda.serialize_record_batch(BATCH, ctx)
    assert cuda.read_record_batch(message, BATCH.schema).copy_to(CPU).equals(BATCH)
    assert cuda.read_message(message).type == "record batch"
    device = BATCH.copy_to(ctx.memory_manager)
    assert device.copy_to(CPU).equals(BATCH)
    assert device.copy_to(cuda.Context(1).memory_manager).copy_to(CPU).equals(BATCH)
    assert str(device) == str(BATCH)


WALKS = [walk_context, walk_buffers, walk_pinned, walk_files, walk_batches]


def state():
    gc.collect()
    for number in range(2):  # what a stream retains until somebody uses one again is not lost
        pyarrow_cuda_compat.Stream(cuda.Context(number)).synchronize()
    for number in range(2):  # nor is what is cached
        pyarrow_cuda_compat.empty_cache(cuda.Context(number))
    pyarrow_cuda_compat.empty_pinned_cache()
    current = ctypes.c_void_p()
    assert SIMULATOR.cuCtxGetCurrent(ctypes.byref(current)) == 0
    return {
        "current": current.value,
        "bytes": tuple(cuda.Context(number).bytes_allocated for number in range(2)),
        "device": SIMULATOR.cuda_sim_live_allocations(),
        "host": SIMULATOR.cuda_sim_live_host_allocations(),
        "retains": tuple(SIMULATOR.cuda_sim_primary_retains(number) for number in range(2)),
    }


def fault(spec):
    assert SIMULATOR.cuda_sim_fault(spec.encode()) == 0


def attempt(walk, spec, text):
    """One pass; whether the fault struck, and the function that failed."""
    REPORTS.clear()
    fault(spec)
    try:
        walk()
    except OSError as error:
        said = re.fullmatch(text, str(error))
        if type(error) is OSError and said:
            return said[1]
        raise RuntimeError(f"raised {type(error).__name__}: {error}") from error
    finally:
        fault("")
    return None


def one_pass(walk, k, spec, text):
    """False when the walk ends before the k-th call."""
    before = state()
    calls = SIMULATOR.cuda_sim_call_count(b"*")
    failed = attempt(walk, spec.format(k=k), text)
    made = SIMULATOR.cuda_sim_call_count(b"*") - calls
    gc.collect()
    reports = list(REPORTS)
    if any("the current context" in told for _, told in reports):
        # The failed release was that of a context: nothing else could have restored it.
        SIMULATOR.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
    after = state()
    for what, told in reports:
        assert what is OSError, what
        assert re.search(text, told), told
    where = f"{walk.__name__} k={k} {failed} {reports}"
    assert after["current"] == before["current"], f"{where}: another context is current"
    assert len(reports) <= 1, f"{where}: reported more than once"
    if not reports or "the current context" in reports[0][1]:
        assert after == before, f"{where}: lost: {before} {after}"
    elif "device memory" in reports[0][1]:
        assert after["device"] == before["device"] + 1, f"{where}: {before} {after}"
    elif "pinned" in reports[0][1]:
        assert after["host"] == before["host"] + 1, f"{where}: {before} {after}"
    REPORTS.clear()
    walk()
    assert not REPORTS, f"{where}: {REPORTS} without a fault"
    again = state()
    assert again == after, f"{where}: the retry lost: {after} {again}"
    return failed is not None or bool(reports) or made >= k


def main(spec, text):
    sys.unraisablehook = lambda told: REPORTS.append((told.exc_type, str(told.exc_value)))
    for number in range(2):
        cuda.Context(number)
    for walk in WALKS:
        walk()
    # What is there already is not garbage, and takes long to walk over each time.
    gc.collect()
    gc.freeze()
    failures = []
    for walk in WALKS:
        k = 1
        while True:
            print(walk.__name__, "call", k, flush=True)
            try:
                if not one_pass(walk, k, spec, text):
                    break
            except Exception as error:  # every other call is still worth a try
                failures.append(f"{walk.__name__}, call {k}: {type(error).__name__}: {error}")
                REPORTS.clear()
            k += 1
            assert k < 1000, "a walk without an end, after\n" + "\n".join(failures[:3])
        assert k > 3, f"{walk.__name__} makes {k} calls"
    print("\n".join(failures) or "done")


if __name__ == "__main__":
    main(*sys.argv[1:])
