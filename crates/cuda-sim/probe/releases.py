"""Questions about memory that work still uses when it is released, and about other waits.

A semaphore holds a stream up.  A call waits for the stream if that is no longer held when the
call returns.
"""

from __future__ import annotations

import ctypes as c
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ask import Driver, Question

LIBC = c.CDLL(None)
SIZE = 4 << 20
# A stream goes on after this many seconds, for calls that wait for it.
LONGEST = 0.5
NON_BLOCKING = 1
ALONE = "needs two devices"
# Copies a word of 8 bytes.
TOUCH = b"""
.version 6.0
.target sm_50
.address_size 64
.visible .entry touch(.param .u64 to, .param .u64 from)
{
    .reg .b64 %to, %from, %word;
    ld.param.u64 %to, [to];
    ld.param.u64 %from, [from];
    ld.global.u64 %word, [%from];
    st.global.u64 [%to], %word;
    ret;
}
\0"""


class Stream:
    """A stream of a context, which is current from now on, with what its work needs."""

    def __init__(self, d: Driver, context: c.c_void_p, flags: int) -> None:
        self.d, self.context = d, context
        self.stream, module, self.touch = c.c_void_p(), c.c_void_p(), c.c_void_p()
        assert d.cuCtxSetCurrent(context) == 0
        assert d.cuStreamCreate(c.byref(self.stream), c.c_uint(flags)) == 0
        assert d.cuModuleLoadData(c.byref(module), TOUCH) == 0
        assert d.cuModuleGetFunction(c.byref(self.touch), module, b"touch") == 0
        self.found = d.alloc(SIZE)
        self.semaphore = c.create_string_buffer(64)
        assert LIBC.sem_init(self.semaphore, 0, 0) == 0
        # Drivers load code when it is first used, and may wait then.
        self.use_in_kernel(self.found)
        assert d.cuCtxSynchronize() == 0

    def use_in_kernel(self, memory: int) -> None:
        words = [c.c_uint64(self.found), c.c_uint64(memory)]
        arguments = (c.c_void_p * 2)(*map(c.addressof, words))
        grid = [c.c_uint(1)] * 6
        launch = self.d.cuLaunchKernel
        assert launch(self.touch, *grid, c.c_uint(0), self.stream, arguments, None) == 0

    def use_in_copy(self, memory: int) -> None:
        assert self.d.cuMemcpyAsync(self.found, memory, SIZE, self.stream) == 0

    def fill(self, memory: int, value: int) -> None:
        assert self.d.cuMemsetD8Async(memory, c.c_ubyte(value), SIZE, self.stream) == 0

    def hold(self) -> None:
        assert self.d.cuLaunchHostFunc(self.stream, LIBC.sem_wait, self.semaphore) == 0

    def let_go(self) -> None:
        LIBC.sem_post(self.semaphore)

    def during(self, call: Callable[[], int]) -> dict[str, object]:
        """Makes a call while the stream is held, and says whether it still is afterwards."""
        is_over = threading.Event()

        def let_go() -> None:
            is_over.set()
            self.let_go()

        timer = threading.Timer(LONGEST, let_go)
        timer.start()
        code = call()
        timer.cancel()
        assert self.d.cuCtxSetCurrent(self.context) == 0
        return {"code": code, "waits": is_over.is_set()}

    def end(self) -> int:
        self.let_go()
        self.d.cuCtxSetCurrent(self.context)
        return self.d.cuStreamSynchronize(self.stream)


def context_of(d: Driver, which: str) -> c.c_void_p | None:
    """The current context, another one of its device, or that of another device, if it exists."""
    context, count = c.c_void_p(), c.c_int()
    if which.startswith("own"):
        assert d.cuCtxGetCurrent(c.byref(context)) == 0
        return context
    if which == "other_context":
        return d.create()
    assert d.cuDeviceGetCount(c.byref(count)) == 0
    return d.retain(1) if count.value > 1 else None


def device_memory(d: Driver) -> int:
    place = d.alloc(SIZE)
    assert d.cuMemsetD8_v2(place, c.c_ubyte(7), SIZE) == 0
    assert d.cuCtxSynchronize() == 0
    return place


def pinned_memory(d: Driver) -> int:
    place = d.pinned(SIZE)
    c.memset(place, 7, SIZE)
    return place


def mapped() -> int:
    """Pages in which nothing else of the process lies."""
    LIBC.mmap.restype = c.c_void_p
    LIBC.mmap.argtypes = [c.c_void_p, c.c_size_t, c.c_int, c.c_int, c.c_int, c.c_long]
    place = int(LIBC.mmap(None, SIZE, 3, 0x22, -1, 0))
    c.memset(place, 7, SIZE)
    return place


def registered_memory(d: Driver) -> int:
    """It is mapped, and pinned for all contexts."""
    place = mapped()
    assert d.cuMemHostRegister_v2(place, SIZE, c.c_uint(3)) == 0
    return place


