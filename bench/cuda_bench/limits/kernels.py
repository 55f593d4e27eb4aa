"""Two kernels in PTX, which the driver compiles: no toolkit is needed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

from ..driver import Driver, DriverError

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


class Kernels:
    """The module, loaded for the length of a `with`."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._module = ctypes.c_void_p()

    def __enter__(self) -> Kernels:
        self._driver.call("cuModuleLoadData", ctypes.byref(self._module), ctypes.c_char_p(PTX))
        return self

    def __exit__(self, *_: object) -> None:
        self._driver.call("cuModuleUnload", self._module)

    def launcher(
        self, name: str, blocks: int, threads: int, arguments: Sequence[int]
    ) -> Callable[[], None]:
        """Launches on the default stream; the arguments are all of 64 bits."""
        function = ctypes.c_void_p()
        self._driver.call(
            "cuModuleGetFunction", ctypes.byref(function), self._module, name.encode()
        )
        values = [ctypes.c_uint64(argument) for argument in arguments]
        pointers = (ctypes.c_void_p * max(1, len(values)))()
        for number, value in enumerate(values):
            pointers[number] = ctypes.addressof(value)
        start = self._driver.function("cuLaunchKernel", quick=True)

        def launch(_keep: object = values) -> None:
            if start(function, blocks, 1, 1, threads, 1, 1, 0, None, pointers, None):
                raise DriverError(f"the kernel {name} could not be launched")

        return launch
