"""Kernels of one device read memory of another one, which is released meanwhile.

    python peer_reads.py [ROUNDS [MILLISECONDS]]

In each round, a kernel of the second device reads a block of the first device, or of the host, for
MILLISECONDS.  It counts the values that do not belong there.  Meanwhile the program releases the
block in one of `WAYS`, and fills new memory with other values.  The package must let the kernel
finish before anybody gets the block's memory.

The simulated device cannot run the kernel: there a copy, queued behind a pause, reads the block.
"""

import ctypes
import sys
import time
from pathlib import Path

import numpy as np
from pyarrow import cuda

import pyarrow_cuda_compat as compat
from pyarrow_cuda_compat import memory, pygpu

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.driver import IS_SIMULATOR, the_driver
from support.work import SLEEP

SIZE = 32 << 20
READ = b"""
.version 6.0
.target sm_50
.address_size 64
.visible .entry read_for(.param .u64 source, .param .u64 words, .param .u32 value,
                         .param .u64 milliseconds, .param .u64 wrong)
{
    .reg .pred %p<4>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<16>;
    ld.param.u64 %rd1, [source];
    ld.param.u64 %rd2, [words];
    ld.param.u32 %r1, [value];
    ld.param.u64 %rd3, [milliseconds];
    ld.param.u64 %rd4, [wrong];
    mul.lo.u64 %rd3, %rd3, 1000000;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mov.u32 %r5, %nctaid.x;
    mad.lo.u32 %r6, %r2, %r3, %r4;
    mul.lo.u32 %r7, %r3, %r5;
    cvt.u64.u32 %rd5, %r6;
    cvt.u64.u32 %rd6, %r7;
    mov.u64 %rd7, %globaltimer;
AGAIN:
    mov.u64 %rd8, %rd5;
NEXT:
    setp.ge.u64 %p1, %rd8, %rd2;
    @%p1 bra READ_ALL;
    shl.b64 %rd9, %rd8, 2;
    add.u64 %rd10, %rd1, %rd9;
    ld.volatile.global.u32 %r8, [%rd10];
    setp.eq.u32 %p2, %r8, %r1;
    @%p2 bra RIGHT;
    red.global.add.u32 [%rd4], 1;
RIGHT:
    add.u64 %rd8, %rd8, %rd6;
    bra NEXT;
READ_ALL:
    mov.u64 %rd11, %globaltimer;
    sub.u64 %rd12, %rd11, %rd7;
    setp.lt.u64 %p3, %rd12, %rd3;
    @%p3 bra AGAIN;
    ret;
}
\0"""


