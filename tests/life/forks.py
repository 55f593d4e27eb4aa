"""Forks, with what is alive and under way: CUDA does not survive them, the parent does."""

import faulthandler
import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
from contextlib import suppress
from functools import partial

import pyarrow as pa
from pyarrow import cuda

import pyarrow_cuda_compat as compat

from . import states, work
from .children import Case

#: Errors that a child may get: the driver's, PyGPU's, or pyarrow's about a failed call.
REFUSALS = ("Cuda error 3", "(3)", "initialization error")
#: pyarrow's own classes have methods that do not survive device memory.
OURS = ("pyarrow._cuda", "pyarrow_cuda_compat")
#: Names whose calls are for other times, or end the process.
LEFT_OUT = {"__class__", "__init_subclass__", "__subclasshook__", "__new__", "__del__"}
#: A child has no use for what its parent has cached.
CACHES = [
    compat.memory_stats,
    compat.pinned_memory_stats,
    compat.memory_report,
    compat.record_allocations,
    compat.empty_cache,
    compat.empty_pinned_cache,
    partial(compat.set_cache_limit, 1),
    partial(compat.set_pinned_cache_limit, 1),
]
ENDINGS = {
    "sys.exit": lambda: sys.exit(),
    "os._exit": lambda: os._exit(0),
    "an exec": lambda: os.execv("/bin/true", ["true"]),
}


