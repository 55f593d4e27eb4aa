"""Ask a CUDA driver how it answers the calls that documentation leaves open.

usage: ask.py                        print the real driver's answers as JSON
       ask.py LIBRARY [QUESTION]     those of another library, or one of them

Each question runs in a process of its own, because one answer may depend on what was
called before.  The answers are result codes and facts that do not change from run to
run: no address, no size of a card.  `hardware.json` beside this file holds what a real
driver said; the simulator has to say the same.
"""

from __future__ import annotations

import ctypes as c
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING

import releases
from releases import child_close  # noqa: F401  # called by its name

MIB = 1 << 20
if TYPE_CHECKING:
    Question = Callable[["Driver"], object]

QUESTIONS: dict[str, Question] = releases.questions()
# This many are asked at a time: some wait for half a second.
AT_ONCE = 8


def question(ask: Question) -> Question:
    QUESTIONS[ask.__name__] = ask
    return ask


class Driver:
    """The driver's functions as plain calls that return the result code."""

    def __init__(self, library: str) -> None:
        self.path = library
        self.lib = c.CDLL(library)

    def __getattr__(self, name: str) -> Callable[..., int]:
        function = getattr(self.lib, name)

        def call(*args: object) -> int:
            wide = (c.c_uint64(arg) if isinstance(arg, int) else arg for arg in args)
            return int(function(*wide))

        return call

    # Shorthands that must succeed for a question to make sense.
    def ready(self, device: int = 0) -> Driver:
        assert self.cuInit(0) == 0
        self.context = self.retain(device)
        assert self.cuCtxPushCurrent_v2(self.context) == 0
        return self

    def retain(self, device: int = 0) -> c.c_void_p:
        handle = c.c_void_p()
        assert self.cuDevicePrimaryCtxRetain(c.byref(handle), c.c_int(device)) == 0
        return handle

    def alloc(self, size: int) -> int:
        pointer = c.c_uint64()
        code = self.cuMemAlloc_v2(c.byref(pointer), size)
        assert code == 0, code
        return pointer.value

    def pinned(self, size: int, flags: int = 1) -> int:
        pointer = c.c_void_p()
        assert self.cuMemHostAlloc(c.byref(pointer), size, c.c_uint(flags)) == 0
        return pointer.value or 0

    def create(self, device: int = 0) -> c.c_void_p:
        handle = c.c_void_p()
        assert self.cuCtxCreate_v2(c.byref(handle), c.c_uint(0), c.c_int(device)) == 0
        return handle

    def pop(self) -> int:
        return self.cuCtxPopCurrent_v2(c.byref(c.c_void_p()))

    def range(self, pointer: int) -> tuple[int, int, int]:
        base, size = c.c_uint64(), c.c_size_t()
        code = self.cuMemGetAddressRange_v2(c.byref(base), c.byref(size), pointer)
        return code, base.value, size.value

    def attribute(self, which: int, pointer: int) -> tuple[int, int]:
        value = c.c_uint64(0)
        code = self.cuPointerGetAttribute(c.byref(value), c.c_int(which), pointer)
        return code, value.value

    def export(self, pointer: int) -> bytes:
        handle = (c.c_ubyte * 64)()
        assert self.cuIpcGetMemHandle(handle, pointer) == 0
        return bytes(handle)

    def open(self, handle: bytes, flags: int = 1) -> tuple[int, int]:
        class Handle(c.Structure):
            _fields_ = [("reserved", c.c_ubyte * 64)]

        pointer = c.c_uint64()
        by_value = Handle.from_buffer_copy(handle)
        code = self.lib.cuIpcOpenMemHandle_v2(c.byref(pointer), by_value, c.c_uint(flags))
        return code, pointer.value

    def read(self, pointer: int, size: int) -> tuple[int, bytes]:
        out = (c.c_ubyte * size)()
        code = self.cuMemcpyDtoH_v2(out, pointer, size)
        return code, bytes(out)

    def in_child(self, name: str, *args: str) -> object:
        done = subprocess.run(
            [sys.executable, __file__, self.path, name, *args],
            capture_output=True,
            text=True,
            timeout=60,
        )
        return json.loads(done.stdout) if done.returncode == 0 else f"died {done.returncode}"


HOST = (c.c_ubyte * 4096)()
# The functions that the simulator exports, except those that it has since got for captures.
EXPORTED = """
cuCtxCreate_v2 cuCtxDestroy_v2 cuCtxDisablePeerAccess cuCtxEnablePeerAccess cuCtxGetApiVersion
cuCtxGetCurrent cuCtxGetDevice cuCtxGetId cuCtxGetStreamPriorityRange cuCtxPopCurrent_v2
cuCtxPushCurrent_v2 cuCtxRecordEvent cuCtxSetCurrent cuCtxSynchronize cuDeviceCanAccessPeer
cuDeviceGet cuDeviceGetAttribute cuDeviceGetCount cuDeviceGetName cuDeviceGetUuid
cuDeviceGetUuid_v2 cuDevicePrimaryCtxGetState cuDevicePrimaryCtxRelease_v2
cuDevicePrimaryCtxReset_v2 cuDevicePrimaryCtxRetain cuDevicePrimaryCtxSetFlags_v2
cuDeviceTotalMem_v2 cuDriverGetVersion cuEventCreate cuEventDestroy_v2 cuEventElapsedTime
cuEventQuery cuEventRecord cuEventSynchronize cuFuncGetAttribute cuGetErrorName cuGetErrorString
cuGetProcAddress cuGetProcAddress_v2 cuInit cuIpcCloseMemHandle cuIpcGetMemHandle
cuIpcOpenMemHandle_v2 cuLaunchHostFunc cuLaunchKernel cuMemAllocAsync cuMemAllocHost_v2
cuMemAllocManaged cuMemAlloc_v2 cuMemFreeAsync cuMemFreeHost cuMemFree_v2 cuMemGetAddressRange_v2
cuMemGetInfo_v2 cuMemHostAlloc cuMemHostGetDevicePointer_v2 cuMemHostRegister_v2
cuMemHostUnregister cuMemcpy cuMemcpyAsync cuMemcpyDtoDAsync_v2 cuMemcpyDtoD_v2
cuMemcpyDtoHAsync_v2 cuMemcpyDtoH_v2 cuMemcpyHtoDAsync_v2 cuMemcpyHtoD_v2 cuMemcpyPeer
cuMemcpyPeerAsync cuMemsetD32Async cuMemsetD32_v2 cuMemsetD8Async cuMemsetD8_v2
cuModuleGetFunction cuModuleLoadData cuModuleLoadDataEx cuModuleUnload
cuOccupancyMaxActiveBlocksPerMultiprocessor cuPointerGetAttribute cuPointerGetAttributes
cuStreamAddCallback cuStreamCreate cuStreamCreateWithPriority cuStreamDestroy_v2 cuStreamGetCtx
cuStreamGetFlags cuStreamGetPriority cuStreamIsCapturing cuStreamQuery cuStreamSynchronize
cuStreamWaitEvent
"""