class Reader:
    """Reads from the second device by driver calls, of which the package does not know."""

    def __init__(self, driver, owner, reader, milliseconds):
        self.driver, self.reader, self.milliseconds = driver, reader, milliseconds
        self.stream = compat.Stream(reader, non_blocking=True)
        self.found = reader.new_buffer(SIZE)
        self.wrong = reader.buffer_from_data(bytes(4))
        self.see(owner)
        name = b"sim_sleep" if IS_SIMULATOR else b"read_for"
        module, self.kernel = ctypes.c_void_p(), ctypes.c_void_p()
        driver.set_current(reader.handle)
        image = SLEEP if IS_SIMULATOR else READ
        driver.call("cuModuleLoadData", ctypes.byref(module), image)
        driver.call("cuModuleGetFunction", ctypes.byref(self.kernel), module, name)

    def see(self, owner):
        """Has the reader's kernels read the memory of this context."""
        self.driver.set_current(self.reader.handle)
        code = self.driver.library.cuCtxEnablePeerAccess(ctypes.c_void_p(owner.handle), 0)
        assert code in (0, 704), f"cuCtxEnablePeerAccess answered {code}"
        self.owner = owner

    def begin(self, address, value):
        """Begins to read: a value in each byte."""
        self.address, self.value = address, value
        self.wrong.fill(0)
        self.driver.set_current(self.reader.handle)
        stream = ctypes.c_void_p(self.stream.handle)
        if IS_SIMULATOR:
            self._launch([ctypes.c_uint64(self.milliseconds)], 1, 1)
            to, size = ctypes.c_uint64(self.found.address), ctypes.c_size_t(SIZE)
            self.driver.call("cuMemcpyAsync", to, ctypes.c_uint64(address), size, stream)
            return
        arguments = [
            ctypes.c_uint64(address),
            ctypes.c_uint64(SIZE // 4),
            ctypes.c_uint32(value * 0x01010101),
            ctypes.c_uint64(self.milliseconds),
            ctypes.c_uint64(self.wrong.address),
        ]
        self._launch(arguments, 132, 512)

    def _launch(self, arguments, blocks, threads):
        addresses = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        sizes = [blocks, 1, 1, threads, 1, 1]
        stream = ctypes.c_void_p(self.stream.handle)
        self.driver.call("cuLaunchKernel", self.kernel, *sizes, 0, stream, addresses, None)

    def finish(self):
        """How many wrong values it found."""
        self.stream.synchronize()
        if IS_SIMULATOR:
            found = np.frombuffer(self.found.copy_to_host(), np.uint8)
            return int((found != self.value).sum())
        return int(np.frombuffer(self.wrong.copy_to_host(), np.uint32)[0])


class Block:
    """Memory of the first device, or pinned memory, with a value in each byte."""

    def __init__(self, ctx, value, is_pinned=False):
        self.buffer = cuda.new_host_buffer(SIZE) if is_pinned else ctx.new_buffer(SIZE)
        self.address = self.buffer.address
        if is_pinned:
            np.frombuffer(self.buffer, np.uint8)[:] = value
        else:
            self.buffer.fill(value)
            ctx.synchronize()


def device_block(release):
    """A round with memory of the first device, which goes back in this way."""

    def play(reader, value):
        block = Block(reader.owner, value)
        reader.begin(block.address, value)
        del block
        release(reader.owner)
        return Block(reader.owner, value ^ 0xFF)

    return play


def pinned_block(release):
    def play(reader, value):
        block = Block(reader.owner, value, is_pinned=True)
        reader.begin(block.address, value)
        del block
        release()
        return Block(reader.owner, value ^ 0xFF, is_pinned=True)

    return play


def limited(ctx):
    compat.set_cache_limit(0, ctx)
    compat.set_cache_limit(8 * SIZE, ctx)


def limited_pinned():
    compat.set_pinned_cache_limit(0)
    compat.set_pinned_cache_limit(8 * SIZE)


def never_cached(reader, value):
    block = Block(reader.owner, value)
    reader.begin(block.address, value)
    compat.empty_cache(reader.owner)
    compat.set_cache_limit(0, reader.owner)
    del block
    compat.set_cache_limit(8 * SIZE, reader.owner)
    return Block(reader.owner, value ^ 0xFF)


class FullDevice:
    """An allocation finds the first device full, but for released memory that is still read."""

    def __init__(self):
        self.rest = None

    def __call__(self, reader, value):
        ctx = reader.owner
        # The memory of the last round would serve this one.
        compat.empty_cache(ctx)
        block = Block(ctx, value)
        if self.rest is None:
            self.rest = ctx.new_buffer(compat.mem_get_info(ctx)[0] - SIZE)
        reader.begin(block.address, value)
        del block
        new = ctx.new_buffer(SIZE + SIZE // 2)
        new.fill(value ^ 0xFF)
        return new


def unregistered(reader, value):
    array = np.full(SIZE, value, np.uint8)
    with memory.pinned(array):
        reader.begin(array.ctypes.data, value)
    array[:] = value ^ 0xFF
    return array


def reset(reader, value):
    block = Block(reader.owner, value)
    reader.begin(block.address, value)
    pygpu.cudaSetDevice(0)
    pygpu.cudaDeviceReset()
    owner = cuda.Context(0)
    reader.see(owner)
    return Block(owner, value ^ 0xFF), block


WAYS = {
    "released": device_block(lambda _ctx: None),
    "cache emptied": device_block(compat.empty_cache),
    "cache limited": device_block(limited),
    "never cached": never_cached,
    "pinned memory released": pinned_block(lambda: None),
    "pinned cache emptied": pinned_block(compat.empty_pinned_cache),
    "pinned cache limited": pinned_block(limited_pinned),
    "memory unregistered": unregistered,
    # The last two: the device stays full until it is reset, which ends its contexts.
    "device full": FullDevice(),
    "device reset": reset,
}


def main(rounds=50, milliseconds=100):
    if cuda.Context.get_num_devices() < 2:
        print("left out: it needs two devices")
        return None
    driver = the_driver()
    owner, second = cuda.Context(0), cuda.Context(1)
    reader = Reader(driver, owner, second, milliseconds)
    failures = []
    for name, play in WAYS.items():
        start = time.perf_counter()
        for turn in range(rounds):
            new = play(reader, 1 + turn % 200)
            wrong = reader.finish()
            del new
            if wrong:
                failures.append(f"{name}: {wrong} wrong values in round {turn}")
                break
        print(f"{name}: {rounds} rounds in {time.perf_counter() - start:.1f} s", flush=True)
    print(f"{len(WAYS)} ways, {rounds} rounds each, {milliseconds} ms; {len(failures)} failures")
    return "\n".join(failures) or None


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
