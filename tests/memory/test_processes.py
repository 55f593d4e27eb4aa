"""Threads, forks, and how the interpreter ends."""

import random
import threading

import pytest

from support.threads import in_threads

START = """
import gc, os, sys, threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks with threads
import pyarrow as pa
from pyarrow import cuda
from support.refusals import check_refused
ctx = cuda.Context(0)
"""


def test_threads_allocate_copy_and_free_each_others_buffers(cuda, contexts):
    """32 threads pass buffers around; each checks what it gets, changes it and passes it on."""
    before = [context.bytes_allocated for context in contexts]
    shared, lock = {}, threading.Lock()

    def work(number):
        numbers = random.Random(number)
        for turn in range(40):
            mark = bytes([number, turn]) * numbers.choice((1, 50, 5000))
            buffer = contexts[(number + turn) % len(contexts)].buffer_from_data(mark)
            with lock:
                got = shared.pop(numbers.randrange(16), None)
                shared[numbers.randrange(16)] = (mark, buffer)
            if got is None:
                continue
            expected, theirs = got
            assert theirs.to_pybytes() == expected
            copy = theirs.context.buffer_from_data(theirs)
            assert copy.equals(theirs)
            assert buffer.slice(0).equals(buffer)
            assert cuda.BufferReader(copy).read() == expected

    in_threads(work, 32)
    shared.clear()
    assert [context.bytes_allocated for context in contexts] == before


def test_one_buffer_of_many_threads(ctx):
    """Each thread has a part of its own; nobody's bytes land in another's."""
    size = 1000
    whole = ctx.buffer_from_data(bytes(16 * size))

    def work(number):
        part = whole.slice(number * size, size)
        for turn in range(50):
            mark = bytes([number + turn]) * size
            part.copy_from_host(mark)
            assert part.to_pybytes() == mark
            assert part.equals(ctx.buffer_from_data(mark))

    in_threads(work, 16)
    assert whole.to_pybytes() == b"".join(bytes([number + 49]) * size for number in range(16))


FORK = """
buffer, twin = (ctx.buffer_from_data(b"0123456789") for _ in range(2))
host = cuda.new_host_buffer(10)
writer = cuda.BufferWriter(ctx.new_buffer(10))
writer.buffer_size = 5
writer.write(b"ab")
batch = pa.record_batch([pa.array([1])], names=["x"])
message = cuda.serialize_record_batch(batch, ctx)
held = [cuda.read_record_batch(message, batch.schema), cuda.BufferReader(buffer), buffer.slice(2)]
def child():
    check_refused([
        buffer.to_pybytes, lambda: buffer.copy_from_host(b"x"), lambda: ctx.new_buffer(1),
        lambda: buffer.equals(twin), lambda: buffer.slice(1).hex(), ctx.synchronize,
        lambda: ctx.new_buffer(1 << 22), lambda: cuda.new_host_buffer(1), held[1].read,
        buffer.export_for_ipc, lambda: ctx.foreign_buffer(buffer.address, 1),
        lambda: buffer.copy_from_device(message, 0, 1), writer.flush,
        lambda: cuda.Context(0).new_buffer(1), lambda: cuda.Context(0, ctx.handle),
        lambda: cuda.read_message(message),
    ], "Cuda error 3 ")
    assert buffer.size == 10 and buffer.slice(3).size == 7 and buffer.context.device_number == 0
"""


@pytest.mark.parametrize(
    "end", ["os._exit(0)", "sys.exit(0)", "globals().clear(); import gc; gc.collect()"]
)
def test_a_fork_with_live_buffers(run_python, end):
    code, out, err = run_python(
        START
        + FORK
        + f"""
sys.stdout.flush()
pid = os.fork()
if pid == 0:
    child()
    sys.stdout.flush()
    {end}
else:
    _, status = os.waitpid(pid, 0)
    print("child", os.waitstatus_to_exitcode(status))
    assert buffer.to_pybytes() == b"0123456789"
    assert ctx.buffer_from_data(b"fine").to_pybytes() == b"fine"
""",
    )
    assert (code, out, err) == (0, "child 0\n", "")


