"""The best that the machine can do, by the driver alone: the rows are compared with it."""

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from ctypes import addressof, byref, c_uint64, c_void_p
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from .machine import CORES, NON_BLOCKING, Driver, DriverError
from .measure import QUICK, Call, Case
from .peers import Peer
from .space import Host, expect, expect_equal, pinned
from .table import size_text
from .works import Works

MULTIPROCESSORS = 16  # CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
BLOCKS_EACH = 16

# How it is done, with what is measured; of several the best one counts.
Trials = Iterator[tuple[str, Case]]

THREADS = 512
# Every thread takes four vectors of 16 bytes at a time, a grid apart: many loads are under way.
# The sum is stored if it has a certain value, because without that nothing would have to be loaded.
WORDS = [f"%word{number}" for number in range(16)]
LOAD = """setp.ge.u64 %is_over, %at, %end;
    @!%is_over ld.global.cs.v4.u32 {{{}, {}, {}, {}}}, [%at];
    add.u64 %at, %at, %stride;
    """
PTX = f"""
.version 6.0
.target sm_60
.address_size 64

.visible .entry read_all(.param .u64 first, .param .u64 end, .param .u64 out)
{{
    .reg .pred %is_over;
    .reg .b32 %block, %thread, %blocks, %sum, %word<16>;
    .reg .b64 %at, %end, %out, %offset, %stride;

    ld.param.u64 %at, [first];
    ld.param.u64 %end, [end];
    ld.param.u64 %out, [out];
    mov.u32 %block, %ctaid.x;
    mov.u32 %thread, %tid.x;
    mov.u32 %blocks, %nctaid.x;
    mad.lo.u32 %thread, %block, {THREADS}, %thread;
    mul.wide.u32 %offset, %thread, 16;
    add.u64 %at, %at, %offset;
    mul.wide.u32 %stride, %blocks, {16 * THREADS};
    mov.u32 %sum, 0;

READ:
    setp.ge.u64 %is_over, %at, %end;
    @%is_over bra DONE;
    {"".join(LOAD.format(*WORDS[first : first + 4]) for first in range(0, 16, 4))}
    {" ".join(f"add.u32 %sum, %sum, {word};" for word in WORDS)}
    bra READ;

DONE:
    setp.ne.u32 %is_over, %sum, 2654435769;
    @%is_over ret;
    st.global.u32 [%out], %sum;
    ret;
}}
"""


class Bare(Peer):
    title = "driver"

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.wait = driver.prepared("cuStreamSynchronize", None)
        self.allocate = partial(driver.owned, "cuMemAlloc_v2", "cuMemFree_v2")

    def upload(self, device: Any, host: Host, stream: Any = None) -> Call:
        return self.copy("HtoD", stream, device, host.ctypes.data, host.size)

    def download(self, device: Any, host: Host, stream: Any = None) -> Call:
        return self.copy("DtoH", stream, host.ctypes.data, device, host.size)

    def copy(self, way: str, stream: Any, *what: object) -> Call:
        if stream is None:
            return self.driver.prepared(f"cuMemcpy{way}_v2", *what)
        return self.driver.prepared(f"cuMemcpy{way}Async_v2", *what, stream.handle)

    def device_copy(self, target: Any, source: Any) -> Call:
        size = c_uint64()
        self.driver.answer("cuMemGetAddressRange_v2", byref(size), source)
        return self.driver.prepared("cuMemcpyDtoD_v2", target, source, size)

    def stream(self) -> Any:
        handle = self.driver.owned("cuStreamCreate", "cuStreamDestroy_v2", NON_BLOCKING)
        synchronize = self.driver.prepared("cuStreamSynchronize", handle)
        return SimpleNamespace(handle=handle, synchronize=synchronize)


class Staged(Bare):
    """Copies ordinary memory by several threads, each of them through a pinned slot of its own:
    while one fills or empties its slot, those of others are on their way.
    """

    def __init__(self, driver: Driver, threads: int, piece: int) -> None:
        super().__init__(driver)
        self.slots = [(pinned(driver, piece), self.stream()) for _ in range(threads)]
        self.pool = ThreadPoolExecutor(threads, initializer=driver.enter)

    def upload(self, device: Any, host: Host, stream: Any = None) -> Call:
        return self.in_threads(device, host, is_up=True)

    def download(self, device: Any, host: Host, stream: Any = None) -> Call:
        return self.in_threads(device, host, is_up=False)

    def in_threads(self, device: Any, host: Host, *, is_up: bool) -> Call:
        """A call that retains the device memory."""
        piece, count = self.slots[0][0].size, len(self.slots)
        calls: list[list[Call]] = [[] for _ in self.slots]
        for number, at in enumerate(range(0, host.size, piece)):
            part, (slot, stream) = host[at : at + piece], self.slots[number % count]
            slot = slot[: part.size]
            if is_up:
                copy = super().upload(device.value + at, slot, stream)
                steps = [partial(np.copyto, slot, part), copy, stream.synchronize]
            else:
                copy = super().download(device.value + at, slot, stream)
                steps = [copy, stream.synchronize, partial(np.copyto, part, slot)]
            calls[number % count] += steps

        def run(retained: Any = device) -> None:
            list(self.pool.map(take, calls))

        return run


def take(steps: Sequence[Call]) -> None:
    """Slots still have the bytes of earlier copies, so the result alone does not show a failure."""
    for step in steps:
        if code := step():
            raise DriverError(f"a copy through a slot failed with {code}")


