"""The simulated driver, past the package: its rules for faults, its counts, and what is alive."""

import ctypes
import gc
import time
from collections import Counter
from pathlib import Path

import pyarrow_cuda_compat as compat

LIBRARY = ctypes.CDLL(str(Path(compat.__file__).parent / "lib/libcuda_sim.so"))
LIBRARY.cuda_sim_call_counts.restype = ctypes.c_size_t
LIBRARY.cuda_sim_call_counts.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
LIBC = ctypes.CDLL(None)
DEVICES = 2
#: More events than a scenario has in flight.
SPARES = 24
#: Enough memory that releases in flight need not be waited for.
ROOM = 1 << 30
_Semaphore = ctypes.c_char * 64
#: How long others may take to release what they use.
SECONDS = 30
KINDS = ("allocations", "host_allocations", "imports", "streams", "events", "modules")
_LIVE = {kind: getattr(LIBRARY, f"cuda_sim_live_{kind}") for kind in KINDS}
for _count in _LIVE.values():
    _count.restype = ctypes.c_uint64


def fault(rules):
    """Replaces the rules by which calls fail; their counts begin anew."""
    assert LIBRARY.cuda_sim_fault(rules.encode()) == 0, rules


def calls():
    """How often each function was called so far."""
    text = ctypes.create_string_buffer(1 << 14)
    assert LIBRARY.cuda_sim_call_counts(text, len(text)) < len(text)
    lines = (line.split() for line in text.value.decode().splitlines())
    return Counter({name: int(count) for name, count in lines})


def current():
    """The handle of the thread's current context; None for none, or before the driver is there."""
    context = ctypes.c_void_p()
    LIBRARY.cuCtxGetCurrent(ctypes.byref(context))
    return context.value


def push(context):
    assert LIBRARY.cuCtxPushCurrent_v2(ctypes.c_void_p(context.handle)) == 0


def set_current(context):
    """Sets the current context, or none, by its handle."""
    while current() != context and current() is not None:
        pop()
    if current() != context:
        assert LIBRARY.cuCtxPushCurrent_v2(ctypes.c_void_p(context)) == 0


def pop():
    LIBRARY.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))


def alive():
    """How many of each kind there are, once what is not lost is released."""
    release_unused()
    counts = Counter({kind: count() for kind, count in _LIVE.items()})
    for number in range(DEVICES):
        counts[f"retains of {number}"] = LIBRARY.cuda_sim_primary_retains(number)
        counts[f"bytes on {number}"] = compat.Context(number).bytes_allocated
    return counts


def fill_spares():
    """Has the package make more events than any scenario has in flight.

    It keeps them for later work, so that from now on it makes no more, unless it loses some.
    """
    release_unused()  # what waits for the device must not do so below
    is_cached = compat.pinned_memory_stats()["cache_limit"] > 0
    for number in range(DEVICES):
        context = compat.Context(number)
        # A trial may have left a limit at which an allocation waits for what is in flight.
        limit = compat.memory_stats(context)["cache_limit"]
        if limit > 0:
            compat.set_cache_limit(max(limit, ROOM), context)
        buffer, stream, may_go_on = context.new_buffer(8), compat.Stream(context), _Semaphore()
        buffer.copy_from_host(bytes(8))
        for _ in range(2):  # the second one finds the default stream idle, and pins its slots
            assert buffer.to_pybytes() == bytes(8)
        LIBC.sem_init(may_go_on, 0, 0)
        push(context)
        LIBRARY.cuLaunchHostFunc(ctypes.c_void_p(stream.handle), LIBC.sem_wait, may_go_on)
        pop()
        try:
            for _ in range(SPARES):
                buffer.fill(0, stream=stream)
                if is_cached:  # else the release would wait for the stream
                    for exposed in (context.new_buffer(8), compat.new_host_buffer(8)):
                        assert exposed.address
                    del exposed
        finally:
            LIBC.sem_post(may_go_on)
        stream.synchronize()


def lost(expected):
    """What there is more than expected.

    Threads of libarrow's release what they have read in their own time, so this waits a while.
    """
    deadline = time.monotonic() + SECONDS
    while (more := alive() - expected) and time.monotonic() < deadline:
        time.sleep(0.01)
    return more


def release_unused():
    """Releases what is not lost: garbage, what finished work retains, and what is cached."""
    gc.collect()
    for number in range(DEVICES):
        context = compat.Context(number)
        context.synchronize()
        # A use of a stream looks at a few others, too.
        for _ in range(3):
            compat.Stream(context).synchronize()
        compat.empty_cache(context)
    compat.empty_pinned_cache()
