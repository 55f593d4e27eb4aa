"""The pool of pinned memory: pyarrow allocates from it, and copies to a device are direct."""

import gc
import io
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from pyarrow_cuda_compat import PinnedMemoryPool, pinned_memory_pool, pinned_memory_stats
from support.samples import chunks_of
from support.threads import in_threads

MIB = 1 << 20
WORDS = ["", "word", None, "a longer one, of many letters"]
TABLE = pa.table(
    {
        "number": np.arange(300_000),
        "word": pa.array(WORDS).take(pa.array(np.arange(300_000) % len(WORDS))),
    }
)


@pytest.fixture
def pool(ctx):
    pool = pinned_memory_pool(ctx)
    before = pool.bytes_allocated()
    yield pool
    gc.collect()
    # Python objects that pyarrow reads from are released by its threads, a little later.
    assert pool.bytes_allocated() <= before
    pool.release_unused()


@pytest.fixture
def default(pool):
    """The pool, as pyarrow's default one."""
    before = pa.default_memory_pool()
    pa.set_memory_pool(pool)
    yield pool
    pa.set_memory_pool(before)


def array_in(pool, values):
    """An array in new memory of the pool: `pyarrow.array` uses NumPy's own."""
    return pc.add(pa.array(values), 0, memory_pool=pool)


def is_pinned(ctx, array):
    """Whether the device reaches all bytes of all buffers."""
    ends = [
        address
        for buffer in array.buffers()
        if buffer is not None and buffer.size
        for address in (buffer.address, buffer.address + buffer.size - 1)
    ]
    return bool(ends) and [ctx.get_device_address(address) for address in ends] == ends


def test_it_is_a_pool_of_pyarrow(pool, ctx):
    counted = pool.num_allocations(), pool.total_bytes_allocated()
    array = pa.array([1, 2, None], memory_pool=pool)
    assert is_pinned(ctx, array)
    assert array.to_pylist() == [1, 2, None]
    assert pool.bytes_allocated() == 2 * 64, "Arrow pads its buffers"
    assert pool.max_memory() >= pool.bytes_allocated()
    assert pool.num_allocations() > counted[0]
    assert pool.total_bytes_allocated() >= counted[1] + pool.bytes_allocated()
    assert f"bytes_allocated={pool.bytes_allocated()}" in repr(pool)


def test_other_devices_have_their_own(pool, other_ctx, ctx):
    other = pinned_memory_pool(other_ctx)
    array = pa.array([1, 2], memory_pool=other)
    assert (pool.bytes_allocated(), other.bytes_allocated() > 0) == (0, True)
    assert is_pinned(ctx, array)
    assert is_pinned(other_ctx, array), "every device reaches it"


def test_arrays_of_some_bytes_share_a_block(pool):
    first = pa.array([0, None], memory_pool=pool)
    before = pinned_memory_stats()["driver_allocations"]
    arrays = [first, *(pa.array([number, None], memory_pool=pool) for number in range(1000))]
    assert pinned_memory_stats()["driver_allocations"] == before
    del arrays


def test_it_can_be_wrapped(pool, ctx):
    proxy = pa.proxy_memory_pool(pool)
    array = pa.array([b"wrapped"], memory_pool=proxy)
    assert is_pinned(ctx, array)
    assert proxy.bytes_allocated() == pool.bytes_allocated() > 0
    assert pa.logging_memory_pool(pool).backend_name == "pinned"
    del array


#: The beginning of programs in processes of their own.
START = """
import io, os, sys, threading, warnings
import numpy as np, pyarrow as pa, pyarrow.compute as pc, pyarrow.csv as csv
import pyarrow_cuda_compat as compat
from support.driver import the_driver
from support.work import Queue
warnings.simplefilter("ignore")
ctx, driver = compat.Context(0), the_driver()
pool = compat.pinned_memory_pool(ctx)
"""


@pytest.fixture
def run(run_python):
    return lambda code, *arguments, **options: run_python(START + code, *arguments, **options)


def test_statistics_are_printed(run):
    code = """
buffer = pa.allocate_buffer(100, memory_pool=pool)
pool.print_stats()
"""
    said = "Pinned memory: 128 bytes allocated, 128 at most; 1 allocations\n"
    assert run(code) == (0, "", said)


def of_parquet(pool):
    written = io.BytesIO()
    pq.write_table(TABLE, written)
    return pq.read_table(pa.BufferReader(written.getvalue()))


def of_dataset(pool):
    return ds.dataset(TABLE).to_table(filter=ds.field("number") >= 0, memory_pool=pool)


