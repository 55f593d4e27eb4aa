"""Limits on memory, descriptors and threads: an exception with a text, or the right bytes.

Afterwards, with the limit lifted, all works again.
"""

import os
import resource
from functools import partial
from pathlib import Path

import numpy as np

import pyarrow_cuda_compat as compat

from . import states, work
from .children import Case

KIB, MIB = 1 << 10, 1 << 20
#: How much a process may take beyond its present use: address space, data, descriptors, threads.
#: With only some KiB left, glibc itself ends a process whose new thread finds no memory for its
#: data.
STEPS = {
    "AS": [1 * MIB, 2 * MIB, 8 * MIB, 24 * MIB, 64 * MIB, 192 * MIB, 1024 * MIB],
    "DATA": [1 * MIB, 2 * MIB, 4 * MIB, 8 * MIB, 24 * MIB, 64 * MIB],
    "NOFILE": [0, 1, 2, 3, 5],
    "NPROC": [0, 1, 2, 3, 5],
}
#: The simulator says why it has no devices.
WRITES = "(cuda-sim: cannot reserve address space for a device: [^\\n]*\n)*"
#: A user that owns no process, so that a limit of threads counts those of this one.
NOBODY = 60_123


def lower(kind, more):
    """Lowers the soft limit; returns what lifts it again."""
    name = getattr(resource, f"RLIMIT_{kind}")
    soft, hard = resource.getrlimit(name)
    if kind == "NPROC" and os.getuid() == 0:
        os.setresuid(NOBODY, NOBODY, 0)  # root itself has no such limit
    resource.setrlimit(name, (in_use(kind) + more, hard))
    return partial(resource.setrlimit, name, (soft, hard))


def in_use(kind):
    match kind:
        case "AS":
            return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        case "DATA":
            lines = Path("/proc/self/status").read_text().splitlines()
            return next(int(line.split()[1]) for line in lines if "VmData" in line) * KIB
        case "NOFILE":
            lowest = os.dup(0)  # all below are taken
            os.close(lowest)
            return lowest
        case "NPROC":
            return len([*Path("/proc/self/task").iterdir()])


def told(error):
    """Whether an exception says that there was too little of something."""
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, OSError | RuntimeError) and len(str(error)) > 10


def attempt(turn):
    try:
        turn()
    except Exception as error:
        if not told(error):
            raise


def limited(turns, kind, more, is_first):
    """The limit is there before the driver is loaded, or comes in the middle of work."""
    work.exporters_handle()
    if not is_first:
        for turn in turns:
            turn()
    lift = lower(kind, more)
    for turn in turns:
        attempt(turn)
    lift()
    if kind == "NPROC" and os.getuid() == NOBODY:
        os.setresuid(0, 0, 0)
    for turn in turns:
        turn()


def large_copies_without_threads(more):
    """Large copies are right without the threads that would help, or with some of them."""
    data = np.arange(10 * MIB, dtype=np.uint32)
    # The simulator has a thread for each stream, without which a copy fails.
    compat.set_transfer_limits(threads=1, begin_after=0)
    buffer = states.context().buffer_from_data(data)
    assert buffer.to_pybytes() == data.tobytes()
    lower("NPROC", more)
    compat.set_transfer_limits(threads=4, begin_after=0)
    for _ in range(2):
        data += 1
        buffer.copy_from_host(data)
        assert (np.frombuffer(buffer.copy_to_host(), np.uint32) == data).all()


def cases(is_quick):
    found = []
    names = [*work.ALL]
    for kind, steps in STEPS.items():
        for order, more in enumerate(steps):
            for is_first in (True, False):
                if is_quick and (order + is_first) % 2 and kind in ("AS", "DATA"):
                    continue
                when = "before first use" if is_first else "in the middle"
                # All works in turn, in one process; in a long run, each in its own, too.
                for group in [names] if is_quick else [names, *([name] for name in names)]:
                    what = "all works" if len(group) > 1 else group[0]
                    turns = [work.ALL[name] for name in group]
                    name = f"{more} more of {kind} {when}, for {what}"
                    run = partial(limited, turns, kind, more, is_first)
                    found.append(Case(name, run, writes=WRITES))
    for more in range(4):
        run = partial(large_copies_without_threads, more)
        found.append(Case(f"large copies with {more} more threads", run))
    return found
