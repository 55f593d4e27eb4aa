#!/usr/bin/env bash
# The first question about an event that was reached takes several times as long as each further one.
set -euo pipefail
nvidia-smi >/dev/null 2>&1 || { echo "there is no GPU here"; exit 77; }
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
python3 - <<'PROGRAM'
import ctypes
import sys
from time import perf_counter

cuda = ctypes.CDLL("libcuda.so.1")
COUNT, SIZE, SUCCESS, WITHOUT_TIMING = 2000, 4096, 0, 2


def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    assert code == SUCCESS, (name, code)


context, stream, host = (ctypes.c_void_p() for _ in range(3))
device = ctypes.c_uint64()
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
call("cuStreamCreate", ctypes.byref(stream), 1)
call("cuMemAlloc_v2", ctypes.byref(device), ctypes.c_size_t(SIZE))
call("cuMemHostAlloc", ctypes.byref(host), ctypes.c_size_t(SIZE), 0)
events = [ctypes.c_void_p() for _ in range(COUNT)]
for event in events:
    call("cuEventCreate", ctypes.byref(event), WITHOUT_TIMING)
query = cuda.cuEventQuery


def ask_all():
    """The median of the microseconds that a question takes."""
    times = []
    for event in events:
        began = perf_counter()
        code = query(event)
        times.append(perf_counter() - began)
        assert code == SUCCESS
    return sorted(times)[COUNT // 2] * 1e6


def ask_twice():
    """After copies that have all ended, an event after each."""
    for event in events:
        call("cuMemcpyHtoDAsync_v2", device, host, ctypes.c_size_t(SIZE), stream)
        call("cuEventRecord", event, stream)
    call("cuStreamSynchronize", stream)
    return ask_all(), ask_all()


print("expected: the stream was waited for, so the driver knows that all events are reached")
runs = [ask_twice() for _ in range(5)]
first, again = (min(times) for times in zip(*runs))
print(f"asked for the first time {first:.2f} us, asked again {again:.2f} us")
sys.exit(not first > 1.5 * again)
PROGRAM
