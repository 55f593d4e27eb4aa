"""Released memory in processes that begin, fork, run out of memory, are reset and end."""

from pathlib import Path

import pytest

#: The functions of each cache that the scripts below use.
CACHES = {
    "device": """
import pyarrow_cuda_compat as compat
ctx = compat.Context(0)
allocate = lambda size: ctx.new_buffer(size)
stats = lambda: compat.memory_stats(ctx)
empty = lambda: compat.empty_cache(ctx)
set_limit = lambda limit: compat.set_cache_limit(limit, ctx)
""",
    "pinned": """
import pyarrow_cuda_compat as compat
ctx = compat.Context(0)
allocate = compat.new_host_buffer
stats = compat.pinned_memory_stats
empty = compat.empty_pinned_cache
set_limit = compat.set_pinned_cache_limit
""",
}
VARIABLES = {"device": "PYARROW_CUDA_CACHE", "pinned": "PYARROW_CUDA_PINNED_CACHE"}


@pytest.fixture(params=CACHES)
def kind(request):
    return request.param


@pytest.fixture
def run(run_python, kind):
    """Runs a script on one of the caches."""

    def run(script, **environment):
        return run_python(CACHES[kind] + script, **environment)

    return run


def test_what_is_in_use_and_cached_is_counted(run, kind):
    """A buffer of about the size of a released one gets its memory, of which there is more."""
    first, near = (3, 4) if kind == "device" else (17, 18)
    script = f"""
def look():
    now = {{name: count - before[name] for name, count in stats().items()}}
    sizes = (now[f"{{name}}_bytes"] >> 20 for name in ("allocated", "reserved", "cached"))
    names = "cached_blocks", "cache_hits", "cache_misses", "driver_allocations", "driver_frees"
    print(*sizes, *(now[name] for name in names))
set_limit(1 << 30)
before = stats()
assert list(before) == list(compat.memory_stats(ctx))
buffer = allocate({first} << 20)
look()
at = buffer.address
del buffer
look()
buffer = allocate({near} << 20)
assert buffer.address == at
look()
del buffer
print(stats()["peak_allocated_bytes"] >> 20, empty() >> 20, empty())
look()
"""
    told = f"""\
{first} {near} 0 0 0 1 1 0
0 {near} {near} 1 0 1 1 0
{near} {near} 0 0 1 1 1 0
{near} {near} 0
0 0 0 0 1 1 1 1
"""
    assert run(script) == (0, told, "")


def test_what_was_released_longest_ago_goes_first(run, kind):
    # Small pinned buffers are parts of larger blocks.
    limit, oldest, middle, latest = (20, 4, 10, 8) if kind == "device" else (72, 24, 36, 30)
    script = f"""
MIB = 1 << 20
cached = lambda: stats()["cached_bytes"] // MIB
set_limit({limit} * MIB)
oldest, middle, latest = (allocate(size * MIB) for size in {(oldest, middle, latest)})
del oldest, middle
print(cached(), end=" ")
del latest
print(cached(), end=" ")
# A buffer larger than the limit displaces no other.
large = allocate({limit + 8} * MIB)
del large
print(cached(), end=" ")
set_limit({latest} * MIB)
print(cached(), end=" ")
set_limit(0)
print(cached())
"""
    kept = middle + latest
    assert run(script) == (0, f"{oldest + middle} {kept} {kept} {latest} 0\n", "")


@pytest.mark.simulator
def test_an_older_driver_frees_what_exceeds_the_limit(run, kind):
    """Nothing else tells when memory that others have seen may be reused."""
    script = """
for _ in range(10):
    allocate(32 << 20).address
print(stats()["reserved_bytes"] >> 20)"""
    settings = {"CUDA_SIM_FAULT": "cuCtxRecordEvent:1+=500", VARIABLES[kind]: "64M"}
    assert run(script, **settings) == (0, "64\n", "")


@pytest.mark.simulator
@pytest.mark.parametrize("code", [500, 900])
def test_without_evidence_nothing_is_reused_that_others_have_seen(run, kind, code):
    """Older drivers have no events for whole contexts, and a capture allows none."""
    script = """
for _ in range(3):
    allocate(32 << 20)
print(stats()["cache_hits"])
for _ in range(3):
    allocate(32 << 20).address
print(stats()["cache_hits"], stats()["cached_blocks"])"""
    # Others may always have seen pinned memory.
    hits = "2\n3 3\n" if kind == "device" else "0\n0 6\n"
    assert run(script, CUDA_SIM_FAULT=f"cuCtxRecordEvent:1+={code}") == (0, hits, "")


@pytest.mark.simulator
def test_another_device_that_fails_only_costs_the_reuse(run_python):
    code = """if True:
        import pyarrow_cuda_compat as compat
        from support.driver import the_driver
        compat.new_host_buffer(32 << 20)
        the_driver().library.cuda_sim_fault(b"cuDevicePrimaryCtxGetState:1+=999")
        compat.new_host_buffer(32 << 20)
        stats = compat.pinned_memory_stats()
        print(stats["cache_hits"], stats["cached_blocks"])"""
    assert run_python(code, CUDA_SIM_DEVICES="2") == (0, "0 2\n", "")