def of_csv(pool):
    written = io.BytesIO()
    csv.write_csv(TABLE, written)
    options = csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
    return csv.read_csv(io.BytesIO(written.getvalue()), convert_options=options, memory_pool=pool)


def of_ipc(pool):
    with tempfile.NamedTemporaryFile() as file:
        with pa.ipc.new_file(file.name, TABLE.schema) as writer:
            writer.write_table(TABLE)
        with pa.OSFile(file.name) as source:
            return pa.ipc.open_file(source, memory_pool=pool).read_all()


@pytest.mark.parametrize("read", [of_parquet, of_dataset, of_csv, of_ipc])
def test_readers_decode_into_it(read, default, ctx):
    table = read(default)
    assert table.equals(TABLE)
    if read is not of_dataset:  # which passes the table's own buffers on
        assert all(is_pinned(ctx, chunk) for chunk in chunks_of(table))
    there = table.copy_to(ctx.memory_manager)
    assert there.copy_to(pa.default_cpu_memory_manager()).equals(TABLE)
    del table, there


DIRECT = """
ask = driver.library.cuda_sim_call_count
names = b"cuMemcpyHtoD_v2", b"cuMemcpyHtoDAsync_v2", b"cuMemHostRegister_v2"
def calls(data):
    before = [ask(name) for name in names]
    assert ctx.buffer_from_data(data).size == len(data)
    return [ask(name) - was for name, was in zip(names, before)]
compat.set_transfer_limits(threads=3, begin_after=0)
plain = pa.py_buffer(bytes(9 << 20))
pinned = pa.allocate_buffer(9 << 20, memory_pool=pool)
np.frombuffer(pinned, np.uint8)[:] = 0
# How many threads help depends on what else the machine does.
print(max(sum(calls(plain)[:2]) for _ in range(30)) > 1, sorted(calls(pinned)))
"""


@pytest.mark.simulator
def test_copies_from_it_are_direct(run):
    """Neither threads nor pinned memory between: one call of the driver for the whole copy."""
    assert run(DIRECT) == (0, "True [0, 0, 1]\n", "")


# Under compute-sanitizer a copy blocks.
@pytest.mark.unwatched
def test_copies_on_streams_are_queued(pool, ctx, stream, queue):
    expected = list(range(100_000))
    array = array_in(pool, np.arange(100_000))
    let_go = queue.hold()
    there = array.copy_to(ctx.memory_manager, stream=stream)
    assert not stream.query()
    del array  # the copy retains its memory
    other = array_in(pool, np.zeros(100_000, np.int64))
    let_go()
    stream.synchronize()
    assert there.copy_to(pa.default_cpu_memory_manager()).to_pylist() == expected
    del other


def test_buffers_grow_and_shrink(pool, ctx):
    buffer = pa.allocate_buffer(0, memory_pool=pool, resizable=True)
    assert (buffer.size, pool.bytes_allocated()) == (0, 0)
    content = b""
    for size in (1, 64, 1000, 300_000, 6 * MIB, 40 * MIB, 35 * MIB, 5 * MIB, 3, 0, 7, 0):
        kept = min(size, len(content))
        buffer.resize(size, shrink_to_fit=True)
        assert buffer.to_pybytes()[:kept] == content[:kept]
        np.frombuffer(buffer, np.uint8)[:] = size % 251
        content = buffer.to_pybytes()
        assert pool.bytes_allocated() >= size
    assert pool.bytes_allocated() == 0


def test_what_does_not_fit_is_a_memory_error(pool):
    for size in (1 << 50, (1 << 63) - 1, (1 << 63) - 64):
        with pytest.raises((pa.ArrowMemoryError, pa.ArrowCapacityError, pa.ArrowInvalid)):
            pa.allocate_buffer(size, memory_pool=pool)
    with pytest.raises(MemoryError, match=r"malloc of size 1125899906842624 failed: .*error 2 "):
        pa.allocate_buffer(1 << 50, memory_pool=pool)
    kept = pa.allocate_buffer(100, memory_pool=pool, resizable=True)
    np.frombuffer(kept, np.uint8)[:] = 5
    with pytest.raises(MemoryError, match="realloc of size 1125899906842624 failed"):
        kept.resize(1 << 50)
    assert kept.to_pybytes() == b"\5" * 100
    with pytest.raises(pa.ArrowInvalid, match="Negative"):
        pa.allocate_buffer(-1, memory_pool=pool)