ENDS = {
    "globals, modules and cycles": """
buffer = ctx.buffer_from_data(b'abc'); part = buffer.slice(1)
sys.kept = pa.kept = [ctx.new_buffer(10), cuda.new_host_buffer(10)]
class Node: pass
for _ in range(10):
    node = Node(); node.self = node; node.buffer = ctx.buffer_from_data(b'abc')
    node.foreign = ctx.foreign_buffer(node.buffer.address, 3, base=node)
""",
    "a destructor that uses a buffer": """
class Late:
    def __init__(self): self.buffer = ctx.buffer_from_data(b'abc')
    def __del__(self):
        try: self.buffer.to_pybytes()
        except Exception: pass
late = sys.late = Late()
""",
    "an atexit function that uses a buffer": """
import atexit
buffer = ctx.buffer_from_data(b'abc')
atexit.register(lambda: print(buffer.to_pybytes(), ctx.buffer_from_data(b'x').to_pybytes()))
""",
    "daemon threads that copy": """
started = threading.Barrier(5)
def work():
    buffer = ctx.new_buffer(1 << 20)
    started.wait()
    while True:
        buffer.copy_from_host(bytes(1 << 20)); buffer.to_pybytes(); ctx.new_buffer(100)
for _ in range(4): threading.Thread(target=work, daemon=True).start()
started.wait()
""",
    "daemon threads that copy batches": """
batch = pa.record_batch({str(number): [number, None] for number in range(300)})
started = threading.Barrier(5)
def work():
    started.wait()
    while True:
        there = batch.copy_to(ctx.device); there.copy_to(pa.default_cpu_memory_manager())
        ctx.buffers_from_data([b'bytes'] * 300)
for _ in range(4): threading.Thread(target=work, daemon=True).start()
started.wait()
""",
    "threads that end after the main one": """
def work():
    threading.main_thread().join()
    for _ in range(100): ctx.buffer_from_data(b'abc').to_pybytes()
    global kept
    kept = ctx.new_buffer(10)
threading.Thread(target=work).start()
""",
    "unflushed writers": """
buffer = ctx.new_buffer(100)
writer = cuda.BufferWriter(buffer); writer.buffer_size = 50; writer.write(b'abc')
cycle = [cuda.BufferWriter(buffer)]; cycle.append(cycle)
cycle[0].buffer_size = 50; cycle[0].write(b'abc'); del cycle
""",
    "foreign bases": """
class Base: pass
base = Base()
owned = ctx.new_buffer(10)
foreign = ctx.foreign_buffer(owned.address, 10, base=base)
base.part = foreign.slice(1)
array = pa.Array.from_buffers(pa.int8(), 10, [None, foreign])
""",
    "device arrays": """
batch = pa.record_batch([pa.array([1, 2]), pa.array(['a', None])], names=['x', 'y'])
there = batch.copy_to(ctx.memory_manager)
message = cuda.serialize_record_batch(batch, ctx)
read = cuda.read_record_batch(message, batch.schema)
""",
    "exported memory": "buffer = ctx.new_buffer(10); handle = buffer.export_for_ipc()",
    "an exception": """
buffer = ctx.new_buffer(10)
try: buffer.slice(20)
except ValueError as error: kept = error
""",
    "sys.exit in a thread": """
buffer = ctx.new_buffer(10)
thread = threading.Thread(target=sys.exit); thread.start(); thread.join()
""",
}


@pytest.mark.parametrize("end", ENDS)
def test_the_interpreter_ends_quietly(end, run_python):
    printed = "b'abc' b'x'\n" if "atexit" in end else ""
    for _ in range(5 if "daemon" in end else 1):  # which end at any moment
        assert run_python(START + ENDS[end]) == (0, printed, "")