def released(d: Driver, memory: int, release: Callable[[], int], who: str, how: str) -> object:
    """Work of a context uses memory of the current one, and is held up while that releases it."""
    owner, context = context_of(d, "own"), context_of(d, who)
    if context is None:
        return ALONE
    user = Stream(d, context, NON_BLOCKING if who != "own" else 0)
    if who == "other_device":
        # Kernels need that.
        assert d.cuCtxEnablePeerAccess(owner, c.c_uint(0)) == 0
    user.hold()
    (user.use_in_kernel if how == "kernel" else user.use_in_copy)(memory)
    d.cuCtxSetCurrent(owner)
    seen = user.during(release)
    seen["end"] = user.end()
    if seen["end"] == 0:
        seen["right"] = d.read(user.found, 8) == (0, bytes([7]) * 8)
    return seen


def of_device(who: str, how: str = "copy") -> Question:
    def ask(d: Driver) -> object:
        memory = device_memory(d.ready())
        return released(d, memory, lambda: d.cuMemFree_v2(memory), who, how)

    return ask


def of_reset(who: str, how: str) -> Question:
    def ask(d: Driver) -> object:
        memory = device_memory(d.ready())
        return released(d, memory, lambda: d.cuDevicePrimaryCtxReset_v2(0), who, how)

    return ask


def of_pinned(who: str, how: str) -> Question:
    def ask(d: Driver) -> object:
        memory = pinned_memory(d.ready())
        return released(d, memory, lambda: d.cuMemFreeHost(memory), who, how)

    return ask


def of_registered(who: str, how: str) -> Question:
    def ask(d: Driver) -> object:
        memory = registered_memory(d.ready())
        return released(d, memory, lambda: d.cuMemHostUnregister(memory), who, how)

    return ask


def of_import(who: str, how: str = "copy") -> Question:
    def ask(d: Driver) -> object:
        memory = device_memory(d.ready())
        return d.in_child("child_close", d.export(memory).hex(), who, how)

    return ask


def child_close(d: Driver, handle: str, who: str, how: str) -> object:
    code, memory = d.ready().open(bytes.fromhex(handle))
    assert code == 0
    return released(d, memory, lambda: d.cuIpcCloseMemHandle(memory), who, how)


def of_context(kind: str, who: str, how: str) -> Question:
    """The context that has the memory is destroyed; "own" is the primary context then."""

    def ask(d: Driver) -> object:
        d.ready()
        owner = d.create()
        memory = pinned_memory(d) if kind == "pinned" else registered_memory(d)
        context = d.context if who == "own" else context_of(d, who)
        if context is None:
            return ALONE
        user = Stream(d, context, NON_BLOCKING)
        user.hold()
        (user.use_in_kernel if how == "kernel" else user.use_in_copy)(memory)
        d.cuCtxSetCurrent(owner)
        seen = user.during(lambda: d.cuCtxDestroy_v2(owner))
        seen["known"] = d.attribute(2, memory)[0]
        seen["end"] = user.end()
        if seen["end"] == 0 and kind == "registered":
            seen["unregister"] = d.cuMemHostUnregister(memory)
        return seen

    return ask


def peer_copy(where: str, side: str, flags: int) -> Question:
    """`cuMemcpyPeer` while a stream of one side is held, which then fills that side's memory."""

    def ask(d: Driver) -> object:
        source = device_memory(d.ready())
        other = context_of(d, where)
        if other is None:
            return ALONE
        d.cuCtxSetCurrent(other)
        target = device_memory(d)
        user = Stream(d, d.context if side == "source" else other, flags)
        user.hold()
        user.fill(source if side == "source" else target, 9)
        d.cuCtxSetCurrent(d.context)
        seen = user.during(lambda: d.cuMemcpyPeer(target, other, source, d.context, SIZE))
        if flags == NON_BLOCKING:
            # The copy ends while the stream is still held: the default streams do not wait for it.
            for context in d.context, other:
                d.cuCtxSetCurrent(context)
                d.cuStreamSynchronize(0)
        seen["end"] = user.end()
        for context in d.context, other:
            d.cuCtxSetCurrent(context)
            d.cuCtxSynchronize()
        seen["there"] = d.read(target, 1)[1][0]
        return seen

    return ask