@question
def before_init(d: Driver) -> object:
    count = c.c_int()
    return [
        d.cuDeviceGetCount(c.byref(count)),
        d.cuMemAlloc_v2(c.byref(c.c_uint64()), 16),
        d.cuCtxGetCurrent(c.byref(c.c_void_p())),
        d.cuMemFree_v2(0),
    ]


@question
def init_flags(d: Driver) -> object:
    return [d.cuInit(c.c_uint(1)), d.cuInit(c.c_uint(0))]


@question
def device_numbers(d: Driver) -> object:
    d.cuInit(0)
    out = c.c_int()
    n = c.c_int()
    d.cuDeviceGetCount(c.byref(n))
    return [d.cuDeviceGet(c.byref(out), c.c_int(k)) for k in (-1, 0, n.value, 99)] + [
        d.cuDevicePrimaryCtxRetain(c.byref(c.c_void_p()), c.c_int(99)),
        d.cuDeviceTotalMem_v2(c.byref(c.c_size_t()), c.c_int(99)),
        d.cuDevicePrimaryCtxRelease_v2(c.c_int(0)),
        d.cuDevicePrimaryCtxRelease_v2(c.c_int(99)),
    ]


@question
def primary_state(d: Driver) -> object:
    d.cuInit(0)
    flags, active = c.c_uint(), c.c_int()

    def state() -> list[int]:
        code = d.cuDevicePrimaryCtxGetState(c.c_int(0), c.byref(flags), c.byref(active))
        return [code, active.value]

    seen: list[object] = [state()]
    first, second = d.retain(), d.retain()
    seen += [state(), first.value == second.value]
    d.cuDevicePrimaryCtxRelease_v2(c.c_int(0))
    seen += [state()]
    d.cuDevicePrimaryCtxRelease_v2(c.c_int(0))
    return [*seen, state(), d.cuDevicePrimaryCtxRelease_v2(c.c_int(0))]


@question
def released_primary_as_current(d: Driver) -> object:
    d.ready()
    p = d.alloc(64)
    d.cuDevicePrimaryCtxRelease_v2(c.c_int(0))
    return [
        d.cuMemAlloc_v2(c.byref(c.c_uint64()), 16),
        d.read(p, 1)[0],
        d.cuMemFree_v2(p),
        d.cuCtxSynchronize(),
        d.pop(),
    ]


@question
def zero_sizes(d: Driver) -> object:
    d.ready()
    p = d.alloc(64)
    pointer = c.c_void_p()
    return {
        "alloc": d.cuMemAlloc_v2(c.byref(c.c_uint64()), 0),
        "host_alloc": [d.cuMemHostAlloc(c.byref(pointer), 0, c.c_uint(1)), bool(pointer.value)],
        "free_null": d.cuMemFree_v2(0),
        "free_host_null": d.cuMemFreeHost(0),
        "htod": d.cuMemcpyHtoD_v2(p, HOST, 0),
        "htod_null": d.cuMemcpyHtoD_v2(0, 0, 0),
        "htod_null_device": d.cuMemcpyHtoD_v2(0, HOST, 0),
        "dtoh_null": d.cuMemcpyDtoH_v2(0, 0, 0),
        "dtod_null": d.cuMemcpyDtoD_v2(0, 0, 0),
        "peer_null": d.cuMemcpyPeer(0, d.context, 0, d.context, 0),
        "memset": d.cuMemsetD8_v2(p, c.c_ubyte(0), 0),
        "memset_null": d.cuMemsetD8_v2(0, c.c_ubyte(0), 0),
        "async_htod": d.cuMemcpyHtoDAsync_v2(p, HOST, 0, 0),
        "range_null": d.range(0)[0],
        "register": d.cuMemHostRegister_v2(HOST, 0, c.c_uint(0)),
    }


@question
def huge_sizes(d: Driver) -> object:
    d.ready()
    return [
        d.cuMemAlloc_v2(c.byref(c.c_uint64()), n) for n in (1 << 45, (1 << 63) - 1, (1 << 64) - 1)
    ] + [d.cuMemHostAlloc(c.byref(c.c_void_p()), n, c.c_uint(1)) for n in (1 << 50, (1 << 63) - 1)]


@question
def no_current_context(d: Driver) -> object:
    d.ready()
    p, h = d.alloc(64), d.pinned(64)
    d.pop()
    handle = d.context
    current = c.c_void_p(1)
    return {
        "get_current": [d.cuCtxGetCurrent(c.byref(current)), current.value],
        "pop": d.pop(),
        "device": d.cuCtxGetDevice(c.byref(c.c_int())),
        "alloc": d.cuMemAlloc_v2(c.byref(c.c_uint64()), 16),
        "host_alloc": d.cuMemHostAlloc(c.byref(c.c_void_p()), 16, c.c_uint(1)),
        "htod": d.cuMemcpyHtoD_v2(p, HOST, 16),
        "dtoh": d.cuMemcpyDtoH_v2(HOST, p, 16),
        "dtod": d.cuMemcpyDtoD_v2(p, p + 32, 16),
        "htod_zero": d.cuMemcpyHtoD_v2(p, HOST, 0),
        "peer": d.cuMemcpyPeer(p, handle, p + 32, handle, 16),
        "memset": d.cuMemsetD8_v2(p, c.c_ubyte(0), 16),
        "synchronize": d.cuCtxSynchronize(),
        "range": d.range(p)[0],
        "attribute": d.attribute(3, p)[0],
        "ipc_get": d.cuIpcGetMemHandle((c.c_ubyte * 64)(), p),
        "ipc_open": d.open(bytes(64))[0],
        "ipc_close": d.cuIpcCloseMemHandle(p),
        "stream": d.cuStreamCreate(c.byref(c.c_void_p()), c.c_uint(1)),
        "event": d.cuEventCreate(c.byref(c.c_void_p()), c.c_uint(2)),
        "mem_info": d.cuMemGetInfo_v2(c.byref(c.c_size_t()), c.byref(c.c_size_t())),
        "host_device_pointer": d.cuMemHostGetDevicePointer_v2(
            c.byref(c.c_uint64()), h, c.c_uint(0)
        ),
        "register": d.cuMemHostRegister_v2(HOST, 16, c.c_uint(0)),
        "free_host": d.cuMemFreeHost(h),
        "free": d.cuMemFree_v2(p),
        "push_null": d.cuCtxPushCurrent_v2(0),
        "set_null": d.cuCtxSetCurrent(0),
    }


