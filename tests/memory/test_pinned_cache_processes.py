"""Released pinned memory in processes that begin, fork, are reset and end."""

from pathlib import Path

import pytest

SCRIPT = """
import pyarrow_cuda_compat as compat
for size in (100, 4 << 20):
    compat.new_host_buffer(size)
stats = compat.pinned_memory_stats()
print(stats["cache_limit"], stats["cached_blocks"], stats["driver_frees"])
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
def test_the_environment_decides(run_python, value, told):
    assert run_python(SCRIPT, PYARROW_CUDA_PINNED_CACHE=value) == (0, f"{told}\n", "")


@pytest.mark.parametrize("value", [None, ""])
def test_else_the_machine_decides(run_python, value):
    lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    total = next(int(line.split()[1]) for line in lines if line.startswith("MemTotal:"))
    limit = min(1 << 30, total * 1024 // 16)
    told = (0, f"{limit} 2 0\n", "")
    assert run_python(SCRIPT, PYARROW_CUDA_PINNED_CACHE=value) == told


def test_an_environment_that_is_not_understood(run_python):
    code, out, err = run_python(SCRIPT, PYARROW_CUDA_PINNED_CACHE="plenty")
    assert (code, out) == (0, "0 0 2\n")
    assert err == (
        "PYARROW_CUDA_PINNED_CACHE must be a number of bytes, such as 1000000 or 512M, or 'off' "
        "for none, not 'plenty'; no pinned memory is cached\n"
    )


@pytest.mark.simulator
def test_an_older_driver_reuses_nothing_that_others_may_use(run_python):
    """One that has no events for whole contexts."""
    code = """if True:
        import pyarrow_cuda_compat as compat
        for _ in range(5):
            compat.new_host_buffer(32 << 20)
        print(compat.pinned_memory_stats()["cache_hits"])"""
    assert run_python(code, CUDA_SIM_FAULT="cuCtxRecordEvent:1+=500") == (0, "0\n", "")


@pytest.mark.simulator
def test_streams_that_are_captured_are_no_evidence(run_python):
    code = """if True:
        import pyarrow_cuda_compat as compat
        for _ in range(3):
            compat.new_host_buffer(32 << 20)
        stats = compat.pinned_memory_stats()
        print(stats["cache_hits"], stats["cached_blocks"])"""
    assert run_python(code, CUDA_SIM_FAULT="cuCtxRecordEvent:1+=900") == (0, "0 3\n", "")


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


FORK = """
import os, threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks with threads
import pyarrow_cuda_compat as compat
ctx = compat.Context(0)
held = compat.new_host_buffer(1000)
address = held.address
stop = False
def work():
    while not stop:
        compat.new_host_buffer(1000).address
        compat.new_host_buffer(3 << 20)
        compat.empty_pinned_cache()
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for _ in range(20):
    pid = os.fork()
    if pid == 0:
        for use in (compat.pinned_memory_stats, compat.empty_pinned_cache,
                    lambda: compat.set_pinned_cache_limit(1), lambda: compat.new_host_buffer(1),
                    lambda: ctx.foreign_buffer(address, 1)):
            try: use()
            except OSError as error: assert "Cuda error 3" in str(error), error
            else: os._exit(7)
        del held
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert status == 0, status
stop = True
for thread in threads: thread.join()
print("done")
"""


def test_forks_while_threads_allocate(run_python):
    assert run_python(FORK) == (0, "done\n", "")


RESET = """
import ctypes, re
import pyarrow_cuda_compat as compat
ctx = compat.Context(0)
driver = ctypes.CDLL(re.search(r"/\\S*libcuda(_sim)?\\.so\\S*", open("/proc/self/maps").read())[0])
old = [compat.new_host_buffer(32 << 20) for _ in range(6)]
address = old[0].address
del old[:3]
names = ("cached_blocks", "reserved_bytes", "driver_frees")
stats = lambda: [compat.pinned_memory_stats()[name] for name in names]
print(stats())
assert driver.cuDevicePrimaryCtxReset_v2(0) == 0
del old[:1]
ctx = compat.Context(0)
print(stats())
new = [compat.new_host_buffer(32 << 20) for _ in range(8)]
del old
print(stats())
print(all(ctx.get_device_address(buffer.address) == buffer.address for buffer in new))
del new
print(compat.empty_pinned_cache() == 256 << 20, stats())
"""


def test_a_reset_takes_what_is_cached(run_python):
    code, out, err = run_python(RESET)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"[3, {192 << 20}, 0]",
        "[0, 0, 0]",
        f"[0, {256 << 20}, 0]",
        "True",
        "True [0, 0, 8]",
    ]


EXIT = """
import atexit, threading
import pyarrow_cuda_compat as compat
held = [compat.new_host_buffer(size) for size in (1, 1 << 20, 8 << 20)]
del held[1]
class Late:
    def __init__(self): self.buffer = compat.new_host_buffer(100)
late = Late(); late.cycle = late
threading.Thread(target=lambda kept: threading.Event().wait(), args=(held,), daemon=True).start()
atexit.register(lambda: compat.new_host_buffer(1 << 20))
print("done")
"""


def test_interpreters_end_with_full_caches(run_python):
    assert run_python(EXIT) == (0, "done\n", "")