def stalled(name: str) -> Question:
    """Whether a call waits while another thread's synchronous copy waits for its turn."""

    def ask(d: Driver) -> object:
        d.ready()
        user = Stream(d, d.context, 0)
        event, memory, out = c.c_void_p(), d.alloc(SIZE), registered_memory(d)
        assert d.cuEventCreate(c.byref(event), c.c_uint(2)) == 0
        device, host, theirs = d.alloc(SIZE), d.pinned(SIZE), registered_memory(d)
        ours = mapped()
        calls: dict[str, Callable[[], int]] = {
            "register": lambda: d.cuMemHostRegister_v2(ours, SIZE, c.c_uint(3)),
            "unregister": lambda: d.cuMemHostUnregister(theirs),
            "host_alloc": lambda: d.cuMemHostAlloc(c.byref(c.c_void_p()), SIZE, c.c_uint(1)),
            "free_host": lambda: d.cuMemFreeHost(host),
            "alloc": lambda: d.cuMemAlloc_v2(c.byref(c.c_uint64()), SIZE),
            "free": lambda: d.cuMemFree_v2(device),
            "record_context": lambda: d.cuCtxRecordEvent(d.context, event),
            "query_event": lambda: d.cuEventQuery(event),
            "create_event": lambda: d.cuEventCreate(c.byref(c.c_void_p()), c.c_uint(2)),
            "attribute": lambda: d.attribute(2, memory)[0],
        }
        user.hold()
        has_begun = threading.Event()

        def copy() -> None:
            assert d.cuCtxSetCurrent(d.context) == 0
            has_begun.set()
            d.cuMemcpyDtoH_v2(out, memory, SIZE)

        thread = threading.Thread(target=copy)
        thread.start()
        has_begun.wait()
        time.sleep(LONGEST / 10)  # until the copy waits
        seen = user.during(calls[name])
        user.end()
        thread.join()
        return seen

    return ask


def beside(name: str) -> Question:
    """Whether a call waits for another stream, of the same thread and context, that is held."""

    def ask(d: Driver) -> object:
        d.ready()
        user = Stream(d, d.context, NON_BLOCKING)
        module, function, other = c.c_void_p(), c.c_void_p(), Stream(d, d.context, NON_BLOCKING)
        assert d.cuModuleLoadData(c.byref(module), TOUCH) == 0
        if name == "first_launch":
            assert d.cuModuleGetFunction(c.byref(function), module, b"touch") == 0

        def first_launch() -> int:
            other.touch = function
            other.use_in_kernel(other.found)
            return 0

        calls: dict[str, Callable[[], int]] = {
            "load_module": lambda: d.cuModuleLoadData(c.byref(c.c_void_p()), TOUCH),
            "get_function": lambda: d.cuModuleGetFunction(c.byref(function), module, b"touch"),
            "first_launch": first_launch,
            "alloc": lambda: d.cuMemAlloc_v2(c.byref(c.c_uint64()), SIZE),
            "create_stream": lambda: d.cuStreamCreate(c.byref(c.c_void_p()), c.c_uint(1)),
            "create_context": lambda: d.cuCtxCreate_v2(c.byref(c.c_void_p()), c.c_uint(0), 0),
        }
        user.hold()
        seen = user.during(calls[name])
        user.end()
        return seen

    return ask


def host_functions(who: str) -> Question:
    """Whether a host function runs while one of another stream does."""

    def ask(d: Driver) -> object:
        context = context_of(d.ready(), who)
        if context is None:
            return ALONE
        other = Stream(d, context, NON_BLOCKING)
        user = Stream(d, d.context, NON_BLOCKING)
        user.hold()
        time.sleep(LONGEST / 10)  # until it is in the function
        other.hold()
        other.let_go()

        def end() -> int:
            d.cuCtxSetCurrent(context)
            return d.cuStreamSynchronize(other.stream)

        seen = user.during(end)
        user.end()
        return seen

    return ask


BESIDE = "load_module get_function first_launch alloc create_stream create_context"
STALLED = """
register unregister host_alloc free_host alloc free
record_context query_event create_event attribute
"""


def questions() -> dict[str, Question]:
    others = ("other_context", "other_device")
    nearby = ("own", "own_non_blocking")
    asked = {f"stalled_{name}": stalled(name) for name in STALLED.split()}
    asked |= {f"beside_{name}": beside(name) for name in BESIDE.split()}
    for who in ("own", *others):
        asked[f"host_functions_{who}"] = host_functions(who)
    for who in (*nearby, *others):
        asked[f"free_device_{who}"] = of_device(who)
        asked[f"close_import_{who}"] = of_import(who)
    asked["free_device_other_device_kernel"] = of_device("other_device", "kernel")
    asked["close_import_other_device_kernel"] = of_import("other_device", "kernel")
    for how in ("kernel", "copy"):
        asked[f"reset_other_device_{how}"] = of_reset("other_device", how)
    pairs = [("own", "copy"), *[(who, "kernel") for who in (*nearby, *others)]]
    for who, how in (*pairs, *[(who, "copy") for who in others]):
        asked[f"free_host_{who}_{how}"] = of_pinned(who, how)
        asked[f"unregister_{who}_{how}"] = of_registered(who, how)
    for kind in ("pinned", "registered"):
        for who in ("own", "other_device"):
            for how in ("kernel", "copy"):
                asked[f"destroy_{kind}_{who}_{how}"] = of_context(kind, who, how)
    for where in others:
        for side in ("source", "target"):
            for name, flags in (("blocking", 0), ("non_blocking", NON_BLOCKING)):
                asked[f"peer_copy_{where}_{side}_{name}"] = peer_copy(where, side, flags)
    return asked
