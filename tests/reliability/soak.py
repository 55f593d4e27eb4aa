"""Uses the package for a long time, and compares what the process holds before and after.

    python soak.py [ALLOCATIONS [COPIES [VIEWS]]]

Prints how much it did, and what grew: device memory, pinned memory, the memory of the process, its
file descriptors and threads.  The exit status is 1 if anything did.
"""

import ctypes
import gc
import os
import pickle
import random
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import cuda

import pyarrow_cuda_compat as compat

KIB, MIB = 1 << 10, 1 << 20
CPU = pa.default_cpu_memory_manager()
#: This much may be in use at a time.
MOST = 512 * MIB
#: The part of the work that comes first: caches fill, threads start.
WARM_UP = 10
#: The process may take this much more: memory is handed out in pages, and returned late.
RESIDENT_TOLERANCE = 8 * MIB


def size_up_to(most, chance):
    """Sizes of all magnitudes."""
    return int(most ** chance.random())


def allocate(ctx, count, chance):
    """Buffers of all sizes, released in any order."""
    alive, live = [], 0
    for _ in range(count):
        if alive and (live > MOST or chance.random() < 0.5):
            at = chance.randrange(len(alive))
            alive[at], alive[-1] = alive[-1], alive[at]
            live -= alive.pop().size
        else:
            alive.append(ctx.new_buffer(size_up_to(8 * MIB, chance)))
            live += alive[-1].size


def copy(ctx, count, chance):
    """Copies up and down, some of them pinned or queued on a stream; every byte is checked."""
    block = np.frombuffer(chance.randbytes(MIB), np.uint8)
    device, stream = ctx.new_buffer(MIB), compat.Stream(ctx)
    pinned = np.frombuffer(cuda.new_host_buffer(MIB), np.uint8)
    for number in range(count):
        size = size_up_to(MIB if number % 100 == 0 else 32 * KIB, chance)
        part = block[chance.randrange(MIB - size + 1) :][:size]
        if number % 3:
            device.copy_from_host(part)
        else:
            pinned[:size] = part
            device.copy_from_host(pinned[:size], stream=stream)
            stream.synchronize()
        assert device.copy_to_host(0, size).equals(pa.py_buffer(part))


def view(buffer, ctx, count, chance):
    """Slices, exports and imports in every form."""
    batch = pa.record_batch({"a": [1, None, 3], "s": ["x", None, "yy"]})
    for number in range(count):
        start = chance.randrange(512)
        part = buffer.slice(start, 256)
        match number % 6:
            case 0:
                handle = cuda.IpcMemHandle.from_buffer(part.export_for_ipc().serialize())
                assert handle.serialize().size >= 72
            case 1:
                assert compat.from_dlpack(part).size == 256
            case 2:
                assert part.__cuda_array_interface__["shape"] == (256,)
            case 3:
                device = batch.copy_to(ctx.memory_manager)
                again = pa.RecordBatch._import_from_c_device_capsule(
                    *device.__arrow_c_device_array__()
                )
                assert again.copy_to(CPU).equals(batch)
            case 4:
                assert pickle.loads(pickle.dumps(part)).equals(part)
            case 5:
                message = cuda.serialize_record_batch(batch, ctx)
                assert cuda.read_record_batch(message, batch.schema).num_rows == 3


def held(ctx):
    """What the process holds once nothing is in use or cached."""
    gc.collect()
    ctx.synchronize()
    compat.empty_cache(ctx)
    compat.empty_pinned_cache()
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
    process = Path("/proc/self")
    resident = int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return {
        "device": compat.memory_stats(ctx)["reserved_bytes"],
        "pinned": compat.pinned_memory_stats()["reserved_bytes"],
        "resident": resident,
        "descriptors": len(list((process / "fd").iterdir())),
        "threads": len(list((process / "task").iterdir())),
    }


def main(allocations=1_000_000, copies=100_000, views=10_000):
    ctx, chance, start = cuda.Context(0), random.Random(1), time.perf_counter()
    # Exported memory stays allocated, so it is the same buffer each time.
    exported = ctx.buffer_from_data(bytes(range(256)) * 4)
    works = ((allocate, allocations), (copy, copies), (partial(view, exported), views))
    # A large copy each way starts all threads.
    compat.set_transfer_limits(begin_after=0)
    large = ctx.buffer_from_data(bytes(8 * MIB))
    assert large.copy_to_host().size == 8 * MIB
    del large
    for work, count in works:
        work(ctx, count // WARM_UP, chance)
    before = held(ctx)
    for work, count in works:
        work(ctx, count, chance)
    after = held(ctx)
    print(f"{allocations} allocations, {copies} copies, {views} views", end=" ")
    print(f"in {time.perf_counter() - start:.0f} s; {before} before, {after} after")
    tolerance = {"resident": RESIDENT_TOLERANCE}
    grown = [name for name in before if after[name] > before[name] + tolerance.get(name, 0)]
    return f"grown: {', '.join(grown)}" if grown else None


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