def test_what_is_not_a_pool():
    with pytest.raises(TypeError, match="use `pinned_memory_pool` instead"):
        PinnedMemoryPool.__new__(PinnedMemoryPool)
    with pytest.raises(TypeError, match="not safe"):
        pa.MemoryPool.__new__(PinnedMemoryPool)
    with pytest.raises(TypeError):
        PinnedMemoryPool.release_unused(pa.default_memory_pool())
    for wrong in (b"0", True, object()):
        with pytest.raises(TypeError, match="expected Context, device number"):
            pinned_memory_pool(wrong)
    with pytest.raises(ValueError, match="device"):
        pinned_memory_pool(99)


def test_threads_allocate_and_release(pool):
    def work(number):
        for size in range(1, 300):
            array = array_in(pool, np.full(size * 37, number))
            assert pc.sum(array).as_py() == number * size * 37

    in_threads(work, 6)


def test_arrays_outlive_the_pool_object(ctx):
    array = array_in(pinned_memory_pool(ctx), np.arange(1000))
    gc.collect()
    assert array.to_pylist() == list(range(1000))
    del array
    assert pinned_memory_pool(ctx).bytes_allocated() == 0


@pytest.mark.simulator
def test_arrays_outlive_a_reset(run):
    code = """
small, large = (pc.add(np.arange(size), 0, memory_pool=pool) for size in (10, 1 << 20))
host = np.frombuffer(compat.new_host_buffer(9 << 20), np.uint8)
host[:] = 7
driver.call("cuDevicePrimaryCtxReset_v2", 0)
assert small.to_pylist() == list(range(10)) and large[-1].as_py() == (1 << 20) - 1
assert (host == 7).all()
for size in (9 << 20, 100):
    try:
        pa.allocate_buffer(size, memory_pool=pool)
    except OSError as error:
        print(str(error)[:14])
try:
    compat.pinned_memory_pool(ctx)
except OSError as error:
    print(str(error)[:14])
new = compat.Context(0)
assert new.buffer_from_data(large.buffers()[1]).size == 8 << 20
fresh = compat.pinned_memory_pool(new)
assert fresh.bytes_allocated() == 0 and pa.array([1], memory_pool=fresh)[0].as_py() == 1
del small, large, host
assert pool.bytes_allocated() == compat.pinned_memory_stats()["allocated_bytes"] == 0
"""
    assert run(code) == (0, "Cuda error 201\n" * 3, "")


def test_a_forked_child_leaves_a_default_pool_that_is_pinned(run):
    code = """
for default in (pa.system_memory_pool(), pool):
    pa.set_memory_pool(default)
    child = os.fork()
    if not child:
        assert csv.read_csv(io.BytesIO(b"a\\n1\\n")).to_pydict() == {"a": [1]}
        assert pa.default_memory_pool().backend_name == "system"
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    print(pa.default_memory_pool().backend_name)
"""
    assert run(code) == (0, "7\nsystem\n7\npinned\n", "")


def test_a_process_ends_while_a_thread_allocates(run):
    code = """
pa.set_memory_pool(pool)
kept = pc.add(np.arange(1 << 20), 0)
sys.modules["kept_until_the_end"] = kept
pa.kept = [pa.array(["some", "words"]) for _ in range(100)]

def work():
    while True:
        pc.add(kept, 1)

threading.Thread(target=work, daemon=True).start()
"""
    assert run(code) == (0, "", "")


@pytest.mark.simulator
def test_a_driver_that_cannot_pin(run):
    code = """
for size in (100, 9 << 20):
    try:
        pa.allocate_buffer(size, memory_pool=pool)
    except {} as error:
        print(type(error).__name__, str(error)[:40])
"""
    for fault, error, text in (
        (2, "MemoryError", "ArrowMemoryError malloc of size "),
        (999, "OSError", "OSError Cuda error 999"),
    ):
        found = run(code.format(error), CUDA_SIM_FAULT=f"cuMemHostRegister_v2:1+={fault}")
        assert (found[0], found[1].count(text)) == (0, 2), found


@pytest.mark.simulator
def test_allocations_with_the_gil_wait_for_no_device(run):
    """The device's work may need the thread that allocates, as a host function needs the GIL."""
    code = """
driver.set_current(ctx.handle)
queue = Queue(driver)
cached = pa.allocate_buffer(9 << 20, memory_pool=pool)
let_go = queue.hold()
del cached
driver.library.cuda_sim_fault(b"cuMemHostRegister:1+=2")
numbers = list(range(2_000_000))
try:
    pa.array(numbers, memory_pool=pool)  # which allocates with the GIL held
except pa.ArrowMemoryError:
    print("refused")
let_go()
ctx.synchronize()
driver.library.cuda_sim_fault(b"")
assert len(pa.array(numbers, memory_pool=pool)) == len(numbers)
queue.finish()
"""
    assert run(code, timeout=60) == (0, "refused\n", "")