def reading(driver: Driver, memory: int, size: int, out: int, blocks: int) -> Case:
    """A launch on the default stream, and the wait for it; the kernel reads `size` bytes."""
    module = driver.owned("cuModuleLoadData", "cuModuleUnload", PTX.encode())
    function = driver.answer("cuModuleGetFunction", module, b"read_all")
    values = [c_uint64(each) for each in (memory, memory + size // 16 * 16, out)]
    addresses = (c_void_p * 3)(*map(addressof, values))
    shape = (blocks, 1, 1, THREADS, 1, 1, 0)
    run = driver.prepared("cuLaunchKernel", function, *shape, None, addresses, None)
    if run():
        raise DriverError("the kernel could not be launched")
    wait = driver.prepared("cuStreamSynchronize", None)
    return Case("run(); wait()", {"run": run, "wait": wait, "kept": (module, values)})


class Limits(Works):
    def staged(self, size: int, *, way: str) -> Trials:
        counts, pieces = {min(count, CORES) for count in (8, 16, 32)}, [1 << 20, 4 << 20]
        if self.budget is QUICK:
            counts, pieces = {min(16, CORES)}, [2 << 20]
        for threads in sorted(counts):
            for piece in pieces:
                works = replace(self, peer=Staged(self.space.driver, threads, piece))
                how = f"{threads} threads with a pinned slot of {size_text(piece)} each"
                yield how, getattr(works, way)(size)

    def memcpy(self, size: int, *, counts: Sequence[int]) -> Trials:
        """Between host memory, by several numbers of threads."""
        source, target = self.space.source(size), self.space.target(size)
        for threads in sorted({min(count, CORES) for count in counts}):
            parts = [np.array_split(array, threads) for array in (target, source)]
            with ThreadPoolExecutor(threads) as pool:
                names = {"map": pool.map, "copy": np.copyto, "parts": parts}
                check = partial(expect_equal, target, source)
                case = Case("list(map(copy, *parts))", names, check, is_repeatable=True)
                yield f"memcpy by {threads} threads", case

    def device_read(self, size: int) -> Trials:
        driver = self.space.driver
        blocks = BLOCKS_EACH * driver.answer("cuDeviceGetAttribute", MULTIPROCESSORS, 0)
        memory, out = self.peer.allocate(size), self.peer.allocate(16)
        # Memory that no driver has written may have no pages behind it.
        driver.call("cuMemsetD8_v2", memory, 7, size)
        case = reading(driver, memory.value, size, out.value, blocks)
        yield f"a kernel of {blocks} blocks of {THREADS} threads that reads everything", case

    def launch(self, size: int) -> Case:
        return reading(self.space.driver, 0, 0, 0, blocks=1)

    def calls(self, size: int, *, statement: str) -> Trials:
        """Functions of the driver, which return 0 where all goes well."""
        driver, address = self.space.driver, c_uint64()
        functions = re.findall(r"cu\w+", statement)
        names = {name: getattr(driver.quick, name) for name in functions}
        names |= {"address": address, "to_address": byref(address)}
        names |= {"size": c_uint64(size), "context": c_void_p(driver.context)}

        def check() -> None:
            expect(eval(statement, dict(names)), 0, statement)
            self.peer.wait()

        check()
        how = f"{' and '.join(functions)} by ctypes, whose own cost is in it"
        yield how, Case(statement, names, check, is_repeatable=True)


def by(how: str, work: Callable[..., Case], **options: bool) -> Callable[[Limits, int], Trials]:
    """A work with the driver in place of a library."""
    return lambda limits, size: iter([(how, work(limits, size, **options))])


ON_STREAMS = "cuMemcpyHtoDAsync and cuMemcpyDtoHAsync on two streams"
ALLOC = "cuMemAlloc_v2(to_address, size) or cuMemFree_v2(address)"
# From the driver's pool, whose memory cannot be shared with other processes.
ALLOC_ASYNC = "cuMemAllocAsync(to_address, size, None) or cuMemFreeAsync(address, None)"
PUSH_POP = "cuCtxPushCurrent_v2(context) or cuCtxPopCurrent_v2(to_address)"
# By the names that rows refer to.  Each is of interest by itself, too, with this number of bytes.
LIMITS: dict[str, tuple[int, Callable[[Limits, int], Trials]]] = {
    "pinned-up": (1 << 30, by("cuMemcpyHtoD of pinned memory", Works.up, pinned=True)),
    "pinned-down": (1 << 30, by("cuMemcpyDtoH of pinned memory", Works.down, pinned=True)),
    "pinned-both": (128 << 20, by(ON_STREAMS, Works.both_ways)),
    "driver-up": (1 << 30, by("cuMemcpyHtoD of ordinary memory", Works.up)),
    "driver-down": (1 << 30, by("cuMemcpyDtoH of ordinary memory", Works.down)),
    "staged-up": (1 << 30, partial(Limits.staged, way="up")),
    "staged-down": (1 << 30, partial(Limits.staged, way="down")),
    "memcpy-1": (1 << 30, partial(Limits.memcpy, counts=[1])),
    "memcpy-all": (1 << 30, partial(Limits.memcpy, counts=[4, 8, CORES])),
    "device-copy": (1 << 30, by("cuMemcpyDtoD", Works.device_copy)),
    "device-read": (2 << 30, Limits.device_read),
    "alloc": (64 << 20, partial(Limits.calls, statement=ALLOC)),
    "alloc-async": (64 << 20, partial(Limits.calls, statement=ALLOC_ASYNC)),
    "launch": (0, by("cuLaunchKernel and cuStreamSynchronize", Limits.launch)),
    "push-pop": (0, partial(Limits.calls, statement=PUSH_POP)),
    "ctypes": (0, partial(Limits.calls, statement="cuDriverGetVersion(to_address)")),
}