@question
def freed_memory(d: Driver) -> object:
    d.ready()
    keep, p = d.alloc(4 * MIB), d.alloc(4 * MIB)
    d.cuMemFree_v2(p)
    return {
        "free": d.cuMemFree_v2(p),
        "htod": d.cuMemcpyHtoD_v2(p, HOST, 16),
        "dtoh": d.cuMemcpyDtoH_v2(HOST, p, 16),
        "dtod": d.cuMemcpyDtoD_v2(keep, p, 16),
        "memset": d.cuMemsetD8_v2(p, c.c_ubyte(0), 16),
        "range": d.range(p)[0],
        "attribute": d.attribute(3, p)[0],
        "type": d.attribute(2, p)[0],
        "ipc_get": d.cuIpcGetMemHandle((c.c_ubyte * 64)(), p),
        "synchronize": d.cuCtxSynchronize(),
        "afterwards": d.cuMemcpyHtoD_v2(keep, HOST, 16),
    }


@question
def freed_small_memory(d: Driver) -> object:
    """A small allocation shares a driver block with others, which stay."""
    d.ready()
    keep, p = d.alloc(1000), d.alloc(1000)
    d.cuMemFree_v2(p)
    return {
        "free": d.cuMemFree_v2(p),
        "range": d.range(p)[0],
        "attribute": d.attribute(3, p)[0],
        "ipc_get": d.cuIpcGetMemHandle((c.c_ubyte * 64)(), p),
        "keep": d.range(keep)[0],
    }


@question
def inner_pointer(d: Driver) -> object:
    d.ready()
    p = d.alloc(4096)
    code, base, size = d.range(p + 100)
    return {
        "free": d.cuMemFree_v2(p + 100),
        "range": [code, base == p, size],
        "attribute": [d.attribute(3, p + 100)[0], d.attribute(3, p + 100)[1] == p + 100],
        "range_attribute": [d.attribute(11, p + 100)[1] == p, d.attribute(12, p + 100)[1]],
        "ipc_get": d.cuIpcGetMemHandle((c.c_ubyte * 64)(), p + 100),
        "same_handle": d.export(p) == d.export(p + 100),
    }


@question
def past_the_end(d: Driver) -> object:
    """Of one allocation of whole driver blocks: a copy that runs past its end."""
    d.ready()
    size = 2 * MIB
    host = (c.c_ubyte * (size + 4096))()
    p = d.alloc(size)
    return {
        "range_end": d.range(p + size)[0] if d.range(p + size)[1] != p else "same",
        "small": [
            d.range(d.alloc(1000))[2],
            d.range(d.alloc(1))[2],
            d.range(d.alloc(2 * MIB + 1))[2],
        ],
        "dtoh": d.cuMemcpyDtoH_v2(host, p, size + 4096) != 0,
        "synchronize": d.cuCtxSynchronize(),
    }


@question
def small_past_the_end(d: Driver) -> object:
    d.ready()
    p = d.alloc(1000)
    return [
        d.read(p, 1000)[0],
        d.read(p, 1024)[0],
        d.read(p + 999, 2)[0],
        d.cuMemsetD8_v2(p, c.c_ubyte(1), 1001),
    ]


