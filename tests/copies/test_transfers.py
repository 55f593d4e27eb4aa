"""Large copies of ordinary memory, which threads of this package make through pinned memory.

Each test runs a process of its own: the limits are the process's.
"""

import pytest

PREPARED = """
import ctypes, os, sys
from pathlib import Path
import numpy as np
import pyarrow as pa
from pyarrow import cuda
ctx = cuda.Context()
rng = np.random.default_rng(26)
host = rng.integers(0, 256, 5_000_001, np.uint8)
"""


def check(run_python, code, threads=3, **env):
    env |= {"PYARROW_CUDA_COPY_THREADS": str(threads)}
    assert run_python(PREPARED + code + "\nprint('done')", **env) == (0, "done\n", "")


WAYS = """
buf = ctx.buffer_from_data(host)
assert buf.to_pybytes() == host.tobytes()
assert (np.frombuffer(buf.copy_to_host(), np.uint8) == host).all()
out = pa.allocate_buffer(4_000_000)
buf.copy_to_host(position=77, nbytes=3_999_999, buf=out)
assert (np.frombuffer(out, np.uint8)[:3_999_999] == host[77:4_000_076]).all()
guarded = ctx.buffer_from_data(bytes(len(host) + 200))
assert guarded.copy_from_host(host, position=100) == len(host)
whole = np.frombuffer(guarded.copy_to_host(), np.uint8)
assert not whole[:100].any() and not whole[-100:].any() and (whole[100:-100] == host).all()
assert cuda.BufferReader(buf).read() == host.tobytes()
written = ctx.new_buffer(len(host))
cuda.BufferWriter(written).write(host)
assert written.equals(buf)
words = pa.array([str(number) for number in range(256)]).take(pa.array(host))
batch = pa.record_batch({"x": host.astype(np.int64), "y": words})
there = cuda.read_record_batch(cuda.serialize_record_batch(batch, ctx), batch.schema)
assert there.copy_to(pa.default_cpu_memory_manager()).equals(batch)
assert batch.copy_to(ctx.memory_manager).copy_to(pa.default_cpu_memory_manager()).equals(batch)
"""


@pytest.mark.parametrize(
    "limits", [{"threads": 1}, {"threads": 3}, {"PYARROW_CUDA_COPY_PINNED": "300000"}], ids=repr
)
def test_every_way_of_copying(run_python, limits):
    check(run_python, WAYS, **limits)


def test_values_that_are_not_numbers_are_reported_once(run_python):
    env = {"PYARROW_CUDA_COPY_THREADS": "many", "PYARROW_CUDA_COPY_PINNED": "-1"}
    code, out, err = run_python(PREPARED + WAYS + "print('done')", **env)
    assert (code, out) == (0, "done\n")
    assert err.splitlines() == [
        "PYARROW_CUDA_COPY_THREADS must be a number of threads, such as 8 or 0, not 'many'; "
        "the machine's cores decide",
        "PYARROW_CUDA_COPY_PINNED must be a number of bytes, such as 33554432, not '-1'; "
        "the number of threads decides",
    ]


@pytest.mark.simulator
def test_without_pinned_memory_the_driver_copies(run_python):
    check(run_python, WAYS, CUDA_SIM_FAULT="cuMemHostRegister_v2:1+=2")


def test_without_threads_the_driver_copies(run_python):
    code = """
import faulthandler
faulthandler.dump_traceback_later(60, exit=True)
buf = ctx.buffer_from_data(bytes(100))  # from here on the simulator has the threads it needs
os.environ["RUST_MIN_STACK"] = str(1 << 60)
"""
    check(run_python, HELPERS + code + WAYS + "assert helpers() == 0")


HELPERS = """
import time
def helpers():
    names = (path.read_text() for path in Path("/proc/self/task").glob("*/comm"))
    return sum(name.startswith("cuda-copy") for name in names)
"""


def test_limits_that_a_program_sets(run_python):
    code = """
from pyarrow_cuda_compat import set_transfer_limits, transfer_limits
of_the_environment = transfer_limits()
assert (of_the_environment["threads"], of_the_environment["pinned_bytes"]) == (3, 2_000_000)
set_transfer_limits(threads=2, pinned_bytes=1 << 20, begin_after=3 << 20)
assert transfer_limits() == {"threads": 2, "pinned_bytes": 1 << 20, "begin_after": 3 << 20}
# The driver copies as many bytes first.
buf = ctx.buffer_from_data(host[:2_000_000])
assert helpers() == 0
buf = ctx.buffer_from_data(host)
while helpers() < 2: time.sleep(0.001)  # a thread names itself once it runs
assert buf.to_pybytes() == host.tobytes()
# Too little pinned memory, and no threads: the driver copies.
for limits in {"threads": 2, "pinned_bytes": 1000}, {"threads": 0}:
    set_transfer_limits(**limits)
    assert buf.to_pybytes() == host.tobytes()
assert transfer_limits()["threads"] == 0
"""
    check(run_python, HELPERS + code, PYARROW_CUDA_COPY_PINNED="2000000")


@pytest.mark.simulator
def test_a_reset_of_the_device_takes_its_threads(run_python):
    code = """
sim = ctypes.CDLL(re.search(r"/\\S*libcuda_sim\\.so", open("/proc/self/maps").read())[0])
for _ in range(4):
    buf = cuda.Context(0).buffer_from_data(host)
    assert buf.to_pybytes() == host.tobytes()
    sim.cuDevicePrimaryCtxReset_v2(0)
    try: buf.to_pybytes()
    except OSError: pass
    else: raise AssertionError("the memory is gone")
time.sleep(0.2)
assert helpers() <= 6, helpers()
"""
    check(run_python, HELPERS + "import re\n" + code)
