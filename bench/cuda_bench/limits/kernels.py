"""Kernels in PTX, which the driver compiles: no toolkit is needed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..driver import Driver, DriverError
from ..measure import Case
from .base import Bench, Limit, named

THREADS = 512
BLOCKS_EACH = 16
MULTIPROCESSORS = 16  # CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT

# `read_all`: every thread takes four vectors of 16 bytes at a time, a grid apart, so that many
# loads are under way, then what is left one by one.  The sum is stored if it has a certain value:
# without that nothing would have to be loaded.
PTX = b"""
.version 6.0
.target sm_60
.address_size 64

.visible .entry nothing()
{
    ret;
}

.visible .entry read_all(.param .u64 first, .param .u64 vectors, .param .u64 out)
{
    .reg .pred %p<4>;
    .reg .b32 %r<32>;
    .reg .b64 %rd<16>;

    ld.param.u64 %rd1, [first];
    ld.param.u64 %rd2, [vectors];
    ld.param.u64 %rd3, [out];
    cvta.to.global.u64 %rd1, %rd1;
    cvta.to.global.u64 %rd3, %rd3;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %nctaid.x;
    mul.wide.u32 %rd4, %r1, %r2;
    cvt.u64.u32 %rd5, %r3;
    add.u64 %rd4, %rd4, %rd5;
    mul.wide.u32 %rd5, %r4, %r2;
    mul.lo.u64 %rd6, %rd5, 3;
    shl.b64 %rd7, %rd5, 4;
    mov.u32 %r5, 0;

FOUR:
    add.u64 %rd8, %rd4, %rd6;
    setp.ge.u64 %p1, %rd8, %rd2;
    @%p1 bra ONE;
    shl.b64 %rd9, %rd4, 4;
    add.u64 %rd9, %rd1, %rd9;
    add.u64 %rd10, %rd9, %rd7;
    add.u64 %rd11, %rd10, %rd7;
    add.u64 %rd12, %rd11, %rd7;
    ld.global.cs.v4.u32 {%r10, %r11, %r12, %r13}, [%rd9];
    ld.global.cs.v4.u32 {%r14, %r15, %r16, %r17}, [%rd10];
    ld.global.cs.v4.u32 {%r18, %r19, %r20, %r21}, [%rd11];
    ld.global.cs.v4.u32 {%r22, %r23, %r24, %r25}, [%rd12];
    add.u32 %r10, %r10, %r11;
    add.u32 %r12, %r12, %r13;
    add.u32 %r14, %r14, %r15;
    add.u32 %r16, %r16, %r17;
    add.u32 %r18, %r18, %r19;
    add.u32 %r20, %r20, %r21;
    add.u32 %r22, %r22, %r23;
    add.u32 %r24, %r24, %r25;
    add.u32 %r10, %r10, %r12;
    add.u32 %r14, %r14, %r16;
    add.u32 %r18, %r18, %r20;
    add.u32 %r22, %r22, %r24;
    add.u32 %r10, %r10, %r14;
    add.u32 %r18, %r18, %r22;
    add.u32 %r5, %r5, %r10;
    add.u32 %r5, %r5, %r18;
    add.u64 %rd4, %rd8, %rd5;
    bra FOUR;

ONE:
    setp.ge.u64 %p2, %rd4, %rd2;
    @%p2 bra DONE;
    shl.b64 %rd9, %rd4, 4;
    add.u64 %rd9, %rd1, %rd9;
    ld.global.cs.v4.u32 {%r10, %r11, %r12, %r13}, [%rd9];
    add.u32 %r10, %r10, %r11;
    add.u32 %r12, %r12, %r13;
    add.u32 %r5, %r5, %r10;
    add.u32 %r5, %r5, %r12;
    add.u64 %rd4, %rd4, %rd5;
    bra ONE;

DONE:
    setp.ne.u32 %p3, %r5, 2654435769;
    @%p3 bra END;
    st.global.u32 [%rd3], %r5;
END:
    ret;
}
"""


@contextmanager
def launcher(
    driver: Driver, name: str, blocks: int, threads: int, *arguments: int
) -> Iterator[Callable[[], None]]:
    """A call that launches a kernel on the default stream; its arguments are all of 64 bits."""
    module = driver.answer("cuModuleLoadData", ctypes.c_void_p, ctypes.c_char_p(PTX))
    function = driver.answer("cuModuleGetFunction", ctypes.c_void_p, module, name.encode())
    values = [ctypes.c_uint64(argument) for argument in arguments]
    pointers = (ctypes.c_void_p * max(1, len(values)))(*map(ctypes.addressof, values))
    start = driver.function("cuLaunchKernel", quick=True)

    def launch() -> None:
        if start(function, blocks, 1, 1, threads, 1, 1, 0, None, pointers, None):
            raise DriverError(f"the kernel {name} could not be launched")

    try:
        yield launch
    finally:
        driver.call("cuModuleUnload", module)


@named("device-read")
def device_read(bench: Bench, size: int) -> Limit:
    """A kernel that reads all of it and keeps nothing."""
    driver = bench.driver
    blocks = BLOCKS_EACH * driver.answer("cuDeviceGetAttribute", ctypes.c_int, MULTIPROCESSORS, 0)
    how = f"a kernel of {blocks} blocks of {THREADS} threads that reads everything"
    with driver.memory(size) as memory, driver.memory(16) as out:
        # Memory that no driver has written may have no pages behind it.
        driver.call("cuMemsetD8_v2", memory, 7, size)
        arguments = (memory, size // 16, out)
        with launcher(driver, "read_all", blocks, THREADS, *arguments) as run:
            return bench.limit(Case.waited(run, bench.wait()), how)


@named("launch")
def launch(bench: Bench, size: int) -> Limit:
    """A kernel that does nothing, and the wait for it."""
    with launcher(bench.driver, "nothing", 1, 32) as run:
        case = Case.waited(run, bench.wait(quick=True))
        return bench.limit(case, "cuLaunchKernel and cuStreamSynchronize")
