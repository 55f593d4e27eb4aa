"""Who keeps memory alive, for how long, and what is counted."""

import gc
import os
import random
import sys
import weakref

import pyarrow as pa
import pytest

from pyarrow_cuda_compat import empty_cache, empty_pinned_cache

ALLOCATIONS = int(os.environ.get("PYARROW_CUDA_TEST_ALLOCATIONS", "100000"))


BATCH = pa.record_batch({"i": [1, 2, 3], "s": ["a", "bc", None]})


class Owner:
    """Of the memory of foreign buffers."""


@pytest.fixture
def buffer(cuda, ctx):
    """A message of a batch."""
    return cuda.serialize_record_batch(BATCH, ctx)


def read_batch(cuda, buffer):
    return cuda.read_record_batch(buffer, BATCH.schema)


HOLDERS = {
    "slice": lambda cuda, buffer: buffer.slice(8, 8),
    "slice of a slice": lambda cuda, buffer: buffer[4:][4:],
    "generic slice": lambda cuda, buffer: pa.Buffer.slice(buffer, 8, 8),
    "from_buffer": lambda cuda, buffer: cuda.CudaBuffer.from_buffer(pa.Buffer.slice(buffer, 8)),
    "parent": lambda cuda, buffer: buffer.slice(8, 8).parent,
    "reader": lambda cuda, buffer: cuda.BufferReader(buffer),
    "writer": lambda cuda, buffer: cuda.BufferWriter(buffer),
    "read_buffer": lambda cuda, buffer: cuda.BufferReader(buffer).read_buffer(8),
    "stream": lambda cuda, buffer: cuda.BufferReader(buffer).get_stream(0, 8),
    "message": lambda cuda, buffer: cuda.read_message(buffer),
    "message body": lambda cuda, buffer: cuda.read_message(buffer).body,
    "batch": read_batch,
    "array": lambda cuda, buffer: read_batch(cuda, buffer).column(0),
    "array's buffer": lambda cuda, buffer: read_batch(cuda, buffer).column(1).buffers()[2],
    "array from buffers": lambda cuda, buffer: pa.Array.from_buffers(
        pa.int8(), 8, [None, buffer.slice(8)]
    ),
    "object view": lambda cuda, buffer: cuda.Context(0).buffer_from_object(buffer.slice(1)),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_whatever_uses_foreign_memory_keeps_its_base(cuda, ctx, buffer, holder):
    released, owner = [], Owner()
    weakref.finalize(owner, released.append, "once")
    references = sys.getrefcount(buffer)
    foreign = ctx.foreign_buffer(buffer.address, buffer.size, base=owner)
    del owner
    held = HOLDERS[holder](cuda, foreign)
    del foreign
    gc.collect()
    assert released == []
    assert buffer.to_pybytes()  # the memory is there
    del held
    assert released == ["once"]
    gc.collect()
    assert released == ["once"]
    assert sys.getrefcount(buffer) == references


def test_the_base_is_referenced_once_for_all_parts(ctx, buffer):
    owner = Owner()
    before = sys.getrefcount(owner)
    foreign = ctx.foreign_buffer(buffer.address, buffer.size, base=owner)
    parts = [foreign.slice(index) for index in range(10)]
    assert sys.getrefcount(owner) == before + 1
    del foreign
    parts.reverse()
    while parts:
        assert sys.getrefcount(owner) == before + 1
        parts.pop()
    assert sys.getrefcount(owner) == before


def test_a_refused_foreign_buffer_lets_its_base_go(ctx, buffer):
    owner = Owner()
    before = sys.getrefcount(owner)
    for address, size in ((1, 10), (buffer.address, 2**50), (buffer.address, -1), (0, 0)):
        try:
            ctx.foreign_buffer(address, size, base=owner)
        except (OSError, ValueError):
            assert (address, size) != (0, 0)
        assert sys.getrefcount(owner) == before


CHAINS = {
    "slices": "buffer = buffer.slice(0)",
    "subscripts": "buffer = buffer[0:]",
    "views": "buffer = cuda.CudaBuffer.from_buffer(pa.Buffer.slice(buffer, 0))",
    "readers": "buffer = cuda.BufferReader(buffer).read_buffer()",
    "bases": "buffer = ctx.foreign_buffer(buffer.address, 10, base=buffer)",
    "pinned slices": "pinned = pinned.slice(0)",
    "pinned subscripts": "pinned = pinned[0:]",
    "views of pinned slices": "buffer = ctx.buffer_from_object(pinned := pinned.slice(0))",
}


@pytest.mark.parametrize("chain", CHAINS)
def test_long_chains_of_owners_are_released(chain, run_python):
    """As where a loop cuts what it has read off a buffer: `rest = rest[size:]`."""
    code = f"""
import threading
import pyarrow as pa
from pyarrow import cuda
from support.threads import in_thread
ctx = cuda.Context(0)
def work():
    buffer = ctx.buffer_from_data(b"0123456789")
    pinned = buffer.copy_to_host(buf=cuda.new_host_buffer(10))
    for _ in range(50_000):
        {CHAINS[chain]}
    print(buffer.to_pybytes(), pinned.to_pybytes(), flush=True)
    del buffer, pinned
    print(ctx.bytes_allocated)
threading.stack_size(256 << 10)  # a frame for each owner would not fit
in_thread(work)
"""
    assert run_python(code) == (0, "b'0123456789' b'0123456789'\n0\n", "")


@pytest.mark.alone
def test_many_allocations(ctx, allocated, driver, current):
    """Memory stays bounded: at any time little more than what is alive is taken."""
    random_sizes = random.Random(26)
    alive = []
    ctx.new_buffer(1)
    free_before, _ = driver.memory_info()
    for index in range(ALLOCATIONS):
        if len(alive) == 16:
            alive[random_sizes.randrange(16)] = None
            alive = [buffer for buffer in alive if buffer is not None]
        alive.append(ctx.new_buffer(random_sizes.choice((0, 1, 100, 4096, 70000, 1 << 20))))
        if index % 5000 == 0:
            assert allocated() == sum(buffer.size for buffer in alive)
            assert free_before - driver.memory_info()[0] <= 256 << 20
    alive.clear()
    assert allocated() == 0
    assert free_before - driver.memory_info()[0] <= 256 << 20


RETAINS = """
from support.driver import the_driver
from pyarrow import cuda
retains = the_driver().library.cuda_sim_primary_retains
contexts = [cuda.Context(device) for device in range(2)]
buffers = [context.new_buffer(8) for context in contexts]
for buffer in buffers:
    for _ in range(10_000):
        assert buffer.context.handle
for device in [0, 1] * 100:
    cuda.Context(device)
    cuda.new_host_buffer(1, device)
print([retains(device) for device in range(2)])
"""


@pytest.mark.simulator
def test_contexts_retain_the_primary_context_once(run_python):
    assert run_python(RETAINS, CUDA_SIM_DEVICES="2") == (0, "[1, 1]\n", "")


@pytest.mark.simulator
def test_nothing_of_the_driver_is_left(cuda, ctx, driver):
    gc.collect()
    live = driver.library.cuda_sim_live_allocations
    hosts = driver.library.cuda_sim_live_host_allocations
    warm = ctx.new_buffer(8)
    assert warm.equals(ctx.buffer_from_data(warm))  # compiles what stays
    del warm
    empty_cache(ctx), empty_pinned_cache()
    before = live(), hosts()
    buffers = [ctx.new_buffer(size) for size in (0, 1, 1 << 20, 3 << 20)]
    pinned = [cuda.new_host_buffer(size) for size in (0, 1, 32 << 20)]
    assert (live(), hosts()) == (before[0] + 3, before[1] + 2)
    del buffers, pinned
    empty_cache(ctx), empty_pinned_cache()
    assert (live(), hosts()) == before


RESET = """
from pyarrow import cuda
from support.driver import the_driver
ctx = cuda.Context(0)
old = [ctx.buffer_from_data(b"gone" * 1000) for _ in range(8)]
assert old[0].equals(old[1])
the_driver().call("cuDevicePrimaryCtxReset_v2", 0)
try: old[0].to_pybytes()
except OSError as error: print(type(error).__name__)
ctx = cuda.Context(0)
new = [ctx.buffer_from_data(b"here" * 1000) for _ in range(8)]
try: old[0].equals(old[1])
except OSError as error: print(error)
del old
more = [ctx.buffer_from_data(b"more" * 1000) for _ in range(8)]
print(all(buf.to_pybytes() == b"here" * 1000 for buf in new), ctx.bytes_allocated)
del new, more
print(ctx.bytes_allocated)
"""


def test_a_device_that_somebody_resets(run_python):
    """What was there is gone, and what comes after it is not freed in its place."""
    code, out, err = run_python(RESET)
    failure, of_kernel, *rest = out.splitlines()
    assert (code, err, failure, rest) == (0, "", "OSError", ["True 64000", "0"])
    assert of_kernel.startswith("Cuda error 201 "), of_kernel