@question
def neighbours(d: Driver) -> object:
    """How close two small allocations lie, and from which size on a block is one's own."""
    d.ready()

    def apart(size: int) -> bool:
        ps = [d.alloc(size) for _ in range(3)]
        blocks = {p // (2 * MIB) for p in ps}
        return len(blocks) == 3 and all(p % (2 * MIB) == 0 for p in ps)

    return {
        "alignment": all(d.alloc(n) % 512 == 0 for n in (1, 3, 1000)),
        "own_block": {n: apart(n) for n in (1000, MIB, MIB + 1, 2 * MIB - 1, 2 * MIB)},
    }


@question
def host_pointers(d: Driver) -> object:
    """Ordinary host memory where device memory is expected."""
    d.ready()
    p = d.alloc(64)
    at = c.addressof(HOST)
    return {
        "attribute": d.attribute(3, at)[0],
        "type": d.attribute(2, at)[0],
        "context": d.attribute(1, at)[0],
        "ordinal": d.attribute(9, at)[0],
        "range_start": d.attribute(11, at)[0],
        "mapped": d.attribute(13, at)[0],
        "range": d.range(at)[0],
        "free": d.cuMemFree_v2(at),
        "free_host": d.cuMemFreeHost(at),
        "ipc_get": d.cuIpcGetMemHandle((c.c_ubyte * 64)(), at),
        "host_device_pointer": d.cuMemHostGetDevicePointer_v2(
            c.byref(c.c_uint64()), at, c.c_uint(0)
        ),
        "unregister": d.cuMemHostUnregister(at),
        "ipc_close": d.cuIpcCloseMemHandle(at),
        "null_attribute": d.attribute(3, 0)[0],
        "null_type": d.attribute(2, 0)[0],
        "wild_attribute": d.attribute(3, 0x7000)[0],
        "wild_range": d.range(0x7000)[0],
        "keep": d.cuMemFree_v2(p),
    }


@question
def host_memory_copied_as_device(d: Driver) -> object:
    """Null, on either side of a copy."""
    d.ready()
    p = d.alloc(64)
    return {
        "dtoh_null": d.cuMemcpyDtoH_v2(HOST, 0, 16),
        "htod_null": d.cuMemcpyHtoD_v2(0, HOST, 16),
        "dtod_null": d.cuMemcpyDtoD_v2(p, 0, 16),
        "memset_null": d.cuMemsetD8_v2(0, c.c_ubyte(0), 16),
        "htod_null_host": d.cuMemcpyHtoD_v2(p, 0, 16),
        "dtoh_null_host": d.cuMemcpyDtoH_v2(0, p, 16),
        "after": d.cuCtxSynchronize(),
    }


@question
def pageable_as_device_source(d: Driver) -> object:
    d.ready()
    p = d.alloc(64)
    return [
        d.cuMemcpyDtoH_v2(HOST, c.addressof(HOST) + 64, 16),
        d.cuMemcpyDtoD_v2(p, c.addressof(HOST), 16),
        d.cuCtxSynchronize(),
    ]


@question
def pinned_memory(d: Driver) -> object:
    d.ready()
    h = d.pinned(4096)
    code, device = d.attribute(3, h + 8)
    return {
        "attribute": [code, device == h + 8],
        "type": d.attribute(2, h),
        "managed": d.attribute(8, h),
        "ordinal": d.attribute(9, h),
        "host_pointer": [d.attribute(4, h + 8)[0], d.attribute(4, h + 8)[1] == h + 8],
        "context": [d.attribute(1, h)[0], d.attribute(1, h)[1] == d.context.value],
        "range_attribute": [
            d.attribute(11, h + 8)[0],
            d.attribute(11, h + 8)[1] == h,
            d.attribute(12, h + 8)[1],
        ],
        "range": [d.range(h + 8)[0], d.range(h + 8)[1] == h, d.range(h + 8)[2]],
        "copy_as_device": d.cuMemcpyDtoH_v2(HOST, h, 16),
        "free_inner": d.cuMemFreeHost(h + 8),
        "free_as_device": d.cuMemFree_v2(h),
        "free": d.cuMemFreeHost(h),
        "free_again": d.cuMemFreeHost(h),
        "attribute_freed": d.attribute(3, h)[0],
        "bad_flags": d.cuMemHostAlloc(c.byref(c.c_void_p()), 16, c.c_uint(0x80)),
    }


@question
def freed_pinned_memory_copied(d: Driver) -> object:
    """What pyarrow 25's test_foreign_buffer does; newer drivers may crash here."""
    return d.in_child("child_freed_pinned")


def child_freed_pinned(d: Driver) -> object:
    d.ready()
    h = d.pinned(10)
    d.cuMemFreeHost(h)
    return d.cuMemcpyDtoH_v2(HOST, h, 10)


@question
def registered_memory(d: Driver) -> object:
    d.ready()
    size = 1 << 16
    block = (c.c_ubyte * (size + 8192))()
    at = (c.addressof(block) + 4095) & ~4095
    return {
        "register": d.cuMemHostRegister_v2(at, size, c.c_uint(1)),
        "again": d.cuMemHostRegister_v2(at, size, c.c_uint(1)),
        "overlap": d.cuMemHostRegister_v2(at + 4096, size, c.c_uint(1)),
        "type": d.attribute(2, at),
        "device": [d.attribute(3, at + 5)[0], d.attribute(3, at + 5)[1] == at + 5],
        "free_host": d.cuMemFreeHost(at),
        "unregister_inner": d.cuMemHostUnregister(at + 4096),
        "unregister": d.cuMemHostUnregister(at),
        "unregister_again": d.cuMemHostUnregister(at),
        "null": d.cuMemHostRegister_v2(0, 4096, c.c_uint(0)),
    }


@question
def device_attributes(d: Driver) -> object:
    d.ready()
    p = d.alloc(1000)
    return {
        "type": d.attribute(2, p),
        "managed": d.attribute(8, p),
        "ordinal": d.attribute(9, p),
        "host_pointer": d.attribute(4, p)[0],
        "context": d.attribute(1, p)[1] == d.context.value,
        "ipc_capable": d.attribute(10, p),
        "mapped": d.attribute(13, p),
        "range_size": d.attribute(12, p)[1],
        "buffer_id": d.attribute(7, p)[0],
        "bad": d.attribute(99, p)[0],
    }


@question
def managed_memory(d: Driver) -> object:
    d.ready()
    pointer = c.c_uint64()
    code = d.cuMemAllocManaged(c.byref(pointer), 4096, c.c_uint(1))
    p = pointer.value
    return {
        "alloc": code,
        "type": d.attribute(2, p),
        "managed": d.attribute(8, p),
        "device": d.attribute(3, p)[1] == p,
        "host": d.attribute(4, p)[1] == p,
        "range_size": d.attribute(12, p)[1],
        "ipc_get": d.cuIpcGetMemHandle((c.c_ubyte * 64)(), p),
        "free": d.cuMemFree_v2(p),
    }


@question
def contexts(d: Driver) -> object:
    d.ready()
    other = d.create()
    p = d.alloc(64)
    current = c.c_void_p()
    d.cuCtxGetCurrent(c.byref(current))
    same = current.value == other.value
    d.pop()
    d.cuCtxGetCurrent(c.byref(current))
    in_primary = d.alloc(64)
    seen = {
        "create_is_current": same,
        "pop_restores": current.value == d.context.value,
        "other_context_dtoh": d.cuMemcpyDtoH_v2(HOST, p, 16),
        "dtod_across": d.cuMemcpyDtoD_v2(in_primary, p, 16),
        "peer_across": d.cuMemcpyPeer(in_primary, d.context, p, other, 16),
        "range": d.range(p)[0],
        "attribute": [d.attribute(3, p)[0], d.attribute(1, p)[1] == other.value],
        "memset": d.cuMemsetD8_v2(p, c.c_ubyte(0), 16),
        "ipc_get": d.cuIpcGetMemHandle((c.c_ubyte * 64)(), p),
        "free_of_other": d.cuMemFree_v2(p),
        "range_after": d.range(p)[0],
        "destroy": d.cuCtxDestroy_v2(other),
        "destroy_primary": d.cuCtxDestroy_v2(d.context),
    }
    return seen


@question
def destroyed_context(d: Driver) -> object:
    d.ready()
    other = d.create()
    p, h = d.alloc(64), d.pinned(64)
    d.pop()
    d.cuCtxDestroy_v2(other)
    return {
        "push": d.cuCtxPushCurrent_v2(other),
        "set": d.cuCtxSetCurrent(other),
        "free": d.cuMemFree_v2(p),
        "dtoh": d.cuMemcpyDtoH_v2(HOST, p, 16),
        "attribute": d.attribute(3, p)[0],
        "free_host": d.cuMemFreeHost(h),
        "peer": d.cuMemcpyPeer(p, other, p, other, 16),
        "synchronize": d.cuCtxSynchronize(),
    }


@question
def destroyed_current_context(d: Driver) -> object:
    d.ready()
    other = d.create()
    p = d.alloc(64)
    d.cuCtxDestroy_v2(other)
    current = c.c_void_p()
    return [
        d.cuCtxGetCurrent(c.byref(current)),
        current.value == d.context.value,
        d.cuMemFree_v2(p),
        d.cuCtxSynchronize(),
    ]


@question
def garbage_context(d: Driver) -> object:
    """A handle that never was a context.  A real driver may read through it."""
    return d.in_child("child_garbage_context")


def child_garbage_context(d: Driver) -> object:
    d.ready()
    return d.cuCtxPushCurrent_v2(0x1234)


@question
def streams_and_events(d: Driver) -> object:
    d.ready()
    stream, event = c.c_void_p(), c.c_void_p()
    create = [
        d.cuStreamCreate(c.byref(stream), c.c_uint(1)),
        d.cuEventCreate(c.byref(event), c.c_uint(2)),
    ]
    seen = {
        "create": create,
        "query_unrecorded": d.cuEventQuery(event),
        "wait_unrecorded": d.cuEventSynchronize(event),
        "stream_query": d.cuStreamQuery(stream),
        "record": d.cuEventRecord(event, stream),
        "record_default": d.cuEventRecord(event, 0),
        "synchronize": d.cuEventSynchronize(event),
        "query": d.cuEventQuery(event),
        "stream_wait": d.cuStreamWaitEvent(stream, event, c.c_uint(0)),
        "legacy": d.cuStreamSynchronize(1),
        "per_thread": d.cuStreamSynchronize(2),
        "default": d.cuStreamSynchronize(0),
        "null_event": d.cuEventSynchronize(0),
        "elapsed_without_timing": d.cuEventElapsedTime(c.byref(c.c_float()), event, event),
        "bad_flags": [
            d.cuStreamCreate(c.byref(c.c_void_p()), c.c_uint(64)),
            d.cuEventCreate(c.byref(c.c_void_p()), c.c_uint(64)),
        ],
        "destroy_null": [d.cuStreamDestroy_v2(0), d.cuEventDestroy_v2(0)],
        "destroy": [d.cuStreamDestroy_v2(stream), d.cuEventDestroy_v2(event)],
    }
    d.pop()
    return {**seen, "no_context": [d.cuStreamSynchronize(0), d.cuStreamQuery(0)]}


@question
def stream_priorities(d: Driver) -> object:
    d.cuInit(0)
    least, greatest = c.c_int(99), c.c_int(99)
    without = d.cuCtxGetStreamPriorityRange(c.byref(least), c.byref(greatest))
    d.ready()
    code = d.cuCtxGetStreamPriorityRange(c.byref(least), c.byref(greatest))

    def found(stream: object) -> list[int]:
        priority = c.c_int(99)
        return [d.cuStreamGetPriority(stream, c.byref(priority)), priority.value]

    def made(flags: int, priority: int) -> list[int]:
        stream = c.c_void_p()
        create = d.cuStreamCreateWithPriority(c.byref(stream), c.c_uint(flags), c.c_int(priority))
        return [create, *(found(stream) if create == 0 else [])]

    return {
        "without_context": without,
        "range": [code, least.value, greatest.value],
        "within": [made(0, greatest.value), made(1, least.value)],
        "beyond": [made(0, greatest.value - 1), made(1, least.value + 1), made(0, -(1 << 30))],
        "bad_flags": made(64, 0),
        "of_default_streams": [found(0), found(1), found(2)],
    }


@question
def ipc_same_process(d: Driver) -> object:
    d.ready()
    p = d.alloc(1000)
    handle = d.export(p)
    return [
        d.open(handle)[0],
        d.export(p) == handle,
        d.cuIpcCloseMemHandle(p),
        d.open(bytes(64))[0],
        d.open(bytes(range(64)))[0],
        d.open(handle, 0)[0],
    ]


@question
def ipc_other_process(d: Driver) -> object:
    d.ready()
    guard, p, after = d.alloc(1000), d.alloc(1000), d.alloc(1000)
    d.cuMemsetD8_v2(guard, c.c_ubyte(1), 1000)
    d.cuMemsetD8_v2(p, c.c_ubyte(7), 1000)
    d.cuMemsetD8_v2(after, c.c_ubyte(9), 1000)
    return d.in_child("child_open", d.export(p).hex(), str(after - p))


@question
def ipc_other_process_large(d: Driver) -> object:
    d.ready()
    p = d.alloc(4 * MIB)
    d.cuMemsetD8_v2(p, c.c_ubyte(7), 4 * MIB)
    return d.in_child("child_open", d.export(p + MIB).hex(), str(2 * MIB))


def child_open(d: Driver, handle: str, apart: str) -> object:
    d.ready()
    raw = bytes.fromhex(handle)
    code, p = d.open(raw)
    again, q = d.open(raw)
    _, base, size = d.range(p)
    seen = {
        "open": code,
        "open_again": [again, q == p],
        "range": [base == p, size],
        "content": d.read(p, 1000)[1] == bytes([7]) * 1000,
        "attribute": d.attribute(3, p)[0],
        "range_attribute": [d.attribute(11, p)[1] == p, d.attribute(12, p)[1]],
        "type": d.attribute(2, p),
        "neighbour_readable": d.read(p + int(apart), 1)[1] == b"\x09",
        "past": d.read(p, 2 * MIB)[0] == 0,
        "free": d.cuMemFree_v2(p),
        "reexport": d.cuIpcGetMemHandle((c.c_ubyte * 64)(), p),
        "close_inner": d.cuIpcCloseMemHandle(p + 8),
        "close": d.cuIpcCloseMemHandle(p),
        "after_first_close": d.read(p, 1)[0],
        "close_again": d.cuIpcCloseMemHandle(p),
        "close_third": d.cuIpcCloseMemHandle(p),
        "reopen": d.open(raw)[0],
        "flags_zero": d.open(raw, 0)[0],
    }
    d.pop()
    return {**seen, "close_without_context": d.cuIpcCloseMemHandle(p)}


@question
def ipc_after_free(d: Driver) -> object:
    d.ready()
    p = d.alloc(4 * MIB)
    handle = d.export(p)
    d.cuMemFree_v2(p)
    return d.in_child("child_open_only", handle.hex())


def child_open_only(d: Driver, handle: str) -> object:
    d.ready()
    return d.open(bytes.fromhex(handle))[0]


@question
def forked_child(d: Driver) -> object:
    d.ready()
    p = d.alloc(64)
    read, write = os.pipe()
    if os.fork() == 0:
        answers = [
            d.cuInit(0),
            d.cuMemFree_v2(p),
            d.cuMemcpyHtoD_v2(p, HOST, 16),
            d.cuDeviceGetCount(c.byref(c.c_int())),
            d.cuCtxGetCurrent(c.byref(c.c_void_p())),
            d.cuCtxPushCurrent_v2(d.context),
            d.cuMemFreeHost(0),
        ]
        os.write(write, json.dumps(answers).encode())
        os._exit(0)
    os.wait()
    return [json.loads(os.read(read, 1000)), d.cuMemFree_v2(p)]


@question
def errors_named(d: Driver) -> object:
    def name(code: int) -> list[object]:
        n, s = c.c_char_p(), c.c_char_p()
        return [
            d.cuGetErrorName(c.c_int(code), c.byref(n)),
            n.value and n.value.decode(),
            d.cuGetErrorString(c.c_int(code), c.byref(s)),
            s.value and s.value.decode(),
        ]

    codes = [
        0, 1, 2, 3, 4, 34, 100, 101, 200, 201, 205, 217, 219, 222, 300, 301, 304, 400, 401, 500,
        600, 700, 701, 702, 704, 705, 708, 709, 712, 713, 716, 719, 800, 801, 802, 803, 804, 999,
        12345,
    ]  # fmt: skip
    return {str(code): name(code) for code in codes}


@question
def modules(d: Driver) -> object:
    d.ready()
    module = c.c_void_p()
    ptx = b".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry nothing() { ret; }\n\0"
    function = c.c_void_p()
    return {
        "garbage": d.cuModuleLoadData(c.byref(module), b"not a module\0"),
        "load": d.cuModuleLoadData(c.byref(module), ptx),
        "missing": d.cuModuleGetFunction(c.byref(function), module, b"absent"),
        "unload": d.cuModuleUnload(module),
    }


@question
def peers(d: Driver) -> object:
    """Two devices: what needs no peer access, and what does."""
    d.ready()
    n = c.c_int()
    d.cuDeviceGetCount(c.byref(n))
    self_access = c.c_int(7)
    seen: dict[str, object] = {
        "self": [
            d.cuDeviceCanAccessPeer(c.byref(self_access), c.c_int(0), c.c_int(0)),
            self_access.value,
        ],
        "enable_self": d.cuCtxEnablePeerAccess(d.context, c.c_uint(0)),
    }
    if n.value < 2:
        return seen
    p = d.alloc(4 * MIB)
    to_share = d.alloc(4 * MIB)
    d.cuMemsetD8_v2(to_share, c.c_ubyte(7), 4 * MIB)
    shared = d.export(to_share)
    second = d.retain(1)
    d.cuCtxPushCurrent_v2(second)
    q = d.alloc(4 * MIB)
    can = c.c_int()
    return {
        **seen,
        "two_devices": {
            "can": [d.cuDeviceCanAccessPeer(c.byref(can), c.c_int(0), c.c_int(1)), can.value],
            "peer": d.cuMemcpyPeer(q, second, p, d.context, 4096),
            "dtod": d.cuMemcpyDtoD_v2(q, p, 4096),
            "dtoh_of_first_from_second": d.cuMemcpyDtoH_v2(HOST, p, 16),
            "memset_of_first": d.cuMemsetD8_v2(p, c.c_ubyte(1), 16),
            "attribute": [d.attribute(3, p)[0], d.attribute(9, p)[1]],
            "range": d.range(p)[0],
            "ipc_get": d.cuIpcGetMemHandle((c.c_ubyte * 64)(), p),
            "enable": d.cuCtxEnablePeerAccess(d.context, c.c_uint(0)),
            "again": d.cuCtxEnablePeerAccess(d.context, c.c_uint(0)),
            "attribute_after": d.attribute(3, p)[0],
            "peer_wrong_contexts": d.cuMemcpyPeer(q, d.context, p, second, 16),
            "free_of_first": d.cuMemFree_v2(p),
            "ipc_opened_in_both": d.in_child("child_open_in_both", shared.hex()),
        },
    }


def child_open_in_both(d: Driver, handle: str) -> object:
    """Memory of the first device, opened in a context of each."""
    raw = bytes.fromhex(handle)
    places, seen = [], []
    for context in d.ready().context, d.retain(1):
        d.cuCtxSetCurrent(context)
        code, place = d.open(raw)
        is_right = d.read(place, 4)[1] == bytes([7]) * 4
        places.append(place)
        seen.append([code, d.attribute(9, place), is_right])
    first, second = places
    return {
        "opened": seen,
        "apart": first != second,
        "close_in_the_other": d.cuIpcCloseMemHandle(first),
        "after": d.read(second, 4)[1] == bytes([7]) * 4,
        "close": d.cuIpcCloseMemHandle(second),
    }


@question
def captures(d: Driver) -> object:
    """Which calls of another thread end a capture: what the call and the capture's end return."""
    d.ready()
    stream, other, event = c.c_void_p(), c.c_void_p(), c.c_void_p()
    for place in (stream, other):
        assert d.cuStreamCreate(c.byref(place), c.c_uint(1)) == 0
    assert d.cuEventCreate(c.byref(event), c.c_uint(2)) == 0
    p, host = d.alloc(16), d.pinned(16)
    spare = [d.alloc(16) for _ in range(8)]
    spare_on_host = [d.pinned(16) for _ in range(8)]
    block = (c.c_ubyte * (17 * 4096))()
    pages = [(c.addressof(block) + 4095 & ~4095) + 4096 * page for page in range(16)]
    registered = [pages.pop() for _ in range(8)]
    for page in registered:
        assert d.cuMemHostRegister_v2(page, 4096, c.c_uint(3)) == 0
    calls: dict[str, Callable[[], int]] = {
        "alloc": lambda: d.cuMemAlloc_v2(c.byref(c.c_uint64()), 16),
        "free": lambda: d.cuMemFree_v2(spare.pop()),
        "host_alloc": lambda: d.cuMemHostAlloc(c.byref(c.c_void_p()), 16, c.c_uint(1)),
        "event_create": lambda: d.cuEventCreate(c.byref(c.c_void_p()), c.c_uint(2)),
        "event_record": lambda: d.cuEventRecord(event, other),
        "event_record_context": lambda: d.cuCtxRecordEvent(d.context, event),
        "event_query": lambda: d.cuEventQuery(event),
        "event_synchronize": lambda: d.cuEventSynchronize(event),
        "stream_query": lambda: d.cuStreamQuery(other),
        "stream_synchronize": lambda: d.cuStreamSynchronize(other),
        "default_stream_query": lambda: d.cuStreamQuery(None),
        "synchronize": d.cuCtxSynchronize,
        "copy": lambda: d.cuMemcpyHtoD_v2(p, host, 16),
        "copy_back": lambda: d.cuMemcpyDtoH_v2(host, p, 16),
        "copy_pageable": lambda: d.cuMemcpyHtoD_v2(p, HOST, 16),
        "copy_within": lambda: d.cuMemcpyDtoD_v2(p, p + 8, 8),
        "host_free": lambda: d.cuMemFreeHost(spare_on_host.pop()),
        "register": lambda: d.cuMemHostRegister_v2(pages.pop(), 4096, c.c_uint(3)),
        "unregister": lambda: d.cuMemHostUnregister(registered.pop()),
        "copy_async": lambda: d.cuMemcpyHtoDAsync_v2(p, host, 16, other),
        "fill": lambda: d.cuMemsetD8_v2(p, c.c_ubyte(1), 16),
        "info": lambda: d.cuMemGetInfo_v2(c.byref(c.c_size_t()), c.byref(c.c_size_t())),
        "attribute": lambda: d.attribute(2, p)[0],
    }

    def elsewhere(call: Callable[[], int], mode: int) -> int:
        codes: list[int] = []

        def run() -> None:
            respected = c.c_int(mode)
            assert d.cuCtxPushCurrent_v2(d.context) == 0
            assert d.cuThreadExchangeStreamCaptureMode(c.byref(respected)) == 0
            codes.append(call())

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        return codes[0]

    def ended(call: Callable[[], int], mode: int, respected: int) -> list[int]:
        assert d.cuStreamBeginCapture_v2(stream, c.c_int(mode)) == 0
        code = elsewhere(call, respected)
        return [code, d.cuStreamEndCapture(stream, c.byref(c.c_void_p()))]

    modes = {"global": (0, 0), "thread": (1, 0), "relaxed": (2, 0), "global, disregarded": (0, 2)}
    return {
        name: {mode: ended(call, *numbers) for mode, numbers in modes.items()}
        for name, call in calls.items()
    }


@question
def default_stream_beside_a_capture(d: Driver) -> object:
    """Whether the question about the default stream leaves a blocking stream's capture alone."""
    d.ready()
    blocking, status = c.c_void_p(), c.c_int()
    assert d.cuStreamCreate(c.byref(blocking), c.c_uint(0)) == 0
    assert d.cuStreamBeginCapture_v2(blocking, c.c_int(0)) == 0
    asked = d.cuStreamIsCapturing(None, c.byref(status))
    return [asked, d.cuStreamEndCapture(blocking, c.byref(c.c_void_p()))]


@question
def free_beside_a_capture(d: Driver) -> object:
    """Whether a free waits for another stream beside a capture, and leaves that alone."""
    d.ready()
    captured, busy = c.c_void_p(), c.c_void_p()
    for place in (captured, busy):
        assert d.cuStreamCreate(c.byref(place), c.c_uint(1)) == 0
    ended: list[bool] = []

    def wait(_: object) -> None:
        time.sleep(0.2)
        ended.append(True)

    work = c.CFUNCTYPE(None, c.c_void_p)(wait)
    relaxed = c.c_int(2)
    d.cuThreadExchangeStreamCaptureMode(c.byref(relaxed))
    assert d.cuStreamBeginCapture_v2(captured, c.c_int(0)) == 0
    assert d.cuLaunchHostFunc(busy, work, None) == 0
    p = c.c_uint64()
    allocated = d.cuMemAlloc_v2(c.byref(p), 1)
    before = len(ended)
    freed = d.cuMemFree_v2(p.value)
    return {
        "allocate": [allocated, before],
        "free": [freed, len(ended)],
        "end": d.cuStreamEndCapture(captured, c.byref(c.c_void_p())),
    }


@question
def host_memory_pinned_in_parts(d: Driver) -> object:
    """Copies of a range of the host of which some is pinned, or all by two calls."""
    d.ready()
    page, size = 4096, 5 * 4096
    block = (c.c_ubyte * (size + page))()
    at = c.addressof(block) + page - 1 & ~(page - 1)
    p, stream = d.alloc(size), c.c_void_p()
    assert d.cuStreamCreate(c.byref(stream), c.c_uint(1)) == 0

    def copies(start: int, count: int) -> list[int]:
        return [
            d.cuMemcpyHtoD_v2(p, start, count),
            d.cuMemcpyDtoH_v2(start, p, count),
            d.cuMemcpyHtoDAsync_v2(p, start, count, stream),
            d.cuMemcpyDtoHAsync_v2(start, p, count, stream),
        ]

    def range_of(pointer: int) -> dict[str, object]:
        start, length = d.attribute(11, pointer), d.attribute(12, pointer)
        found = d.range(pointer)
        return {
            "attributes": [start[0], start[1] - at, length],
            "range": [found[0], found[1] - at if found[0] == 0 else None, found[2]],
        }

    for begin in (at, at + 2 * page):
        assert d.cuMemHostRegister_v2(begin, page, c.c_uint(3)) == 0
    seen: dict[str, object] = {
        "ends": copies(at, 3 * page),
        "begin": copies(at, page + 1),
        "end": copies(at + page, page + 1),
        "between": copies(at + page, page),
        "few bytes": copies(at + page - 8, 16),
        "ranges": range_of(at + 5),
    }
    assert d.cuMemHostRegister_v2(at + page, page, c.c_uint(3)) == 0
    seen["two"] = copies(at, 2 * page)
    # Less than a page.
    odd = at + 4 * page + 8
    seen["odd"] = d.cuMemHostRegister_v2(odd, 16, c.c_uint(3))
    seen["odd ranges"] = range_of(odd)
    seen["page of odd"] = d.cuMemHostRegister_v2(odd + 64, 16, c.c_uint(3))
    seen["beside odd"] = copies(odd + 64, 16)
    return seen


@question
def memory_that_cannot_be_pinned(d: Driver) -> object:
    """Read-only pages, and those of a file on a disk (in the folder of this file)."""
    d.ready()
    libc = c.CDLL(None)
    libc.mmap.restype = c.c_void_p
    libc.mmap.argtypes = [c.c_void_p, c.c_size_t, c.c_int, c.c_int, c.c_int, c.c_long]

    def register(access: int, kind: int, file: int, flags: int) -> int:
        at = libc.mmap(None, 4096, access, kind, file, 0)
        return d.cuMemHostRegister_v2(at, 4096, c.c_uint(flags))

    with tempfile.TemporaryFile(dir=Path(__file__).resolve().parent) as file:
        file.write(bytes(4096))
        file.flush()
        number = file.fileno()
        return {
            "read-only": register(1, 2, number, 3),
            "read-only, said": register(1, 2, number, 11),
            "private": register(3, 2, number, 3),
            "shared": register(3, 1, number, 3),
            "anonymous": register(3, 0x22, -1, 3),
        }


@question
def addresses_and_handles_after_a_reset(d: Driver) -> object:
    """Whether the driver hands out again what it has handed out first."""
    d.cuInit(0)

    def made() -> list[object]:
        d.ready()
        stream, event = c.c_void_p(), c.c_void_p()
        d.cuStreamCreate(c.byref(stream), c.c_uint(1))
        d.cuEventCreate(c.byref(event), c.c_uint(2))
        return [d.context.value, d.alloc(64), d.alloc(4 * MIB), stream.value, event.value]

    first = made()
    d.cuDevicePrimaryCtxReset_v2(c.c_int(0))
    names = ["context", "small", "large", "stream", "event"]
    same = dict(zip(names, map(eq, first, made()), strict=True))
    p = d.alloc(8 * MIB)
    d.cuMemFree_v2(p)
    return {**same, "freed": d.alloc(8 * MIB) == p}


@question
def a_reset_under_another_thread(d: Driver) -> object:
    """What a thread can do whose current context another one resets, and uses again."""
    d.ready()
    has_entered, is_reset = threading.Event(), threading.Event()
    seen: dict[str, object] = {}

    def use() -> list[int]:
        number = c.c_uint64()
        known = d.cuCtxGetId(None, c.byref(number))
        return [known, d.cuMemAlloc_v2(c.byref(c.c_uint64()), MIB), d.cuCtxSynchronize()]

    def other() -> None:
        d.cuCtxSetCurrent(d.context)
        has_entered.set()
        is_reset.wait()
        current = c.c_void_p()
        code = d.cuCtxGetCurrent(c.byref(current))
        seen["current"] = [code, current.value == d.context.value]
        seen["as_it_is"] = use()
        seen["push"] = [d.cuCtxPushCurrent_v2(d.context), *use()]
        seen["pop"] = [d.cuCtxPopCurrent_v2(c.byref(current)), *use()]
        seen["set"] = [d.cuCtxSetCurrent(d.context), *use()]

    thread = threading.Thread(target=other)
    thread.start()
    has_entered.wait()
    d.cuDevicePrimaryCtxReset_v2(c.c_int(0))
    d.ready()
    is_reset.set()
    thread.join()
    return seen


@question
def mapped_memory(d: Driver) -> object:
    """Which range the attributes tell of memory that is mapped in pieces."""
    d.ready()
    properties = (c.c_int * 8)(1, 0, 1, 0)
    access = (c.c_int * 3)(1, 0, 3)
    unit, start = c.c_size_t(), c.c_uint64()
    d.cuMemGetAllocationGranularity(c.byref(unit), properties, c.c_int(0))
    size = unit.value
    d.cuMemAddressReserve(c.byref(start), 8 * size, 0, 0, 0)
    for piece in (2, 3):
        handle, at = c.c_uint64(), start.value + piece * size
        d.cuMemCreate(c.byref(handle), size, properties, 0)
        d.cuMemMap(at, size, 0, handle.value, 0)
        d.cuMemSetAccess(at, size, access, 1)
    at = start.value + 2 * size
    code, base, length = d.range(at + 5)
    return {
        "attributes": [
            d.attribute(11, at + 5)[1] == start.value,
            d.attribute(12, at + 5)[1] // size,
        ],
        "range": [code, base == at, length // size],
        "range_unmapped": d.range(start.value)[0],
        "attribute_unmapped": d.attribute(2, start.value)[0],
    }


@question
def entry_points(d: Driver) -> object:
    """In which versions each exported function is the one that its name stands for.

    The first and the last of them, and whether the per-thread default stream has another one.
    """
    versions = [1000 * major + 10 * minor for major in range(1, 13) for minor in range(10)]
    versions.append(13000)

    def is_found(name: str, version: int, flags: int = 0) -> bool:
        address = c.c_void_p()
        symbol = name.removesuffix("_v2").encode()
        found = d.cuGetProcAddress_v2(symbol, c.byref(address), c.c_int(version), flags, None)
        exported = c.cast(getattr(d.lib, name), c.c_void_p).value
        return found == 0 and address.value == exported

    seen: dict[str, object] = {}
    for name in EXPORTED.split():
        current = [version for version in versions if is_found(name, version)]
        other = "" if is_found(name, current[-1], 2) else ", another per thread"
        seen[name] = f"{current[0]} to {current[-1]}{other}"
    return seen


@question
def entry_point_arguments(d: Driver) -> object:
    """What both variants of the call return, do to the address, and say in the status."""

    def ask(symbol: bytes, version: int, flags: int = 0) -> str:
        kept = 12345
        old, new, status = c.c_void_p(kept), c.c_void_p(kept), c.c_int(kept)
        number = c.c_int(version)
        codes = [
            d.cuGetProcAddress(symbol, c.byref(old), number, flags),
            d.cuGetProcAddress_v2(symbol, c.byref(new), number, flags, c.byref(status)),
        ]
        to = {None: "null", kept: "kept"}
        first, second = (to.get(address.value, "found") for address in (old, new))
        said = "kept" if status.value == kept else str(status.value)
        return f"{codes[0]} {first}; {codes[1]} {second}, status {said}"

    known = b"cuMemAlloc"
    return {
        "flags": [ask(known, 3020, flags) for flags in (0, 1, 2, 3, 4, 8)],
        "versions": [ask(known, version) for version in (-1, 0, 1000, 13000, 13010, 14000)],
        "suffix": ask(b"cuMemAlloc_v2", 13000),
        "unknown": [ask(b"cuUnknown", 13000), ask(b"", 13000)],
        "unknown_and_wrong": [ask(b"cuUnknown", 14000), ask(b"cuUnknown", 13000, 8)],
        "later": ask(b"cuCtxGetId", 11000),
    }


def begin(name: str, library: str) -> Callable[[], object]:
    """Ask one question in a process of its own.  Returns what waits for the answer.

    The process is forked off this one, which has not loaded a driver: that is much quicker than
    to start Python anew.
    """
    folder = tempfile.TemporaryDirectory()
    out, errors = Path(folder.name, "out"), Path(folder.name, "errors")

    def ask() -> None:
        os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), 2)
        out.write_text(json.dumps(QUESTIONS[name](Driver(library))))

    process = multiprocessing.get_context("fork").Process(target=ask)
    process.start()

    def answer() -> object:
        process.join(timeout=120)
        if process.exitcode is None:
            process.kill()
            process.join()
        with folder:
            if process.exitcode == 0:
                said: object = json.loads(out.read_text())
                return said
            return f"died {process.exitcode}: {errors.read_text(errors='replace')[-300:]}"

    return answer


def main() -> None:
    library, *rest = sys.argv[1:] or ["libcuda.so.1"]
    if rest:  # one question, or a child's part of one
        ask = {**globals(), **QUESTIONS}[rest[0]]
        print(json.dumps(ask(Driver(library), *rest[1:])))
        return
    names, answers = list(QUESTIONS), {}
    while names:
        begun = {name: begin(name, library) for name in names[:AT_ONCE]}
        answers.update({name: answer() for name, answer in begun.items()})
        del names[:AT_ONCE]
    print(json.dumps(answers, indent=1))


if __name__ == "__main__":
    main()