SCRIPT = """
for size in (100, 4 << 20):
    allocate(size)
print(stats()["cache_limit"], stats()["cached_blocks"], stats()["driver_frees"])
"""


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("0", "0 0 2"),
        ("off", "0 0 2"),
        ("OFF", "0 0 2"),
        ("4194304", "4194304 1 1"),
        ("1g", "1073741824 2 0"),
    ],
)
def test_the_environment_decides(run, kind, value, told):
    assert run(SCRIPT, **{VARIABLES[kind]: value}) == (0, f"{told}\n", "")


@pytest.mark.simulator
@pytest.mark.parametrize("value", [None, ""])
def test_else_the_machine_decides(run, kind, value):
    lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    total = next(int(line.split()[1]) for line in lines if line.startswith("MemTotal:"))
    limit = min(1 << 30, total * 1024 // 16) if kind == "pinned" else 1 << 30
    assert run(SCRIPT, **{VARIABLES[kind]: value}) == (0, f"{limit} 2 0\n", "")


def test_an_environment_that_is_not_understood(run, kind):
    code, out, err = run(SCRIPT, **{VARIABLES[kind]: "plenty"})
    assert (code, out) == (0, "0 0 2\n")
    nothing = "nothing" if kind == "device" else "no pinned memory"
    assert err == (
        f"{VARIABLES[kind]} must be a number of bytes, such as 1000000 or 512M, or 'off' for none, "
        f"not 'plenty'; {nothing} is cached\n"
    )


PEAKS = """
import pyarrow_cuda_compat as compat
from support.threads import in_threads
ctx = compat.Context(0)
def work(number):
    for turn in range(1500):
        try: ctx.new_buffer((turn * 7 + number) % 40 + 1 << 20)
        except OSError as error: assert "OUT_OF_MEMORY" in str(error), error
in_threads(work, 6)
stats = compat.memory_stats(ctx)
print([stats[f"peak_{name}_bytes"] > 64 << 20 for name in ("reserved", "allocated")])
compat.empty_cache(ctx)
print(compat.memory_stats(ctx)["reserved_bytes"])
"""


@pytest.mark.simulator
@pytest.mark.parametrize("cache", ["1G", "0"])
def test_no_peak_exceeds_the_device(run_python, cache):
    ran = run_python(PEAKS, CUDA_SIM_MEMORY="64M", PYARROW_CUDA_CACHE=cache)
    assert ran == (0, "[False, False]\n0\n", "")


CROWD = """
import pyarrow_cuda_compat as compat
from support.driver import the_driver
from support.threads import in_threads
from support.work import Queue
ctx, driver = compat.Context(0), the_driver()
failures = []
def work(number):
    driver.set_current(ctx.handle)
    queue = Queue(driver)
    for turn in range(150):
        try: buffer = ctx.new_buffer((turn * (7 + number) + number) % 13 + 1 << 20)
        except OSError as error:
            failures.append(error)
            continue
        queue.fill(buffer, 1)  # whoever gives memory back to the driver waits for this
        del buffer
in_threads(work, 4)
print(len(failures), compat.memory_stats(ctx)["out_of_memory_retries"] > 0)
"""


@pytest.mark.simulator
def test_threads_wait_for_what_others_give_back(run_python):
    """At most 56 MiB are in use at a time, and all the rest is cached."""
    settings = {"CUDA_SIM_MEMORY": "64M", "CUDA_SIM_LATENCY": "2000", "PYARROW_CUDA_CACHE": "1G"}
    assert run_python(CROWD, **settings) == (0, "0 True\n", "")


@pytest.mark.parametrize("value", ["on", "off", "?"])
def test_new_memory_is_zeroed_where_that_is_asked_for(run_python, value):
    code = """
from pyarrow import cuda
import numpy as np, pyarrow as pa
from pyarrow_cuda_compat import pinned_memory_pool
ctx = cuda.Context()
for size in (1000, 5 << 20, 40 << 20):
    ctx.buffer_from_data(np.full(size, 7, np.uint8))
    print(max(ctx.new_buffer(size).to_pybytes()), end=" ")
ctx.buffers_from_data([b"abc", b"def"])
pinned = cuda.new_host_buffer(32 << 20)
np.frombuffer(pinned, np.uint8)[:] = 7
del pinned
print(np.frombuffer(cuda.new_host_buffer(32 << 20), np.uint8).max(), end=" ")
def allocate(size): return pa.allocate_buffer(size, pinned_memory_pool(), resizable=True)
buffer = allocate(128)
ctx.foreign_buffer(buffer.address, 128, buffer).fill(7)
buffer.resize(64, shrink_to_fit=True)
buffer.resize(128)  # grows by bytes that it had
print(max(buffer.to_pybytes()[64:]))
"""
    returncode, out, error = run_python(code, PYARROW_CUDA_ZERO=value)
    assert (returncode, out) == (0, "7 7 7 7 7\n" if value == "off" else "0 0 0 0 0\n")
    told = "PYARROW_CUDA_ZERO must be 'on' or 'off', not '?'; new memory is zeroed\n"
    assert error == (told if value == "?" else "")