def check_child(work, end):
    """Runs work in a fork, which has to end well."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        faulthandler.register(signal.SIGALRM, chain=True)  # says where it hangs
        signal.alarm(50)
        try:
            work()
        except BaseException as error:
            print("in the child:", repr(error), flush=True)
            os._exit(1)
        end()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code == 0, f"the child has ended with {code}"


def held():
    """How much the parent has allocated on each device."""
    return [compat.Context(number).bytes_allocated for number in range(2)]


def may_refuse(call):
    """Whether the driver, or what stands for it, says that a fork cannot use it."""
    try:
        call()
    except OSError as error:
        if any(text in str(error) for text in REFUSALS):
            return True
        raise
    return False


def check_refused(call, what):
    if not may_refuse(call):
        raise AssertionError(f"a child can use it: {what}")


def refused(state, thing, before):
    """The child gets an error for what needs the driver; the rest it reads as the parent does."""
    if state.asks_driver:
        check_refused(partial(state.read, thing), state.name)
    else:
        assert state.read(thing) == before, f"a child reads otherwise: {state.name}"


def members(thing):
    """Everything that the objects have, called without arguments where it can be."""
    for each in thing if isinstance(thing, tuple | list) else [thing]:
        if not type(each).__module__.startswith(OURS):
            continue
        for name in sorted({*dir(type(each))} - LEFT_OUT):
            try:
                member = getattr(each, name)
                if callable(member):
                    member()
            except Exception:  # whatever it says: it must come back
                pass
        for use in (pickle.dumps, repr, bytes, list, memoryview):
            with suppress(Exception):
                use(each)


def forked(state, what, end):
    thing = state.make()
    before = state.read(thing)
    allocated = held()

    def child():
        nonlocal thing
        if what == "use":
            refused(state, thing, before)
        elif what == "call every member":
            members(thing)
        elif what == "begin anew":
            refused(state, thing, before)
            for other in states.ALL.values():
                if other.asks_driver and other.name != "imported memory":
                    begin_anew(other)
        else:
            thing = None
            gc.collect()

    check_child(child, end)
    assert held() == allocated
    assert state.read(thing) == before
    work.small_copies()


def begin_anew(other):
    """What a child makes itself needs the driver, too."""
    if other.name == "pygpu array":
        other.make()  # its objects come all the same, with a status
    else:
        check_refused(other.make, other.name)


def every_call():
    """What is called on objects of the parent, each of which needs the driver."""
    kept, twin, ctx = states.buffer(), states.buffer(), states.context()
    host, stream = cuda.new_host_buffer(10), compat.Stream(ctx)
    event, pool = stream.record(), compat.pinned_memory_pool(ctx)
    writer, _ = states.writer()
    reader, pickled = cuda.BufferReader(kept), pickle.dumps(kept)
    message = cuda.serialize_record_batch(states.BATCH, ctx)
    batch = cuda.read_record_batch(message, states.BATCH.schema)
    calls = [
        kept.to_pybytes,
        kept.slice(1).hex,
        partial(kept.copy_from_host, b"x"),
        partial(kept.copy_from_device, twin),
        partial(kept.equals, twin),
        partial(kept.fill, 1),
        kept.export_for_ipc,
        partial(pickle.loads, pickled),
        partial(reader.read, 1),
        partial(writer.write, b"child"),
        writer.flush,
        ctx.synchronize,
        partial(ctx.new_buffer, 1),
        partial(ctx.new_buffer, 4 << 20),
        partial(ctx.foreign_buffer, kept.address, 1),
        partial(cuda.Context, 0, ctx.handle),
        partial(cuda.new_host_buffer, 1),
        partial(pa.allocate_buffer, 100, memory_pool=pool),
        partial(cuda.read_message, message),
        partial(cuda.serialize_record_batch, states.BATCH, ctx),
        batch.__arrow_c_device_array__,
        compat.Stream,
        compat.Event,
        stream.synchronize,
        stream.query,
        stream.record,
        partial(stream.wait, event),
        partial(stream.wait, stream),
        event.synchronize,
        event.query,
        partial(event.record, stream),
        partial(kept.fill, 1, stream=stream),
        partial(kept.copy_from_host, host, stream=stream),
        partial(kept.copy_to_host, stream=stream),
        partial(kept.copy_from_device, twin, stream=stream),
    ]

    def child():
        for number, call in enumerate(calls):
            check_refused(call, f"call {number}")
        assert (kept.size, kept.slice(3).size) == (len(states.CONTENT), len(states.CONTENT) - 3)
        for threads in (0, 2):
            compat.set_transfer_limits(threads=threads)
        pool.release_unused()

    check_child(child, ENDINGS["sys.exit"])
    assert kept.equals(twin)


def while_threads_work(turn, times, end):
    """Children of all moments; none waits for a lock that a thread held at the fork."""
    threads = work.Threads(turn, 3)
    kept, twin = states.buffer(), states.buffer()

    def child():
        check_refused(kept.to_pybytes, "copies")
        check_refused(partial(kept.equals, twin), "comparisons")
        check_refused(partial(compat.Context, 0, kept.context.handle), "borrowed contexts")
        for other in ("batch", "stream", "array", "writer", "smart array"):
            begin_anew(states.ALL[other])
        for call in CACHES:
            check_refused(call, "what is cached")
        may_refuse(compat.transfer_limits)
        gc.collect()

    for _ in range(times):
        check_child(child, end)
    threads.stop()
    assert states.bytes_of(kept) == states.CONTENT


def programs_while_threads_work(turn):
    """Other programs are started at any time."""
    threads = work.Threads(turn, 3)
    for _ in range(10):
        assert subprocess.run(["/bin/true"], check=False).returncode == 0
        program = os.posix_spawn("/bin/true", ["true"], os.environ)
        assert os.waitpid(program, 0)[1] == 0
    threads.stop()


def loaded(pickled):
    """What a worker of a pool makes of a pickle."""
    try:
        return pickle.loads(pickled).to_pybytes()
    except OSError as error:
        return str(error)


def pool(method):
    """A worker process gets a pickle; whether it may load it depends on how it came to be."""
    kept = states.buffer()
    pickled = pickle.dumps(kept)
    with multiprocessing.get_context(method).Pool(1) as workers:
        told = workers.apply(loaded, (pickled,))
    if method == "fork":
        assert "Cuda error 3" in told, told
    else:
        assert told == states.CONTENT
    assert kept.to_pybytes() == states.CONTENT


def cases(is_quick):
    found, whats = [], ["use", "call every member", "begin anew", "release"]
    for number, state in enumerate(states.ALL.values()):
        pairs = [(what, end) for what in whats for end in ENDINGS]
        if is_quick:
            pairs = [pairs[(number + turn * 5) % len(pairs)] for turn in range(2)]
        for what, end in pairs:
            name = f"children {what}, then {end}, with {state.name}"
            found.append(Case(name, partial(forked, state, what, ENDINGS[end])))
    for number, (what, turn) in enumerate(work.ALL.items()):
        for order, end in enumerate(ENDINGS):
            if not is_quick or (number + order) % 3 == 0:
                name = f"children that end by {end}, while threads do {what}"
                run = partial(while_threads_work, turn, 3 if is_quick else 10, ENDINGS[end])
                found.append(Case(name, run))
        if not is_quick or number % 5 == 0:
            name = f"programs are started while threads do {what}"
            found.append(Case(name, partial(programs_while_threads_work, turn)))
    found.append(Case("children make every call", every_call))
    for method in ("fork", "forkserver", "spawn"):
        found.append(Case(f"a pool by {method}", partial(pool, method)))
    return found
